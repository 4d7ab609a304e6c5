//! A file as the reference validator reads it.
//!
//! It reads files differently from skillpm: it cuts the text at the second `---`, wherever that is, and passes the part
//! before it to its own kind of YAML reader, which refuses much of what YAML allows and accepts some of what it
//! forbids. This module finds out what it accepts, and the first thing that it refuses; the rules then report it.
//! Nothing here is used outside the `reference` profile.

mod check;
mod parse;
mod reader;
mod scalar;
mod scan;
#[cfg(test)]
mod tests;

use std::ops::Range;

#[cfg(test)]
pub(super) use check::{FIELD_RULES, FILE_RULES, YAML_RULES};
pub(super) use check::{check, explanation, refuses_fields};

use super::Subject;
use crate::document::{Document, Node, Problem, ProblemKind, Value};
use reader::Reader;

/// The result of the reference validator for a file.
#[derive(Debug)]
pub(super) enum Reading {
    /// Metadata: the document with the fields that the reference sees, and with no problems.
    Fields(Box<Document>),
    /// It stops here with one message.
    Stopped(Stop),
}

/// The stop of the reference validator at a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    /// The reason.
    pub(super) cause: Cause,
    /// The position, in bytes of the file.
    pub(super) span: Range<usize>,
}

/// A reason to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Cause {
    /// The file is not UTF-8; the error is not caught.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// The file does not start with `---`.
    #[error("the file does not start with `---`")]
    Opening,
    /// There is no second `---`.
    #[error("there is no second `---`")]
    NotClosed,
    /// A control character in the frontmatter; the error is not caught.
    #[error("it has a control character")]
    Control(char),
    /// Nothing between the delimiters.
    #[error("there is nothing in it")]
    Empty,
    /// A list or a single value between them.
    #[error("it is not a mapping")]
    NotAMapping(&'static str),
    /// A list in brackets or a mapping in braces.
    #[error("it has a list in brackets or a mapping in braces")]
    Flow,
    /// An anchor.
    #[error("it has an anchor")]
    Anchor,
    /// An alias.
    #[error("it has an alias")]
    Alias,
    /// A tag.
    #[error("it has a tag")]
    Tag,
    /// A tab where a token starts.
    #[error("it has a tab where a key or a value starts")]
    Tab,
    /// A character that cannot start anything.
    #[error("nothing can start with this character")]
    Start(char),
    /// A `: ` inside a value.
    #[error("there is a `: ` inside this value")]
    Colon,
    /// A line that can only hold a key, without a colon near enough.
    #[error("a key with its colon must stand here, on one line and within 1024 characters")]
    NoColon,
    /// A `- ` where no list can start.
    #[error("no list can start here")]
    Entry,
    /// A quote that is never closed.
    #[error("this quote is never closed")]
    Unclosed,
    /// An unknown escape.
    #[error("this escape is not known to it")]
    Escape,
    /// Something after `|` or `>`.
    #[error("nothing can follow `|` or `>` on their line")]
    BlockHeader,
    /// A missing value where one is required.
    #[error("a value is missing here")]
    Content,
    /// A line that belongs to no block.
    #[error("the indentation of this line matches nothing around it")]
    Block,
    /// A second document.
    #[error("a second document starts here")]
    Documents,
    /// A duplicate key.
    #[error("this key appears twice")]
    Duplicate,
    /// A key that is a list or a mapping.
    #[error("a key must be text")]
    KeyKind,
    /// Comments in two places that belong to one token, which crashes it. Empty lines count as comments.
    #[error("it cannot keep the comments and empty lines around this")]
    Comment,
    /// The key `<<` with a value that cannot be merged.
    #[error("`<<` must be a mapping to merge")]
    Merge,
    /// Mappings side by side that are indented differently.
    #[error("sibling mappings are indented differently")]
    SiblingIndent,
    /// A text larger than anything worth reading. The reference takes a long time for it.
    #[error("it is too large")]
    Size,
    /// Nested too deep.
    #[error("it is nested too deep")]
    Depth,
}

/// The three characters that open and close the frontmatter.
const DELIMITER: &str = "---";

/// The maximum number of bytes that are read in the way of the reference.
const MAX_YAML: usize = 1024 * 1024;

impl Cause {
    /// Reports whether the YAML reader is what refuses.
    pub(super) fn is_yaml(self) -> bool {
        !matches!(
            self,
            Self::NotUtf8
                | Self::Opening
                | Self::NotClosed
                | Self::Control(_)
                | Self::Empty
                | Self::NotAMapping(_)
        )
    }

