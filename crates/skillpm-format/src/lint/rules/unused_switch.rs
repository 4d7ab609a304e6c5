//! `unused-switch`

use crate::lint::switch::{self, Switch};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Ruleset, Subject, check as check_all};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "unused-switch",
    group: Group::Spec,
    levels: Levels::WARNING,
    summary: "a comment that switches off a rule is needed",
    docs: Docs {
        what: "Looks for `skillpm: allow` comments that suppress nothing.",
        why: "What was fixed needs no exception, and a leftover switch hides the next fault. \
            Switches for rules that the profile does not apply are ignored.",
        bad: "---\nname: pdf # skillpm: allow name-length\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "skillpm's own rule",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// Uses the default profile if the rule runs by itself. If other rules are checked too, [`unused_switches`] uses their
/// findings.
fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    findings.extend(check_all(subject).into_iter().filter(|finding| finding.rule == RULE.id));
}

/// Returns the findings about switches that switched nothing off.
pub(in crate::lint) fn unused_switches<'a>(
    unused: impl Iterator<Item = &'a Switch<'a>>,
    ruleset: &Ruleset,
) -> Vec<Finding> {
    let Some(severity) = ruleset.level(&RULE).severity() else { return Vec::new() };
    unused
        .filter(|switch| switch.rule != RULE.id && switch::is_on(switch.rule, ruleset) == Some(true))
        .map(|switch| {
            let message = format!("`{}` finds nothing to switch off here", switch.rule);
            RULE.finding(message, switch.span.clone()).severity(severity).help("delete the name")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;
    use crate::lint::{Profile, Ruleset, Subject, check_with};

    #[test]
    fn a_switch_without_a_finding_is_told() {
        let message = "`name-length` finds nothing to switch off here";
        let text = "---\nname: pdf # skillpm: allow name-length\ndescription: x\n---\n";
        assert_places(
            &RULE,
            &[
                (text, &[(2, 28)], message),
                ("---\nname: Reader # skillpm: allow-file name-alphabet, name-directory\n---\n", &[], ""),
            ],
        );
    }

    #[test]
    fn a_switch_of_a_rule_that_is_off_is_left_alone() {
        let document = crate::document::Document::parse(
            "---\nname: pdf # skillpm: allow name-ascii\ndescription: Use when needed.\n---\n".to_owned(),
        );
        let found = |profile| {
            let findings = check_with(&Subject::new(&document, None, "SKILL.md"), &Ruleset::new(profile));
            findings.len()
        };
        assert_eq!((found(Profile::Spec), found(Profile::Lenient), found(Profile::Reference)), (1, 0, 0));
    }
}
