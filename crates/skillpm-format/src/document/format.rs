//! The canonical form of a `SKILL.md`.
//!
//! The specification's keys first and in its order, one entry per line, two spaces per level, one blank line before the
//! body. Quotes, wrapped texts and lists in brackets stay as they are written. Values, comments and the body are
//! preserved; if that cannot be guaranteed, nothing is changed.

use std::ops::Range;

use super::outline::{self, Outline, OutlineEntry, Shape, Unsupported};
use super::scalar::{double_quoted, needs_escape};
use super::tree::{Node, Style, Value};
use super::{Document, ProblemKind};
use crate::text::line_start;

/// The keys that come first, in this order.
const ORDER: [&str; 6] = ["name", "description", "license", "compatibility", "allowed-tools", "metadata"];

/// Characters that end a line in YAML 1.1 but not in YAML 1.2: no other form is sure to mean the same in both.
const DISPUTED: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// The reason why a text has no canonical form, and the position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unformattable {
    /// The reason.
    pub reason: String,
    /// The bytes at fault; may be empty.
    pub span: Range<usize>,
}

/// Returns the canonical form of `document`, which is the text itself if that is canonical.
///
/// # Errors
///
/// Fails if the frontmatter cannot be read unambiguously, or contains something that has no canonical form: anchors,
/// tags, keys that are not text.
pub fn format(document: &Document) -> Result<String, Unformattable> {
    let obstacle = document
        .problems()
        .iter()
        .find(|problem| !matches!(problem.kind, ProblemKind::Bom | ProblemKind::LeadingBlankLines));
    if let Some(problem) = obstacle {
        return Err(Unformattable { reason: problem.kind.to_string(), span: problem.span.clone() });
    }
    let odd = |Unsupported(span)| Unformattable { reason: "this has no canonical form".to_owned(), span };
    let (Some(root), Some(parts)) = (&document.frontmatter, &document.parts) else {
        return Err(odd(Unsupported(0..0)));
    };
    let text = document.text();
    if let Some((at, c)) = text[parts.yaml.clone()].char_indices().find(|(_, c)| DISPUTED.contains(c)) {
        let start = parts.yaml.start + at;
        let reason = format!("U+{:04X} ends a line for some readers but not for others", u32::from(c));
        return Err(Unformattable { reason, span: start..start + c.len_utf8() });
    }
    let outline = Outline::new(text, parts.yaml.clone(), root).map_err(odd)?;
    let newline = &text[parts.open.end..parts.yaml.start];
    let formatted = whole(&outline, newline, document.body());
    if is_kept(document, &outline, &formatted) {
        Ok(formatted)
    } else {
        Err(odd(Unsupported(parts.open.clone())))
    }
}

/// Joins the parts.
fn whole(outline: &Outline<'_>, newline: &str, body: &str) -> String {
    let mut order = outline.root.clone();
    // A stable sort: keys that are not in the specification keep their order.
    order.sort_by_key(|number| {
        let key = outline.entries[*number].key.and_then(Node::text).unwrap_or_default();
        ORDER.iter().position(|first| *first == key).unwrap_or(ORDER.len())
    });
    let mut writer = Writer { outline, newline, out: format!("---{newline}") };
    for comment in &outline.alone {
        writer.line(0, comment);
    }
    for number in order {
        writer.entry(number, 0, false);
    }
    for comment in &outline.end {
        writer.line(0, comment);
    }
    writer.line(0, "---");
    let mut out = writer.out;
    let body = without_blank_lines(body);
    if !body.is_empty() {
        out.push_str(newline);
        out.push_str(body);
        if !body.ends_with(['\n', '\r']) {
            out.push_str(newline);
        }
    }
    out
}

/// Drops the blank lines at the start.
fn without_blank_lines(body: &str) -> &str {
    let blank = body.len() - body.trim_start_matches([' ', '\t', '\n', '\r']).len();
    if blank == body.len() {
        return "";
    }
    &body[line_start(body, blank)..]
}

