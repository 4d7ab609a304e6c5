//! `quirk-tab`

use crate::lint::reference::{self, Cause, Reading};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-tab",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "there are no tabs between keys, values and comments",
    docs: Docs {
        what: "Looks for tabs outside values: after a colon, before a comment, in a blank line.",
        why: "YAML allows them there, but the reference validator's reader does not.",
        bad: "---\nname:\tpdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "reference validator 0.1.0, its YAML scanner",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if let Some(stop) = Reading::stop(subject)
        && stop.cause == Cause::Tab
        && reference::explanation(&stop, subject).is_none()
    {
        let finding = RULE.finding("the reference validator does not read a tab here", stop.span);
        findings.push(finding.help("write a space instead"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn tabs_that_yaml_allows_are_told() {
        let message = "the reference validator does not read a tab here";
        assert_places(
            &RULE,
            &[
                ("---\nname:\tx\n---\n", &[(2, 6)], message),
                ("---\nname: x\t# y\n---\n", &[(2, 8)], message),
                ("---\nname: \"a\tb\"\nx: a b\n---\n", &[], ""),
            ],
        );
    }
}
