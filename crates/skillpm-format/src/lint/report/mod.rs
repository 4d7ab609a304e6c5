//! Reports for programs: pure functions from findings to a text or a value.
//!
//! Paths are `/`-separated, positions count from 1, columns count characters. No part of a file gets into a report
//! verbatim: each format has its own escapes, and if a format has none, hidden characters are written as code points.

pub mod github;
pub mod json;
pub mod junit;
pub mod sarif;
#[cfg(test)]
mod testing;

use super::{Finding, Profile, Severity};

/// The page of the reference that has a heading for each rule.
const RULES_PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/rules.md");

/// The checked skills and their findings.
#[derive(Debug, Clone)]
pub struct LintReport<'a> {
    /// The profile used.
    pub profile: Profile,
    /// Whether warnings fail too.
    pub strict: bool,
    /// The skills, including those without findings.
    pub skills: Vec<SkillReport<'a>>,
}

/// The findings in one skill.
#[derive(Debug, Clone)]
pub struct SkillReport<'a> {
    /// The path of its file, `/`-separated, as displayed.
    pub path: String,
    /// The text of the file, at least to the end of the last reported line; may be empty if there are no findings.
    pub text: &'a str,
    /// The findings.
    pub findings: &'a [Finding],
}

impl LintReport<'_> {
    /// Returns the number of findings of `severity`.
    pub fn count(&self, severity: Severity) -> usize {
        self.skills.iter().map(|skill| skill.count(severity)).sum()
    }
}

impl SkillReport<'_> {
    /// Returns the number of findings of `severity`.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Returns the address at which the reference describes the rule `id`.
pub fn rule_page(id: &str) -> String {
    format!("{RULES_PAGE}#{id}")
}

/// Returns a path in the form needed by tools that match it with paths of a repository.
fn in_tree(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Returns the range of a finding, adjusted to whole characters inside the text.
fn span(text: &str, span: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.min(text.len()));
    start..end.max(start)
}
