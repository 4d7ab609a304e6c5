//! The outcome of a check.

use std::path::PathBuf;

use super::baseline::WrittenBaseline;
use crate::lint::report::LeftOut;
use crate::lint::{Finding, Profile, Severity};

/// The findings in one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The file, as it is to be shown.
    pub file: PathBuf,
    /// The profile by which it was checked.
    pub profile: Profile,
    /// The content, at least as far as the findings and their repairs reach, to the end of that line; may be empty without
    /// findings.
    pub text: String,
    /// The findings, in the order of the text.
    pub findings: Vec<Finding>,
}

/// The findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValidateOutcome {
    /// The skills, in the order of the targets; of those that were repaired what is left.
    pub skills: Vec<Checked>,
    /// The repairs that were made, or would be.
    pub repaired: Vec<Repaired>,
    /// How many skills could be repaired and were left alone, because they are installed: a lockfile names their bytes.
    pub installed: usize,
    /// Files that could be repaired and were left alone, and where they really are: a link leads out of the project.
    pub outside: Vec<(PathBuf, PathBuf)>,
    /// The numbers of what is not in `skills`.
    pub left_out: LeftOut,
    /// The baselines that were written.
    pub written: Vec<WrittenBaseline>,
}

impl ValidateOutcome {
    /// Returns how many findings of `severity` there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|finding| finding.severity == severity).count()
    }

    /// Returns all findings of all skills.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.skills.iter().flat_map(|skill| &skill.findings)
    }
}

/// A file that was repaired, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The file, as it is to be shown.
    pub file: PathBuf,
    /// The name that it gets, where that is another one.
    pub renamed: Option<PathBuf>,
    /// The change of the text, as a unified diff.
    pub diff: Option<String>,
    /// The number of repairs in its text.
    pub count: usize,
}