    /// Returns the rule of skillpm about the same fault.
    fn rule(self) -> Option<&'static str> {
        Some(match self {
            Self::Flow => "yaml-flow-style",
            Self::Anchor | Self::Alias => "yaml-alias",
            Self::Tag => "yaml-tag",
            Self::Tab => "yaml-tab",
            Self::Colon => "yaml-unquoted-colon",
            Self::Documents => "yaml-documents",
            Self::Duplicate => "yaml-duplicate-key",
            _ => return None,
        })
    }
}

impl Reading {
    /// Reads `document` like the reference validator.
    pub(super) fn of(document: &Document) -> Self {
        match read(document) {
            Ok(view) => Self::Fields(Box::new(view)),
            Err(stop) => Self::Stopped(stop),
        }
    }

    /// Calls `look` with the reference validator's reading of `subject`, which is computed only if it is not known.
    pub(super) fn with<T>(subject: &Subject<'_>, look: impl FnOnce(&Self) -> T) -> T {
        match subject.reading {
            Some(reading) => look(reading),
            None => look(&Self::of(subject.document)),
        }
    }

    /// Returns the reason why it stopped reading `subject`.
    pub(super) fn stop(subject: &Subject<'_>) -> Option<Stop> {
        Self::with(subject, |reading| match reading {
            Self::Stopped(stop) => Some(stop.clone()),
            Self::Fields(_) => None,
        })
    }

    /// Returns the document with the fields that the reference sees. Returns `None` if it stopped.
    pub(super) fn view(&self) -> Option<&Document> {
        match self {
            Self::Fields(view) => Some(view),
            Self::Stopped(_) => None,
        }
    }
}

/// Returns the bytes that the reference treats as the frontmatter: up to the second `---` anywhere.
pub(super) fn slice(document: &Document) -> Option<Range<usize>> {
    let rest = document.text().strip_prefix(DELIMITER)?;
    let length = memchr::memmem::find(rest.as_bytes(), DELIMITER.as_bytes())?;
    Some(DELIMITER.len()..DELIMITER.len() + length)
}

fn read(document: &Document) -> Result<Document, Stop> {
    let stop = |cause, span| Err(Stop { cause, span });
    let not_utf8 =
        |problem: &&Problem| matches!(problem.kind, ProblemKind::InvalidUtf8 { .. } | ProblemKind::Utf16);
    if let Some(problem) = document.problems().iter().find(not_utf8) {
        return stop(Cause::NotUtf8, problem.span.clone());
    }
    let text = document.text();
    if !text.starts_with(DELIMITER) {
        return stop(Cause::Opening, 0..blank_lines(text));
    }
    let Some(yaml) = slice(document) else { return stop(Cause::NotClosed, 0..DELIMITER.len()) };
    if yaml.len() > MAX_YAML {
        return stop(Cause::Size, 0..DELIMITER.len());
    }
    let mut reader = Reader::new(&text[yaml.clone()], yaml.start);
    if let Some((c, span)) = reader.refused() {
        return stop(Cause::Control(c), span);
    }
    let tokens = scan::tokens(&mut reader)?;
    match parse::parse(&tokens, &reader)? {
        None => stop(Cause::Empty, 0..DELIMITER.len()),
        Some(Node { span, value: Value::Mapping { mut pairs, layout } }) => {
            for (_, value) in &mut pairs {
                blank_edges(value);
            }
            Ok(document.seen_as(yaml, Node { span, value: Value::Mapping { pairs, layout } }))
        }
        Some(root) => stop(Cause::NotAMapping(root.kind()), root.span),
    }
}

/// Returns the length of the blank lines before a `---` that is the first text of the file; 0 if the text differs.
fn blank_lines(text: &str) -> usize {
    let blank = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let is_line = text[..blank].ends_with(['\n', '\r']);
    if is_line && text[blank..].starts_with(DELIMITER) { blank } else { 0 }
}

/// Replaces characters around a text that are white space in Python only by spaces: the reference strips a name and a
/// description before it looks at them, but measures them unstripped.
fn blank_edges(value: &mut Node) {
    let Value::Scalar { text, .. } = &mut value.value else { return };
    let is_separator = |c: char| matches!(c, '\u{1c}'..='\u{1f}');
    let inner = text.trim_matches(|c: char| c.is_whitespace() || is_separator(c));
    if inner.len() < text.len() && text.contains(is_separator) {
        let start = text.find(inner).unwrap_or_default();
        let (before, after) = (&text[..start], &text[start + inner.len()..]);
        let blank = |edge: &str| edge.replace(is_separator, " ");
        *text = blank(before) + inner + &blank(after);
    }
}
