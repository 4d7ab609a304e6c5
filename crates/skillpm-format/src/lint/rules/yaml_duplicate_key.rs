//! `yaml-duplicate-key`

use crate::document::{Document, Node, Problem, ProblemKind, Value};
use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-duplicate-key",
    group: Group::Spec,
    levels: Levels::ERROR.claude_code(Level::Warning).claude_ai(Level::Warning),
    summary: "no key appears twice",
    docs: Docs {
        what: "Looks for a key that appears twice in the same mapping, also under `metadata`.",
        why: "YAML forbids it: some tools refuse the file, some take the first value and some the last.",
        bad: "---\nname: pdf\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "YAML 1.2, section 3.2.1.3",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(subject: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    let ProblemKind::DuplicateKey { first, .. } = &problem.kind else { return None };
    let line = subject.document.line(first.start);
    let help = format!("delete this one or the one on line {line}");
    let fix = fix(subject.document, first.start, problem.span.start);
    Some(Finding { fix, ..RULE.told(problem).help(help) })
}

/// Deletes the entry at byte `second` if it equals the one at `first`, otherwise the one at `first`: the last one
/// counts in most tools.
fn fix(document: &Document, first: usize, second: usize) -> Option<Fix> {
    let mut nodes = vec![document.frontmatter()?];
    while let Some(node) = nodes.pop() {
        let pairs = node.pairs();
        let find = |start| {
            let found = pairs.binary_search_by_key(&start, |(key, _)| key.span.start);
            found.ok().map(|at| &pairs[at])
        };
        if let (Some(first), Some(second)) = (find(first), find(second)) {
            let delete = |(key, value): &(Node, Node)| edits::delete_entry(document, key, value);
            return Some(if first.1.to_json() == second.1.to_json() {
                Fix::safe("delete the second one", vec![delete(second)?])
            } else {
                Fix::unsafe_("delete the first one", vec![delete(first)?])
            });
        }
        match &node.value {
            Value::Scalar { .. } => {}
            Value::Sequence { items, .. } => nodes.extend(items),
            Value::Mapping { pairs, .. } => nodes.extend(pairs.iter().map(|(_, value)| value)),
        }
    }
    None
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
                ("---\na: 1\nb: 2\na: 3\n---\n", &[(4, 1)], "the key `a` appears twice"),
                ("---\nm:\n  v: 1\n  v: 1\n---\n", &[(4, 3)], "the key `v` appears twice"),
                ("---\nm:\n  v: 1\nn:\n  v: 1\n---\n", &[], ""),
            ],
        );
        assert_eq!(help(&RULE, "---\na: 1\na: 3\n---\n"), "delete this one or the one on line 2");
    }
}
