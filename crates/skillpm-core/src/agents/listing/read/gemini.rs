//! Gemini CLI 0.61.0, measured: `name` and `description` have to be text for YAML; if they are not, or if the frontmatter
//! is not YAML, its lines are read one by one.

use serde_json::Value;

use super::{Texts, is_date, is_refused};
use crate::agents::listing::Why;
use crate::document::{Node, read_yaml};

/// The characters that a file's name may not have on some system; a hyphen stands for each.
const FORBIDDEN: [char; 9] = [':', '\\', '/', '<', '>', '*', '?', '"', '|'];

pub(super) fn read(bytes: &[u8]) -> Result<Texts, Why> {
    let text = String::from_utf8_lossy(bytes);
    let yaml = frontmatter(&text).ok_or(Why::NoFrontmatter)?;
    let (name, description) = fields(yaml).or_else(|| lines(yaml)).ok_or_else(|| missing(yaml))?;
    Ok(Texts { name: Some(name.replace(FORBIDDEN, "-")), description, ..Texts::default() })
}

/// Returns what stands between `---` on the first line and the next line that begins so.
fn frontmatter(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("---")?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let inside = &rest[..rest.find("\n---")?];
    Some(inside.strip_suffix('\r').unwrap_or(inside))
}

/// Returns name and description of a mapping in which both are text.
fn fields(yaml: &str) -> Option<(String, String)> {
    let mut problems = Vec::new();
    let node = read_yaml(yaml, &mut problems).ok()??;
    if problems.iter().any(|problem| is_refused(&problem.kind)) {
        return None;
    }
    let text = |key| node.get(key).filter(|node| !is_date(node)).map(Node::to_typed_json);
    match (text("name")?, text("description")?) {
        (Value::String(name), Value::String(description)) => Some((name, description)),
        _ => None,
    }
}

/// Returns name and description from lines that begin with these words. Indented lines continue a description.
fn lines(yaml: &str) -> Option<(String, String)> {
    let (mut name, mut description) = (None, None);
    let mut lines = yaml.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).peekable();
    while let Some(line) = lines.next() {
        if let Some(text) = line.trim_start().strip_prefix("name:") {
            name = Some(text.trim().to_owned());
        } else if let Some(text) = line.trim_start().strip_prefix("description:") {
            let mut parts = vec![text.trim()];
            let continues = |line: &&str| line.starts_with([' ', '\t']) && !line.trim().is_empty();
            while let Some(line) = lines.next_if(|line| continues(line)) {
                parts.push(line.trim());
            }
            parts.retain(|part| !part.is_empty());
            description = Some(parts.join(" "));
        }
    }
    name.zip(description)
}

fn missing(yaml: &str) -> Why {
    let has = |key: &str| yaml.lines().any(|line| line.trim_start().starts_with(key));
    if has("name:") { Why::NoDescription } else { Why::NoName }
}
