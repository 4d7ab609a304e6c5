//! Repairs of a text: what is replaced by what.

use std::ops::Range;

/// Whether a repair can change what the skill means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// The skill means the same to every tool that could read it before.
    Safe,
    /// It is what the author most likely meant, and somebody should look at it.
    Unsafe,
}

/// A replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that go; empty for an insertion.
    pub span: Range<usize>,
    /// What comes in their place.
    pub text: String,
}

/// A repair: all of its edits or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Whether it can change the meaning.
    pub safety: Safety,
    /// What it does: `put the value in quotes`.
    pub title: String,
    /// The edits, in the order of the text, none overlapping another. None where the file gets
    /// another name and its text stays.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// A repair that changes no meaning.
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { safety: Safety::Safe, title: title.into(), edits }
    }

    /// A repair that somebody should look at.
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

    /// Takes `span` out.
    pub fn delete(span: Range<usize>) -> Self {
        Self { span, text: String::new() }
    }
}
