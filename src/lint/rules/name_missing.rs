//! `name-missing`

use crate::lint::{Docs, Finding, Group, Levels, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-missing",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "the skill has a name",
    docs: Docs {
        what: "Looks for a `name` that is text and not empty.",
        why: "Agents call the skill by its name; most tools skip a skill without one.",
        bad: "---\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`",
    },
    fix: None,
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if subject.document.frontmatter().is_none() {
        return;
    }
    let Some((key, value)) = subject.field("name") else {
        let message = "the required field `name` is missing";
        let finding = RULE.finding(message, subject.document.opening_span());
        findings.push(finding.help("add a line `name: ` with the name of the directory"));
        return;
    };
    match value.text() {
        None => {
            let message = format!("`name` must be text, but it is {}", value.kind());
            findings.push(RULE.finding(message, value.span.clone()));
        }
        Some(text) if text.trim().is_empty() => {
            let finding = RULE.finding("the required field `name` is empty", key.span.clone());
            findings.push(finding);
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-US5.2, S0-FR-008, S0-FR-012.
    #[test]
    fn a_name_is_text() {
        assert_places(
            &RULE,
            &[
                ("---\ndescription: x\n---\n", &[(1, 1)], "the required field `name` is missing"),
                ("---\n---\n", &[(1, 1)], "the required field `name` is missing"),
                ("---\nname:\n---\n", &[(2, 1)], "the required field `name` is empty"),
                ("---\nname: {{x}}\n---\n", &[(2, 7)], "`name` must be text, but it is a mapping"),
                ("---\nname: yes\n---\n", &[], ""),
                ("# no frontmatter\n", &[], ""),
            ],
        );
    }
}
