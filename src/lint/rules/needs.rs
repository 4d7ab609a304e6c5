//! What a skill says that it needs, for the rules about it. No rule itself.

use std::ops::Range;

use crate::document::{Node, Value};
use crate::lint::Subject;
use crate::requirement::{self, Requirement, RequirementError};

/// One entry: where it stands, its text, and what it says.
pub(super) struct Need {
    /// The bytes of the file.
    pub(super) span: Range<usize>,
    /// What it says.
    pub(super) requirement: Result<Requirement, RequirementError>,
}

/// The entries of `metadata.skill-dependencies`, a text or a list of texts.
pub(super) fn needs(subject: &Subject<'_>) -> Vec<Need> {
    let Some(value) = subject.field("metadata").and_then(|(_, metadata)| metadata.get(requirement::KEY))
    else {
        return Vec::new();
    };
    match &value.value {
        Value::Sequence { items, .. } => items.iter().flat_map(|item| of(subject, item)).collect(),
        _ => of(subject, value),
    }
}

fn of(subject: &Subject<'_>, node: &Node) -> Vec<Need> {
    let Some(text) = node.text() else { return Vec::new() };
    let source = &subject.document.text()[node.span.clone()];
    let mut from = 0;
    let entries = requirement::parse_list(text).into_iter();
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
        Need { span, requirement: entry.requirement }
    });
    placed.collect()
}
