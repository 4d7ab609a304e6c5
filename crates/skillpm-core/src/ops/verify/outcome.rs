//! The outcome of a comparison with the lockfile.

use std::path::Path;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::advice::Warning;
use crate::install::scope::ScopeKind;

/// The result of comparing something with the lockfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is as locked, to the byte.
    Ok,
    /// Its bytes, its files or their modes differ.
    Modified,
    /// Its line endings differ, and nothing else, as where git wrote it with those of Windows.
    LineEnds,
    /// An update left conflicts in it that nobody has settled.
    Conflict,
    /// It is to be there, and is not.
    Missing,
    /// A link leads to something else than the canonical copy, or is in its place.
    Elsewhere,
    /// It cannot be read, so nobody knows.
    Unreadable,
    /// It is there and not locked.
    Untracked,
    /// It is a link to a directory that somebody works on: nothing is locked of it.
    Editable,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Modified,
        Self::LineEnds,
        Self::Conflict,
        Self::Missing,
        Self::Elsewhere,
        Self::Unreadable,
        Self::Untracked,
        Self::Editable,
    ];

    /// Reports whether it differs from the lockfile, or may.
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Ok | Self::Untracked | Self::Editable)
    }
}

/// One skill. The JSON form of this and the other values here is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// Where.
    pub scope: ScopeKind,
    /// The first of its places that differs decides.
    pub verdict: Verdict,
    /// The locked digest.
    pub digest: Option<String>,
    /// Its places: the copy itself, then those of agents.
    pub places: Vec<VerifiedPlace>,
    /// Whether it is editable and its directory is not there: no installation brings it back.
    #[serde(skip)]
    pub source_gone: bool,
}

/// One place of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedPlace {
    /// The agent that looks there; `None` for the copy itself.
    pub agent: Option<&'static str>,
    /// Where it is.
    pub path: String,
    /// How it compares.
    pub verdict: Verdict,
    /// The digest that was found, where it is another one.
    pub found: Option<String>,
    /// What the link there says, where it leads elsewhere.
    pub target: Option<String>,
    /// Why, where files alone do not tell.
    pub reason: Option<String>,
    /// The files that differ; `None` if nothing is known of single files.
    pub files: Option<Vec<ChangedFile>>,
    /// What tools left there, which is no part of the skill: a directory stands for all that is in it.
    pub leftovers: Vec<String>,
}

impl VerifiedPlace {
    /// Returns the place `path`, with nothing to report but its verdict.
    pub(super) fn new(agent: Option<&'static str>, path: &Path, verdict: Verdict) -> Self {
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
        }
    }

    /// Returns the place with the `reason` for its verdict.
    pub(super) fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// Where it is below the skill's directory.
    pub path: String,
    /// How it differs.
    pub change: FileChange,
}

/// The way in which a file differs from the locked one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It has other bytes, or is no regular file.
    Changed,
    /// It is locked and not there.
    Missing,
    /// It is there and not locked.
    Extra,
    /// Its executable bit is another one.
    Mode,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyOutcome {
    /// The skills, project before user, then by name.
    pub skills: Vec<VerifiedSkill>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

impl Serialize for VerifyOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut outcome = serializer.serialize_struct("VerifyOutcome", 3)?;
        outcome.serialize_field("ok", &self.is_ok())?;
        outcome.serialize_field("skills", &self.skills)?;
        outcome.serialize_field("warnings", &self.warnings)?;
        outcome.end()
    }
}

impl VerifyOutcome {
    /// Reports whether everything that is locked is there as it is locked.
    pub fn is_ok(&self) -> bool {
        self.skills.iter().all(|skill| !skill.verdict.is_failure())
    }
}
