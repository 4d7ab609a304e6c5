//! Writes values as YAML scalars.

use std::fmt::Write as _;

/// Words, in lower case, that YAML readers take for something other than text.
const YAML_WORDS: [&str; 11] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];

/// Returns `text` as a YAML scalar on one line: plain if every reader takes it for the same text in any position,
/// otherwise in double quotes.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quote(text) }
}

/// Reports whether `text` needs no quotes: it starts with a letter, so it is not a number, a date or an indicator of YAML, and
/// has no character that could end it.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b" ._/+-()".contains(&b))
        && !YAML_WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// Returns `text` as a YAML scalar in double quotes, on one line.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        let code = u32::from(c);
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            // Characters that YAML requires to be escaped: control characters, line endings, the byte-order mark and
            // noncharacters.
            _ if c.is_control() || matches!(code, 0x2028 | 0x2029 | 0xfeff) || code & 0xfffe == 0xfffe => {
                write!(quoted, "\\U{code:08X}")
            }
            _ => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::Document;

    #[test]
    fn plain_where_that_is_safe() {
        for text in ["pdf", "Reads PDF files. Use it for forms.", "Apache-2.0 OR MIT", "a"] {
            assert_eq!(scalar(text), text);
        }
        for text in ["7zip", "1e5", "2020-01-01", "null", "On", "a: b", "a #b", "a ", "", "[x]", "é", "a,b"]
        {
            assert_eq!(scalar(text), format!("\"{text}\""));
        }
        assert_eq!(scalar("a\n---\nb\\\""), "\"a\\U0000000A---\\U0000000Ab\\\\\\\"\"");
    }

    proptest! {
        #[test]
        fn a_scalar_is_its_text(
            text in any::<String>(),
            nasty in "[\"\\\\#:{}\\[\\]%@`|>&*!?a\u{85}\u{feff}\u{ffff}\u{2028} \t\r\n-]{0,20}",
        ) {
            for text in [text, nasty] {
                let document = Document::parse(format!("---\nx: {}\ny: [{}]\n---\n", scalar(&text), scalar(&text)));
                prop_assert_eq!(document.get("x").and_then(|node| node.text()), Some(text.as_str()));
                prop_assert_eq!(document.get("y").and_then(crate::document::Node::flat_text), Some(text));
                prop_assert_eq!(document.problems(), []);
            }
        }
    }
}
