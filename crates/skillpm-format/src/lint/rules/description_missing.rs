//! `description-missing`

use crate::document::{Node, double_quoted};
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "description-missing",
    group: Group::Spec,
    levels: Levels::FATAL.claude_code(Level::Warning),
    summary: "the skill has a description",
    docs: Docs {
        what: "Looks for a `description` that is text and not empty.",
        why: "The description is all that an agent sees before it decides to use the skill.",
        bad: "---\nname: pdf\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `description`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if subject.document.frontmatter().is_none() {
        return;
    }
    let Some((key, value)) = subject.field("description") else {
        let message = "the required field `description` is missing";
        let finding = RULE.finding(message, subject.document.opening_span());
        findings.push(
            finding.help("add a line `description: ` that says what the skill does and when to use it"),
        );
        return;
    };
    match value.text() {
        None => {
            let message = format!("`description` must be text, but it is {}", value.kind());
            findings.push(RULE.finding(message, value.span.clone()));
        }
        Some(text) if text.trim().is_empty() => {
            let finding = RULE.finding("the required field `description` is empty", key.span.clone());
            let Some((edit, help)) = hidden_comment(subject, value) else { return findings.push(finding) };
            let fix = Fix::unsafe_("put the value in quotes", vec![edit]);
            findings.push(finding.help(help).fix(fix));
        }
        Some(_) => {}
    }
}

/// Returns what to do if the value looks like a comment: `description: # Heading`.
fn hidden_comment(subject: &Subject<'_>, value: &Node) -> Option<(Edit, &'static str)> {
    let rest = subject.document.text().get(value.span.end..)?.split(['\n', '\r']).next()?;
    let comment = rest.trim_start_matches([':', ' ', '\t']);
    let end = value.span.end + rest.len();
    let edit = Edit::replace(end - comment.len()..end, double_quoted(comment.trim_end()));
    comment.starts_with('#').then_some((edit, "text after `#` is a comment; put the whole value in quotes"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-US5.3, S0-FR-009, S0-FR-013 and oddities 14 and 43.
    #[test]
    fn a_description_is_text() {
        assert_places(
            &RULE,
            &[
                ("---\nname: x\n---\n", &[(1, 1)], "the required field `description` is missing"),
                (
                    "---\ndescription:  \nlicense: x\n---\n",
                    &[(2, 1)],
                    "the required field `description` is empty",
                ),
                ("---\ndescription: \" \"\n---\n", &[(2, 1)], "the required field `description` is empty"),
                ("---\ndescription: [x]\n---\n", &[(2, 14)], "`description` must be text, but it is a list"),
                ("---\ndescription: no\n---\n", &[], ""),
            ],
        );
        let comment = "---\ndescription: # Chemistry\n---\n";
        assert_eq!(help(&RULE, comment), "text after `#` is a comment; put the whole value in quotes");
    }
}
