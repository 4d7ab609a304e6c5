//! Reports for programs: pure functions from findings to a text or a value.
//!
//! Paths are `/`-separated, positions count from 1, columns count characters. No part of a file gets into a report
//! verbatim: each format has its own escapes, and if a format has none, hidden characters are written as code points.

mod fingerprint;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod sarif;
#[cfg(test)]
mod testing;

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use fingerprint::fingerprint;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Finding, Profile, Severity};

/// The directory of the reference that has a page for each rule.
const RULES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/rules");

/// The checked skills and their findings.
#[derive(Debug, Clone)]
pub struct LintReport<'a> {
    /// The verb that made it: `validate` or `test`.
    pub verb: &'static str,
    /// The profile by which the first skill was checked.
    pub profile: Profile,
    /// Whether warnings fail too.
    pub strict: bool,
    /// The skills, including those without findings.
    pub skills: Vec<SkillReport<'a>>,
    /// The numbers of what is not among them.
    pub left_out: LeftOut,
}

/// The numbers of what a report does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The number of skills that were found and not checked, because a manifest excludes them.
    pub excluded: usize,
    /// The number of skills without a changed file, where only changed ones are checked.
    pub unchanged: usize,
    /// The number of skills that cannot be read, where the rule about that is off.
    pub unread: usize,
    /// The number of findings that a baseline has.
    pub known: usize,
    /// The number of findings of a baseline that no longer occur.
    pub gone: usize,
}

/// The findings in one skill.
#[derive(Debug, Clone)]
pub struct SkillReport<'a> {
    /// The path of its file, `/`-separated, as displayed.
    pub path: String,
    /// The profile by which it was checked.
    pub profile: Profile,
    /// The text of the file, at least to the end of the last reported line; may be empty if there are no findings.
    pub text: &'a str,
    /// The findings.
    pub findings: &'a [Finding],
}

/// How often a rule found something, at one severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleCount {
    /// The rule's id.
    pub rule: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The number of findings.
    pub count: usize,
    /// The number of those that have a repair.
    pub fixable: usize,
}

/// Returns how often each rule is among `findings`, the most frequent first.
pub fn rule_counts<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<RuleCount> {
    let mut counts: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for finding in findings {
        let (count, fixable) = counts.entry((finding.rule, finding.severity)).or_default();
        *count += 1;
        *fixable += usize::from(finding.fix.is_some());
    }
    let one = |((rule, severity), (count, fixable))| RuleCount { rule, severity, count, fixable };
    let mut counts: Vec<_> = counts.into_iter().map(one).collect();
    counts.sort_by_key(|rule| Reverse(rule.count));
    counts
}

/// Returns how often each rule is among `findings`: `description-when 32, yaml-tab 2`.
pub fn rule_list<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> String {
    let rules = rule_counts(findings).into_iter();
    rules.map(|rule| format!("{} {}", rule.rule, rule.count)).collect::<Vec<_>>().join(", ")
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
    format!("{RULES}/{id}.md")
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
