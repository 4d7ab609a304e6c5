//! `name-missing`

use super::unknown_field::nearest;
use crate::document::{Node, write_scalar};
use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::name::SkillName;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-missing",
    group: Group::Spec,
    levels: Levels::FATAL.claude_code(Level::Warning),
    summary: "the skill has a name",
    docs: Docs {
        what: "Looks for a `name` that is text and not empty.",
        why: "Agents call the skill by its name; most tools skip a skill without one.",
        bad: "---\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if subject.document.frontmatter().is_none() {
        return;
    }
    let Some((key, value)) = subject.field("name") else {
        let message = "the required field `name` is missing";
        let finding = RULE.finding(message, subject.document.opening_span());
        let finding = finding.help("add a line `name: ` with the name of the directory");
        findings.push(Finding { fix: added(subject), ..finding });
        return;
    };
    match value.text() {
        None => {
            let message = format!("`name` must be text, but it is {}", value.kind());
            findings.push(RULE.finding(message, value.span.clone()));
        }
        Some(text) if text.trim().is_empty() => {
            let finding = RULE.finding("the required field `name` is empty", key.span.clone());
            let fix = directory_name(subject).and_then(|name| edits::rename(subject, name.as_str()));
            findings.push(Finding { fix, ..finding });
        }
        Some(_) => {}
    }
}

fn directory_name(subject: &Subject<'_>) -> Option<SkillName> {
    SkillName::new(subject.directory_name?).ok()
}

/// Adds the directory's name as the first line.
fn added(subject: &Subject<'_>) -> Option<Fix> {
    // If the key has a typo, that is what to repair.
    let slip = |(key, _): &(Node, Node)| key.text().and_then(nearest) == Some("name");
    if subject.document.unknown_fields().any(slip) {
        return None;
    }
    let name = directory_name(subject)?;
    let edit = edits::first_line(subject.document, &format!("name: {}", write_scalar(name.as_str())))?;
    Some(Fix::unsafe_(format!("call it `{name}`, as its directory"), vec![edit]))
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
