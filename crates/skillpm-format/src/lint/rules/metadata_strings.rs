//! `metadata-strings`

use crate::document::{self, Style, Value};
use crate::lint::quote;
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Rule, Safety, Subject, clients};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "metadata-strings",
    group: Group::Spec,
    levels: Levels::FORM,
    summary: "`metadata` maps keys to strings",
    docs: Docs {
        what: "Looks for a `metadata` that is not a mapping, and for values in it that are not text: \
            lists, mappings, nothing, numbers and booleans without quotes.",
        why: "The specification allows strings only. Other values are kept, but tools \
            read them differently: `1.10` becomes `1.1` in many.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  version: 1.10\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  version: \"1.10\"\n---\n",
        source: "specification, `metadata`",
    },
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((_, metadata)) = subject.field("metadata") else { return };
    // Invalid YAML has already been reported.
    if matches!(metadata.value, Value::Scalar { style: Style::Raw, .. }) {
        return;
    }
    if !matches!(metadata.value, Value::Mapping { .. }) {
        let message = format!("`metadata` must map keys to strings, but it is {}", metadata.kind());
        findings.push(RULE.finding(message, metadata.span.clone()));
        return;
    }
    for (key, value) in metadata.pairs() {
        let name = key.text().unwrap_or_default();
        // `client-field` reports these.
        if clients::of_block(name).is_some() {
            continue;
        }
        let (what, help) = match &value.value {
            // The intended text is unknown.
            Value::Scalar { text, style: Style::Plain } if document::is_null(text) => ("empty", None),
            Value::Scalar { text, style: Style::Plain } if document::is_number_or_boolean(text) => {
                ("a number or a boolean", Some(format!("write `{name}: {}`", quote::quoted(text))))
            }
            _ if value.text().is_some() && !value.is_absent() => continue,
            _ => (value.kind(), None),
        };
        let finding =
            RULE.finding(format!("`metadata.{name}` must be text, but it is {what}"), value.span.clone());
        let fix = help.is_some().then(|| {
            let text = value.text().unwrap_or_default();
            let edits = vec![Edit::replace(value.span.clone(), quote::quoted(text))];
            let title = "put the value in quotes";
            // Some tools hide a skill by this key, and only if it is not text.
            if name == "internal" { Fix::unsafe_(title, edits) } else { Fix::safe(title, edits) }
        });
        findings.push(Finding { help: help.map(Into::into), fix, ..finding });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Conflict C7 and SPEC's "arbitrary key-value mapping".
    #[test]
    fn values_that_are_no_text_are_told() {
        let message = "`metadata.v` must be text, but it is a number or a boolean";
        assert_places(
            &RULE,
            &[
                (
                    "---\nmetadata:\n  v: 1.10\n  w: true\n  x: 1.2.3\n  y: \"2\"\n  z: inf\n---\n",
                    &[(3, 6), (4, 6)],
                    message,
                ),
                (
                    "---\nmetadata:\n  v:\n    - a\n---\n",
                    &[(4, 5)],
                    "`metadata.v` must be text, but it is a list",
                ),
                ("---\nmetadata:\n  v:\n---\n", &[(3, 4)], "`metadata.v` must be text, but it is empty"),
                (
                    "---\nmetadata: text\n---\n",
                    &[(2, 11)],
                    "`metadata` must map keys to strings, but it is text",
                ),
            ],
        );
        for value in ["0x1F", "0o17", ".inf", "-.INF", ".nan", "1e3", "-2"] {
            let text = format!("---\nmetadata:\n  v: {value}\n---\n");
            assert_places(&RULE, &[(&text, &[(3, 6)], message)]);
            let fixed = format!("---\nmetadata:\n  v: \"{value}\"\n---\n");
            assert_eq!(fixed_text(&RULE, &text), Some(fixed));
        }
        for value in ["0x", "0o8", "inf", "-inf", ".", "1.2.3"] {
            assert_places(&RULE, &[(&format!("---\nmetadata:\n  v: {value}\n---\n"), &[], "")]);
        }
        assert_eq!(help(&RULE, "---\nmetadata:\n  v: 1.10\n---\n"), "write `v: \"1.10\"`");
    }

    #[test]
    fn nothing_has_no_quotes_to_be_put_in() {
        for value in ["null", "Null", "~"] {
            let text = format!("---\nmetadata:\n  v: {value}\n---\n");
            assert_places(&RULE, &[(&text, &[(3, 6)], "`metadata.v` must be text, but it is empty")]);
            assert_eq!(fixed_text(&RULE, &text), None);
        }
        assert_places(&RULE, &[("---\nmetadata:\n  v: \"null\"\n---\n", &[], "")]);
    }
}
