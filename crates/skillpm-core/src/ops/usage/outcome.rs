//! What `usage` tells.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::Warning;
use crate::agents::sessions::{LeftOut, SessionUse};
use crate::scope_kind::ScopeKind;

/// The uses of skills that are recorded on this machine. The JSON form of this and the other values here is an interface:
/// fields are only added.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageOutcome {
    /// The time since which records count; `None` for all.
    pub since: Option<String>,
    /// The directory whose sessions count, with those below it; `None` for all.
    pub project: Option<String>,
    /// Whose records were read.
    pub agents: Vec<RecordsOf>,
    /// The skills: by state, then the most used first, then by name.
    pub skills: Vec<SkillUsage>,
    /// Warnings about what could not be read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// The records of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordsOf {
    /// The agent, by id; `skillpm` is its own audit log.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The number of sessions.
    pub sessions: usize,
    /// The number of uses in them.
    pub uses: usize,
    /// The time of the earliest record that was read: agents delete old ones.
    pub first: Option<String>,
    /// What was left out.
    pub left_out: LeftOut,
}

/// What the records tell of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UsageState {
    /// It was used.
    Used,
    /// It was asked for, and no file of it is found now.
    Missing,
    /// It was listed for a model, and never used.
    NeverPicked,
    /// It is installed where an agent with sessions reads it, and was never used. Whether it was listed is not recorded.
    NeverUsed,
    /// It is installed, and no agent that sees it has sessions that can be read.
    Unknown,
}

/// The use of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillUsage {
    /// The name, as agents call it.
    pub name: String,
    /// What the records tell.
    pub state: UsageState,
    /// How often it was loaded.
    pub uses: usize,
    /// How often that failed.
    pub failed: usize,
    /// How many of the uses a model chose.
    pub by_model: usize,
    /// How many of the uses a person asked for.
    pub by_person: usize,
    /// The time of the first use.
    pub first: Option<String>,
    /// The time of the last use.
    pub last: Option<String>,
    /// The number of sessions that record that it was listed.
    pub listed: usize,
    /// The agents that used or listed it, by id.
    pub agents: Vec<AgentUsage>,
    /// The directories of the sessions that used it.
    pub projects: Vec<ProjectUsage>,
    /// The scopes in which it is installed.
    pub installed: Vec<ScopeKind>,
    /// Whether an agent that used it finds it now, here or where it was used; `None` if that is unknown.
    pub found: Option<bool>,
}

/// The use of a skill by an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentUsage {
    /// The agent, by id.
    pub id: &'static str,
    /// How often it loaded the skill.
    pub uses: usize,
    /// How often that failed.
    pub failed: usize,
    /// The number of its sessions that record that the skill was listed.
    pub listed: usize,
}

impl AgentUsage {
    pub(super) fn new(id: &'static str) -> Self {
        Self { id, uses: 0, failed: 0, listed: 0 }
    }

    pub(super) fn note(&mut self, used: &SessionUse) {
        note(used, &mut self.uses, &mut self.failed);
    }
}

/// The use of a skill in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProjectUsage {
    /// The directory that sessions were started in.
    pub path: String,
    /// How often the skill was loaded there.
    pub uses: usize,
    /// How often that failed.
    pub failed: usize,
}

impl ProjectUsage {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.display().to_string(), uses: 0, failed: 0 }
    }

    pub(super) fn note(&mut self, used: &SessionUse) {
        note(used, &mut self.uses, &mut self.failed);
    }
}

fn note(used: &SessionUse, uses: &mut usize, failed: &mut usize) {
    *(if used.is_ok { uses } else { failed }) += 1;
}
