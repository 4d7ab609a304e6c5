//! Deviations in a skill that can be read anyway.

use std::ops::Range;

use crate::document::{Position, ProblemKind};
use crate::name::NameError;

/// A deviation and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Deviation {
    /// The kind of deviation.
    #[source]
    pub kind: DeviationKind,
    /// The bytes at fault; may be empty.
    pub span: Range<usize>,
    /// The position where the bytes start.
    pub at: Position,
}

/// The kinds of [`Deviation`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviationKind {
    /// The form of the text.
    #[error(transparent)]
    Text(ProblemKind),
    /// A name that is invalid by the specification. It is used as a key, never as a path.
    #[error(transparent)]
    Name(NameError),
    /// A name that differs from that of the directory.
    #[error("the name `{name}` differs from the directory's name `{directory}`")]
    NameDirectory {
        /// The name.
        name: String,
        /// The name of the directory.
        directory: String,
    },
    /// A missing name, replaced by that of the directory.
    #[error("the field `name` is missing; the directory's name `{0}` is used instead")]
    NameFromDirectory(String),
    /// A missing description, replaced by the empty text.
    #[error("the field `description` is missing or empty: no agent knows when to use the skill")]
    NoDescription,
    /// A text that is too long.
    #[error("the field `{field}` has {count} characters, {max} are allowed")]
    TooLong {
        /// The field.
        field: &'static str,
        /// The number of characters.
        count: usize,
        /// The maximum number of characters.
        max: usize,
    },
    /// A field with a wrong shape. Its readable parts are used.
    #[error("the field `{field}` must be {expected}, but it is {found}")]
    Shape {
        /// The field.
        field: String,
        /// The expected shape.
        expected: &'static str,
        /// The actual shape, with its article.
        found: &'static str,
    },
    /// A field that is not in the specification.
    #[error("the specification has no field `{0}`")]
    UnknownField(String),
    /// A field that belongs below `metadata`.
    #[error("the field `{0}` belongs under `metadata`")]
    LegacyField(String),
}
