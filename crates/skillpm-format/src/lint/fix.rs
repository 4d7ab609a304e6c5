//! Repairs of a text.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

/// The safety of a repair: whether it can change the meaning of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// The skill means the same to every tool that could read it before.
    Safe,
    /// The repair is what the author most likely meant, and should be reviewed.
    Unsafe,
}

/// A replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to remove; empty for an insertion.
    pub span: Range<usize>,
    /// The text to put in their place.
    pub text: String,
}

/// A repair: all of its edits are made, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Whether it can change the meaning.
    pub safety: Safety,
    /// The effect of the repair: `put the value in quotes`.
    pub title: String,
    /// The edits, in the order of the text, without overlaps. Empty if the file is renamed and its text stays.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// Returns a repair that does not change the meaning.
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { safety: Safety::Safe, title: title.into(), edits }
    }

    /// Returns a repair that should be reviewed.
    pub fn unsafe_(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { safety: Safety::Unsafe, title: title.into(), edits }
    }
}

impl Edit {
    /// Replaces `span` by `text`.
    pub fn replace(span: Range<usize>, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    /// Inserts `text` at byte `at`.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { span: at..at, text: text.into() }
    }

    /// Removes `span`.
    pub fn delete(span: Range<usize>) -> Self {
        Self { span, text: String::new() }
    }
}
