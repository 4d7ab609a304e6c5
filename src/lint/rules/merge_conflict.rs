//! `merge-conflict`

use crate::document::ProblemKind;
use crate::lint::{Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "merge-conflict",
    group: Group::Spec,
    levels: Levels::ERROR,
    summary: "the frontmatter has no merge-conflict markers",
    docs: Docs {
        what: "Looks for the lines that git leaves where it could not merge two versions.",
        why: "Both versions stand in the file, and neither is what its author meant.",
        bad: "---\nname: pdf\n<<<<<<< ours\ndescription: Reads PDF files.\n>>>>>>> theirs\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "YAML 1.2: the markers are no `key: value` lines",
    },
    fix: None,
    needs: Needs::Document,
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for problem in subject.document.problems() {
        if matches!(problem.kind, ProblemKind::ConflictMarker) {
            findings.push(RULE.finding(problem.to_string(), problem.span.clone()));
        }
    }
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
