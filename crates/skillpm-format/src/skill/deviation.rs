//! What can be off in a skill that can be read all the same.

use std::ops::Range;

use crate::document::{Position, ProblemKind};
use crate::name::NameError;

/// Something that is off, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Deviation {
    /// What is off.
    #[source]
    pub kind: DeviationKind,
    /// The bytes at fault; may be empty.
    pub span: Range<usize>,
    /// Where they begin.
    pub at: Position,
}

/// The kinds of [`Deviation`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviationKind {
    /// The form of the text.
    #[error(transparent)]
    Text(ProblemKind),
    /// A name that the specification refuses. It is used as a key, never as a path.
    #[error(transparent)]
    Name(NameError),
    /// A name that is not that of the directory.
    #[error("the name `{name}` differs from the directory's name `{directory}`")]
    NameDirectory {
        /// The name.
        name: String,
        /// The directory's.
        directory: String,
    },
    /// No name; that of the directory stands for it.
    #[error("the field `name` is missing; the directory's name `{0}` is used instead")]
    NameFromDirectory(String),
    /// No description; the empty text stands for it.
    #[error("the field `description` is missing or empty: no agent knows when to use the skill")]
    NoDescription,
    /// A text that is too long.
    #[error("the field `{field}` has {count} characters, {max} are allowed")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Its characters.
        count: usize,
        /// How many are allowed.
        max: usize,
    },
    /// A field of another shape. What can be read of it is used.
    #[error("the field `{field}` must be {expected}, but it is {found}")]
    Shape {
        /// The field.
        field: String,
        /// What it must be.
        expected: &'static str,
        /// What it is, with its article.
        found: &'static str,
    },
    /// A field that the specification does not have.
    #[error("the specification has no field `{0}`")]
    UnknownField(String),
    /// A field that belongs below `metadata`.
    #[error("the field `{0}` belongs under `metadata`")]
    LegacyField(String),
}
