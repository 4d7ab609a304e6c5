//! `yaml-unquoted-value`

use crate::document::{self, ProblemKind, Style, Value};
use crate::lint::{Check, Docs, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::lint::{edits, quote};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-unquoted-value",
    group: Group::Spec,
    levels: Levels::PACKAGE.claude_ai(Level::Error),
    summary: "text that looks like a number, a date or `yes` is in quotes",
    docs: Docs {
        what: "Looks for a `name`, `description` or `compatibility` without quotes that YAML 1.1 or 1.2 \
            takes for a number, a date, a boolean or nothing, such as `2048`, `yes` or `null`.",
        why: "Tools that read such a value as what it looks like refuse the skill, because it is not text, \
            or show another value: `3.10` becomes `3.1`.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\ncompatibility: 3.10\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\ncompatibility: \"3.10\"\n---\n",
        source: "portability; Anthropic's `quick_validate.py` refuses them",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The fields of the specification that some tool requires to be text. No tool is known to check the others.
const FIELDS: [&str; 3] = ["name", "description", "compatibility"];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for field in FIELDS {
        let Some((key, value)) = subject.field(field) else { continue };
        let Value::Scalar { text, style: Style::Plain } = &value.value else { continue };
        // A missing value is reported by other rules, and a value with a tag states its type.
        if value.is_absent() || !document::resolves(text) || is_tagged(subject, value) {
            continue;
        }
        // Quotes do not turn an invalid name into a valid one.
        if field == "name" && subject.wrong_name().is_some() {
            continue;
        }
        let message = format!("`{field}` is `{text}` without quotes, and not every tool reads that as text");
        let finding = RULE.finding(message, value.span.clone());
        // It is unknown whether this is the intended text.
        if document::is_null(text) {
            findings
                .push(finding.help(format!("write text, or put `{text}` in quotes if it is meant as text")));
            continue;
        }
        let quoted = quote::quoted(text);
        let edits = edits::set_value(subject.document, key, value, &quoted);
        let fix = edits.map(|edits| Fix::safe("put the value in quotes", edits));
        findings.push(Finding { fix, ..finding.help(format!("write `{field}: {quoted}`")) });
    }
}

fn is_tagged(subject: &Subject<'_>, value: &document::Node) -> bool {
    let mut problems = subject.document.problems().iter();
    problems.any(|problem| matches!(problem.kind, ProblemKind::Tag) && problem.span == value.span)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;
    use crate::lint::{Profile, Ruleset, Severity, Subject, check_with};

    /// Oddity 10.
    #[test]
    fn what_some_tool_takes_for_something_else_is_put_in_quotes() {
        for (field, value) in [
            ("name", "2048"),
            ("name", "true"),
            ("name", "on"),
            ("description", "yes"),
            ("description", "2024-01-01"),
            ("compatibility", "3.11"),
            ("compatibility", "No"),
        ] {
            let text = format!("---\n{field}: {value} # a comment\n---\n");
            let message =
                format!("`{field}` is `{value}` without quotes, and not every tool reads that as text");
            assert_places(&RULE, &[(&text, &[(2, field.len() + 3)], &message)]);
            assert_eq!(help(&RULE, &text), format!("write `{field}: \"{value}\"`"));
            let fixed = format!("---\n{field}: \"{value}\" # a comment\n---\n");
            assert_eq!(fixed_text(&RULE, &text), Some(fixed));
        }
    }

    #[test]
    fn texts_and_other_fields_pass() {
        for text in [
            "name: \"2048\"\ndescription: 'yes'",
            "name: 3d-models\ndescription: 2024-01-01 was the day of it\ncompatibility: \">= 3.11\"",
            "description: |\n  2048",
            "license: 2\nallowed-tools: yes\nmetadata:\n  name: on",
            // Other rules report these.
            "name:\ndescription:\ncompatibility:",
            "name: 1.10",
            "name: !!str 2048",
        ] {
            assert_places(&RULE, &[(&format!("---\n{text}\n---\n"), &[], "")]);
        }
    }

    #[test]
    fn what_is_nothing_to_some_may_be_no_text_at_all() {
        for (field, value) in [("name", "null"), ("description", "~"), ("compatibility", "NULL")] {
            let text = format!("---\n{field}: {value}\n---\n");
            let expected = format!("write text, or put `{value}` in quotes if it is meant as text");
            assert_eq!(help(&RULE, &text), expected);
            assert_eq!(fixed_text(&RULE, &text), None);
        }
    }

    /// Valid by the specification, but a number for many readers.
    #[test]
    fn it_is_an_error_where_the_skill_is_for_all() {
        for (profile, severity) in [
            (Profile::Spec, Some(Severity::Warning)),
            (Profile::Reference, None),
            (Profile::ClaudeCode, Some(Severity::Warning)),
            (Profile::Publish, Some(Severity::Error)),
            (Profile::Lenient, None),
        ] {
            for (directory, name) in [("2048", "2048"), ("null", "null"), ("true", "true"), ("on", "on")] {
                let text =
                    format!("---\nname: {name}\ndescription: Reads PDF. Use it for PDF.\n---\n# PDF\n");
                let document = crate::document::Document::parse(text);
                let subject = Subject::new(&document, Some(directory), "SKILL.md");
                let mut found = check_with(&subject, &Ruleset::new(profile)).into_iter();
                let found = found.find(|finding| finding.rule == RULE.id).map(|finding| finding.severity);
                assert_eq!(found, severity, "{profile} {name}");
            }
        }
    }
}
