//! `quirk-description-length`

use super::padded;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// 64 blanks.
macro_rules! blanks {
    () => {
        "                                                                "
    };
}

/// A short text followed by 1024 blanks.
const EXAMPLE: &str =
    concat!("---\nname: pdf\ndescription: \"Reads PDF files.", sixteen!(blanks!()), "\"\n---\n");

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-description-length",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "`description` has at most 1024 characters, white space around it included",
    docs: Docs {
        what: "Counts the characters of `description` with the white space and the line ends around it.",
        why: "The reference validator measures the value as YAML reads it; a block after `|` or `>` \
            ends with a line end, and that counts.",
        bad: EXAMPLE,
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "reference validator 0.1.0, `_validate_description`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The maximum number of characters.
const MAX: usize = 1024;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if let Some((span, length)) = padded(subject, "description", MAX) {
        let message = format!(
            "`description` has {length} characters with the white space around it, {MAX} are allowed"
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
            "`description` has {} characters with the white space around it, {MAX} are allowed",
            MAX + 1
        );
        let block = |length| format!("---\ndescription: |\n  {}\n---\n", "x".repeat(length));
        assert_places(
            &RULE,
            &[
                (&block(MAX), &[(2, 14)], &message),
                (&block(MAX - 1), &[], ""),
                (&block(MAX + 1), &[], ""),
                (&format!("---\ndescription: {}\n---\n", "x".repeat(MAX)), &[], ""),
            ],
        );
    }
}
