//! Annotations of GitHub's workflows: one line for each finding, in the form of a workflow command.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{LintReport, SkillReport, in_tree, rule_list, span};
use crate::document::LineIndex;
use crate::lint::{Finding, Severity};
use crate::text::visible;

/// The number of annotations of each kind that GitHub shows of a step.
const MOST: usize = 10;

/// Returns annotations, one line each. Of a kind of which there are more than GitHub shows, the last one says how many
/// more there are, by rule.
pub fn github(report: &LintReport<'_>) -> String {
    let mut out = String::new();
    let mut left = BTreeMap::new();
    for skill in &report.skills {
        let lines = LineIndex::new(skill.text);
        for finding in skill.findings {
            let fits = |count| if count > MOST { MOST - 1 } else { MOST };
            let (left, rest) = left.entry(finding.severity).or_insert_with(|| {
                let all = report.count(finding.severity);
                (fits(all), Vec::new())
            });
            if *left == 0 {
                rest.push(finding);
            } else {
                *left -= 1;
                annotation(&mut out, skill, &lines, finding);
            }
        }
    }
    for (severity, (_, rest)) in left.into_iter().rev().filter(|(_, (_, rest))| !rest.is_empty()) {
        let (kind, verb, number, rules) = (kind(severity), report.verb, rest.len(), rule_list(rest));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "::{kind} title=skillpm {verb}::{number} more {severity}s: {rules}");
    }
    out
}

/// Returns the command for findings of `severity`.
fn kind(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

fn annotation(out: &mut String, skill: &SkillReport<'_>, lines: &LineIndex<'_>, finding: &Finding) {
    let bytes = span(skill.text, &finding.span);
    let (start, end) = (lines.position(bytes.start), lines.position(bytes.end));
    let kind = kind(finding.severity);
    let (path, title) = (property(in_tree(&skill.path)), property(finding.rule));
    // Writing to a string cannot fail.
    let _ = write!(out, "::{kind} file={path},line={},endLine={}", start.line, end.line);
    // Columns are only accepted if the position is on a single line; the end column is that of the last character.
    if start.line == end.line {
        let last = end.column.max(start.column + 1) - 1;
        let _ = write!(out, ",col={},endColumn={last}", start.column);
    }
    let help = finding.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
    let _ = writeln!(out, ",title={title}::{}", data(&(finding.message.clone() + &help)));
}

/// Escapes a message: a line end would end the command.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a value, in which colons and commas have a meaning too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, report};
    use super::*;

    #[test]
    fn the_format() {
        let findings = findings();
        insta::assert_snapshot!(github(&report(&findings)), @r#"
        ::error file=skills/my pdf%2Ca%3Ab/SKILL.md,line=2,endLine=2,col=7,endColumn=9,title=name-alphabet::the name `PDF` has an upper-case letter \u{1b}[2J <&">]]> 100%25, a:b%0Anext%0Acall it `pdf`, as its directory
        ::notice file=skills/my pdf%2Ca%3Ab/SKILL.md,line=3,endLine=3,col=14,endColumn=28,title=description-when::the description does not say when to use the skill%0Aadd a sentence such as `Use when the user …`
        ::warning file=skills/my pdf%2Ca%3Ab/SKILL.md,line=3,endLine=3,col=14,endColumn=16,title=description-markup::the description has the XML tag `<b>`%0Awrite it without: claude.ai refuses the upload
        ::error file=skills/my pdf%2Ca%3Ab/SKILL.md,line=3,endLine=3,col=18,endColumn=18,title=hidden-character::a hidden character: U+202E, a direction control%0Adelete it; no script needs it
        ::notice file=skills/my pdf%2Ca%3Ab/SKILL.md,line=4,endLine=4,col=1,endColumn=6,title=unknown-field::the specification has no field `author`%0Amove it under `metadata`, as `  author: …`
        "#);
    }

    /// If no path was given, all are below `.`; the files of a pull request are not.
    #[test]
    fn paths_are_those_of_the_repository() {
        let findings = findings();
        let mut report = report(&findings);
        let plain = github(&report);
        report.skills[0].path.insert_str(0, "./");
        assert_eq!(github(&report), plain);
    }

    #[test]
    fn what_is_not_shown_is_summarized() {
        let findings = findings();
        let mut report = report(&findings);
        report.skills = vec![report.skills[0].clone(); 10];
        let text = github(&report);
        assert_eq!((text.matches("::error ").count(), text.matches("::warning ").count()), (10, 10));
        let last = text.lines().last().expect("a line");
        assert_eq!(
            last,
            "::notice title=skillpm validate::11 more notes: unknown-field 6, description-when 5"
        );
    }

    #[test]
    fn no_text_ends_its_command() {
        assert_eq!(data("a\r\n::error::b %0A"), "a\\u{d}%0A::error::b %250A");
        assert_eq!(property("a,line=1:b"), "a%2Cline=1%3Ab");
    }
}