/// Reports, as the final check, whether `formatted` means the same as `document`, comments and body included.
fn is_kept(document: &Document, outline: &Outline<'_>, formatted: &str) -> bool {
    let new = Document::parse(formatted.to_owned());
    let value = |document: &Document| document.frontmatter.as_ref().map(Node::to_json);
    let comments = |outline: &Outline<'_>| {
        let mut comments: Vec<_> = outline.comments().into_iter().map(str::to_owned).collect();
        comments.sort_unstable();
        comments
    };
    let (Some(root), Some(parts)) = (&new.frontmatter, &new.parts) else { return false };
    let body =
        |document: &Document| without_blank_lines(document.body()).trim_end_matches(['\n', '\r']).to_owned();
    new.problems().is_empty()
        && value(document) == value(&new)
        && body(document) == body(&new)
        && Outline::new(new.text(), parts.yaml.clone(), root)
            .is_ok_and(|new| comments(&new) == comments(outline))
}

/// Returns the lines of the flow collection `node` of `document` with one entry per line, each indented by `indent`.
/// Returns `None` if that would lose something.
pub(crate) fn block_lines(document: &Document, node: &Node, indent: usize, newline: &str) -> Option<String> {
    let text = document.text();
    let is_disputed = text.get(node.span.clone()).is_none_or(|source| source.contains(DISPUTED));
    if is_disputed || !outline::can_be_block(text, node) || outline::has_empty(node) {
        return None;
    }
    let outline = Outline::new(text, node.span.clone(), node).ok()?;
    let mut writer = Writer { outline: &outline, newline, out: String::new() };
    for number in &outline.root {
        writer.entry(*number, indent, false);
    }
    let end = writer.out.len() - newline.len();
    writer.out.truncate(end);
    Some(writer.out)
}

struct Writer<'a> {
    outline: &'a Outline<'a>,
    newline: &'a str,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, indent: usize, text: &str) {
        self.start(indent);
        self.out.push_str(text);
        self.out.push_str(self.newline);
    }

    fn start(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Writes an entry; with `inline` it continues a line that is already indented.
    fn entry(&mut self, number: usize, indent: usize, inline: bool) {
        let outline = self.outline;
        let entry = &outline.entries[number];
        for comment in &entry.before {
            self.line(indent, comment);
        }
        if !inline {
            self.start(indent);
        }
        match entry.key {
            Some(key) => {
                self.out.push_str(&outline.text[key.span.clone()]);
                self.out.push(':');
            }
            None => self.out.push('-'),
        }
        let is_block = self.value(entry, indent);
        // At the depth of a key that may come next, it would belong to that key, and at the depth of a block's lines to
        // the block.
        let depth = if indent > 0 { indent } else { 2 - usize::from(is_block) };
        for comment in &entry.after {
            self.line(depth, comment);
        }
    }

    /// Writes the value of an entry. Returns true if its last lines are those of a block scalar.
    fn value(&mut self, entry: &OutlineEntry<'_>, indent: usize) -> bool {
        match &entry.value {
            Shape::Scalar(node) if node.is_absent() => self.finish(entry, ""),
            Shape::Scalar(node) => {
                let source = &self.outline.text[node.span.clone()];
                self.written(entry, source, |line| if line.is_empty() { 0 } else { indent + 2 });
            }
            Shape::Block(node, header) => return self.block(entry, node, *header, indent),
            Shape::Verbatim(source) => {
                let source: Vec<_> = lines(source).filter(|line| !line.trim().is_empty()).collect();
                let depth = |line: &str| (line.len() - line.trim_start().len()).max(indent + 2);
                self.written(entry, &source.join("\n"), depth);
            }
            Shape::Mapping(entries) | Shape::Sequence(entries) => self.collection(entry, entries, indent),
        }
        false
    }

    fn collection(&mut self, entry: &OutlineEntry<'_>, entries: &[usize], indent: usize) {
        let first_is_bare =
            entries.first().is_some_and(|first| self.outline.entries[*first].before.is_empty());
        let inline = entry.key.is_none() && entry.beside.is_none() && first_is_bare;
        if inline {
            self.out.push(' ');
        } else {
            self.finish(entry, "");
        }
        for (at, number) in entries.iter().enumerate() {
            self.entry(*number, indent + 2, inline && at == 0);
        }
    }

    /// Ends the entry with `source` as it is written, each line after the first with the indentation `depth`.
    fn written(&mut self, entry: &OutlineEntry<'_>, source: &str, depth: impl Fn(&str) -> usize) {
        let mut lines = lines(source).map(str::trim_end);
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            text.push_str(self.newline);
            text.push_str(&" ".repeat(depth(line)));
            text.push_str(line.trim_start());
        }
        self.finish(entry, &text);
    }

    /// Ends the entry's line with `text` and the comment beside it.
    fn finish(&mut self, entry: &OutlineEntry<'_>, text: &str) {
        for part in [text, entry.beside.unwrap_or_default()] {
            if !part.is_empty() {
                self.out.push(' ');
                self.out.push_str(part);
            }
        }
        self.out.push_str(self.newline);
    }

    /// Writes the block scalar `node`. Returns true if it is still a block scalar.
    fn block(&mut self, entry: &OutlineEntry<'_>, node: &Node, header: usize, indent: usize) -> bool {
        let Value::Scalar { text, style } = &node.value else { return false };
        let lines = if *style == Style::Folded { folded(self.outline.text, node, header) } else { None };
        match lines {
            Some((header, lines)) => {
                self.finish(entry, &header);
                self.block_content(&lines, indent);
            }
            None if fits_literal(text) => self.literal(entry, text, indent),
            None => {
                self.finish(entry, &double_quoted(text));
                return false;
            }
        }
        true
    }

    fn literal(&mut self, entry: &OutlineEntry<'_>, text: &str, indent: usize) {
        let mut header = String::from("|");
        if text.trim_start_matches('\n').starts_with(' ') {
            header.push('2');
        }
        let content = text.trim_end_matches('\n');
        let kept = text.len() - content.len();
        header.push_str(["-", "", "+"][kept.min(2)]);
        self.finish(entry, &header);
        let mut lines: Vec<&str> = content.split('\n').collect();
        lines.extend(std::iter::repeat_n("", kept.saturating_sub(1)));
        self.block_content(&lines, indent);
    }

    fn block_content(&mut self, lines: &[&str], indent: usize) {
        for line in lines {
            self.line(if line.is_empty() { 0 } else { indent + 2 }, line);
        }
    }
}

