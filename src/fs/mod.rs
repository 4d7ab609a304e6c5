//! The only module that touches the file system.
//!
//! Everything here names the path in its errors, follows no link that it was not asked to follow,
//! and leaves either the old or the new file behind, never half of one.

mod file;
mod temp;

pub use file::SharedFile;
pub use temp::anonymous_temp_file;

use std::io;
use std::path::{Path, PathBuf};

/// An input or output error that says which path it was about and what was being done.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} `{}`", path.display())]
pub struct PathError {
    /// What was being done, as a verb: `read`.
    pub action: &'static str,
    /// The path.
    pub path: PathBuf,
    /// What the operating system said.
    pub source: io::Error,
}

/// Adds the action and the path to an [`io::Error`].
pub trait PathContext<T> {
    /// Returns the error as a [`PathError`].
    ///
    /// # Errors
    ///
    /// The error it was called on.
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError>;
}

impl<T> PathContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError> {
        self.map_err(|source| PathError { action, path: path.to_owned(), source })
    }
}
