//! `frontmatter-limits`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "frontmatter-limits",
    group: Group::Spec,
    levels: Levels::FATAL.reference(Level::Off).claude_code(Level::Warning),
    summary: "the frontmatter has a reasonable size and depth",
    docs: Docs {
        what: "Looks at the number of bytes, of values and of levels of nesting.",
        why: "The frontmatter of every installed skill is read at every start of an agent; beyond these \
            limits it is refused unread.",
        bad: "---\n\
            name: pdf\n\
            description: Reads PDF files.\n\
            metadata: [[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]\n\
            ---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata: [[x]]\n---\n",
        source: "skillpm's own limits: 64 KiB, 10,000 values, 16 levels",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::TooLarge(_) | ProblemKind::TooDeep | ProblemKind::TooManyValues)
        .then(|| RULE.told(problem))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn limits_are_told_with_their_numbers() {
        let large = format!("---\nname: {}\n---\n", "x".repeat(65_536));
        assert_places(
            &RULE,
            &[
                (&large, &[(1, 1)], "the frontmatter has 65543 bytes, but at most 65536 are allowed"),
                (
                    "---\na: [[[[[[[[[[[[[[[[[\n---\n",
                    &[(2, 20)],
                    "the frontmatter is nested more than 16 levels deep",
                ),
                ("---\na: [[[]]]\n---\n", &[], ""),
            ],
        );
    }
}
