//! `yaml-tag`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-tag",
    group: Group::Spec,
    levels: Levels::WARNING.reference(Level::Error).claude_ai(Level::Error),
    summary: "the frontmatter has no tags",
    docs: Docs {
        what: "Looks for YAML tags such as `!!str`.",
        why: "They are valid YAML that the reference validator and other tools refuse.",
        bad: "---\nname: !!str pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "portability; the reference validator refuses them",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::Tag)
        .then(|| RULE.told(problem).help("delete the tag, and put the value in quotes if it must be text"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn tags_are_told() {
        let message = "the frontmatter has a YAML tag; not every tool reads it";
        assert_places(
            &RULE,
            &[("---\na: !!str b\n---\n", &[(2, 10)], message), ("---\na: b!\n---\n", &[], "")],
        );
    }
}
