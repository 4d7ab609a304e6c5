//! `yaml-duplicate-key`

use crate::document::ProblemKind;
use crate::lint::{Docs, Finding, Group, Level, Levels, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-duplicate-key",
    group: Group::Spec,
    levels: Levels::ERROR.claude_code(Level::Warning),
    summary: "no key is there twice",
    docs: Docs {
        what: "Looks for a key that stands twice in the same mapping, also below `metadata`.",
        why: "YAML forbids it: some tools refuse the file, some take the first value and some the last.",
        bad: "---\nname: pdf\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "YAML 1.2, section 3.2.1.3",
    },
    fix: None,
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for problem in subject.document.problems() {
        if let ProblemKind::DuplicateKey { first, .. } = &problem.kind {
            let line = subject.document.position(first.start).line;
            let finding = RULE.finding(problem.to_string(), problem.span.clone());
            findings.push(finding.help(format!("delete this one or the one in line {line}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-E2 and oddity 22.
    #[test]
    fn the_second_key_is_shown() {
        assert_places(
            &RULE,
            &[
                ("---\na: 1\nb: 2\na: 3\n---\n", &[(4, 1)], "the key `a` is there twice"),
                ("---\nm:\n  v: 1\n  v: 1\n---\n", &[(4, 3)], "the key `v` is there twice"),
                ("---\nm:\n  v: 1\nn:\n  v: 1\n---\n", &[], ""),
            ],
        );
        assert_eq!(help(&RULE, "---\na: 1\na: 3\n---\n"), "delete this one or the one in line 2");
    }
}
