//! The required age of a release.

use std::fmt;

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
