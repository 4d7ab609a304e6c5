//! Decoding of bytes to text.

use super::problem::{Problem, ProblemKind};

/// Returns the text in `bytes`, and the problem with its encoding, if any.
pub(super) fn decode(bytes: Vec<u8>) -> (String, Option<Problem>) {
    if let Some(little_endian) = utf16(&bytes) {
        let units = bytes.chunks(2).map(|pair| match *pair {
            [low, high] if little_endian => u16::from_le_bytes([low, high]),
            [high, low] => u16::from_be_bytes([high, low]),
            // Half a unit at the end.
            _ => 0xFFFD,
        });
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        return (text, Some(Problem { kind: ProblemKind::Utf16, span: 0..0 }));
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            // Up to here the lossy text has the same bytes.
            let offset = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let span = offset..offset + char::REPLACEMENT_CHARACTER.len_utf8();
            (text, Some(Problem { kind: ProblemKind::InvalidUtf8 { offset }, span }))
        }
    }
}

/// Reports whether `bytes` are UTF-16, and if so whether the low byte comes first: by the byte-order mark, or by the
/// NULs around the dashes at the start of a skill.
fn utf16(bytes: &[u8]) -> Option<bool> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"-\0-\0") {
        Some(true)
    } else if bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\0-\0-") {
        Some(false)
    } else {
        None
    }
}

/// Reports the first control character of `yaml` that YAML does not allow. NUL is reported separately.
pub(super) fn control_characters(yaml: &str, base: usize, problems: &mut Vec<Problem>) {
    if let Some((at, c)) = yaml.char_indices().find(|(_, c)| is_forbidden(*c)) {
        let span = base + at..base + at + c.len_utf8();
        problems.push(Problem { kind: ProblemKind::Control(c), span });
    }
}

/// Reports whether YAML does not allow `c`. NUL is reported separately.
pub(crate) fn is_forbidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}' | '\0'))
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}
