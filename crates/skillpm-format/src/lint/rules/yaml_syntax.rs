//! `yaml-syntax`

use crate::document::{FaultKind, Problem, ProblemKind};
use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-syntax",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "the frontmatter is valid YAML",
    docs: Docs {
        what: "Looks for everything that a YAML parser refuses and that has no rule of its own.",
        why: "Most tools skip a skill whose frontmatter they cannot parse.",
        bad: "---\nname: pdf\ndescription: @PDF files\n---\n",
        good: "---\nname: pdf\ndescription: \"@PDF files\"\n---\n",
        source: "specification, frontmatter; YAML 1.2",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(subject: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    let (fault, help) = match &problem.kind {
        ProblemKind::Yaml(fault) => (fault, None),
        ProblemKind::Repaired { key, fault, raw } => {
            (fault, Some(edits::how_to_quote(subject.document, problem.span.start, key, raw)))
        }
        _ => return None,
    };
    // These have their own rules.
    (!matches!(fault, FaultKind::Colon | FaultKind::Tab | FaultKind::Control(_))).then(|| {
        let fix = edits::quote_raw(subject.document, problem.span.start).filter(|_| help.is_some());
        Finding { help: help.map(Into::into), fix, ..RULE.told(problem) }
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-E2, S0-FR-014 and oddities 3, 7, 11, 12, 13, 17, 18 and 21.
    #[test]
    fn the_value_and_the_reason_are_told() {
        let with = |line: &str| format!("---\nname: x\n{line}\n---\n");
        for (line, column, message) in [
            (
                "a: [b] [c]",
                4,
                "the value of `a` is not valid YAML: its brackets do not match or text follows them",
            ),
            (
                "a: *",
                4,
                "the value of `a` is not valid YAML: it starts with `*`, which YAML reserves \
                    unless the value is in quotes",
            ),
            (
                "a: - b",
                4,
                "the value of `a` is not valid YAML: it starts with `-`, which YAML reserves \
                    unless the value is in quotes",
            ),
            ("a: \"b\" c", 4, "the value of `a` is not valid YAML: text follows its closing quote"),
            ("a: \"b", 4, "the value of `a` is not valid YAML: its opening quote is never closed"),
            (
                "a: \"\\'\"",
                4,
                "the value of `a` is not valid YAML: it has a backslash escape that YAML does not know",
            ),
        ] {
            assert_places(&RULE, &[(&with(line), &[(3, column)], message)]);
        }
        assert_places(&RULE, &[("---\na: b: c\n---\n", &[], ""), ("---\na: b\n---\n", &[], "")]);
        assert_eq!(places(&RULE, "---\na: b\nc\n---\n")[0].0, 3);
        assert_eq!(help(&RULE, &with("a: @b")), "put the whole value in quotes: `a: \"@b\"`");
    }
}
