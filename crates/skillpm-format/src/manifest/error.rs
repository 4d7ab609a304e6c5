//! Why a manifest cannot be read.

use crate::advice::Message;

/// An error that reports why and where a manifest cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ManifestError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// The hint, if there is a suggestion.
    pub hint: Option<Message>,
}
