//! Edits of frontmatter that several rules make. They return `None` if an edit would lose something.

use super::{Edit, Fix, Subject};
use crate::document::{self, Document, Layout, Node, Style, Value};
use crate::text::line_start;

/// The range of bytes from the colon of a field's first key to the end of its value, including blanks in front.
struct FieldLocation {
    /// The position after the colon.
    start: usize,
    /// The position after the value, or after the colon if there is no value.
    end: usize,
}

/// Returns the position of the value of `key`. Returns `None` if anything except blanks surrounds it.
fn place(document: &Document, key: &Node, value: &Node) -> Option<FieldLocation> {
    let text = document.text();
    let after = text.get(key.span.end..)?;
    let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
    let start = key.span.end + blanks + 1;
    if !after[blanks..].starts_with(':') {
        return None;
    }
    if value.is_absent() {
        return Some(FieldLocation { start, end: start });
    }
    let end = value.span.start + text.get(value.span.clone())?.trim_end().len();
    let gap = text.get(start..value.span.start)?;
    gap.trim_start_matches(is_item_start).is_empty().then_some(FieldLocation { start, end })
}

/// Reports whether `c` can start an item: a list's span may start after its first hyphen.
fn is_item_start(c: char) -> bool {
    c.is_whitespace() || c == '-'
}

/// Returns the text after byte `at` on its line: blanks, and a comment or other text.
pub(super) fn rest_of_line(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())]
}

/// Returns the line ending used in the frontmatter.
pub(super) fn newline(document: &Document) -> &str {
    let text = document.text();
    let open = document.opening_span().end;
    let end = document.yaml_span().map_or(open, |yaml| yaml.start);
    text.get(open..end).filter(|newline| !newline.is_empty()).unwrap_or("\n")
}

/// Replaces the value of `key` by `new`, which is YAML on one line. A comment beside the key stays beside it.
pub(super) fn set_value(document: &Document, key: &Node, value: &Node, new: &str) -> Option<Vec<Edit>> {
    if is_block(value) {
        return set_block(document, key, value, new);
    }
    if has_comment(document, key, value) { None } else { set_all(document, key, value, new) }
}

/// Replaces a block after `|` or `>` like [`set_value`]: a comment after that sign is moved after `new`.
fn set_block(document: &Document, key: &Node, value: &Node, new: &str) -> Option<Vec<Edit>> {
    let header = header(document, key);
    let start = key.span.end + header.find(':')? + 1;
    let header_end = key.span.end + header.len();
    let end = value.span.start + document.text().get(value.span.clone())?.trim_end().len();
    let end = end.max(header_end);
    Some(match header.find('#') {
        Some(comment) => vec![
            Edit::replace(start..key.span.end + comment, format!(" {new} ")),
            Edit::delete(header_end..end),
        ],
        None => vec![Edit::replace(start..end, format!(" {new}"))],
    })
}

fn is_block(value: &Node) -> bool {
    matches!(value.value, Value::Scalar { style: Style::Literal | Style::Folded, .. })
}

/// Returns the text after `key` up to the end of the line on which its value starts.
fn header<'a>(document: &'a Document, key: &Node) -> &'a str {
    let rest = document.text().get(key.span.end..).unwrap_or_default();
    let value = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == ':').len();
    &rest[..value + rest_of_line(rest, value).len()]
}

/// Replaces a value like [`set_value`], if `new` contains everything in the value that looks like a comment.
fn set_all(document: &Document, key: &Node, value: &Node, new: &str) -> Option<Vec<Edit>> {
    let text = document.text();
    if let Some(place) = place(document, key, value) {
        // Some tools refuse a tab after a quoted value.
        let rest = rest_of_line(text, place.end);
        let blanks = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
        let (end, gap) = match blanks.contains('\t') {
            true if blanks == rest => (place.end + blanks.len(), ""),
            true => (place.end + blanks.len(), " "),
            false => (place.end, ""),
        };
        return Some(vec![Edit::replace(place.start..end, format!(" {new}{gap}"))]);
    }
    let start = key.span.end + 1;
    let comment = rest_of_line(text, start);
    let line_end = start + comment.len();
    let between = text.get(line_end..value.span.start)?;
    let is_beside = text[..start].ends_with(':') && comment.trim_start().starts_with('#');
    let end = value.span.start + text.get(value.span.clone())?.trim_end().len();
    (is_beside && between.trim_start_matches(is_item_start).is_empty())
        .then(|| vec![Edit::insert(start, format!(" {new}")), Edit::delete(line_end..end)])
}

