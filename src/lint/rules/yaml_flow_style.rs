//! `yaml-flow-style`

use crate::document::{Layout, Value};
use crate::lint::{Docs, Finding, Group, Level, Levels, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "yaml-flow-style",
    group: Group::Spec,
    levels: Levels::WARNING.reference(Level::Error).claude_code(Level::Off),
    summary: "lists and mappings are written on lines of their own",
    docs: Docs {
        what: "Looks for lists in brackets and mappings in braces, and tells the outermost ones.",
        why: "They are valid YAML that the reference validator refuses.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata: {author: me}\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n",
        source: "portability; the reference validator refuses them",
    },
    fix: None,
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(frontmatter) = subject.document.frontmatter() else { return };
    let mut nodes = vec![frontmatter];
    while let Some(node) = nodes.pop() {
        match &node.value {
            Value::Sequence { layout: Layout::Flow, .. } | Value::Mapping { layout: Layout::Flow, .. } => {
                let message =
                    format!("{} in one line is valid YAML, but not every tool reads it", node.kind());
                let help = "write one entry per line, or put the value in quotes if it is meant as text";
                findings.push(RULE.finding(message, node.span.clone()).help(help));
            }
            Value::Sequence { items, .. } => nodes.extend(items.iter().rev()),
            Value::Mapping { pairs, .. } => nodes.extend(pairs.iter().rev().map(|(_, value)| value)),
            Value::Scalar { .. } => {}
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
}
