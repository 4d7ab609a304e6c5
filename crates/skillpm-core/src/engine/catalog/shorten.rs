//! Cuts a description where a reader would.

use std::borrow::Cow;

/// The character that stands for the omitted rest of a description.
const MORE: char = '…';

/// Returns the text cut to at most `limit` characters, at the end of a word or sentence if possible, and how many of its
/// own characters are left.
///
/// A larger limit never leaves less of the text.
pub(super) fn shortened(text: &str, limit: usize) -> (Cow<'_, str>, usize) {
    if text.len() <= limit {
        return (text.into(), text.chars().count());
    }
    // One character is reserved for `MORE`.
    let Some((end, _)) = text.char_indices().nth(limit.saturating_sub(1)) else {
        return (text.into(), text.chars().count());
    };
    if text[end..].chars().count() == 1 && limit > 0 {
        return (text.into(), limit);
    }
    let start = &text[..end];
    let at_word = match start.rfind(char::is_whitespace) {
        // Cutting before a word that is as long as half of the text would leave too little.
        Some(at) if at >= end / 2 && !text[end..].starts_with(char::is_whitespace) => &start[..at],
        _ => start,
    };
    // The first word or two of a sentence say nothing.
    let at_sentence = sentence(start).filter(|whole| whole.len() >= end - end / 6);
    let left = at_sentence
        .unwrap_or(at_word)
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '('));
    if left.is_empty() {
        return ("".into(), 0);
    }
    let gap = if left.len() < end && left.ends_with(is_end) { " " } else { "" };
    (format!("{left}{gap}{MORE}").into(), left.chars().count())
}

/// Returns the whole sentences that `text` starts with.
fn sentence(text: &str) -> Option<&str> {
    let mut gaps = text.rmatch_indices(char::is_whitespace).map(|(at, _)| &text[..at]);
    gaps.find(|before| before.ends_with(is_end))
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_stay_whole() {
        for (limit, short) in [
            (99, "one two, three"),
            (14, "one two, three"),
            (13, "one two…"),
            (9, "one two…"),
            (6, "one…"),
            (3, "on…"),
            (1, ""),
            (0, ""),
        ] {
            assert_eq!(shortened("one two, three", limit).0, short, "{limit}");
        }
        assert_eq!(shortened("日本語の説明", 4), ("日本語…".into(), 3));
    }

    /// The beginning of a sentence goes if that is hardly anything.
    #[test]
    fn sentences_stay_whole() {
        let text = "Reads tables from PDF files. Use it for forms.";
        for (limit, short) in [
            (29, "Reads tables from PDF files.…"),
            (30, "Reads tables from PDF files. …"),
            (34, "Reads tables from PDF files. …"),
            (38, "Reads tables from PDF files. Use it…"),
        ] {
            assert_eq!(shortened(text, limit).0, short, "{limit}");
        }
    }

    proptest! {
        #[test]
        fn no_more_than_the_limit(text in "(\\PC|[a-c]{1,9}|\\. |, | ){0,30}", limit in 0_usize..70) {
            let (short, kept) = shortened(&text, limit);
            let count = text.chars().count();
            prop_assert!(short.chars().count() <= limit);
            prop_assert!(kept <= count && (short == text || kept < count));
            prop_assert!(kept <= shortened(&text, limit + 1).1, "{}", short);
        }
    }
}
