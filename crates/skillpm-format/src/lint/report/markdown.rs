//! A summary in Markdown, for the page of a workflow's run.

use std::fmt::Write as _;

use super::{LintReport, RuleCount, in_tree, rule_counts, rule_page};
use crate::lint::Severity;
use crate::text::visible;

/// Returns tables of the rules that found something and of the skills, in at most `limit` bytes.
pub fn markdown(report: &LintReport<'_>, limit: usize) -> String {
    let count = |severity| report.count(severity);
    let mut out = format!(
        "### skillpm validate\n\n{} skills: {} errors, {} warnings, {} notes\n",
        report.skills.len(),
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Note)
    );
    let findings = report.skills.iter().flat_map(|skill| skill.findings);
    let rules = rule_counts(findings);
    if rules.is_empty() {
        return out;
    }
    out.push_str("\n| rule | level | count |\n| --- | --- | ---: |\n");
    for RuleCount { rule, severity, count, .. } in rules {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| [{rule}]({}) | {severity} | {count} |", rule_page(rule));
    }
    out.push_str("\n| skill | errors | warnings | notes |\n| --- | ---: | ---: | ---: |\n");
    let mut skills = report.skills.iter().filter(|skill| !skill.findings.is_empty());
    while let Some(skill) = skills.next() {
        let [errors, warnings, notes] =
            [Severity::Error, Severity::Warning, Severity::Note].map(|severity| skill.count(severity));
        let row = format!("| {} | {errors} | {warnings} | {notes} |\n", cell(in_tree(&skill.path)));
        if out.len() + row.len() + 64 > limit {
            let _ = writeln!(out, "| and {} more skills | | | |", skills.count() + 1);
            break;
        }
        out.push_str(&row);
    }
    out
}

/// Returns `text` with all that means something in Markdown or HTML written as a reference to a character.
fn cell(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '/' | '.' | '-');
    let write = |c: char| if plain(c) { c.to_string() } else { format!("&#{};", u32::from(c)) };
    visible(&text.replace(['\n', '\r'], " ")).chars().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, report};
    use super::*;

    #[test]
    fn the_format() {
        let findings = findings();
        let mut report = report(&findings[..2]);
        report.skills[0].path = "a|b`<b>_x_\n@me/SKILL.md".to_owned();
        insta::assert_snapshot!(markdown(&report, 1 << 20), @"
        ### skillpm validate

        2 skills: 1 errors, 0 warnings, 1 notes

        | rule | level | count |
        | --- | --- | ---: |
        | [description-when](https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/description-when.md) | note | 1 |
        | [name-alphabet](https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/name-alphabet.md) | error | 1 |

        | skill | errors | warnings | notes |
        | --- | ---: | ---: | ---: |
        | a&#124;b&#96;&#60;b&#62;&#95;x&#95; &#64;me/SKILL.md | 1 | 0 | 1 |
        ");
        report.skills = vec![report.skills[0].clone(); 1000];
        let cut = markdown(&report, 4000);
        assert!(cut.len() <= 4000 && cut.ends_with("more skills | | | |\n"), "{cut}");
    }
}
