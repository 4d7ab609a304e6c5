//! Repairs of the frontmatter that move or delete whole entries.

use std::ops::Range;

use super::{Edit, Subject, quote};
use crate::document::{Layout, Node, ProblemKind, Style, Value};
use crate::text::and;

/// Reports whether the frontmatter is one block of lines that entries can be removed from: no repair, no duplicate key,
/// no braces around it.
pub(super) fn is_simple(subject: &Subject<'_>) -> bool {
    let block = subject
        .document
        .frontmatter()
        .is_some_and(|node| matches!(node.value, Value::Mapping { layout: Layout::Block, .. }));
    block
        && !subject.document.problems().iter().any(|problem| {
            matches!(
                problem.kind,
                ProblemKind::Repaired { .. }
                    | ProblemKind::DuplicateKey { .. }
                    | ProblemKind::ConflictMarker
                    | ProblemKind::Anchor
                    | ProblemKind::Alias
                    | ProblemKind::SeveralDocuments
            )
        })
}

/// Returns the whole lines of an entry in a block, with the last line end. Returns `None` if they contain anything else
/// except a comment, or end with CR alone.
pub(super) fn lines(text: &str, key: &Node, value: &Node) -> Option<Range<usize>> {
    let start = text[..key.span.start].rfind('\n')? + 1;
    let mut end = key.span.end.max(value.span.end);
    // A block of text may end with its line end.
    if !text[..end].ends_with('\n') {
        let rest = &text[end..];
        let rest = &rest[..=rest.find('\n')?];
        let after =
            if value.is_absent() { rest.trim_start().strip_prefix(':').unwrap_or(rest) } else { rest };
        if !(after.trim().is_empty() || after.trim_start().starts_with('#')) {
            return None;
        }
        end += rest.len();
    }
    let whole = &text[start..end];
    let indented = text[start..key.span.start].bytes().all(|byte| byte == b' ');
    (indented && !whole.replace("\r\n", "\n").contains('\r')).then_some(start..end)
}

/// A top-level entry that can be moved below `metadata`.
pub(super) struct Moved<'a> {
    key: &'a str,
    value: String,
    /// The comment after it, with the blanks before the comment.
    rest: &'a str,
    lines: Range<usize>,
}

impl<'a> Moved<'a> {
    /// Returns the entry of `key` and `value`, named `name`, if moving it as a text loses nothing.
    pub(super) fn new(subject: &Subject<'a>, name: &'a str, key: &Node, value: &Node) -> Option<Self> {
        if subject.field("metadata").is_some_and(|(_, metadata)| metadata.get(name).is_some()) {
            return None;
        }
        let text = subject.document.text();
        let lines = lines(text, key, value)?;
        let end = value.span.end.clamp(lines.start, lines.end);
        // In a list over several lines there is no place for a comment.
        let several = text[lines.start..end].contains('\n');
        if several && text[lines.clone()].contains('#') {
            return None;
        }
        let rest = if several { "" } else { text[end..lines.end].trim_end() };
        Some(Self { key: name, value: quoted(value)?, rest, lines })
    }
}

/// Returns `value` as one quoted text.
fn quoted(value: &Node) -> Option<String> {
    let text = match &value.value {
        Value::Scalar { style: Style::Plain | Style::SingleQuoted | Style::DoubleQuoted, text } => {
            text.clone()
        }
        Value::Sequence { items, .. } => {
            let texts: Option<Vec<&str>> = items.iter().map(Node::text).collect();
            let texts = texts?;
            if texts.iter().any(|text| text.contains(',')) {
                return None;
            }
            texts.join(", ")
        }
        _ => return None,
    };
    (!text.trim().is_empty() && !text.chars().any(char::is_control)).then(|| quote::quoted(&text))
}

/// Returns the edits that move entries below `metadata`, and a title for them. All are moved at once: two repairs would
/// both create the same `metadata`.
pub(super) fn move_below(subject: &Subject<'_>, mut moved: Vec<Moved<'_>>) -> Option<(String, Vec<Edit>)> {
    if !is_simple(subject) {
        return None;
    }
    let text = subject.document.text();
    moved.sort_by_key(|entry| entry.lines.start);
    let first = moved.first()?;
    let line_end = if text[first.lines.clone()].ends_with("\r\n") { "\r\n" } else { "\n" };
    let names: Vec<String> = moved.iter().map(|entry| format!("`{}`", entry.key)).collect();
    let title = format!("move {} under `metadata`", and(&names));
    let mut edits: Vec<Edit> = moved.iter().map(|entry| Edit::delete(entry.lines.clone())).collect();
    let written: Vec<_> = moved.iter().map(|entry| (entry.key, entry.value.clone(), entry.rest)).collect();
    let mut inserted = insert_metadata(subject, &written, first.lines.start, line_end)?;
    // An insertion at a deletion is one replacement.
    if let Some(edit) = edits.iter_mut().find(|edit| edit.span.start == inserted.span.start) {
        edit.text = std::mem::take(&mut inserted.text);
    } else if let Some(edit) = edits.iter_mut().find(|edit| edit.span.end == inserted.span.start) {
        edit.text = std::mem::take(&mut inserted.text);
    } else {
        edits.push(inserted);
    }
    edits.sort_by_key(|edit| edit.span.start);
    Some((title, edits))
}

/// Returns the edits that put `entries` (key, text, rest of the line) into `metadata`, which is created at `at` if it
/// is missing. Returns `None` if it is not a mapping.
pub(super) fn insert_metadata(
    subject: &Subject<'_>,
    entries: &[(&str, String, &str)],
    at: usize,
    line_end: &str,
) -> Option<Edit> {
    let text = subject.document.text();
    let block = |indent: &str| -> String {
        let line =
            |(key, value, rest): &(&str, String, &str)| format!("{indent}{key}: {value}{rest}{line_end}");
        entries.iter().map(line).collect()
    };
    let Some((key, metadata)) = subject.field("metadata") else {
        return Some(Edit::insert(at, format!("metadata:{line_end}{}", block("  "))));
    };
    match &metadata.value {
        Value::Mapping { layout: Layout::Flow, pairs } => {
            // Comments cannot be moved into braces.
            if entries.iter().any(|(_, _, rest)| !rest.trim().is_empty()) {
                return None;
            }
            let inner: Vec<String> = entries
                .iter()
                .map(|(key, value, _)| format!("{}: {value}", json_key(text, metadata, key)))
                .collect();
            let comma = if pairs.is_empty() { "" } else { ", " };
            Some(Edit::insert(metadata.span.start + 1, format!("{}{comma}", inner.join(", "))))
        }
        Value::Mapping { layout: Layout::Block, pairs } => {
            let (first, _) = pairs.first()?;
            let start = text[..first.span.start].rfind('\n')? + 1;
            let indent = &text[start..first.span.start];
            let own_line = start > key.span.end && indent.bytes().all(|byte| byte == b' ');
            own_line.then(|| Edit::insert(start, block(indent)))
        }
        // `metadata:` without a value.
        _ if metadata.is_absent() => Some(Edit::insert(lines(text, key, metadata)?.end, block("  "))),
        _ => None,
    }
}

/// Returns `key` in the style of the keys of the mapping in braces.
fn json_key(text: &str, metadata: &Node, key: &str) -> String {
    let quoted = metadata.pairs().first().is_some_and(|(first, _)| text[first.span.clone()].starts_with('"'));
    if quoted { format!("\"{key}\"") } else { key.to_owned() }
}
