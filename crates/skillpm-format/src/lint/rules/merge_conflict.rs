//! `merge-conflict`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "merge-conflict",
    group: Group::Spec,
    levels: Levels::ERROR,
    summary: "the frontmatter has no merge-conflict markers",
    docs: Docs {
        what: "Looks for the lines that git leaves where it could not merge two versions.",
        why: "Both versions are in the file, and neither is what its author meant.",
        bad: "---\nname: pdf\n<<<<<<< ours\ndescription: Reads PDF files.\n>>>>>>> theirs\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "YAML 1.2: the markers are not `key: value` lines",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::ConflictMarker).then(|| RULE.told(problem))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 19.
    #[test]
    fn every_marker_is_told() {
        let message =
            "the frontmatter has a merge-conflict marker; choose one side and delete the marker lines";
        assert_places(
            &RULE,
            &[
                (
                    "---\n<<<<<<< a\nname: x\n=======\nname: y\n>>>>>>> b\n---\n",
                    &[(2, 1), (4, 1), (6, 1)],
                    message,
                ),
                ("---\nname: x\n---\n=======\n", &[], ""),
            ],
        );
    }
}
