//! Reports for programs: pure functions from findings to a text or a value.
//!
//! Paths are `/`-separated, places count from 1, columns count characters. Nothing of a file gets
//! into a report as it is: each format has its own escapes, and where a format has none, hidden
//! characters are written as code points.

pub mod github;
pub mod json;
pub mod junit;
pub mod sarif;
#[cfg(test)]
mod testing;

use super::{Finding, Profile, Severity};

/// The page of the reference that has a heading for each rule.
const RULES_PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/rules.md");

/// What was checked, and what was found.
#[derive(Debug, Clone)]
pub struct LintReport<'a> {
    /// By which profile.
    pub profile: Profile,
    /// Whether warnings fail too.
    pub strict: bool,
    /// The skills, those without findings included.
    pub skills: Vec<SkillReport<'a>>,
}

/// What was found in one skill.
#[derive(Debug, Clone)]
pub struct SkillReport<'a> {
    /// The path of its file, `/`-separated, as it is to be shown.
    pub path: String,
    /// The text of the file, at least to the end of the last line that is told of; may be empty where
    /// nothing was found.
    pub text: &'a str,
    /// What was found.
    pub findings: &'a [Finding],
}

impl LintReport<'_> {
    /// How many findings of `severity` there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.skills.iter().map(|skill| skill.count(severity)).sum()
    }
}

impl SkillReport<'_> {
    /// How many findings of `severity` there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// The address at which the reference tells about the rule `id`.
pub fn rule_page(id: &str) -> String {
    format!("{RULES_PAGE}#{id}")
}

/// A path as tools that match it with those of a repository want it.
fn in_tree(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// The bytes of a finding, moved to whole characters inside of the text.
fn span(text: &str, span: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.min(text.len()));
    start..end.max(start)
}
