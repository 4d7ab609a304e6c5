//! `unknown-rule`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject, rule, switch};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "unknown-rule",
    group: Group::Spec,
    levels: Levels::WARNING,
    summary: "a comment that switches off a rule names an existing one",
    docs: Docs {
        what: "Looks at the names in `skillpm: allow` comments.",
        why: "A misspelled switch silently does nothing.",
        bad: "---\nname: pdf # skillpm: allow name-directry\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "skillpm's own rule",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for switch in switch::switches(subject.document) {
        if let Err(unknown) = rule(switch.rule) {
            findings.push(RULE.finding(unknown.to_string(), switch.span.clone()).help(unknown.hint()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn slips_get_a_suggestion() {
        let yaml = "---\nname: x # skillpm: allow name-length, name-lenght\n---\n";
        let body = "---\n---\n<!-- skillpm: allow-file zzz -->\n";
        assert_places(
            &RULE,
            &[
                (yaml, &[(2, 39)], "there is no rule `name-lenght`"),
                (body, &[(3, 26)], "there is no rule `zzz`"),
            ],
        );
        assert_eq!(help(&RULE, yaml), "did you mean `name-length`?");
    }
}
