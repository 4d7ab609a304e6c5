//! OpenCode 1.18.34, measured: the frontmatter may have no end, and values with a colon are tried again as blocks.

use serde_json::Value;

use super::{Texts, is_date, is_refused};
use crate::agents::listing::Why;
use crate::document::{Node, read_yaml};

pub(super) fn read(bytes: &[u8]) -> Result<Texts, Why> {
    let text = String::from_utf8_lossy(bytes);
    let node = match parsed(&text) {
        Ok(node) => node,
        Err(why) => parsed(&with_blocks(&text).ok_or(why)?)?,
    };
    let node = node.ok_or(Why::NoFrontmatter)?;
    let text = |key: &'static str| match node.get(key) {
        None => Ok(None),
        Some(value) if is_date(value) => Err(Why::NotText(key)),
        Some(value) => match value.to_typed_json() {
            Value::String(text) => Ok(Some(text)),
            _ => Err(Why::NotText(key)),
        },
    };
    let name = text("name")?.ok_or(Why::NoName)?;
    let description = text("description")?;
    let hidden = description.is_none().then_some(Why::NoDescription);
    Ok(Texts { name: Some(name), description: description.unwrap_or_default(), when: None, hidden })
}

/// Returns the frontmatter: what follows `---` up to the next line that begins so, or all. Nothing, if there is none or
/// only comments are in it.
fn parsed(text: &str) -> Result<Option<Node>, Why> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = text.strip_prefix("---").filter(|rest| !rest.starts_with('-')) else { return Ok(None) };
    let (language, rest) = rest.find('\n').map_or((rest, ""), |at| rest.split_at(at));
    if !matches!(language.trim().to_ascii_lowercase().as_str(), "" | "yaml" | "yml") {
        return Err(Why::NotYaml);
    }
    let yaml = rest.find("\n---").map_or(rest, |at| &rest[..at]);
    let is_told = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if !yaml.lines().any(is_told) {
        return Ok(None);
    }
    // Its reader takes a tab before a key for nothing.
    let yaml: Vec<_> = yaml.lines().map(|line| line.trim_start_matches('\t')).collect();
    let mut problems = Vec::new();
    let node = read_yaml(&yaml.join("\n"), &mut problems).map_err(|_| Why::NotYaml)?;
    if problems.iter().any(|problem| is_refused(&problem.kind)) { Err(Why::NotYaml) } else { Ok(node) }
}

/// Returns the text with each plain value that has a colon as a block; `None` if that changes nothing.
fn with_blocks(text: &str) -> Option<String> {
    let rest = text.strip_prefix("---")?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let yaml = &rest[..rest.find("\n---")?];
    let yaml = yaml.strip_suffix('\r').unwrap_or(yaml);
    let block = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let key = key.trim_end();
        let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let value = value.trim();
        let is_plain = !matches!(value, "" | ">" | "|") && !value.starts_with(['"', '\'']);
        (is_key && is_plain && value.contains(':')).then(|| format!("{key}: |-\n  {value}"))
    };
    let lines: Vec<_> = yaml
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .map(|line| block(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    let changed = text.replacen(yaml, &lines.join("\n"), 1);
    (changed != text).then_some(changed)
}
