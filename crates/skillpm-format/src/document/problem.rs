//! Problems with a text, independent of its content.

use std::ops::Range;

use super::split::MAX_FRONTMATTER;
use super::tree::{MAX_DEPTH, MAX_NODES};

/// A problem with a text and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Problem {
    /// The kind of problem.
    #[source]
    pub kind: ProblemKind,
    /// The bytes at fault; may be empty.
    pub span: Range<usize>,
}

/// The kinds of [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// Bytes that are not UTF-8. They are replaced by U+FFFD.
    #[error("the file is not UTF-8 text: byte {offset} does not belong to a character")]
    InvalidUtf8 {
        /// The first byte at fault.
        offset: usize,
    },
    /// The file is UTF-16.
    #[error("the file is encoded as UTF-16; save it as UTF-8")]
    Utf16,
    /// A NUL character.
    #[error("the file has a NUL character")]
    Nul,
    /// A control character in the frontmatter, where YAML does not allow it.
    #[error("the frontmatter has the control character U+{:04X}", u32::from(*.0))]
    Control(char),
    /// A byte-order mark.
    #[error("the file starts with a byte-order mark")]
    Bom,
    /// Blank lines before the opening delimiter.
    #[error("the file starts with blank lines instead of `---`")]
    LeadingBlankLines,
    /// No frontmatter.
    #[error("{0}")]
    MissingFrontmatter(Hint),
    /// No closing delimiter.
    #[error("the frontmatter is never closed: a line with only `---` must follow it")]
    UnclosedFrontmatter,
    /// More frontmatter than any skill needs.
    #[error("the frontmatter has {0} bytes, but at most {MAX_FRONTMATTER} are allowed")]
    TooLarge(usize),
    /// Collections nested too deep.
    #[error("the frontmatter is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// More values than any skill needs.
    #[error("the frontmatter has more than {MAX_NODES} values")]
    TooManyValues,
    /// The frontmatter is not YAML, and no repair is known.
    #[error("the frontmatter is not valid YAML: {0}")]
    Yaml(FaultKind),
    /// The value of a top-level key is not YAML and was taken as plain text.
    #[error("the value of `{key}` is not valid YAML: {fault}")]
    Repaired {
        /// The key.
        key: String,
        /// The reason why it is not YAML.
        fault: FaultKind,
        /// The value as written, for a suggestion.
        raw: String,
    },
    /// A conflict marker that git leaves where two versions could not be merged.
    #[error("the frontmatter has a merge-conflict marker; choose one side and delete the marker lines")]
    ConflictMarker,
    /// The frontmatter is a list or a single value.
    #[error("the frontmatter must be lines of `key: value`, but it is {0}")]
    NotAMapping(&'static str),
    /// A key that occurs twice in one mapping. The last one counts.
    #[error("the key `{key}` appears twice")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The first occurrence.
        first: Range<usize>,
    },
    /// An anchor such as `&x`.
    #[error("the frontmatter has a YAML anchor; write the value where it is needed")]
    Anchor,
    /// An alias such as `*x`. It is not expanded.
    #[error("the frontmatter has a YAML alias; write the value itself")]
    Alias,
    /// A tag such as `!!str`.
    #[error("the frontmatter has a YAML tag; not every tool reads it")]
    Tag,
    /// A second YAML document. It is ignored.
    #[error("the frontmatter has a second YAML document; only the first is read")]
    SeveralDocuments,
}

/// The reason why a text is not YAML, in plain words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// `: ` inside a value without quotes.
    #[error("it has `: ` in it, which starts a new key unless the value is in quotes")]
    Colon,
    /// A first character that has a special meaning in YAML.
    #[error("it starts with `{0}`, which YAML reserves unless the value is in quotes")]
    ReservedStart(char),
    /// Text after a closing quote.
    #[error("text follows its closing quote")]
    AfterQuote,
    /// A quote that is never closed.
    #[error("its opening quote is never closed")]
    UnclosedQuote,
    /// A backslash before the wrong character.
    #[error("it has a backslash escape that YAML does not know")]
    Escape,
    /// Brackets that do not match, or text after them.
    #[error("its brackets do not match or text follows them")]
    Brackets,
    /// A tab where spaces are needed.
    #[error("a line is indented with a tab; use spaces")]
    Tab,
    /// A control character.
    #[error("it has the control character U+{:04X}", u32::from(*.0))]
    Control(char),
    /// Anything else, in the parser's words.
    #[error("{0}")]
    Other(String),
}

/// A guess at the kind of a file without frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Hint {
    /// Nothing, or only white space.
    #[error("the file is empty: it needs frontmatter with `name` and `description`")]
    Empty,
    /// The whole file is inside a code fence.
    #[error("the file starts with a code fence; remove the fence so that `---` is the first line")]
    Fenced,
    /// A symbolic link that was checked out as a text file.
    #[error("the file holds only the path `{0}`: it was a symbolic link and lost what it pointed to")]
    FlattenedSymlink(String),
    /// `@path` and nothing else.
    #[error("the file only includes `{0}`; copy that file's content here")]
    Include(String),
    /// `key: value` lines without the opening delimiter.
    #[error("the first line must be `---`: it is missing before the `name` and `description` lines")]
    KeyLines,
    /// Text before the opening delimiter.
    #[error("text comes before the opening `---`, which must be the first line")]
    TextBefore,
    /// None of the above.
    #[error("the file has no frontmatter: start it with `---`, `name`, `description` and `---`")]
    Unknown,
}

impl Hint {
    /// Guesses from `text`, which starts with something other than the opening delimiter.
    pub(super) fn of(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').trim();
        let first = text.lines().next().unwrap_or_default().trim_end();
        let is_path = first.to_ascii_lowercase().ends_with(".md")
            && first.len() == text.len()
            && !first.contains(char::is_whitespace);
        if text.is_empty() {
            Self::Empty
        } else if first.starts_with("```") || first.starts_with("~~~") {
            Self::Fenced
        } else if let Some(path) = first.strip_prefix('@').filter(|path| is_path && path.contains('/')) {
            Self::Include(path.to_owned())
        } else if is_path && first.contains('/') {
            Self::FlattenedSymlink(first.to_owned())
        } else if ["name:", "description:"].iter().any(|key| first.starts_with(key)) {
            Self::KeyLines
        } else if has_late_opening(text) {
            Self::TextBefore
        } else {
            Self::Unknown
        }
    }
}

/// Reports whether there is a `---` line directly before `name:` or `description:` near the start.
fn has_late_opening(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().take(30).collect();
    lines.windows(2).any(|pair| {
        pair[0].trim_end() == "---" && (pair[1].starts_with("name:") || pair[1].starts_with("description:"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_without_frontmatter_seems_to_be() {
        for (text, hint) in [
            ("", Hint::Empty),
            ("\u{feff} \r\n", Hint::Empty),
            ("```skill\n---\nname: x\n---\n```\n", Hint::Fenced),
            ("../../../x/SKILL.md\n", Hint::FlattenedSymlink("../../../x/SKILL.md".into())),
            ("@../x/SKILL.md\n\n", Hint::Include("../x/SKILL.md".into())),
            ("name: Snipara\ndescription: x\n\n---\n", Hint::KeyLines),
            ("<!-- generated -->\n---\nname: x\n---\n", Hint::TextBefore),
            ("\u{feff}# Polymarket\r\n", Hint::Unknown),
            ("See docs/guide.md\n", Hint::Unknown),
        ] {
            assert_eq!(Hint::of(text), hint, "{text:?}");
        }
    }
}
