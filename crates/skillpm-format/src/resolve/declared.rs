//! The declarations of a skill in `metadata.skill-dependencies`, a text or a list of texts.

use std::ops::Range;

use serde_json::Value;

use crate::document::{self, Document, Node};
use crate::requirement::{KEY, Requirement, RequirementError, parse_list};
use crate::skill::SkillMeta;

/// One declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The text as written.
    pub text: String,
    /// The parsed requirement.
    pub requirement: Result<Requirement, RequirementError>,
}

/// One declaration, with its position in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredAt {
    /// The bytes of the file that contain it.
    pub span: Range<usize>,
    /// The parsed requirement.
    pub requirement: Result<Requirement, RequirementError>,
}

/// Returns the declarations of the skill with the metadata `meta`.
pub fn declared(meta: &SkillMeta) -> Vec<Declared> {
    let texts = match meta.metadata.get(KEY) {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let entries = texts.into_iter().flat_map(parse_list);
    entries.map(|entry| Declared { text: entry.text.to_owned(), requirement: entry.requirement }).collect()
}

/// Returns the declarations of the skill in `document`, with their positions.
pub fn declared_in(document: &Document) -> Vec<DeclaredAt> {
    let Some(value) = document.get("metadata").and_then(|metadata| metadata.get(KEY)) else {
        return Vec::new();
    };
    match &value.value {
        document::Value::Sequence { items, .. } => {
            items.iter().flat_map(|item| entries_of(document, item)).collect()
        }
        _ => entries_of(document, value),
    }
}

fn entries_of(document: &Document, node: &Node) -> Vec<DeclaredAt> {
    let Some(text) = node.text() else { return Vec::new() };
    let source = &document.text()[node.span.clone()];
    let mut from = 0;
    let entries = parse_list(text).into_iter();
    let placed = entries.map(|entry| {
        // Escapes and folded lines may have changed it.
        let span = match source[from..].find(entry.text) {
            Some(at) => {
                let start = from + at;
                from = start + entry.text.len();
                node.span.start + start..node.span.start + from
            }
            None => node.span.clone(),
        };
        DeclaredAt { span, requirement: entry.requirement }
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill;

    #[test]
    fn lists_are_read_as_texts_are() {
        let texts = |value: &str| -> Vec<String> {
            let text =
                format!("---\nname: x\ndescription: X.\nmetadata:\n  skill-dependencies: {value}\n---\n");
            let document = Document::parse(text);
            let loaded = skill::load(&document).expect("loads");
            declared(&loaded.meta).into_iter().map(|declared| declared.text).collect()
        };
        assert_eq!(texts("a, b@1 c"), ["a", "b@1", "c"]);
        assert_eq!(texts("[a, b@1 c]"), ["a", "b@1", "c"]);
        assert_eq!(texts("{a: b}"), [""; 0]);
    }
}
