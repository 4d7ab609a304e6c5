//! `description-brackets`

use super::character_span;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "description-brackets",
    group: Group::Spec,
    levels: Levels::OFF.publish(Level::Note).claude_ai(Level::Error),
    summary: "the description has no `<` and `>`",
    docs: Docs {
        what: "Looks for angle brackets in the description.",
        why: "Descriptions are put between tags in front of the agent. Anthropic's check of a skill that is \
            packed refuses what could be read as a tag; the specification and Claude Code say nothing of it.",
        bad: "---\nname: pdf\ndescription: Reads <file>.pdf.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "Anthropic's `quick_validate.py` of skill-creator",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, text)) = subject.description else { return };
    if let Some(bracket) = text.chars().find(|c| matches!(c, '<' | '>')) {
        let finding = RULE
            .finding(format!("the description has a `{bracket}`"), written(subject, node, bracket))
            .help("rewrite it without angle brackets, such as `FILE` for `<file>`");
        findings.push(finding);
    }
}

/// Returns where `bracket` is. The `>` of a folded block is not part of its text.
fn written(subject: &Subject<'_>, node: &crate::document::Node, bracket: char) -> std::ops::Range<usize> {
    let source = &subject.document.text()[node.span.clone()];
    match source.split_once(['\n', '\r']) {
        Some((header, text)) if header.starts_with(['>', '|']) && text.contains(bracket) => {
            let at = node.span.end - text.len() + text.find(bracket).unwrap_or_default();
            at..at + 1
        }
        _ => character_span(subject, node, bracket),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn the_first_bracket_is_shown() {
        assert_places(
            &RULE,
            &[
                ("---\ndescription: a <b>\n---\n", &[(2, 16)], "the description has a `<`"),
                ("---\ndescription: >\n  a -> b\n---\n", &[(3, 6)], "the description has a `>`"),
                ("---\ndescription: >\n  a\n---\n", &[], ""),
            ],
        );
    }
}
