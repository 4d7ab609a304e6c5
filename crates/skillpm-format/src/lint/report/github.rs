//! Annotations of GitHub's workflows: one line for each finding, in the form of a workflow command.

use std::fmt::Write as _;

use super::{LintReport, SkillReport, in_tree, span};
use crate::document::LineIndex;
use crate::lint::{Finding, Severity};
use crate::text::visible;

/// Returns the annotations of all findings, one line each.
pub fn github(report: &LintReport<'_>) -> String {
    let mut out = String::new();
    for skill in &report.skills {
        let lines = LineIndex::new(skill.text);
        for finding in skill.findings {
            annotation(&mut out, skill, &lines, finding);
        }
    }
    out
}

fn annotation(out: &mut String, skill: &SkillReport<'_>, lines: &LineIndex<'_>, finding: &Finding) {
    let bytes = span(skill.text, &finding.span);
    let (start, end) = (lines.position(bytes.start), lines.position(bytes.end));
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
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
        ::error file=skills/my pdf%2Ca%3Ab/SKILL.md,line=2,endLine=2,col=7,endColumn=9,title=name-alphabet::the name `PDF` has an upper-case letter \u{1b}[2J <&">]]> 100%25, a:b%0Anext%0Acall it `pdf`, and its directory too
        ::warning file=skills/my pdf%2Ca%3Ab/SKILL.md,line=3,endLine=3,col=14,endColumn=28,title=description-when::the description does not say when to use the skill%0Aadd a sentence such as `Use when the user …`
        ::warning file=skills/my pdf%2Ca%3Ab/SKILL.md,line=3,endLine=3,col=14,endColumn=16,title=description-markup::the description has the XML tag `<b>`%0Awrite it without angle brackets
        ::warning file=skills/my pdf%2Ca%3Ab/SKILL.md,line=3,endLine=3,col=18,endColumn=18,title=hidden-character::a hidden character: U+202E, a direction control%0Adelete it; no script needs it
        ::warning file=skills/my pdf%2Ca%3Ab/SKILL.md,line=4,endLine=4,col=1,endColumn=6,title=unknown-field::the specification has no field `author`%0Amove it under `metadata`, as `  author: …`
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
    fn no_text_ends_its_command() {
        assert_eq!(data("a\r\n::error::b %0A"), "a\\u{d}%0A::error::b %250A");
        assert_eq!(property("a,line=1:b"), "a%2Cline=1%3Ab");
    }
}
