//! What a request names.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// What the user named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A skill's directory, a `SKILL.md`, a directory in which skills are looked for, or a pattern
    /// such as `skills/**/SKILL.md` for them.
    Path(PathBuf),
    /// A text, which need not be in any file yet.
    Text {
        /// The content.
        bytes: Vec<u8>,
        /// The file that it is to be, for the name of its directory and for messages.
        file: Option<PathBuf>,
    },
}

/// How a text that came from no file is shown.
pub(in crate::ops) const NO_FILE: &str = "<stdin>";

impl Target {
    /// Returns how a text is shown whose file is to be `file`.
    pub(in crate::ops) fn shown(file: Option<&Path>) -> PathBuf {
        file.unwrap_or(Path::new(NO_FILE)).to_owned()
    }

    /// Returns the refusal where a text is to be changed in its place.
    pub(in crate::ops) fn no_place(verb: &str) -> Error {
        Error::usage(format!("standard input cannot be {verb} in its place"))
            .hint("name a file or a directory")
    }
}
