//! The reasons why a session cannot answer.

use std::sync::Arc;

use crate::engine::resources::Unreadable;
use crate::engine::tools::ToolSet;
use crate::engine::{LookupError, NotFound, Skill};
use crate::error::Error;
use crate::ops::tools::WrongManifest;

/// The reason why a session cannot answer.
#[derive(Debug)]
pub enum SessionError {
    /// The name does not lead to a usable skill.
    Skill(NotFound),
    /// A file of a skill was not read.
    File {
        /// The skill.
        skill: Arc<Skill>,
        /// The name under which it was requested.
        name: String,
        /// The file, as requested.
        file: String,
        /// Why.
        reason: Unreadable,
    },
    /// The manifest of a skill's scripts is wrong.
    Manifest {
        /// The skill.
        skill: Arc<Skill>,
        /// Its scripts, with the errors in the manifest.
        set: Arc<ToolSet>,
    },
    /// The skill has no such script.
    NoScript {
        /// The script, as requested.
        script: String,
        /// The same as an error for people.
        error: Error,
    },
    /// The arguments do not fit the script; the text says why.
    Arguments(String),
    /// Any other failure of a verb.
    Verb(Error),
}

impl From<Error> for SessionError {
    fn from(error: Error) -> Self {
        Self::Verb(error)
    }
}

impl From<LookupError> for SessionError {
    fn from(reason: LookupError) -> Self {
        Self::Skill(reason.into())
    }
}

impl From<NotFound> for SessionError {
    fn from(not_found: NotFound) -> Self {
        Self::Skill(not_found)
    }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Skill(not_found) => not_found.error,
            SessionError::NoScript { error, .. } | SessionError::Verb(error) => error,
            SessionError::File { name, file, reason, .. } => reason.into_error(&name, &file),
            SessionError::Manifest { skill, set } => match WrongManifest::of(&set) {
                Some(wrong) => wrong.error(&skill.meta.name),
                None => {
                    Self::config(format!("the tools of the skill `{}` cannot be listed", skill.meta.name))
                }
            },
            SessionError::Arguments(reason) => {
                Self::usage(format!("the arguments do not fit the script: {reason}"))
            }
        }
    }
}
