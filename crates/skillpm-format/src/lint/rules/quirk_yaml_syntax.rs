//! `quirk-yaml-syntax`

use crate::lint::reference::{self, Cause, Reading};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-yaml-syntax",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "the reference validator can parse the frontmatter",
    docs: Docs {
        what: "Looks for everything else that the reference validator's YAML reader refuses although it is \
            valid YAML: a value that starts in an odd place, a key that is far from its colon, `<<` as a \
            key, a key that is a list.",
        why: "The reader is for YAML 1.1 with parts of 1.2, and its front end accepts only some of that.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  <<: x\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  \"<<\": x\n---\n",
        source: "reference validator 0.1.0, StrictYAML",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(stop) = Reading::stop(subject) else { return };
    let own = !matches!(stop.cause, Cause::Tab | Cause::SiblingIndent);
    if own && stop.cause.is_yaml() && reference::explanation(&stop, subject).is_none() {
        let message = format!("the reference validator cannot parse the frontmatter: {}", stop.cause);
        findings.push(RULE.finding(message, stop.span));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn valid_yaml_that_is_refused_is_told() {
        assert_places(
            &RULE,
            &[
                (
                    "---\n<<: x\n---\n",
                    &[(2, 1)],
                    "the reference validator cannot parse the frontmatter: `<<` must be a mapping to merge",
                ),
                ("---\n\"<<\": x\n---\n", &[], ""),
                ("---\nname: [x]\n---\n", &[], ""),
            ],
        );
    }
}
