//! Codex 0.171.0, measured: lines are trimmed before they are compared with `---`, values with a colon are put in
//! quotes, and what is listed has single blanks only.

mod openai;

use crate::agents::listing::Why;
use crate::agents::listing::walk::FoundFile;
use crate::document::{Node, Value, read_yaml};

use super::{MAX_NAME, Texts};

pub(super) fn read(bytes: Vec<u8>, found: &FoundFile) -> Result<Texts, Why> {
    let text = String::from_utf8(bytes).map_err(|_| Why::Unreadable)?;
    let yaml = frontmatter(&text).ok_or(Why::NoFrontmatter)?;
    let (name, description) = match fields(&yaml) {
        Ok(fields) => fields,
        Err(why) => fields(&repaired(&yaml).ok_or(why)?)?,
    };
    let name = if name.is_empty() { directory(found) } else { name };
    let length = name.chars().count();
    if length > MAX_NAME {
        return Err(Why::LongName(length));
    }
    if description.is_empty() {
        return Err(Why::NoDescription);
    }
    let hidden = found.real.parent().and_then(openai::hides);
    Ok(Texts { name: Some(name), description, when: None, hidden })
}

/// Returns the name of the file's directory, of which all links are followed.
fn directory(found: &FoundFile) -> String {
    let name = found.real.parent().and_then(|dir| dir.file_name()).unwrap_or_default();
    squashed(&name.to_string_lossy())
}

/// Returns the lines between the first two that are `---`, of which the first begins the file.
fn frontmatter(text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.trim() == "---")?;
    let mut inside = Vec::new();
    for line in lines {
        if line.trim() == "---" {
            return (!inside.is_empty()).then(|| inside.join("\n"));
        }
        inside.push(line);
    }
    None
}

/// Returns name and description, empty if there are none.
fn fields(yaml: &str) -> Result<(String, String), Why> {
    let mut problems = Vec::new();
    let node = read_yaml(yaml, &mut problems).map_err(|_| Why::NotYaml)?;
    let Some(node) = node else { return Ok((String::new(), String::new())) };
    if !matches!(node.value, Value::Mapping { .. }) {
        return Err(Why::NotYaml);
    }
    let one = |key: &'static str| {
        let mut values = node.pairs().iter().filter(|(name, _)| name.text() == Some(key));
        let Some((_, value)) = values.next() else { return Ok(String::new()) };
        if values.next().is_some() {
            return Err(Why::NotYaml);
        }
        text(value).map(|text| squashed(&text)).ok_or(Why::NotText(key))
    };
    let fields = (one("name")?, one("description")?);
    // A field of a field that is not text is an error as well.
    if let Some(metadata) = node.get("metadata").filter(|metadata| !metadata.is_absent()) {
        let is_mapping = matches!(metadata.value, Value::Mapping { .. });
        let short = metadata.get("short-description");
        if !is_mapping || short.is_some_and(|short| text(short).is_none()) {
            return Err(Why::NotMapping("metadata"));
        }
    }
    Ok(fields)
}

/// Returns the text of a scalar, whatever type it looks like; empty if it is null.
fn text(node: &Node) -> Option<String> {
    let is_null = matches!(node.to_typed_json(), serde_json::Value::Null);
    if is_null && node.text().is_some() { Some(String::new()) } else { node.text().map(str::to_owned) }
}

/// Returns `text` with single blanks for all white space.
fn squashed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts plain values with a colon, and brackets that are not YAML, into quotes; `None` if there are none.
fn repaired(yaml: &str) -> Option<String> {
    let mut is_changed = false;
    let mut block: Option<usize> = None;
    let mut repair = |line: &str| -> Option<String> {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if block.is_some_and(|outer| line.trim().is_empty() || indent > outer) {
            return None;
        }
        block = None;
        let (key, value) = line.split_once(':')?;
        if key.trim().is_empty() || value.chars().next().is_some_and(|c| !c.is_whitespace()) {
            return None;
        }
        let text = value.trim_start();
        let lead = &value[..value.len() - text.len()];
        let (scalar, comment) = apart(text);
        match scalar.chars().next()? {
            '|' | '>' => {
                block = Some(indent);
                return None;
            }
            '\'' | '"' => return None,
            first => {
                let has_colon = scalar.char_indices().any(|(at, c)| {
                    c == ':' && scalar[at + 1..].chars().next().is_some_and(char::is_whitespace)
                });
                let is_broken =
                    matches!(first, '[' | '{' | '@' | '`') && read_yaml(scalar, &mut Vec::new()).is_err();
                if !has_colon && !is_broken {
                    return None;
                }
            }
        }
        is_changed = true;
        Some(format!("{key}:{lead}'{}'{comment}", scalar.replace('\'', "''")))
    };
    let lines: Vec<_> = yaml.lines().map(|line| repair(line).unwrap_or_else(|| line.to_owned())).collect();
    is_changed.then(|| lines.join("\n"))
}

/// Returns a value without the comment after it, and that comment with the blanks before it.
fn apart(text: &str) -> (&str, &str) {
    let starts_comment = |(at, c): &(usize, char)| {
        *c == '#' && text[..*at].chars().next_back().is_none_or(char::is_whitespace)
    };
    match text.char_indices().find(starts_comment) {
        Some((at, _)) => text.split_at(text[..at].trim_end().len()),
        None => (text.trim_end(), ""),
    }
}
