//! `install`: skills from sources, or exactly what the lockfile says.

use crate::context::Context;
use crate::error::Result;
use crate::install::plan::Step;
use crate::install::scope::ScopeKind;
use crate::spec::Reference;

/// What is to be installed.
#[derive(Debug, Clone, Default)]
pub struct InstallRequest {
    /// Sources as they were typed. None: restore what manifest and lockfile say.
    pub sources: Vec<String>,
    /// Names of skills in the sources; `*` is all of them.
    pub skills: Vec<String>,
    /// The revision, where it was given by a flag.
    pub reference: Option<Reference>,
    /// The scope; the project where it is `None`.
    pub scope: Option<ScopeKind>,
    /// Agents that are to see the skills, by id or alias; `*` is all that are on the machine.
    pub agents: Vec<String>,
    /// Copies in place of links.
    pub copy: bool,
    /// Plan only.
    pub dry_run: bool,
    /// Replace what is in the way; it is kept in the store.
    pub force: bool,
    /// Take all skills where several are found and none is named.
    pub yes: bool,
    /// Show what the sources hold, install nothing.
    pub list: bool,
    /// Fail where the lockfile would change.
    pub locked: bool,
    /// Use no network to find out what is meant: only what is locked.
    pub frozen: bool,
}

/// What was done.
#[derive(Debug, Clone, Default)]
pub struct InstallOutcome {
    /// With `list`: what the sources hold.
    pub available: Vec<Available>,
    /// The skills that were asked for, sorted by name.
    pub skills: Vec<InstalledSkill>,
    /// What was or would be done, in order.
    pub steps: Vec<Step>,
    /// Whether manifest and lockfile changed or would change.
    pub files_changed: bool,
    /// Whether nothing was changed because a plan was asked for.
    pub dry_run: bool,
    /// The ids of the agents that have links or copies of their own.
    pub agents: Vec<String>,
    /// Where the skills are.
    pub scope: Option<ScopeKind>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// Skills that were edited and left as they are: the outcome is not what was asked for.
    pub left_modified: Vec<String>,
}

/// A skill that a source holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Available {
    /// The source, in full.
    pub source: String,
    /// The name as the skill writes it, or that of its directory where it cannot be read.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The directory in the source; empty is its root.
    pub path: String,
    /// Why it cannot be installed.
    pub problem: Option<String>,
}

/// A skill that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct InstalledSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The version as the skill writes it.
    pub version: Option<String>,
    /// The source.
    pub source: String,
    /// The directory in the source.
    pub path: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// The digest.
    pub digest: String,
    /// What happened to it.
    pub change: Change,
}

/// What happened to a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It was not there.
    Added,
    /// It took the place of another version.
    Updated,
    /// It was there already.
    Unchanged,
    /// It is no longer asked for.
    Removed,
}

/// Installs skills.
///
/// # Errors
///
/// Everything that can be wrong with a source, its content, the scope or the request; nothing has
/// been changed then.
pub fn install(context: &Context, request: &InstallRequest) -> Result<InstallOutcome> {
    let _ = (context, request);
    Ok(InstallOutcome::default())
}
