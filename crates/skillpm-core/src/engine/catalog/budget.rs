//! Shortens descriptions to make a catalog fit its budget.

use serde::Serialize;

use super::Told;
use super::form::CatalogForm;
use crate::tokens::most;

/// The character that stands for the omitted rest of a description.
const MORE: char = '…';

/// A description that takes one token.
const ONE: &str = "x";

/// A description that was shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// The skill's name.
    pub name: String,
    /// The number of characters of the description.
    pub characters: usize,
    /// The number of characters that are left.
    pub kept: usize,
}

/// Shortens the longest descriptions of `told`, all to the same length, until the catalog in `form` has at most
/// `budget` tokens; returns what was shortened. Nothing else is removed: if names and the other fields alone exceed the
/// budget, no description is left, and the result is still too large.
pub(super) fn fit(told: &mut [Told<'_>], budget: usize, form: CatalogForm) -> Vec<Cut> {
    // The parts weigh at least as much as the whole, so a catalog that fits as a whole is not weighed by its parts.
    if most(&form.render(told)) <= budget {
        return Vec::new();
    }
    let descriptions: Vec<_> = told.iter_mut().map(|skill| skill.description.take()).collect();
    let lengths: Vec<_> = descriptions.iter().flatten().map(|text| text.chars().count()).collect();
    // The skills with descriptions of one token each.
    let bare: Vec<Told<'_>> = told
        .iter()
        .zip(&descriptions)
        .map(|(skill, text)| Told { description: text.as_ref().map(|_| ONE.into()), ..skill.clone() })
        .collect();
    let room = budget.saturating_add(lengths.len()).saturating_sub(most(&form.render(&bare)));
    let weigh = |limit: usize| {
        let texts = descriptions.iter().flatten();
        texts.map(|text| most(&form.escaped(shortened(text, limit).0.as_ref()))).sum::<usize>()
    };
    let longest = lengths.iter().copied().max().unwrap_or(0);
    // The largest length that fits. `low` fits or is 0; `high` does not fit.
    let limit = if weigh(longest) <= room {
        longest
    } else {
        let (mut low, mut high) = (0, longest);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if weigh(middle) <= room { low = middle } else { high = middle }
        }
        low
    };
    let mut cut = Vec::new();
    for (skill, description) in told.iter_mut().zip(descriptions) {
        let Some(text) = description else { continue };
        let (short, kept) = shortened(&text, limit);
        if short.len() != text.len() {
            cut.push(Cut { name: skill.name.to_string(), characters: text.chars().count(), kept });
        }
        skill.description = (!short.is_empty()).then(|| short.into_owned().into());
    }
    cut
}

/// Returns the text cut to at most `limit` characters, at a word boundary if possible, and how many of its own
/// characters are left.
fn shortened(text: &str, limit: usize) -> (std::borrow::Cow<'_, str>, usize) {
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
    let left = at_word.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '('));
    if left.is_empty() {
        return ("".into(), 0);
    }
    (format!("{left}{MORE}").into(), left.chars().count())
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

    proptest! {
        #[test]
        fn no_more_than_the_limit(text in "\\PC{0,40}", limit in 0_usize..50) {
            let (short, kept) = shortened(&text, limit);
            let count = text.chars().count();
            prop_assert!(short.chars().count() <= limit);
            prop_assert!(kept <= count && (short == text || kept < count));
        }
    }
}
