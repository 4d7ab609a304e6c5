//! `name-reserved`

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-reserved",
    group: Group::Spec,
    levels: Levels::OFF.claude_code(Level::Note).claude_ai(Level::Error).publish(Level::Note),
    summary: "the name has neither `claude` nor `anthropic` in it",
    docs: Docs {
        what: "Looks for the words `claude` and `anthropic` in the name.",
        why: "Anthropic reserves them: claude.ai and the Claude API refuse to take such a skill. The specification and \
            Claude Code do not mind.",
        bad: "---\nname: claude-pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "Anthropic's documentation of skills: names cannot contain reserved words",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, name)) = subject.text("name") else { return };
    for word in ["claude", "anthropic"] {
        if name.to_ascii_lowercase().contains(word) {
            let message = format!("the name `{name}` has `{word}` in it, which Anthropic reserves");
            findings.push(RULE.finding(message, node.span.clone()).help("call it by what it does"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn each_reserved_word_is_reported_once() {
        let message = "the name `Claude-by-anthropic` has `claude` in it, which Anthropic reserves";
        assert_places(
            &RULE,
            &[
                ("---\nname: Claude-by-anthropic\n---\n", &[(2, 7), (2, 7)], message),
                ("---\nname: cloud\ndescription: Asks Claude.\n---\n", &[], ""),
                ("---\ndescription: x\n---\n", &[], ""),
            ],
        );
    }
}
