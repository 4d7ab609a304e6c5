//! How old a release must be to be installed.

use std::fmt;

use super::pattern::{List, Match};
use super::{Admission, Decision, Line, PolicySubject, address, meant};
use crate::manifest::{LocatedText, ManifestError};

/// A length of time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(i64);

const UNITS: [(char, i64, &str); 4] =
    [('w', 604_800, "week"), ('d', 86_400, "day"), ('h', 3_600, "hour"), ('m', 60, "minute")];

impl Age {
    /// Returns the age of `seconds`; a time in the future has no age.
    pub fn of(seconds: i64) -> Self {
        Self(seconds.max(0))
    }

    /// Returns the age in seconds.
    pub(super) fn seconds(self) -> i64 {
        self.0
    }

    /// Reads `7d`, `12h`, `2w` or `30m`.
    pub(super) fn read(placed: &LocatedText) -> Result<Self, ManifestError> {
        let wrong = || {
            let message =
                format!("`{}` is not an age: expected a number and a unit, such as `7d`", placed.text);
            placed.error(message, Some("units are `m`, `h`, `d` and `w`".into()))
        };
        let unit = placed.text.chars().next_back().ok_or_else(wrong)?;
        let (_, seconds, _) = UNITS.iter().find(|(sign, ..)| *sign == unit).ok_or_else(wrong)?;
        let number = &placed.text[..placed.text.len() - unit.len_utf8()];
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let number: i64 = if digits { number.parse().map_err(|_| wrong())? } else { return Err(wrong()) };
        number.checked_mul(*seconds).map(Self).ok_or_else(wrong)
    }
}

/// Writes the age for display, in days from two days on: `9 days`.
impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, seconds, unit) = UNITS[1..]
            .iter()
            .find(|(_, seconds, _)| self.0 >= 2 * seconds || self.0 == *seconds)
            .unwrap_or(&UNITS[3]);
        let count = self.0 / seconds;
        write!(f, "{count} {unit}{}", if count == 1 { "" } else { "s" })
    }
}

impl Admission {
    /// Reports whether the release time affects the decision about a source, and so must be found out.
    pub fn asks_for_age(&self, asked: PolicySubject<'_>) -> bool {
        self.ages(asked).next().is_some()
    }

    /// Returns the age, in seconds, that a release of a source must have. Returns `None` if no file has a rule about it.
    pub fn minimum_age(&self, asked: PolicySubject<'_>) -> Option<i64> {
        self.ages(asked).map(|(_, age)| age.seconds()).max()
    }

    /// Returns the decisions about a source that was released at `released`, at the time `now`, both in seconds
    /// since 1970. An unknown release time counts as not old enough.
    pub fn release(&self, asked: PolicySubject<'_>, released: Option<i64>, now: i64) -> Vec<Decision> {
        let decide = |(line, age): &(Line, Age)| {
            let old = released.map(|released| Age::of(now.saturating_sub(released)));
            let admitted = old.is_some_and(|old| old >= *age);
            let reason = match old {
                None => "does not say when it was released".to_owned(),
                Some(old) if admitted => format!("was released {old} ago"),
                Some(old) => format!("was released only {old} ago"),
            };
            Decision { admitted, reason, line: line.clone(), hint: None }
        };
        self.ages(asked).map(decide).collect()
    }

    /// Returns the required ages of a source, each with its line.
    pub(super) fn ages<'a>(
        &'a self,
        asked: PolicySubject<'_>,
    ) -> impl Iterator<Item = &'a (Line, Age)> + use<'a> {
        let names = address::names(asked.origin, asked.path, &self.dirs);
        // Sources on this machine got here some other way.
        let local = asked.origin.is_on_this_machine();
        self.files.iter().filter_map(move |file| {
            let excluded =
                meant(&file.age_exclude, &names, List::Allow).is_some_and(|(_, found)| found == Match::Yes);
            file.age.as_ref().filter(|_| !local && !excluded)
        })
    }
}
