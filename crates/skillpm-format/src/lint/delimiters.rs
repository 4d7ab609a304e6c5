//! Repairs of the lines around the frontmatter.

use super::{Edit, Fix};
use crate::document::Document;
use crate::skill;

/// Returns the lines of `text` from byte `from` on, with their positions and without their ends.
fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = from;
    std::iter::from_fn(move || {
        let start = at;
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = if rest[length..].starts_with("\r\n") { 2 } else { 1 };
        at = (start + length + ending).min(text.len());
        Some((start, &rest[..length]))
    })
}

/// Reports whether `line` is meant as a delimiter: dashes of any kind and number, surrounded by blanks.
fn is_meant(line: &str) -> bool {
    let dashes = line.trim();
    let width: usize = dashes.chars().map(width_of).sum();
    width >= 3 && dashes.chars().all(|c| matches!(c, '-' | '\u{2013}' | '\u{2014}'))
}

/// Returns the number of dashes that editors replace by `c`.
fn width_of(c: char) -> usize {
    match c {
        '\u{2014}' => 3,
        '\u{2013}' => 2,
        _ => 1,
    }
}

fn newline(text: &str) -> &str {
    let end = text.find(['\n', '\r']).unwrap_or(text.len());
    let length = if text[end..].starts_with("\r\n") { 2 } else { 1 };
    text.get(end..end + length).unwrap_or("\n")
}

/// Reports whether `text` with `edits` is a skill without faults.
fn helps(text: &str, edits: &[Edit]) -> bool {
    let mut new = text.to_owned();
    for edit in edits.iter().rev() {
        new.replace_range(edit.span.clone(), &edit.text);
    }
    let document = Document::parse(new);
    document.problems().is_empty() && skill::load(&document).is_ok()
}

/// Closes the frontmatter that contains byte `start`: at a line meant as the delimiter, otherwise before the first
/// blank line or heading.
pub(super) fn close(text: &str, start: usize) -> Option<Fix> {
    let body = lines(text, start).skip(1);
    for (at, line) in body.filter(|(_, line)| is_meant(line)) {
        let edits = vec![Edit::replace(at..at + line.len(), "---")];
        if helps(text, &edits) {
            return Some(Fix::safe("write the closing line as `---`", edits));
        }
    }
    let edits = vec![ending(text, start)?];
    helps(text, &edits).then(|| Fix::unsafe_("close the frontmatter after the last key", edits))
}

/// Returns an edit that adds a closing line before the first blank line or heading after byte `start`.
fn ending(text: &str, start: usize) -> Option<Edit> {
    let newline = newline(text);
    let mut body = lines(text, start).skip(1);
    match body.find(|(_, line)| line.trim().is_empty() || line.starts_with('#')) {
        Some((at, _)) => Some(Edit::insert(at, format!("---{newline}"))),
        None if text.ends_with(['\n', '\r']) => Some(Edit::insert(text.len(), format!("---{newline}"))),
        None => None,
    }
}

/// Opens the frontmatter at byte `start`, where there is a line meant as the delimiter, or a key.
pub(super) fn open(text: &str, start: usize) -> Option<Fix> {
    let (_, first) = lines(text, start).next()?;
    let edit = if is_meant(first) {
        Edit::replace(start..start + first.len(), "---")
    } else {
        Edit::insert(start, format!("---{}", newline(text)))
    };
    let title = "start the frontmatter with `---`";
    if helps(text, std::slice::from_ref(&edit)) {
        return Some(Fix::unsafe_(title, vec![edit]));
    }
    let edits = vec![edit, ending(text, start)?];
    helps(text, &edits).then(|| Fix::unsafe_("put `---` before and after the keys", edits))
}