/// Reports whether there may be a comment inside a list, a mapping or invalid YAML, or after the sign of a block.
fn has_comment(document: &Document, key: &Node, value: &Node) -> bool {
    let source = match value.value {
        Value::Scalar { .. } if is_block(value) => Some(header(document, key)),
        Value::Scalar { style, .. } if style != Style::Raw => return false,
        _ => document.text().get(value.span.clone()),
    };
    source.is_none_or(|source| source.contains('#'))
}

/// Removes the entry of `key`, with its lines. Nothing else may be on them.
pub(super) fn delete_entry(document: &Document, key: &Node, value: &Node) -> Option<Edit> {
    let text = document.text();
    let start = line_start(text, key.span.start);
    if !text[start..key.span.start].trim().is_empty() || has_comment(document, key, value) {
        return None;
    }
    let end = place(document, key, value)?.end;
    let rest = rest_of_line(text, end);
    if !rest.trim().is_empty() {
        return None;
    }
    let line_end = end + rest.len();
    let ending = if text[line_end..].starts_with("\r\n") { 2 } else { 1 };
    Some(Edit::delete(start..(line_end + ending).min(text.len())))
}

/// Writes the flow collection that is the value of `key` with one entry per line, at the column that `siblings`, the
/// mapping around it, already uses for such values.
pub(super) fn value_to_block(
    document: &Document,
    key: &Node,
    value: &Node,
    siblings: &[(Node, Node)],
) -> Option<Vec<Edit>> {
    let text = document.text();
    let start = line_start(text, key.span.start);
    let own = text[start..key.span.start].chars().count();
    let of_sibling = siblings.iter().find_map(|(_, value)| match &value.value {
        Value::Mapping { layout: Layout::Block, .. } => {
            let start = line_start(text, value.span.start);
            Some(text[start..value.span.start].chars().count())
        }
        _ => None,
    });
    let indent = of_sibling.filter(|column| *column > own).unwrap_or(own + 2);
    let newline = newline(document);
    let lines = document::block_lines(document, value, indent, newline)?;
    let place = place(document, key, value)?;
    let rest = rest_of_line(text, place.end);
    let comment = rest.trim_start();
    if comment.is_empty() {
        return Some(vec![Edit::replace(place.start..place.end + rest.len(), newline.to_owned() + &lines)]);
    }
    let line_end = place.end + rest.len();
    Some(vec![
        Edit::replace(place.start..line_end - comment.len(), " "),
        Edit::insert(line_end, newline.to_owned() + &lines),
    ])
}

/// Writes the flow collection `item`, an entry of a list, with one entry per line.
pub(super) fn item_to_block(document: &Document, item: &Node) -> Option<Vec<Edit>> {
    let text = document.text();
    let start = line_start(text, item.span.start);
    let before = &text[start..item.span.start];
    // Only hyphens: then everything below the first entry certainly belongs to this list.
    if !before.chars().all(|c| matches!(c, ' ' | '-')) || !rest_of_line(text, item.span.end).trim().is_empty()
    {
        return None;
    }
    let indent = before.len();
    let lines = document::block_lines(document, item, indent, newline(document))?;
    Some(vec![Edit::replace(item.span.clone(), lines.trim_start())])
}

/// Renames the skill to `name`.
pub(super) fn rename(subject: &Subject<'_>, name: &str) -> Option<Fix> {
    let (key, value) = subject.field("name")?;
    let edits = set_value(subject.document, key, value, &document::write_scalar(name))?;
    Some(Fix::unsafe_(format!("call it `{name}`"), edits))
}

/// Returns a repair that inserts a line at the start of the frontmatter.
pub(super) fn first_line(document: &Document, line: &str) -> Option<Edit> {
    let start = document.yaml_span()?.start;
    if start > document.opening_span().end {
        return Some(Edit::insert(start, line.to_owned() + newline(document)));
    }
    // For the reference validator the frontmatter starts directly after the delimiter, so nothing may be added on that
    // line.
    let rest = document.text().get(start..)?;
    let end = ["\r\n", "\n", "\r"].into_iter().find(|end| rest.starts_with(end))?;
    Some(Edit::insert(start + end.len(), line.to_owned() + end))
}

/// Returns the field that contains byte `at` and whose value is not YAML.
fn raw_at(document: &Document, at: usize) -> Option<(&Node, &Node)> {
    let pairs = document.frontmatter()?.pairs();
    // There may be thousands, each with its own problem.
    let (key, value) = pairs[..pairs.partition_point(|(key, _)| key.span.start <= at)].last()?;
    let is_raw = matches!(value.value, Value::Scalar { style: Style::Raw, .. });
    (is_raw && (value.span.start..=value.span.end).contains(&at)).then_some((key, value))
}

