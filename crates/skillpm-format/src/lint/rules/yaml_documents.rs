//! `yaml-documents`

use crate::document::{Problem, ProblemKind};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-documents",
    group: Group::Spec,
    levels: Levels::ERROR,
    summary: "the frontmatter is one YAML document",
    docs: Docs {
        what: "Looks for the `...` line that ends a YAML document and starts another one.",
        why: "Only the first document is read: what follows is lost.",
        bad: "---\nname: pdf\n...\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, frontmatter",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(_: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::SeveralDocuments)
        .then(|| RULE.told(problem).help("delete the line before it"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn the_second_document_is_shown() {
        let message = "the frontmatter has a second YAML document; only the first is read";
        assert_places(
            &RULE,
            &[("---\na: b\n...\nc: d\n---\n", &[(4, 1)], message), ("---\na: b\n...\n---\n", &[], "")],
        );
    }
}
