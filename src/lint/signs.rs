//! Texts that few bodies have, and without which some rules find nothing: all are looked for in one
//! pass over the body.

use std::sync::LazyLock;

use aho_corasick::packed::{Config, Searcher};
use memchr::memmem;

use super::rules::{HOME_SIGNS, TEMPLATE_SIGNS};

/// What a body may have, by a quick look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signs {
    /// One of [`TEMPLATE_SIGNS`].
    pub(super) template: bool,
    /// One of [`HOME_SIGNS`].
    pub(super) home: bool,
}

/// Finds all of them at once; `None` where the processor has no instructions for that.
static ALL: LazyLock<Option<Searcher>> =
    LazyLock::new(|| Config::new().builder().extend(TEMPLATE_SIGNS).extend(HOME_SIGNS).build());

impl Signs {
    /// Looks for them in `body`.
    pub(super) fn of(body: &str) -> Self {
        match &*ALL {
            Some(all) => Self::at_once(all, body),
            None => Self::one_by_one(body),
        }
    }

    fn at_once(all: &Searcher, body: &str) -> Self {
        let mut signs = Self { template: false, home: false };
        let mut from = 0;
        while let Some(found) = all.find_in(body, (from..body.len()).into()) {
            let template = found.pattern().as_usize() < TEMPLATE_SIGNS.len();
            signs.template |= template;
            signs.home |= !template;
            if signs.template && signs.home {
                break;
            }
            // The next one may overlap with it.
            from = found.start() + 1;
        }
        signs
    }

    fn one_by_one(body: &str) -> Self {
        let has = |signs: &[&str]| {
            signs.iter().any(|sign| memmem::find(body.as_bytes(), sign.as_bytes()).is_some())
        };
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
            for sign in signs {
                assert_eq!(Signs::of(sign), Signs { template, home: !template }, "{sign}");
                assert_eq!(Signs::of(&sign[1..]), Signs::one_by_one(&sign[1..]), "{sign}");
            }
        }
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
