//! The targets that a request names.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// A target that the user named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A skill's directory, a `SKILL.md`, a directory to search for skills, or a pattern such as
    /// `skills/**/SKILL.md` for them.
    Path(PathBuf),
    /// A text that need not be in any file yet.
    Text {
        /// The content.
        bytes: Vec<u8>,
        /// The intended file, for the name of its directory and for messages.
        file: Option<PathBuf>,
    },
}

/// The name in messages of a text without a file.
pub(crate) const NO_FILE: &str = "<stdin>";

impl Target {
    /// Returns the name in messages of a text whose file is to be `file`.
    pub(crate) fn shown(file: Option<&Path>) -> PathBuf {
        file.unwrap_or(Path::new(NO_FILE)).to_owned()
    }

    /// Returns the error for a text that would have to be changed in place.
    pub(crate) fn no_place(verb: &str) -> Error {
        Error::usage(format!("standard input cannot be {verb} in its place"))
            .hint("name a file or a directory")
    }
}
