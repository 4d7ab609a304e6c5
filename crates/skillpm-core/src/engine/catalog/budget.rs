//! Shortens descriptions to make a catalog fit its budget.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::form::{self, CatalogForm};
use super::{Told, whole};
use crate::tokens::most;

/// The character that stands for the omitted rest of a description.
const MORE: char = '…';

/// A description that takes one token.
const ONE: &str = "x";

/// A description that was shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cut {
    /// The skill's name.
    pub name: String,
    /// The number of characters of the description.
    pub characters: usize,
    /// The number of characters that are left.
    pub kept: usize,
}

/// The descriptions that were shortened for a budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cuts {
    /// All of them, in the order of the skills.
    pub(super) all: Vec<Cut>,
    /// Whether JSON lists them: the list is part of the text, so there may be no room for it.
    pub(super) are_listed: bool,
}

/// Shortens the longest descriptions of `told`, all to the same length, until the catalog in `form` has at most `budget`
/// tokens; returns the skills that were shortened. Nothing else is removed: if names and the other fields alone exceed the
/// budget, no description is left, and the result is still too large.
pub(super) fn fit(told: &mut [Told<'_>], budget: usize, form: CatalogForm) -> Cuts {
    let cuts = |all, are_listed| Cuts { all, are_listed };
    // The parts weigh at least as much as the whole, so a catalog that fits as a whole is not weighed by its parts.
    if most(&whole(told, form, Some(budget), &cuts(Vec::new(), true))) <= budget {
        return cuts(Vec::new(), true);
    }
    let descriptions: Vec<_> = told.iter_mut().map(|skill| skill.description.take()).collect();
    // The skills with descriptions of one token each.
    let bare: Vec<Told<'_>> = told
        .iter()
        .zip(&descriptions)
        .map(|(skill, text)| Told { description: text.as_ref().map(|_| ONE.into()), ..skill.clone() })
        .collect();
    let texts: Vec<(&str, Cow<'_, str>)> = told
        .iter()
        .zip(&descriptions)
        .filter_map(|(skill, text)| Some((&*skill.name, text.clone()?)))
        .collect();
    let room = |without: &Cuts| {
        let fixed = most(&whole(&bare, form, Some(budget), without));
        budget.saturating_add(texts.len()).saturating_sub(fixed)
    };
    let is_json = form == CatalogForm::Json;
    let listed = is_json
        .then(|| limit(&texts, form, room(&cuts(Vec::new(), true)), true))
        .flatten()
        .map(|limit| (limit, true));
    // Descriptions serve an agent, the list only reports them: it is left out first.
    let unlisted = || {
        let one = Cut { name: String::new(), characters: 0, kept: 0 };
        let without = if is_json { cuts(vec![one; texts.len()], false) } else { Cuts::default() };
        (limit(&texts, form, room(&without), false).unwrap_or(0), !is_json)
    };
    let (limit, are_listed) = listed.unwrap_or_else(unlisted);
    let mut all = Vec::new();
    for (skill, description) in told.iter_mut().zip(descriptions) {
        let Some(text) = description else { continue };
        let (short, kept) = shortened(&text, limit);
        if short.len() != text.len() {
            all.push(Cut { name: skill.name.to_string(), characters: text.chars().count(), kept });
        }
        skill.description = (!short.is_empty()).then(|| short.into_owned().into());
    }
    cuts(all, are_listed)
}

/// Returns the largest length, in characters, at which all descriptions of `texts`, which have names, together have at
/// most `room` tokens; with `listed`, together with the entries of those that are shortened. Returns `None` if no length fits.
fn limit(texts: &[(&str, Cow<'_, str>)], form: CatalogForm, room: usize, listed: bool) -> Option<usize> {
    let entry = |name: &str, characters: usize, kept: usize| {
        // A comma follows it.
        most(&form::json(&Cut { name: name.to_owned(), characters, kept })) + 1
    };
    let weigh = |limit: usize| {
        let weigh = |(name, text): &(&str, Cow<'_, str>)| {
            let (short, kept) = shortened(text, limit);
            let is_cut = short.len() != text.len();
            let told = if listed && is_cut { entry(name, text.chars().count(), kept) } else { 0 };
            most(&form.escaped(&short)) + told
        };
        texts.iter().map(weigh).sum::<usize>()
    };
    let mut lengths: Vec<usize> = texts.iter().map(|(_, text)| text.chars().count()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let longest = lengths.last().copied().unwrap_or(0);
    if weigh(longest) <= room {
        return Some(longest);
    }
    // Between two lengths of descriptions the same ones are shortened, so a smaller limit weighs less. Where one more is
    // listed, it may weigh more.
    let steps: Vec<usize> =
        if listed { lengths.into_iter().rev().skip(1).chain([0]).collect() } else { vec![0] };
    let mut high = longest;
    for mut low in steps {
        if weigh(low) <= room {
            while high - low > 1 {
                let middle = usize::midpoint(low, high);
                if weigh(middle) <= room { low = middle } else { high = middle }
            }
            return Some(low);
        }
        // The entries alone, which only become more.
        let shorter = texts.iter().filter(|(_, text)| text.chars().count() > low);
        if listed && shorter.map(|(name, _)| entry(name, 0, 0)).sum::<usize>() > room {
            return None;
        }
        high = low;
    }
    None
}

/// Returns the text cut to at most `limit` characters, at a word boundary if possible, and how many of its own
/// characters are left.
fn shortened(text: &str, limit: usize) -> (Cow<'_, str>, usize) {
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
