//! The outcome of a comparison with the lockfile.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::advice::Warning;
use crate::scope::differences::ChangedFile;
use crate::scope::state::SkillState;
use crate::scope_kind::ScopeKind;

/// One skill. The JSON form of this and the other values here is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifiedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The scope.
    pub scope: ScopeKind,
    /// The verdict: that of its first place that differs.
    pub verdict: SkillState,
    /// The locked digest.
    pub digest: Option<String>,
    /// The places: the copy itself, then those of agents.
    pub places: Vec<VerifiedPlace>,
    /// Whether it is editable and its directory is missing: no installation restores it.
    #[serde(skip)]
    pub source_gone: bool,
}

impl VerifiedSkill {
    /// Reports whether there is code in one of its places that is not part of it.
    pub fn has_code(&self) -> bool {
        self.places.iter().any(|place| !place.code.is_empty())
    }
}

/// One place of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifiedPlace {
    /// The agent that reads it; `None` for the copy itself.
    pub agent: Option<&'static str>,
    /// The path.
    pub path: String,
    /// The verdict.
    pub verdict: SkillState,
    /// The digest that was found, if it differs.
    pub found: Option<String>,
    /// The text of the link, if it leads elsewhere.
    pub target: Option<String>,
    /// The reason, if the files alone do not show it.
    pub reason: Option<String>,
    /// The files that differ; `None` if that is not known.
    pub files: Option<Vec<ChangedFile>>,
    /// Leftovers of tools, which are not part of the skill: a directory stands for everything in it.
    pub leftovers: Vec<String>,
    /// The code among them.
    pub code: Vec<UnlockedCode>,
}

/// Code that is not part of a skill, in its directory: no digest covers it, and a script may run it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnlockedCode {
    /// The path below the skill's directory, of a file or of a directory with everything in it.
    pub path: String,
    /// The script of the skill that it runs in place of.
    pub shadows: Option<String>,
}

impl VerifiedPlace {
    /// Returns the place `path`, with nothing to report but its verdict.
    pub(super) fn new(agent: Option<&'static str>, path: &Path, verdict: SkillState) -> Self {
        let path = path.display().to_string();
        Self {
            agent,
            path,
            verdict,
            found: None,
            target: None,
            reason: None,
            files: None,
            leftovers: Vec::new(),
            code: Vec::new(),
        }
    }

    /// Returns the place with the `reason` for its verdict.
    pub(super) fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

/// The outcome of the verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyOutcome {
    /// The skills, project before user, then by name.
    pub skills: Vec<VerifiedSkill>,
    /// Whether code that is not part of a skill counts as a difference.
    pub strict: bool,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// The result of comparing what is installed with the lockfile, in JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VerifyOutcome")]
struct Json<'a> {
    /// Whether everything is as locked.
    ok: bool,
    /// The skills, project before user, then by name.
    skills: &'a [VerifiedSkill],
    /// Warnings for the user.
    warnings: &'a [Warning],
}

skillpm_format::schema_of!(VerifyOutcome as Json<'static>);

impl Serialize for VerifyOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json { ok: self.is_ok(), skills: &self.skills, warnings: &self.warnings }.serialize(serializer)
    }
}

impl VerifyOutcome {
    /// Reports whether everything is as locked.
    pub fn is_ok(&self) -> bool {
        let fails = |skill: &VerifiedSkill| {
            skill.verdict.is_failure()
                || skill.verdict == SkillState::Unlocked
                || self.strict && skill.has_code()
        };
        !self.skills.iter().any(fails)
    }
}
