//! `yaml-flow-style`

use crate::document::{Document, Layout, Node, PEOPLE_FIELDS, ProblemKind, Value, is_of_openclaw};
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::lint::{edits, quote};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-flow-style",
    group: Group::Spec,
    levels: Levels::FORM.reference(Level::Error),
    summary: "lists and mappings are written on lines of their own",
    docs: Docs {
        what: "Looks for lists in brackets and mappings in braces, and reports the outermost ones.",
        why: "They are valid YAML that the reference validator refuses.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata: {author: me}\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n",
        source: "portability; the reference validator refuses them",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(frontmatter) = subject.document.frontmatter() else { return };
    // Anchors and tags are before a value and would be left behind.
    let plain =
        !subject.document.problems().iter().any(|problem| {
            matches!(problem.kind, ProblemKind::Anchor | ProblemKind::Alias | ProblemKind::Tag)
        });
    // A value with its context: in a list or mapping, or in none.
    let mut nodes: Vec<(&Node, FlowContext<'_>)> = vec![(frontmatter, FlowContext::Top)];
    while let Some((node, place)) = nodes.pop() {
        match &node.value {
            Value::Sequence { layout: Layout::Flow, .. } | Value::Mapping { layout: Layout::Flow, .. } => {
                let message =
                    format!("{} in one line is valid YAML, but not every tool reads it", node.kind());
                let source = &subject.document.text()[node.span.clone()];
                if place.is_for_people(frontmatter) && !source.contains(['\n', '\r']) && plain {
                    let help = format!("put the text in quotes: `{}`", quote::written(source));
                    let edit = Edit::replace(node.span.clone(), quote::written(source));
                    let finding = RULE.finding(message, node.span.clone()).help(help);
                    findings.push(finding.fix(Fix::unsafe_("put the text in quotes", vec![edit])));
                    continue;
                }
                let help = match place {
                    FlowContext::Value(..) if is_empty(node) => {
                        "delete the line, or put the value in quotes if it is meant as text"
                    }
                    _ => "write one entry per line, or put the value in quotes if it is meant as text",
                };
                let finding = RULE.finding(message, node.span.clone()).help(help);
                let edits = if plain { place.to_block(subject.document, node) } else { None };
                let title = "write one entry per line";
                let fix = edits.map(|edits| match &node.value {
                    // As the formatter does.
                    Value::Mapping { .. } => Fix::safe(title, edits),
                    _ => Fix::unsafe_(title, edits),
                });
                findings.push(Finding { fix, ..finding });
            }
            Value::Sequence { items, .. } => {
                nodes.extend(items.iter().rev().map(|item| (item, FlowContext::Item)));
            }
            Value::Mapping { pairs, .. } => {
                nodes.extend(pairs.iter().rev().map(|(key, value)| (value, FlowContext::Value(key, pairs))));
            }
            Value::Scalar { .. } => {}
        }
    }
}

/// Reports whether `node` is a list or a mapping without entries.
fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Sequence { items, .. } => items.is_empty(),
        Value::Mapping { pairs, .. } => pairs.is_empty(),
        Value::Scalar { .. } => false,
    }
}

/// The context of a value.
#[derive(Clone, Copy)]
enum FlowContext<'a> {
    Top,
    Item,
    /// After this key, next to these entries.
    Value(&'a Node, &'a [(Node, Node)]),
}

impl FlowContext<'_> {
    /// Reports whether this is the value of a field of `frontmatter` that users read as written.
    fn is_for_people(self, frontmatter: &Node) -> bool {
        let Self::Value(key, siblings) = self else { return false };
        std::ptr::eq(siblings, frontmatter.pairs())
            && key.text().is_some_and(|key| PEOPLE_FIELDS.contains(&key))
    }

    /// Returns the edits that write `node`, which is in this context, with one entry per line.
    fn to_block(self, document: &Document, node: &Node) -> Option<Vec<Edit>> {
        match self {
            Self::Top => None,
            Self::Item => edits::item_to_block(document, node),
            Self::Value(key, _) if is_of_openclaw(Some(key), node) => None,
            Self::Value(key, siblings) => edits::value_to_block(document, key, node, siblings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddities 4, 5, 6 and 12.
    #[test]
    fn the_outermost_collections_are_told_in_order() {
        let message = "a mapping in one line is valid YAML, but not every tool reads it";
        assert_places(
            &RULE,
            &[
                ("---\na: {b: [c]}\nd:\n  - e: []\n---\n", &[(2, 4), (4, 8)], message),
                ("---\na:\n  - b\nc: \"[d]\"\n---\n", &[], ""),
            ],
        );
    }

    #[test]
    fn the_line_of_an_empty_collection_can_go() {
        for value in ["{}", "[]"] {
            assert_eq!(
                help(&RULE, &format!("---\na: {value}\n---\n")),
                "delete the line, or put the value in quotes if it is meant as text"
            );
        }
        assert_eq!(help(&RULE, "---\nargument-hint: [file]\n---\n"), "put the text in quotes: `\"[file]\"`");
        assert_eq!(
            help(&RULE, "---\na: {b: c}\n---\n"),
            "write one entry per line, or put the value in quotes if it is meant as text"
        );
    }

    /// Oddity 4: people see it as written, with its brackets.
    #[test]
    fn a_text_for_people_is_put_in_quotes_and_becomes_no_list() {
        let fixed = |line: &str| fixed_text(&RULE, &format!("---\n{line}\nname: x\n---\n"));
        for (line, quoted) in [
            ("argument-hint: [apk-file]", "argument-hint: \"[apk-file]\""),
            ("argument-hint: [a, \"b\"] # why", "argument-hint: '[a, \"b\"]' # why"),
            ("when_to_use: {a}", "when_to_use: \"{a}\""),
            ("paths: [a]", "paths:\n  - a"),
        ] {
            assert_eq!(fixed(line), Some(format!("---\n{quoted}\nname: x\n---\n")), "{line}");
        }
        assert_eq!(
            fixed("metadata:\n  argument-hint: [a]"),
            Some("---\nmetadata:\n  argument-hint:\n    - a\nname: x\n---\n".to_owned())
        );
    }
}
