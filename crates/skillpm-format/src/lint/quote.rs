//! Quoting of values, for suggestions and repairs.

use crate::document::double_quoted;

/// The maximum length of a value that is repeated in a suggestion.
const MAX_SHOWN: usize = 100;

/// Returns how to write `value` after `key` as valid YAML.
pub(super) fn suggestion(key: &str, value: &str) -> String {
    if value.chars().count() > MAX_SHOWN || value.chars().any(char::is_control) {
        return format!("put the whole value in quotes, or on its own lines after `{key}: >-`");
    }
    format!("put the whole value in quotes: `{key}: {}`", quoted(value))
}

/// Returns `value` in quotes that fit its content.
pub(super) fn written(value: &str) -> String {
    // Single quotes keep backslashes readable, and have no escapes for characters that YAML does not allow.
    let plain = value.chars().all(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    if plain { quoted(value) } else { double_quoted(value) }
}

/// Returns `value` in the quotes that need the fewest escapes.
pub(super) fn quoted(value: &str) -> String {
    if value.contains(['"', '\\']) {
        format!("'{}'", value.replace('\'', "''"))
    } else {
        format!("\"{value}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn a_quoted_value_is_the_same_value() {
        for value in ["a: b", "it's", "say \"x\"", "it's \"x\": \\d", "@x", "{{x}}"] {
            let document = Document::parse(format!("---\nname: {}\n---\n", quoted(value)));
            assert_eq!(document.name(), Some(value));
            assert_eq!(document.problems(), []);
        }
        assert_eq!(suggestion("name", "a: b"), "put the whole value in quotes: `name: \"a: b\"`");
        assert!(suggestion("name", &"a: ".repeat(90)).contains(">-"));
    }
}
