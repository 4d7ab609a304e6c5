//! A file as people may see it: its keys, and the values of one entry. A value elsewhere may be a secret.

use std::ops::Range;

use super::lines::without_line_end;

/// The replacement of hidden text.
const HIDDEN: &str = "…";
/// The characters before a hidden text on its line that are shown: the notation of the formats.
const BEFORE: &[char] = &[' ', '\t', '{', '}', '[', ']', ':', '=', ',', '.', '-', '|', '>', '/', '*', '#'];
/// The characters after a hidden text on its line that are shown.
const AFTER: &[char] = &[' ', '\t', '{', '}', '[', ']', ','];

/// The entry whose values are shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The key of the entry.
    pub name: &'a str,
    /// The keys of those fields of it whose values are shown.
    pub fields: &'a [&'a str],
}

/// A key with its value, and where they are in the text.
pub(super) struct Member {
    /// The key.
    pub(super) name: String,
    /// Where the key is.
    pub(super) key: Range<usize>,
    /// Where the value is.
    pub(super) value: Range<usize>,
    /// Whether the value has lines of its own.
    pub(super) has_lines: bool,
    /// The members of the value.
    pub(super) members: Vec<Self>,
}

impl Member {
    /// Returns the member of `text` with these parts.
    pub(super) fn new(
        text: &str,
        name: &str,
        key: Range<usize>,
        value: Range<usize>,
        members: Vec<Self>,
    ) -> Self {
        let has_lines = text.get(key.end..value.end).is_some_and(|between| between.contains('\n'));
        Self { name: name.to_owned(), key, value, has_lines, members }
    }
}

/// Returns the ranges of a text that are shown: keys, save those in a value of one line, and the values of `own`. `members`
/// are the keys at the top of the file, and `table` is that of the servers.
pub(super) fn shown_ranges(members: &[Member], table: &str, own: Option<Shown<'_>>) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for member in members {
        ranges.push(member.key.clone());
        if member.name != table {
            keys(member, &mut ranges);
            continue;
        }
        for entry in &member.members {
            ranges.push(entry.key.clone());
            let Some(own) = own.filter(|own| own.name == entry.name) else {
                keys(entry, &mut ranges);
                continue;
            };
            for field in &entry.members {
                ranges.push(field.key.clone());
                if own.fields.contains(&field.name.as_str()) {
                    ranges.push(field.value.clone());
                } else {
                    keys(field, &mut ranges);
                }
            }
        }
    }
    ranges
}

/// Adds the keys in the value of `member`.
fn keys(member: &Member, ranges: &mut Vec<Range<usize>>) {
    if member.has_lines {
        for inner in &member.members {
            ranges.push(inner.key.clone());
            keys(inner, ranges);
        }
    }
}

/// Returns `text` with everything hidden but `shown` and the notation around it. It has the same lines.
pub(super) fn redacted(text: &str, mut shown: Vec<Range<usize>>) -> String {
    shown.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let (mut start, mut next) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = start + without_line_end(line).len();
        let mut at = start;
        next += shown[next..].iter().take_while(|range| range.end <= start).count();
        for range in shown[next..].iter().take_while(|range| range.start < end) {
            let part = range.start.max(at)..range.end.min(end).max(at);
            out.push_str(&hidden(text.get(at..part.start).unwrap_or_default()));
            out.push_str(text.get(part.clone()).unwrap_or_default());
            at = part.end.max(at);
        }
        out.push_str(&hidden(text.get(at..end).unwrap_or_default()));
        start += line.len();
        out.push_str(text.get(end..start).unwrap_or_default());
    }
    out
}

/// Returns `text`, a part of a line, with [`HIDDEN`] in place of everything that is not notation.
fn hidden(text: &str) -> String {
    let rest = text.trim_start_matches(BEFORE);
    if rest.is_empty() {
        return text.to_owned();
    }
    let before = &text[..text.len() - rest.len()];
    let (rest, mut after) = rest.split_at(rest.trim_end_matches(AFTER).len());
    // A bracket that is hidden has its partner hidden too.
    let number = |brackets: &[char]| rest.matches(brackets).count();
    for _ in number(&['}', ']'])..number(&['{', '[']) {
        after = after.strip_prefix(['}', ']']).unwrap_or(after);
    }
    format!("{before}{HIDDEN}{after}")
}
