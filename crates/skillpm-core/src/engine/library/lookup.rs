//! Errors for names that do not lead to a skill.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::advice::{Verb, message};
use crate::codes;
use crate::engine::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::text;

/// The maximum number of skills whose names an error lists.
const MAX_NAMES: usize = 5;

/// The reason why a lookup failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No skill has the name.
    #[error(transparent)]
    Unknown(#[from] Box<UnknownSkill>),
    /// A problem that the policy treats as an error, or a skill that exists but cannot be loaded.
    #[error(transparent)]
    Failed(#[from] Arc<Diagnostic>),
}

/// A name that no skill has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no skill `{name}`")]
pub struct UnknownSkill {
    /// The name.
    pub name: String,
    /// The names of all existing skills, sorted.
    pub available: Vec<String>,
    /// The names among these of skills that only a person may start, as [`Skill::is_for_people`] says, sorted.
    ///
    /// [`Skill::is_for_people`]: crate::engine::Skill::is_for_people
    pub for_people: Vec<String>,
    /// The name that was probably meant.
    pub closest: Option<String>,
}

impl UnknownSkill {
    /// Returns the error for `name`, given the skills `available`.
    pub fn new(name: &str, available: BTreeSet<String>) -> Self {
        let closest = text::closest(name, available.iter().map(String::as_str)).map(str::to_owned);
        let available = available.into_iter().collect();
        Self { name: name.to_owned(), available, for_people: Vec::new(), closest }
    }

    /// Adds the names of the skills that are not shown to models.
    #[must_use]
    pub(crate) fn with_for_people(self, names: BTreeSet<String>) -> Self {
        Self { for_people: names.into_iter().collect(), ..self }
    }

    /// Returns the error for a verb, with the further hints `more`.
    pub(in crate::engine) fn into_error(self, more: impl Iterator<Item = String>) -> Error {
        let error = Error::usage(self.to_string()).coded(codes::SKILL_NOT_FOUND);
        let names: Vec<_> = self.available.iter().map(|name| format!("`{name}`")).collect();
        let error = error.hint(match (&self.closest, names.len()) {
            (Some(name), _) => format!("did you mean `{name}`?").into(),
            (None, 0) => {
                message!(
                    Verb::Install.call().word("owner/repo"),
                    " installs skills, ",
                    Verb::List,
                    " shows them"
                )
            }
            (None, 1) => format!("there is {}", names[0]).into(),
            (None, 2..=MAX_NAMES) => format!("there are {}", text::and(&names)).into(),
            (None, _) => message!(
                Verb::List,
                " shows what is installed, ",
                Verb::Install.call().word("owner/repo"),
                " adds more"
            ),
        });
        more.fold(error, Error::hint)
    }
}

impl From<UnknownSkill> for Error {
    fn from(error: UnknownSkill) -> Self {
        error.into_error(std::iter::empty())
    }
}

impl From<LookupError> for Error {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::Unknown(error) => (*error).into(),
            LookupError::Failed(diagnostic) => match &*diagnostic {
                Diagnostic::Skill { file, reason } => {
                    let dir = file.parent().and_then(|dir| dir.file_name()).unwrap_or_default();
                    reason.to_error(&dir.to_string_lossy(), file)
                }
                Diagnostic::Missing(_) => Self::usage(diagnostic.to_string())
                    .hint("create it, or leave it out; only a strict policy asks for it"),
                _ => Self::new(ErrorKind::Findings, diagnostic.to_string())
                    .hint("rename or remove one of them, or choose a policy that says which one wins"),
            },
        }
    }
}

/// The error for a name that does not lead to a skill.
#[derive(Debug)]
pub struct NotFound {
    /// The reason, for programs.
    pub reason: LookupError,
    /// The error message, for people.
    pub error: Error,
}

impl From<LookupError> for NotFound {
    fn from(reason: LookupError) -> Self {
        Self { error: reason.clone().into(), reason }
    }
}

impl From<Arc<Diagnostic>> for NotFound {
    fn from(diagnostic: Arc<Diagnostic>) -> Self {
        LookupError::Failed(diagnostic).into()
    }
}

impl From<NotFound> for Error {
    fn from(not_found: NotFound) -> Self {
        not_found.error
    }
}
