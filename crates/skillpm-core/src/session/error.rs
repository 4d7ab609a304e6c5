//! The reasons why a session cannot answer.

use std::path::Path;
use std::sync::Arc;

use crate::engine::resources::Unreadable;
use crate::engine::tools::{ManifestFault, ToolDiagnostic, ToolSet};
use crate::engine::{LookupError, NotFound, Skill};
use crate::error::Error;

/// The maximum number of faults of a manifest that an error lists.
const MAX_FAULTS: usize = 20;

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

/// An invalid manifest of tools.
#[derive(Debug, Clone, Copy)]
pub struct WrongManifest<'a> {
    /// The file.
    pub file: &'a Path,
    /// The errors in it.
    pub faults: &'a [ManifestFault],
}

impl<'a> WrongManifest<'a> {
    /// Returns the invalid manifest of `set`, if it has one.
    pub fn of(set: &'a ToolSet) -> Option<Self> {
        set.diagnostics.iter().find_map(|diagnostic| match diagnostic {
            ToolDiagnostic::Manifest { file, faults } => Some(Self { file, faults }),
            _ => None,
        })
    }

    /// Returns the first error for the skill `name`, with the others as hints.
    pub fn error(&self, name: &str) -> Error {
        let file = self.file.display();
        let place = |fault: &ManifestFault| format!("{file}:{}:{}", fault.at.line, fault.at.column);
        let mut lines = self.faults.iter().map(|fault| format!("`{}`: {}", place(fault), fault.message));
        let first = lines.next().unwrap_or_default();
        let mut error = Error::config(format!("the tools of the skill `{name}` cannot be listed: {first}"));
        for line in lines.by_ref().take(MAX_FAULTS) {
            error = error.hint(line);
        }
        error.hint("correct the file, or remove it: the scripts then describe themselves")
    }
}
