//! `name-length`

use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Safety, Subject};
use crate::name::{NameError, SkillName};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-length",
    group: Group::Spec,
    levels: Levels::ERROR,
    summary: "the name has at most 64 characters",
    docs: Docs {
        what: "Counts the characters of the name after NFKC.",
        why: "Longer names are refused by other tools and do not fit where agents list skills.",
        bad: "---\n\
            name: a-name-of-more-than-sixty-four-characters-that-no-one-wants-to-type-again\n\
            description: Reads PDF files.\n\
            ---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, _, problems)) = subject.wrong_name() else { return };
    for problem in problems {
        if matches!(problem, NameError::TooLong(_)) {
            let finding = RULE.finding(problem.to_string(), node.span.clone());
            // Half a name is worse than that of the directory.
            let directory = subject.directory_name.and_then(|name| SkillName::new(name).ok());
            let fix = directory.and_then(|name| edits::rename(subject, name.as_str()));
            findings.push(Finding { fix, ..finding });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn characters_are_counted_not_bytes() {
        let name = |name: String| format!("---\nname: {name}\n---\n");
        assert_places(
            &RULE,
            &[
                (&name("a".repeat(65)), &[(2, 7)], "the name has 65 characters, 64 are allowed"),
                (&name("é".repeat(64)), &[], ""),
                (&name("ﬁ".repeat(33)), &[(2, 7)], "the name has 66 characters, 64 are allowed"),
            ],
        );
    }
}
