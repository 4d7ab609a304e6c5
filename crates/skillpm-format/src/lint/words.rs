//! Words in texts, for rules about how a skill is written.

/// Reports whether `text` contains one of `parts`.
pub(super) fn has_text(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some())
}

/// Returns the byte at which `word` occurs in `text` as a whole word. Both are in lower case.
pub(super) fn find(text: &str, word: &str) -> Option<usize> {
    memchr::memmem::find_iter(text.as_bytes(), word).find(|at| is_word(text, *at, word.len()))
}

/// Reports whether one of `words` occurs in `text` as a whole word. All are in lower case.
pub(super) fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| find(text, word).is_some())
}

/// Reports whether one of `parts`, three lower-case letters each, occurs in `text`, in any case: a quick check for
/// longer texts that contain them. It processes many bytes at once and skips none.
pub(super) fn has_part<const N: usize>(text: &str, parts: [[u8; 3]; N]) -> bool {
    let bytes = text.as_bytes();
    let (second, third) = (bytes.get(1..).unwrap_or_default(), bytes.get(2..).unwrap_or_default());
    let found = bytes.iter().zip(second).zip(third).fold(0, |found, ((a, b), c)| {
        let is = |byte: &u8, wanted: u8| u8::from(byte | 0x20 == wanted);
        let is = |part: &[u8; 3]| is(a, part[0]) & is(b, part[1]) & is(c, part[2]);
        parts.iter().fold(found, |found, part| found | is(part))
    });
    found != 0
}

/// Reports whether no letter, digit or underscore adjoins the `length` bytes at `at`.
fn is_word(text: &str, at: usize, length: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].ends_with(part) && !text[at + length..].starts_with(part)
}

/// Returns `text` with everything in quotes and backquotes replaced by blanks of the same length: these are the user's
/// words, not the author's.
pub(super) fn without_quotes(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::with_capacity(text.len());
    while let Some(open) = rest.find(['"', '“', '`']) {
        let (before, after) = rest.split_at(open);
        plain.push_str(before);
        let first = after.chars().next().unwrap_or('"');
        let close = if first == '“' { '”' } else { first };
        let inner = &after[first.len_utf8()..];
        let Some(end) = inner.find(close) else {
            rest = after;
            break;
        };
        let length = first.len_utf8() + end + close.len_utf8();
        plain.extend(std::iter::repeat_n(' ', length));
        rest = &after[length..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_alone() {
        assert_eq!(find("whenever it is when", "when"), Some(15));
        assert_eq!(find("when_x éwhen", "when"), None);
        assert!(has_any("ask an agent", &["model", "agent"]));
    }

    #[test]
    fn parts_are_found_in_any_case_wherever_they_stand() {
        for (text, found) in
            [("You", true), ("a YOU", true), ("yo u", false), ("helP", true), ("yo", false), ("", false)]
        {
            assert_eq!(has_part(text, [*b"you", *b"elp"]), found, "{text}");
        }
    }

    #[test]
    fn quoted_parts_become_blanks() {
        for (text, plain) in [
            ("say \"help me\" now", "say           now"),
            ("`a` b “c”", "    b        "),
            ("no \"end", "no \"end"),
            ("", ""),
        ] {
            assert_eq!(without_quotes(text), plain);
            assert_eq!(without_quotes(text).len(), text.len());
        }
    }
}
