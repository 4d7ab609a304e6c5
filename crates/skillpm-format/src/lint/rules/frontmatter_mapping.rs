//! `frontmatter-mapping`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "frontmatter-mapping",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "the frontmatter is made of `key: value` lines",
    docs: Docs {
        what: "Looks for frontmatter that is a list or a single value.",
        why: "It has no place for a name and a description.",
        bad: "---\n- pdf\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, frontmatter",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::NotAMapping(_)).then(|| RULE.told(problem))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-E2.
    #[test]
    fn lists_and_single_values_are_told() {
        assert_places(
            &RULE,
            &[
                (
                    "---\n- a\n---\n",
                    &[(2, 1)],
                    "the frontmatter must be lines of `key: value`, but it is a list",
                ),
                (
                    "---\n\nText.\n---\n",
                    &[(3, 1)],
                    "the frontmatter must be lines of `key: value`, but it is text",
                ),
                ("---\n---\n", &[], ""),
            ],
        );
    }
}
