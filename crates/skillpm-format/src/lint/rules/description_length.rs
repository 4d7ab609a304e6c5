//! `description-length`

/// A description of 1,088 characters.
const LONG_EXAMPLE: &str = concat!(
    "---\nname: pdf\ndescription: ",
    sixteen!("Reads PDF files. Use it for PDF files. Do not use it for images. "),
    "\n---\n"
);

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "description-length",
    group: Group::Spec,
    levels: Levels::ERROR.claude_code(Level::Warning),
    summary: "the description has at most 1024 characters",
    docs: Docs {
        what: "Counts the characters of the description without white space around it.",
        why: "The descriptions of all installed skills are in front of the agent at all times; longer \
            ones are cut or refused.",
        bad: LONG_EXAMPLE,
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `description`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The maximum number of characters.
const MAX: usize = 1024;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, text)) = subject.description else { return };
    // No text has more characters than bytes.
    if text.len() <= MAX {
        return;
    }
    let length = text.chars().count();
    if length > MAX {
        let message = format!("the description has {length} characters, {MAX} are allowed");
        let help = "keep what the skill does and when to use it; move the rest into the body";
        findings.push(RULE.finding(message, node.span.clone()).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 44.
    #[test]
    fn characters_are_counted_without_the_edges() {
        let text = |text: String| format!("---\ndescription: {text}\n---\n");
        assert_places(
            &RULE,
            &[
                (&text("é".repeat(1024)), &[], ""),
                (&text(format!("\"{}  \"", "x".repeat(1024))), &[], ""),
                (
                    &text("é".repeat(1025)),
                    &[(2, 14)],
                    "the description has 1025 characters, 1024 are allowed",
                ),
            ],
        );
    }
}
