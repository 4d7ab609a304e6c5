//! Values that are a list, or one entry without a list.

use crate::document::{Node, Value};

/// Returns the entries of a list, or the value itself.
pub(super) fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::Sequence { items, .. } => items,
        _ => std::slice::from_ref(node),
    }
}

/// Returns the texts in a list, or the text itself.
pub(super) fn texts(node: &Node) -> impl Iterator<Item = &str> {
    items(node).iter().filter_map(Node::text)
}

/// Returns the versions that an object states as `semver`.
pub(super) fn version(node: &Node) -> Option<String> {
    let text = node.get("semver")?.text()?.trim();
    (!text.is_empty()).then(|| text.chars().take(super::MAX_NAME).collect())
}

/// Returns `json` without lines that are comments, which YAML does not have in this form.
pub(super) fn without_comments(json: &str) -> String {
    json.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
