//! The text that an agent gets of a skill.

use std::path::Path;

/// What the arguments take the place of.
const PLACEHOLDER: &str = "$ARGUMENTS";
/// What stands for the placeholder's own text.
const ESCAPED: &str = "$$ARGUMENTS";

/// Returns what an agent gets of a skill with this `body` in `base_dir`: a first line that names
/// the directory, a blank line, and the body.
///
/// Every `$ARGUMENTS` of the body becomes `arguments`, whatever follows it; `$$ARGUMENTS` becomes
/// `$ARGUMENTS`. The body is read once: arguments that hold `$ARGUMENTS` keep it. A body without a
/// placeholder gets arguments that are not empty as a last paragraph. Neither the arguments nor
/// the rest of the body change.
pub fn activate(body: &str, base_dir: &Path, arguments: &str) -> String {
    let mut text = format!("Base directory for this skill: {}\n\n", base_dir.display());
    text.reserve(body.len() + arguments.len());
    let mut used = false;
    let mut rest = body;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(ESCAPED) {
            text.push_str(PLACEHOLDER);
            rest = after;
        } else if let Some(after) = rest.strip_prefix(PLACEHOLDER) {
            text.push_str(arguments);
            used = true;
            rest = after;
        } else {
            text.push('$');
            rest = &rest[1..];
        }
    }
    text.push_str(rest);
    if !used && !arguments.is_empty() {
        text.push_str("\n\nARGUMENTS: ");
        text.push_str(arguments);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "Base directory for this skill: /s/$ARGUMENTS\n\n";

    /// The text after the first line. The directory's name is made to tempt.
    fn after_head(body: &str, arguments: &str) -> String {
        let text = activate(body, Path::new("/s/$ARGUMENTS"), arguments);
        text.strip_prefix(HEAD).expect("S0-US3.4, S0-FR-022: the first line").to_owned()
    }

    /// S0-US3.1, S0-US3.4, S0-FR-022, S0-FR-023, S0-FR-028, conflict C10.
    #[test]
    fn the_placeholder_is_replaced_in_the_body_only() {
        assert_eq!(
            activate("Review $ARGUMENTS now.\n", Path::new("/s/review"), "a.py"),
            "Base directory for this skill: /s/review\n\nReview a.py now.\n"
        );
        assert_eq!(after_head("x\n", ""), "x\n");
    }

    /// S0-US3.2, S0-FR-025.
    #[test]
    fn without_a_placeholder_arguments_are_appended() {
        assert_eq!(after_head("Review.", "a b"), "Review.\n\nARGUMENTS: a b");
        assert_eq!(
            after_head("Review.\n", "a"),
            "Review.\n\n\nARGUMENTS: a",
            "exactly, also after a newline"
        );
        assert_eq!(after_head("", "a"), "\n\nARGUMENTS: a");
        assert_eq!(after_head("Review.", ""), "Review.");
    }

    /// S0-US3.3, S0-FR-024.
    #[test]
    fn empty_arguments_leave_nothing_in_the_placeholder_s_place() {
        assert_eq!(after_head("<$ARGUMENTS>", ""), "<>");
    }

    /// S0-E4, S0-E5, S0-SC-006.
    #[test]
    fn every_placeholder_is_replaced_and_then_nothing_appended() {
        assert_eq!(after_head("$ARGUMENTS, $ARGUMENTS$ARGUMENTS", "x"), "x, xx");
        assert_eq!(after_head("$ARGUMENTSX", "x"), "xX", "whatever follows");
        assert_eq!(after_head("${ARGUMENTS}$", "x"), "${ARGUMENTS}$\n\nARGUMENTS: x");
    }

    /// S0-FR-026.
    #[test]
    fn case_matters() {
        assert_eq!(after_head("$arguments $Arguments", "x"), "$arguments $Arguments\n\nARGUMENTS: x");
    }

    /// Conflict C10.
    #[test]
    fn the_escape_gives_the_literal_text() {
        assert_eq!(after_head("$$ARGUMENTS is $ARGUMENTS", "x"), "$ARGUMENTS is x");
        assert_eq!(after_head("$$ARGUMENTS", "x"), "$ARGUMENTS\n\nARGUMENTS: x", "it is no placeholder");
        assert_eq!(after_head("$$$ARGUMENTS $5 $$", ""), "$$ARGUMENTS $5 $$");
    }

    /// Conflict C10: white space is part of the arguments.
    #[test]
    fn arguments_are_untouched() {
        assert_eq!(after_head("<$ARGUMENTS>", " a\t b\n\n"), "< a\t b\n\n>");
        assert_eq!(after_head("x", " "), "x\n\nARGUMENTS:  ");
    }

    proptest! {
        #[test]
        fn a_body_without_a_dollar_is_unchanged(body in "[^$]{0,60}") {
            prop_assert_eq!(after_head(&body, ""), body);
        }

        #[test]
        fn arguments_are_not_read_again(
            before in "[^$]{0,9}", after in "[^$]{0,9}", arguments in "(\\$|\\$ARGUMENTS|x| ){1,9}",
        ) {
            let text = after_head(&format!("{before}$ARGUMENTS{after}"), &arguments);
            prop_assert_eq!(text, format!("{before}{arguments}{after}"));
        }
    }
}
