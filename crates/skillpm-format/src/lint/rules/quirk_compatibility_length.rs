//! `quirk-compatibility-length`

use super::padded;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// 32 blanks.
macro_rules! blanks {
    () => {
        "                                "
    };
}

/// A short text followed by 512 blanks.
const EXAMPLE: &str = concat!(
    "---\nname: pdf\ndescription: Reads PDF files.\ncompatibility: \"needs git",
    sixteen!(blanks!()),
    "\"\n---\n"
);

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-compatibility-length",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "`compatibility` has at most 500 characters, white space around it included",
    docs: Docs {
        what: "Counts the characters of `compatibility` with the white space and the line ends around it.",
        why: "The reference validator measures the value as YAML reads it; a block after `|` or `>` \
            ends with a line end, and that counts.",
        bad: EXAMPLE,
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "reference validator 0.1.0, `_validate_compatibility`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The maximum number of characters.
const MAX: usize = 500;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if let Some((span, length)) = padded(subject, "compatibility", MAX) {
        let message = format!(
            "`compatibility` has {length} characters with the white space around it, {MAX} are allowed"
        );
        findings.push(RULE.finding(message, span).help("remove the white space, or shorten the text"));
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX, RULE};
    use crate::lint::testing::*;

    #[test]
    fn white_space_around_it_counts() {
        let message = format!(
            "`compatibility` has {} characters with the white space around it, {MAX} are allowed",
            MAX + 1
        );
        let block = |length| format!("---\ncompatibility: |\n  {}\n---\n", "x".repeat(length));
        assert_places(
            &RULE,
            &[
                (&block(MAX), &[(2, 16)], &message),
                (&block(MAX - 1), &[], ""),
                (&block(MAX + 1), &[], ""),
                (&format!("---\ncompatibility: {}\n---\n", "x".repeat(MAX)), &[], ""),
            ],
        );
    }
}
