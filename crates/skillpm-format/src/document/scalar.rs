//! Writing scalars so that every YAML reader reads them as the same text.
//!
//! Readers of YAML 1.1 treat more words as numbers, booleans, dates and null than those of YAML 1.2. Anything that one
//! of them would not read as text is put in double quotes.

use std::fmt::Write as _;

/// Words that some reader treats as a boolean, null, a merge or a default, in lower case.
const WORDS: [&str; 18] = [
    "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "<<", "=", ".inf", "+.inf", "-.inf",
    ".nan", "+.nan", "-.nan",
];

/// Returns `text` as written after `key: `: without quotes if every reader then reads it as the same text, otherwise in
/// double quotes. The result is always one line.
pub fn write_scalar(text: &str) -> String {
    if fits_plain(text) && !resolves(text) { text.to_owned() } else { double_quoted(text) }
}

/// Returns `text` in double quotes, on one line.
pub fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            '\n' => quoted.write_str("\\n"),
            '\t' => quoted.write_str("\\t"),
            '\r' => quoted.write_str("\\r"),
            c if needs_escape(c) && u32::from(c) <= 0xff => write!(quoted, "\\x{:02X}", u32::from(c)),
            c if needs_escape(c) && u32::from(c) <= 0xffff => write!(quoted, "\\u{:04X}", u32::from(c)),
            c if needs_escape(c) => write!(quoted, "\\U{:08X}", u32::from(c)),
            c => quoted.write_char(c),
        };
    }
    quoted.push('"');
    quoted
}

/// Reports whether YAML does not allow `c` unescaped, or some reader treats it as a line end.
pub(super) fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') || u32::from(c) & 0xfffe == 0xfffe
}

/// Reports whether the characters of `text` allow it to be written without quotes.
pub(super) fn fits_plain(text: &str) -> bool {
    let mut characters = text.chars();
    let (Some(first), second) = (characters.next(), characters.next()) else { return false };
    let starts_well = match first {
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
            false
        }
        '-' | '?' | ':' => second.is_some_and(|c| !c.is_whitespace()),
        _ => true,
    };
    starts_well
        && text.trim() == text
        && !text.ends_with(':')
        && !["---", "...", "- ", "? "].iter().any(|start| text.starts_with(start))
        && ![": ", " #"].iter().any(|inner| text.contains(inner))
        && !text.chars().any(needs_escape)
}

/// Reports whether some reader does not read `plain`, written without quotes, as text.
pub(crate) fn resolves(plain: &str) -> bool {
    if plain.is_empty() || WORDS.contains(&plain.to_ascii_lowercase().as_str()) {
        return true;
    }
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    is_number(unsigned) || is_sexagesimal(unsigned) || is_date(plain)
}

/// Reports whether `plain`, written without quotes, is a number or a boolean in the core schema of YAML 1.2.
pub(crate) fn is_number_or_boolean(plain: &str) -> bool {
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let based = |prefix: &str, radix| {
        plain
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    let is_word = matches!(plain, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
        || matches!(plain, ".nan" | ".NaN" | ".NAN")
        || matches!(unsigned, ".inf" | ".Inf" | ".INF");
    let is_decimal =
        unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && unsigned.parse::<f64>().is_ok();
    is_word || is_decimal || based("0x", 16) || based("0o", 8)
}

/// Reports whether `plain`, written without quotes, is null in the core schema of YAML 1.2.
pub(crate) fn is_null(plain: &str) -> bool {
    matches!(plain, "" | "null" | "Null" | "NULL" | "~")
}

fn is_number(unsigned: &str) -> bool {
    let digits = unsigned.replace('_', "");
    let based = |prefix: &str, radix| {
        unsigned
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c == '_' || c.is_digit(radix)))
    };
    let decimal = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && digits.parse::<f64>().is_ok();
    decimal || based("0x", 16) || based("0o", 8) || based("0b", 2)
}

/// Recognizes `12:30` and `1:30:00.5`: numbers to the base 60 in YAML 1.1.
fn is_sexagesimal(unsigned: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    whole.contains(':')
        && whole.split(':').all(|part| !part.is_empty() && is_digits(part))
        && is_digits(fraction)
}

/// Recognizes `2026-01-31`, with or without a time after it.
fn is_date(plain: &str) -> bool {
    let mut parts = plain.splitn(3, '-');
    let digits = |text: Option<&str>, most: usize| {
        text.is_some_and(|t| (1..=most).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit()))
    };
    let (year, month, rest) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
    let day = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    year.is_some_and(|year| year.len() == 4)
        && digits(year, 4)
        && digits(month, 2)
        && (1..=2).contains(&day)
        && (rest.len() == day || is_time(&rest[day..]))
}

/// Recognizes `T10:00:00.5Z` and ` 10:00:00 +1:00`, as written after a day. Words after a time make the whole a text.
fn is_time(behind: &str) -> bool {
    behind.starts_with(['T', 't', ' ', '\t'])
        && behind.bytes().filter(|b| *b == b':').count() >= 2
        && behind[1..]
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | 'Z' | '+' | '-' | ' ' | '\t'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::Document;

    #[test]
    fn words_and_numbers_of_some_reader_are_quoted() {
        for text in [
            "yes",
            "Off",
            "NULL",
            "~",
            "1",
            "+1",
            "1.10",
            ".5",
            "1e3",
            "0x1F",
            "0o17",
            "0b1",
            "1_000",
            "12:30",
            "1:30:00.5",
            "2026-01-31",
            "2026-1-3 10:00:00",
            "2026-01-31T10:00:00.5Z",
            "2026-01-31 10:00:00 +01:00",
            "-.INF",
            "<<",
            "=",
            "",
        ] {
            assert_eq!(write_scalar(text), format!("\"{text}\""));
        }
        for text in [
            "pdf",
            "1.0.0",
            "3d-models",
            "2026-01",
            "2026-01-31 notes of the day",
            "2026-01-31T",
            "12:30. Use it then",
            "0x",
            "a:b",
            "x#y",
            "-x",
            "Bash(git:*) Read",
            "日本",
            "📅",
            ".x",
            "v1",
        ] {
            assert_eq!(write_scalar(text), text);
        }
    }

    #[test]
    fn what_is_no_plain_text_is_quoted_and_escaped() {
        for (text, written) in [
            ("a: b", "\"a: b\""),
            ("a #1", "\"a #1\""),
            (" a", "\" a\""),
            ("a:", "\"a:\""),
            ("- a", "\"- a\""),
            ("--- a", "\"--- a\""),
            ("@x", "\"@x\""),
            ("say \"x\" \\ y", "say \"x\" \\ y"),
            ("\"x\" \\ y", "\"\\\"x\\\" \\\\ y\""),
            ("a\tb\nc", "\"a\\tb\\nc\""),
            ("\u{85}\u{2028}\u{feff}\u{ffff}", "\"\\x85\\u2028\\uFEFF\\uFFFF\""),
        ] {
            assert_eq!(write_scalar(text), written);
        }
    }

    proptest! {
        #[test]
        fn a_written_scalar_reads_back(text in "(\\PC|: | #|\n|\t|\"|'|\\\\|-|yes|1|\u{85}|\u{feff}){0,12}") {
            for written in [write_scalar(&text), double_quoted(&text)] {
                let document = Document::parse(format!("---\nx: {written}\nl:\n  - {written}\n---\n"));
                prop_assert_eq!(document.problems(), [], "{}", written);
                let read = document.get("x").and_then(|node| node.text());
                prop_assert_eq!(read, Some(text.as_str()));
            }
        }
    }
}
