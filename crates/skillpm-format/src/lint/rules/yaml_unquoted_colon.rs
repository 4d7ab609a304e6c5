//! `yaml-unquoted-colon`

use crate::document::{FaultKind, Problem, ProblemKind};
use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-unquoted-colon",
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "a value with `: ` in it is in quotes",
    docs: Docs {
        what: "Looks for a colon followed by a space inside a value without quotes.",
        why: "YAML reads the colon as the end of another key, so most tools skip the whole skill. It is \
            the most common mistake in descriptions.",
        bad: "---\nname: pdf\ndescription: Reads files. Usage: /pdf\n---\n",
        good: "---\nname: pdf\ndescription: \"Reads files. Usage: /pdf\"\n---\n",
        source: "specification, frontmatter; YAML 1.2, section 7.3.3",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(subject: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    let help = match &problem.kind {
        ProblemKind::Repaired { key, fault: FaultKind::Colon, raw } => {
            edits::how_to_quote(subject.document, problem.span.start, key, raw)
        }
        ProblemKind::Yaml(FaultKind::Colon) => "put the whole value in quotes".to_owned(),
        _ => return None,
    };
    let fix = edits::quote_raw(subject.document, problem.span.start);
    Some(Finding { fix, ..RULE.told(problem).label("this colon").help(help) })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-E2 and oddities 1 and 2.
    #[test]
    fn the_colon_is_shown_and_the_quotes_are_suggested() {
        let message = "the value of `description` is not valid YAML: it has `: ` in it, which starts a \
            new key unless the value is in quotes";
        assert_places(
            &RULE,
            &[
                ("---\ndescription: é Usage: x\n---\n", &[(2, 21)], message),
                ("---\ndescription: x\n  Usage: x\n---\n", &[(3, 8)], message),
                ("---\ndescription: \"Usage: x\"\n---\n", &[], ""),
                ("---\ndescription: http://x\n---\n", &[], ""),
            ],
        );
        assert_eq!(
            help(&RULE, "---\nmetadata:\n  version: \"1.0\"\n  author: Ann: the author\n---\n"),
            "put the value in the faulty line in quotes, not the whole list or mapping"
        );
        assert_eq!(help(&RULE, "---\na: b: \"c\"\n---\n"), "put the whole value in quotes: `a: 'b: \"c\"'`");
    }
}