/// Reports whether `value`, which is not YAML, looks like a list or a mapping on the lines below its key: quotes around
/// all of it would turn it into one text.
fn looks_nested(document: &Document, key: &Node, value: &Node) -> bool {
    let source = document.text().get(key.span.end..value.span.end).unwrap_or_default();
    let (_, source) = source.split_once(':').unwrap_or_default();
    let mut lines = source.split(['\n', '\r']).map(str::trim);
    let beside = lines.next().unwrap_or_default();
    if !(beside.is_empty() || beside.starts_with('#')) {
        return false;
    }
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    let entry = first.split_once(": ").map(|(entry, _)| entry).or_else(|| first.strip_suffix(':'));
    // Sentences contain colons too.
    let is_prose = matches!(key.text(), Some("name" | "description" | "license" | "compatibility"));
    first == "-"
        || first.starts_with("- ")
        || (!first.starts_with(['{', '[']) && entry.is_some_and(|entry| !is_prose || !entry.contains(' ')))
}

/// Returns how to put the value of `key`, which is not YAML, in quotes; `at` is the position of the problem.
pub(super) fn how_to_quote(document: &Document, at: usize, key: &str, raw: &str) -> String {
    if raw_at(document, at).is_some_and(|(key, value)| looks_nested(document, key, value)) {
        return "put the value in the faulty line in quotes, not the whole list or mapping".to_owned();
    }
    super::quote::suggestion(key, raw)
}

/// Puts a value that is not YAML in quotes; `at` is the position of the problem.
pub(super) fn quote_raw(document: &Document, at: usize) -> Option<Fix> {
    let conflict = |kind: &document::ProblemKind| matches!(kind, document::ProblemKind::ConflictMarker);
    if document.problems().iter().any(|problem| conflict(&problem.kind)) {
        return None;
    }
    let (key, value) = raw_at(document, at).filter(|(key, value)| !looks_nested(document, key, value))?;
    let source = document.text().get(value.span.clone())?;
    let signs = || source.match_indices('#').map(|(at, sign)| (&source[..at], &source[at + sign.len()..]));
    // Text that looks like a comment was read as part of the value.
    let hidden = source.lines().any(|line| line.starts_with('#'))
        || signs().any(|(_, after)| document::is_switch(after));
    let raw = value.text().filter(|raw| !hidden && !raw.chars().any(document::is_forbidden))?;
    let edits = set_all(document, key, value, &super::quote::written(raw))?;
    let title = "put the value in quotes";
    // Quotes do not turn a broken mapping into a valid one, and a comment would become text.
    let broken = key.text() == Some("metadata");
    let cut = signs().any(|(before, _)| before.ends_with(char::is_whitespace));
    // No name contains a `#`: it starts a comment, which would be lost when the text becomes a name.
    if cut && key.text() == Some("name") {
        return None;
    }
    let open = match open_quote(raw) {
        // The quote is closed further below, and other readers read everything up to there.
        Some(quote) if rest_of_frontmatter(document, value).contains(quote) => return None,
        quote => quote.is_some(),
    };
    Some(if broken || cut || open { Fix::unsafe_(title, edits) } else { Fix::safe(title, edits) })
}

/// Returns the quote that `raw` starts with, if it is not closed, or if a comment follows directly after its end, which
/// some parsers accept as a comment.
fn open_quote(raw: &str) -> Option<char> {
    let quote = raw.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let is_open = raw[1..].split_once(quote).is_none_or(|(_, behind)| behind.starts_with('#'));
    is_open.then_some(quote)
}

/// Returns the text after `value` in the frontmatter.
fn rest_of_frontmatter<'a>(document: &'a Document, value: &Node) -> &'a str {
    let end = document.yaml_span().map_or(0, |yaml| yaml.end);
    document.text().get(value.span.end..end).unwrap_or_default()
}

/// Replaces each tab that indents a line of `span` by two spaces.
pub(super) fn untab(document: &Document, span: std::ops::Range<usize>) -> Option<Fix> {
    let text = document.text();
    let mut edits = Vec::new();
    let mut at = line_start(text, span.start);
    for line in text.get(at..span.end)?.split_inclusive(['\n', '\r']) {
        let blanks = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        if blanks.contains('\t') {
            edits.push(Edit::replace(at..at + blanks.len(), blanks.replace('\t', "  ")));
        }
        at += line.len();
    }
    (!edits.is_empty()).then(|| Fix::safe("indent with spaces", edits))
}
