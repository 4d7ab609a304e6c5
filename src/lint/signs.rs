//! Texts that few bodies have, and without which some rules find nothing: all are looked for in one
//! pass over the body.

use std::sync::LazyLock;

use aho_corasick::packed::{Config, Searcher};
use memchr::memmem;

use super::rules::{HOME_SIGNS, TEMPLATE_SIGNS};

/// A text to look for, in three parts, of which the second one is searched for and the others are compared where it
/// is found.
///
/// A search looks at as many first bytes as the shortest of its texts has, at most four, and compares the rest where
/// these are there. Three take half the time of four, so the shortest has three, and each starts where it has three
/// rare ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sign(pub(super) &'static str, pub(super) &'static str, pub(super) &'static str);

impl Sign {
    /// Whether `body` has it, its second part at byte `at`.
    fn is_at(&self, body: &[u8], at: usize) -> bool {
        let (before, rest) = body.split_at(at);
        let rest = rest.strip_prefix(self.1.as_bytes());
        before.ends_with(self.0.as_bytes()) && rest.is_some_and(|rest| rest.starts_with(self.2.as_bytes()))
    }

    /// Whether `body` has it anywhere.
    pub(super) fn is_in(&self, body: &str) -> bool {
        let body = body.as_bytes();
        memmem::find_iter(body, self.1).any(|at| self.is_at(body, at))
    }
}

/// What a body may have, by a quick look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signs {
    /// One of [`TEMPLATE_SIGNS`].
    pub(super) template: bool,
    /// One of [`HOME_SIGNS`].
    pub(super) home: bool,
}

/// Finds all of them at once; `None` where the processor has no instructions for that.
///
/// Their order is measured: it decides which of them share one of the few groups in which they are looked for. Where
/// the wrong ones do, so much is compared in vain that the search takes three times as long.
static ALL: LazyLock<Option<Searcher>> = LazyLock::new(|| {
    let signs = HOME_SIGNS.iter().chain(TEMPLATE_SIGNS);
    Config::new().builder().extend(signs.map(|sign| sign.1)).build()
});

impl Signs {
    /// Looks for them in `body`.
    pub(super) fn of(body: &str) -> Self {
        match &*ALL {
            Some(all) => Self::at_once(all, body.as_bytes()),
            None => Self::one_by_one(body),
        }
    }

    fn at_once(all: &Searcher, body: &[u8]) -> Self {
        let mut signs = Self { template: false, home: false };
        let mut from = 0;
        while let Some(found) = all.find_in(body, (from..body.len()).into()) {
            let (number, at) = (found.pattern().as_usize(), found.start());
            match number.checked_sub(HOME_SIGNS.len()) {
                None => signs.home |= HOME_SIGNS[number].is_at(body, at),
                Some(number) => signs.template |= TEMPLATE_SIGNS[number].is_at(body, at),
            }
            if signs.template && signs.home {
                break;
            }
            // The next one may overlap with it.
            from = at + 1;
        }
        signs
    }

    fn one_by_one(body: &str) -> Self {
        let has = |signs: &[Sign]| signs.iter().any(|sign| sign.is_in(body));
        Self { template: has(TEMPLATE_SIGNS), home: has(HOME_SIGNS) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_sign_alone_is_found() {
        for (signs, template) in [(TEMPLATE_SIGNS, true), (HOME_SIGNS, false)] {
            for Sign(before, searched, after) in signs {
                let sign = [*before, *searched, *after].concat();
                assert_eq!(Signs::of(&sign), Signs { template, home: !template }, "{sign}");
                for part in [&sign[1..], &sign[..sign.len() - 1]] {
                    assert_eq!(Signs::of(part), Signs { template: false, home: false }, "{part}");
                }
            }
        }
    }

    /// The search tells one for each place, and looks at no more bytes than the shortest has.
    #[test]
    fn no_sign_hides_another() {
        let all = || HOME_SIGNS.iter().chain(TEMPLATE_SIGNS).map(|sign| sign.1);
        for (at, sign) in all().enumerate() {
            assert!(all().skip(at + 1).all(|other| !other.starts_with(sign) && !sign.starts_with(other)));
        }
        assert_eq!(all().map(str::len).min(), Some(3));
    }

    #[test]
    fn real_skills_have_the_same_signs_both_ways() {
        crate::testing::real_skills(|text| assert_eq!(Signs::of(text), Signs::one_by_one(text)));
    }

    proptest! {
        #[test]
        fn the_one_pass_finds_what_single_searches_find(
            before in 0_usize..150,
            text in "(TODO|\\[|t|T|odo|ODO|L|l|orem |ipsum|r|e|place|place|holder| |with|actual|this|D|elete|entire|his is a |\\[|i|I|nsert |NSERT |<|your|skill|\\{|\\{|SKILL|description|é|\n|/home|/|Users){0,12}",
        ) {
            let text = "x".repeat(before) + &text;
            prop_assert_eq!(Signs::of(&text), Signs::one_by_one(&text), "{:?}", text);
        }
    }
}
