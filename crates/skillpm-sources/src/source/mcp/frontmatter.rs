//! Whether the frontmatter that a server states is that of the file.

use serde_json::Value;

use super::message::Object;
use crate::document::{Document, Node};

/// Returns the first field of the frontmatter in `document` that differs from what the server `states`, as it is shown.
/// Returns `None` if they agree.
///
/// A block of text at the very end of the frontmatter ends in a line feed, or not if the reader takes the line feed before
/// `---` for a part of that line, as some do. The server may have read it either way.
pub(super) fn difference(document: &Document, states: &Object) -> Option<String> {
    let Some(node) = document.frontmatter() else { return Some("name".to_owned()) };
    let missing = states.keys().find(|key| node.get(key).is_none());
    missing.cloned().or_else(|| {
        let keys = node.pairs().iter().filter_map(|(key, _)| key.text());
        let last = node.last_block();
        let differs = |key: &&str| match (node.get(key), states.get(*key)) {
            (Some(node), Some(value)) => !agree(node, value, last),
            _ => true,
        };
        keys.into_iter().find(differs).map(ToOwned::to_owned)
    })
}

/// Reports whether `value` is what a parser of YAML makes of `node`. A line feed at the end of `last` may be missing.
fn agree(node: &Node, value: &Value, last: Option<&Node>) -> bool {
    match value {
        Value::Array(values) => match &node.value {
            crate::document::Value::Sequence { items, .. } => {
                items.len() == values.len()
                    && items.iter().zip(values).all(|(node, value)| agree(node, value, last))
            }
            _ => false,
        },
        Value::Object(values) => match &node.value {
            crate::document::Value::Mapping { .. } => {
                node.pairs().iter().all(|(key, _)| key.text().is_some_and(|key| values.contains_key(key)))
                    && values
                        .iter()
                        .all(|(key, value)| node.get(key).is_some_and(|node| agree(node, value, last)))
            }
            _ => false,
        },
        // Parsers disagree on what is a number, a boolean or a date, but not on its text.
        Value::String(text) => node.text().is_some_and(|written| {
            let is_last = last.is_some_and(|last| std::ptr::eq(last, node));
            written == text || is_last && written.strip_suffix('\n') == Some(text)
        }),
        Value::Bool(value) => {
            let words: &[&str] = if *value { &["true", "yes", "on"] } else { &["false", "no", "off"] };
            node.text().is_some_and(|text| words.iter().any(|word| text.eq_ignore_ascii_case(word)))
        }
        Value::Number(number) => {
            let typed = node.to_typed_json();
            typed == *value || typed.as_f64().is_some_and(|typed| Some(typed) == number.as_f64())
        }
        Value::Null => node.to_typed_json().is_null(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differs(yaml: &str, states: Value) -> Option<String> {
        let document = Document::from_bytes(format!("---\n{yaml}\n---\n\nX.\n").into_bytes());
        let Value::Object(states) = states else { panic!("not an object") };
        difference(&document, &states)
    }

    #[test]
    fn values_agree_whatever_the_parser() {
        let yaml = "name: pdf\ndescription: |\n  One.\n  Two.\nversion: 1.0\non: yes\nnone:\nnumber: 0x10\n\
                    date: 2026-01-02\ntags: [a, \"1\"]\nmetadata:\n  a: {b: true}";
        let states = json!({
            "name": "pdf", "description": "One.\nTwo.\n", "version": 1, "on": true, "none": null, "number": 16,
            "date": "2026-01-02", "tags": ["a", "1"], "metadata": {"a": {"b": true}},
        });
        assert_eq!(differs(yaml, states.clone()), None);
        for (key, value) in [
            ("description", json!("One.")),
            ("version", json!(1.1)),
            ("on", json!(false)),
            ("none", json!("x")),
            ("tags", json!(["a"])),
            ("tags", json!("a")),
            ("metadata", json!({})),
            ("metadata", json!({"a": {"b": true}, "c": 1})),
            ("more", json!(1)),
        ] {
            let mut other = states.clone();
            other[key] = value;
            assert_eq!(differs(yaml, other).as_deref(), Some(key));
        }
    }

    /// Readers differ on the line feed before the closing line, and on no other one.
    #[test]
    fn the_last_line_feed_may_be_missing() {
        for (yaml, value, agrees) in [
            ("name: a\nnote: >\n  One\n  line.", json!("One line."), true),
            ("name: a\nnote: >\n  One\n  line.", json!("One line.\n"), true),
            ("name: a\nnote: |\n  One.\n  Two.", json!("One.\nTwo."), true),
            ("name: a\nnote: |+\n  One.\n", json!("One.\n"), true),
            ("name: a\nnote: |\n  One.", json!("One"), false),
            ("name: a\nnote: |\n  One.\n  Two.", json!("One.Two."), false),
            ("name: a\nnote:\n  x: b\n  y: |\n    One.", json!({"x": "b", "y": "One."}), true),
            ("name: a\nnote:\n  y: |\n    One.\n  x: b", json!({"x": "b", "y": "One."}), false),
            ("name: a\nnote:\n  - b\n  - |\n    One.", json!(["b", "One."]), true),
            ("note: |\n  One.\nname: a", json!("One."), false),
            ("name: a\nnote: \"One.\\n\"", json!("One."), false),
        ] {
            let differs = differs(yaml, json!({"name": "a", "note": value}));
            assert_eq!(differs.is_none(), agrees, "{yaml}: {value}");
        }
    }

    #[test]
    fn what_only_one_side_has_differs() {
        assert_eq!(differs("name: a\nhooks: x", json!({"name": "a"})).as_deref(), Some("hooks"));
        assert_eq!(differs("name: a", json!({"name": "a", "license": "MIT"})).as_deref(), Some("license"));
        let none = Document::from_bytes(b"no frontmatter".to_vec());
        assert!(difference(&none, &Object::new()).is_some());
    }
}
