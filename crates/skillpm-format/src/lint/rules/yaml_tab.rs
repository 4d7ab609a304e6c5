//! `yaml-tab`

use crate::document::{FaultKind, Problem, ProblemKind};
use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-tab",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "lines are indented with spaces",
    docs: Docs {
        what: "Looks for tabs at the start of a line.",
        why: "YAML does not allow tabs there: most parsers refuse the whole file.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n\tauthor: me\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n",
        source: "YAML 1.2, section 6.1",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(subject: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    let is_tab = matches!(
        problem.kind,
        ProblemKind::Yaml(FaultKind::Tab) | ProblemKind::Repaired { fault: FaultKind::Tab, .. }
    );
    is_tab.then(|| {
        let span = subject.document.yaml_span().unwrap_or_default();
        let fix = edits::untab(subject.document, span);
        Finding { fix, ..RULE.told(problem).help("replace the tab with two spaces") }
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-E2.
    #[test]
    fn tabs_in_the_indentation_are_told() {
        let message = "the value of `a` is not valid YAML: a line is indented with a tab; use spaces";
        assert_places(
            &RULE,
            &[("---\na:\n\tb: c\n---\n", &[(3, 2)], message), ("---\na:\tb\n---\n", &[], "")],
        );
    }
}
