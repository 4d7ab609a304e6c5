//! Why a file is not what the format of a registry has there.

use super::{FORMAT, MAX_FILE, MAX_VERSIONS};

/// Why the bytes of a file are not what the registry's format has there. The file's path is the caller's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// More bytes than [`MAX_FILE`].
    #[error("it has {0} bytes, {MAX_FILE} are allowed")]
    TooLarge(u64),
    /// Not JSON, or a field that is missing or wrong.
    #[error("{line}:{column}: {message}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// The problem.
        message: String,
    },
    /// A format that this version of the program does not know.
    #[error("it has format {0}, this skillpm reads format {FORMAT}")]
    Format(u64),
    /// It describes another skill than the one that its path names.
    #[error("it is about `{found}`, but its path names `{expected}`")]
    OtherName {
        /// The name in the file.
        found: String,
        /// The name in the path.
        expected: String,
    },
    /// It describes another version than the one that its path names.
    #[error("it is about version `{found}`, but its path names `{expected}`")]
    OtherVersion {
        /// The version in the file.
        found: String,
        /// The version in the path.
        expected: String,
    },
    /// More versions than [`MAX_VERSIONS`].
    #[error("it lists {0} versions, {MAX_VERSIONS} are allowed")]
    TooManyVersions(usize),
    /// Two versions that are equal, or not in ascending order.
    #[error("version `{second}` comes after `{first}`, which is not lower")]
    Order {
        /// The earlier entry.
        first: String,
        /// The later entry.
        second: String,
    },
}
