//! The order of file names in the npm tool: JavaScript's `a.localeCompare(b)`, which is the order of the root of the
//! Unicode Collation Algorithm as tailored by CLDR.
//!
//! For ASCII it is a table of weights. Other names need the tables of Unicode, which the feature `collation` provides.

use std::cmp::Ordering;

/// The printable characters of ASCII by weight, lightest first; letters of both cases weigh the same.
const WEIGHTS: &[u8] = b" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";

/// An error for names whose order this build does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// A name contains characters beyond ASCII, and the build has no tables for them.
    #[error("the order of `{0}` among the other files needs tables that this build does not have")]
    NoTables(String),
    /// Two different names are equal in the order, so their order is arbitrary.
    #[error("`{0}` and `{1}` have no order in the other tool")]
    Alike(String, String),
}

/// Sorts `names`, which are all different.
///
/// # Errors
///
/// Fails on names whose order is not known.
pub fn sort(names: &mut [&str]) -> Result<(), OrderError> {
    if names.iter().all(|name| is_plain(name)) {
        names.sort_by(|a, b| compare_plain(a, b));
        return Ok(());
    }
    sort_any(names)
}

#[cfg(feature = "collation")]
fn sort_any(names: &mut [&str]) -> Result<(), OrderError> {
    use icu_collator::Collator;
    use icu_collator::options::CollatorOptions;

    let collator =
        Collator::try_new(icu_collator::CollatorPreferences::default(), CollatorOptions::default());
    let Ok(collator) = collator else {
        // The data is compiled in, so this does not happen; if it did, it would be reported.
        let name = names.first().copied().unwrap_or_default();
        return Err(OrderError::NoTables(name.to_owned()));
    };
    names.sort_by(|a, b| collator.compare(a, b));
    match names.windows(2).find(|pair| collator.compare(pair[0], pair[1]) == Ordering::Equal) {
        Some(pair) => Err(OrderError::Alike(pair[0].to_owned(), pair[1].to_owned())),
        None => Ok(()),
    }
}

#[cfg(not(feature = "collation"))]
fn sort_any(names: &mut [&str]) -> Result<(), OrderError> {
    let name = names.iter().find(|name| !is_plain(name)).copied().unwrap_or_default();
    Err(OrderError::NoTables(name.to_owned()))
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
}

/// Compares by weight first, then by length, then by case: lower before upper.
fn compare_plain(a: &str, b: &str) -> Ordering {
    let weights = |text: &str| text.bytes().map(weight).collect::<Vec<_>>();
    let by_case = || {
        let pairs = a.bytes().zip(b.bytes());
        pairs.map(|(a, b)| a.is_ascii_uppercase().cmp(&b.is_ascii_uppercase())).find(|order| order.is_ne())
    };
    weights(a).cmp(&weights(b)).then_with(|| by_case().unwrap_or(Ordering::Equal))
}

fn weight(byte: u8) -> Option<usize> {
    WEIGHTS.iter().position(|other| *other == byte.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example in the description of the format.
    #[test]
    fn the_order_is_not_that_of_bytes() {
        let sorted = [
            "10.md",
            "9.md",
            "a_b.md",
            "a-b.md",
            "a.b.md",
            "LICENSE",
            "license.txt",
            "README.md",
            "references-x/a.md",
            "references/a.md",
            "references/B.md",
            "Scripts.md",
            "scripts/x.sh",
            "SKILL.md",
        ];
        let mut names = sorted;
        names.sort_unstable();
        assert_ne!(names, sorted);
        sort(&mut names).expect("ASCII");
        assert_eq!(names, sorted);
        let mut cases = ["aB", "Ab", "AB", "ab", "a"];
        sort(&mut cases).expect("ASCII");
        assert_eq!(cases, ["a", "ab", "aB", "Ab", "AB"]);
    }

    #[test]
    fn every_printable_character_has_its_own_weight() {
        for byte in b' '..=b'~' {
            assert!(weight(byte).is_some(), "{}", char::from(byte));
        }
        assert_eq!(WEIGHTS.len(), 95 - 26);
    }

    #[cfg(feature = "collation")]
    #[test]
    fn names_beyond_ascii() {
        let mut names = ["中.md", "z.md", "é.md", "Я.md", "e.md", "f.md", "е.md", "あ.md"];
        sort(&mut names).expect("tables");
        assert_eq!(names, ["e.md", "é.md", "f.md", "z.md", "е.md", "Я.md", "あ.md", "中.md"]);
        let mut alike = ["a\u{ad}", "a"];
        assert!(matches!(sort(&mut alike), Err(OrderError::Alike(..))));
    }

    #[cfg(not(feature = "collation"))]
    #[test]
    fn names_beyond_ascii_are_told() {
        assert_eq!(sort(&mut ["a", "é"]), Err(OrderError::NoTables("é".to_owned())));
    }

    proptest! {
        /// The table is the ASCII part of the collation.
        #[cfg(feature = "collation")]
        #[test]
        fn the_table_and_the_collation_agree(mut names in proptest::collection::btree_set("[ -~]{1,6}", 1..8)) {
            names.insert("x".to_owned());
            let mut by_table: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut by_collation = by_table.clone();
            sort(&mut by_table).expect("ASCII");
            sort_any(&mut by_collation).expect("no two are alike");
            prop_assert_eq!(by_table, by_collation);
        }
    }
}