/// Returns the lines of `text`, which may end with CR alone.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).flat_map(|line| line.split('\r'))
}

/// Reports whether `text` can be the content of a block scalar.
fn fits_literal(text: &str) -> bool {
    let content = text.trim_matches('\n');
    !content.is_empty()
        && !content.starts_with('\t')
        && !text.chars().any(|c| needs_escape(c) && !matches!(c, '\n' | '\t'))
        // A first line that consists only of blanks would be taken for indentation.
        && text.lines().find(|line| !line.is_empty()).is_some_and(|line| !line.trim().is_empty())
}

/// Returns the header and lines of the folded scalar `node`, whose line breaks stay where they are. Returns `None` if
/// its indentation is not that of its first line.
fn folded<'a>(source: &'a str, node: &'a Node, header: usize) -> Option<(String, Vec<&'a str>)> {
    let text = node.text()?;
    let source = source.get(header..node.span.end)?;
    let (first, content) = source.split_at(source.find(['\n', '\r'])?);
    let indicators: String = first.chars().take_while(|c| matches!(c, '>' | '-' | '+')).collect();
    if first[indicators.len()..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let content = content.strip_prefix("\r\n").unwrap_or_else(|| content.get(1..).unwrap_or_default());
    let mut lines: Vec<&str> = lines(content).collect();
    let is_blank = |line: &&str| line.trim_matches(' ').is_empty();
    let start = lines.iter().find(|line| !is_blank(line))?;
    let depth = start.len() - start.trim_start_matches(' ').len();
    if start[depth..].starts_with('\t') {
        return None;
    }
    while lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    let mut lines: Vec<&str> = lines.into_iter().map(|line| line.get(depth..).unwrap_or_default()).collect();
    if indicators.ends_with('+') {
        let kept = text.len() - text.trim_end_matches('\n').len();
        lines.extend(std::iter::repeat_n("", kept.saturating_sub(1)));
    }
    Some((indicators, lines))
}

#[cfg(test)]
mod tests;
