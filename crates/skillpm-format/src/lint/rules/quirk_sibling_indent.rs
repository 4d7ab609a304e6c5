//! `quirk-sibling-indent`

use crate::lint::reference::{Cause, Reading};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-sibling-indent",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "sibling mappings have the same indentation",
    docs: Docs {
        what: "Looks for two keys of one mapping whose values are mappings that start in different columns.",
        why: "It is valid YAML that the reference validator's strict reader refuses.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  a:\n    x: y\n  b:\n      x: y\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  a:\n    x: y\n  b:\n    x: y\n---\n",
        source: "reference validator 0.1.0, StrictYAML",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if let Some(stop) = Reading::stop(subject)
        && stop.cause == Cause::SiblingIndent
    {
        let message = "the reference validator expects this mapping to be indented like the one before it";
        findings.push(RULE.finding(message, stop.span));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn only_mappings_in_one_mapping_are_compared() {
        let message = "the reference validator expects this mapping to be indented like the one before it";
        assert_places(
            &RULE,
            &[
                ("---\na:\n  x: y\nb:\n    x: y\n---\n", &[(5, 5)], message),
                ("---\na:\n  x: y\nb:\n    - x: y\n---\n", &[], ""),
                ("---\na:\n  x:\n    y: z\nb:\n  x:\n      y: z\n---\n", &[], ""),
            ],
        );
    }
}
