//! The outcome of an import.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Message, Warning};
use crate::name::SkillName;
use crate::scope::changes::PathChange;
pub use crate::scope::claims::FoundIn;
use crate::scope::plan::{ChangedFiles, Step};
use crate::scope_kind::ScopeKind;

/// The outcome: what was adopted, and what was not. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ImportOutcome {
    /// Where the skills are.
    pub scope: Option<ScopeKind>,
    /// Whether nothing was changed because a plan was asked for.
    pub dry_run: bool,
    /// The files of other tools that were read.
    pub read: Vec<String>,
    /// The skills that were found, sorted by name.
    pub skills: Vec<ImportedSkill>,
    /// The steps on disk that were or would be taken, in order.
    pub steps: Vec<Step>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// Which of manifest and lockfile changed or would change.
    #[serde(rename = "files_changed")]
    pub files: ChangedFiles,
    /// The agents that the manifest names now and did not name before.
    pub agents: Vec<String>,
    /// The skills that came along because others need them.
    pub needed: Vec<SkillName>,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

impl ImportOutcome {
    /// Reports whether something is not as the files of other tools say.
    pub fn has_findings(&self) -> bool {
        let told = |skill: &ImportedSkill| match skill.verdict {
            Verdict::Edited => true,
            // No tool claimed to know its source.
            Verdict::Left => skill.found_in.tool().is_some(),
            Verdict::Adopted | Verdict::Tracked => false,
        };
        self.skills.iter().any(told)
    }
}

/// A skill that was found. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The record that names it.
    pub found_in: FoundIn,
    /// Where it comes from.
    pub source: Option<String>,
    /// The directory in the source.
    pub path: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// The digest that is locked.
    pub digest: Option<String>,
    /// Why, as the end of a sentence.
    pub reason: Message,
}

/// The result for a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is in manifest and lockfile, and is there as in its source.
    Adopted,
    /// It is in manifest and lockfile; what is there was edited, and stays.
    Edited,
    /// It is not in manifest and lockfile, and stays as it is.
    Left,
    /// It was in manifest or lockfile already.
    Tracked,
}
