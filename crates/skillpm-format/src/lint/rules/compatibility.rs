//! `compatibility`

use crate::document::write_scalar;
use crate::lint::{Check, Docs, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::lint::{edits, quote};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "compatibility",
    group: Group::Spec,
    levels: Levels::ERROR.claude_code(Level::Warning),
    summary: "`compatibility` is text of 1 to 500 characters",
    docs: Docs {
        what: "Looks for a `compatibility` that is not text, is empty or is too long.",
        why: "It is one short sentence for people: what the skill needs in order to work.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\ncompatibility:\n  - git\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\ncompatibility: needs git\n---\n",
        source: "specification, `compatibility`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The maximum number of characters.
const MAX: usize = 500;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((key, value)) = subject.field("compatibility") else { return };
    let Some(text) = value.text().map(str::trim) else {
        let finding = RULE
            .finding(format!("`compatibility` must be text, but it is {}", value.kind()), value.span.clone());
        let help =
            value.flat_text().map(|text| format!("write `compatibility: {}`", quote::quoted(&text)).into());
        let edits = value
            .flat_text()
            .and_then(|text| edits::set_value(subject.document, key, value, &write_scalar(&text)));
        let fix = edits.map(|edits| Fix::unsafe_("write the list as one string", edits));
        findings.push(Finding { help, fix, ..finding });
        return;
    };
    let length = text.chars().count();
    if length == 0 {
        let finding = RULE.finding("`compatibility` is empty", key.span.clone());
        findings.push(finding.help("delete the line, or say what the skill needs"));
    } else if length > MAX {
        let message = format!("`compatibility` has {length} characters, {MAX} are allowed");
        findings.push(RULE.finding(message, value.span.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 45.
    #[test]
    fn a_short_text_passes() {
        let long = format!("---\ncompatibility: {}\n---\n", "é".repeat(501));
        assert_places(
            &RULE,
            &[
                (
                    "---\ncompatibility:\n  - git\n  - jq\n---\n",
                    &[(3, 3)],
                    "`compatibility` must be text, but it is a list",
                ),
                ("---\ncompatibility:\n---\n", &[(2, 1)], "`compatibility` is empty"),
                (&long, &[(2, 16)], "`compatibility` has 501 characters, 500 are allowed"),
                ("---\ncompatibility: git\n---\n", &[], ""),
            ],
        );
        assert_eq!(help(&RULE, "---\ncompatibility: [git, jq]\n---\n"), "write `compatibility: \"git, jq\"`");
    }
}
