//! `yaml-alias`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-alias",
    group: Group::Spec,
    levels: Levels::ERROR.claude_code(Level::Warning).claude_ai(Level::Warning),
    summary: "the frontmatter has no anchors and aliases",
    docs: Docs {
        what: "Looks for YAML anchors (`&x`) and aliases (`*x`).",
        why: "A few lines of them can stand for gigabytes, so many tools refuse them, and skillpm \
            does not follow them.",
        bad: "---\nname: &x pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "skillpm's own rule; the reference validator refuses them",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::Anchor | ProblemKind::Alias).then(|| RULE.told(problem))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn both_ends_are_told() {
        let message = "the frontmatter has a YAML anchor; write the value where it is needed";
        assert_places(
            &RULE,
            &[
                ("---\na: &x b\nc: *x\n---\n", &[(2, 7), (3, 4)], message),
                ("---\na: \"&x *x\"\n---\n", &[], ""),
            ],
        );
    }
}
