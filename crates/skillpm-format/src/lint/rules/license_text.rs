//! `license-text`

use crate::lint::quote;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "license-text",
    group: Group::Package,
    levels: Levels::WARNING,
    summary: "`license` is text and not empty",
    docs: Docs {
        what: "Looks for a `license` that is a list, a mapping, or nothing.",
        why: "Tools read one string. Two licenses make one expression: `MIT OR Apache-2.0`.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nlicense:\n  - MIT\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\n---\n",
        source: "specification, `license`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((key, value)) = subject.field("license") else { return };
    match value.text() {
        Some(text) if text.trim().is_empty() => {
            let finding = RULE.finding("`license` is empty", key.span.clone());
            findings.push(finding.help("delete the line, or name the license: `license: MIT`"));
        }
        Some(_) => {}
        None => {
            let message = format!("`license` must be text, but it is {}", value.kind());
            let finding = RULE.finding(message, value.span.clone());
            let help =
                value.flat_text().map(|text| format!("write `license: {}`", quote::quoted(&text)).into());
            findings.push(Finding { help, ..finding });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// SPEC R10.
    #[test]
    fn other_values_than_text_are_told() {
        let text = |value: &str| format!("---\nlicense:{value}\n---\n");
        assert_places(
            &RULE,
            &[
                (&text(""), &[(2, 1)], "`license` is empty"),
                (&text(" [MIT]"), &[(2, 10)], "`license` must be text, but it is a list"),
                (&text("\n  name: MIT"), &[(3, 3)], "`license` must be text, but it is a mapping"),
                (&text(" MIT"), &[], ""),
                (&text(" 1"), &[], ""),
            ],
        );
    }
}
