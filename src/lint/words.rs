//! Words in texts, for rules about how a skill is written.

/// The byte at which `word` stands in `text` as a word of its own. Both are lower-case.
pub(super) fn find(text: &str, word: &str) -> Option<usize> {
    memchr::memmem::find_iter(text.as_bytes(), word).find(|at| is_word(text, *at, word.len()))
}

/// Whether one of `words` stands in `text` as a word of its own. All are lower-case.
pub(super) fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| find(text, word).is_some())
}

/// Whether one of `pairs` of lower-case letters stands in `text`, in any case: a quick look for texts
/// that have such a pair in them. Many bytes are looked at at once, and none is skipped.
pub(super) fn has_pair<const N: usize>(text: &str, pairs: [[u8; 2]; N]) -> bool {
    let bytes = text.as_bytes();
    let after = bytes.get(1..).unwrap_or_default();
    let found = bytes.iter().zip(after).fold(0, |found, (first, second)| {
        let is = |pair: &[u8; 2]| u8::from((first | 0x20 == pair[0]) & (second | 0x20 == pair[1]));
        pairs.iter().fold(found, |found, pair| found | is(pair))
    });
    found != 0
}

/// Whether no letter, digit or underscore is beside the `length` bytes at `at`.
fn is_word(text: &str, at: usize, length: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].ends_with(part) && !text[at + length..].starts_with(part)
}

/// `text` with everything in quotes and backquotes as blanks of the same length: what users say is
/// not what the author says.
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
    fn pairs_are_found_in_any_case_wherever_they_stand() {
        for (text, found) in
            [("Yo", true), ("a YO", true), ("y o", false), ("helP", true), ("y", false), ("", false)]
        {
            assert_eq!(has_pair(text, [*b"yo", *b"lp"]), found, "{text}");
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
