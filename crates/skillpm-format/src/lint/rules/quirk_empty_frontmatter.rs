//! `quirk-empty-frontmatter`

use crate::lint::reference::{Cause, Reading};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-empty-frontmatter",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "there is at least one field between the delimiters",
    docs: Docs {
        what: "Looks for frontmatter that contains only blank lines and comments.",
        why: "For skillpm, the required fields are missing. The reference validator says instead that \
            the frontmatter is not a mapping, and does not mention the fields.",
        bad: "---\n# later\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "reference validator 0.1.0, `parse_frontmatter`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if let Some(stop) = Reading::stop(subject)
        && stop.cause == Cause::Empty
    {
        let finding = RULE.finding("the reference validator sees no field in the frontmatter", stop.span);
        findings.push(finding.help("add `name` and `description`"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn nothing_is_no_mapping() {
        let message = "the reference validator sees no field in the frontmatter";
        assert_places(
            &RULE,
            &[
                ("---\n---\n", &[(1, 1)], message),
                ("---\n\n# x\n---\n", &[(1, 1)], message),
                ("---\n- x\n---\n", &[], ""),
                ("---\nx:\n---\n", &[], ""),
            ],
        );
    }
}
