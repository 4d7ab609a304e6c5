//! Times in the files of a registry.

use std::fmt;

use chrono::DateTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::timestamp;

/// A time in whole seconds, written in UTC as in RFC 3339: `2026-11-26T22:00:00Z`.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("format" = "date-time"))]
pub struct Timestamp(i64);

/// An error for text that is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time: expected the form `2026-11-26T22:00:00Z`")]
pub struct TimestampError(String);

impl Timestamp {
    /// The last second of the year 9999.
    const MAX: i64 = 253_402_300_799;

    /// Returns the time `seconds` after the start of 1970. Other times than those of the years 1970 to 9999 become the
    /// nearest one of these.
    pub fn new(seconds: i64) -> Self {
        Self(seconds.clamp(0, Self::MAX))
    }

    /// Returns the number of seconds since the start of 1970.
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// Reads the exact form that is written; fractions of a second are dropped.
    fn parse(text: &str) -> Option<Self> {
        let seconds = DateTime::parse_from_rfc3339(text).ok()?.timestamp();
        let read = Self((0..=Self::MAX).contains(&seconds).then_some(seconds)?);
        // Writing it again shows whether the text has another notation, or a leap second.
        (text.ends_with('Z') && text.get(..19) == read.to_string().get(..19)).then_some(read)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = timestamp(self.0, 0);
        write!(f, "{}Z", text.get(..19).unwrap_or_default())
    }
}

impl TryFrom<String> for Timestamp {
    type Error = TimestampError;

    fn try_from(text: String) -> Result<Self, TimestampError> {
        Self::parse(&text).ok_or_else(|| TimestampError(text.chars().take(40).collect()))
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_read_strictly() {
        let seconds = |text: &str| Timestamp::parse(text).map(Timestamp::seconds);
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("1994-11-06T08:49:37Z"), Some(784_111_777));
        assert_eq!(seconds("1994-11-06T08:49:37.999Z"), Some(784_111_777));
        assert_eq!(seconds("9999-12-31T23:59:59Z"), Some(Timestamp::MAX));
        for wrong in [
            "",
            "Z",
            "1969-12-31T23:59:59Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+00:00",
            "2026-01-01 00:00:00Z",
            "2026-1-01T000:00:00Z",
            "+026-01-01T00:00:00Z",
            "é026-01-01T00:00:0Z",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_time_reads_back(seconds in 0..=Timestamp::MAX) {
            let time = Timestamp::new(seconds);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }

        #[test]
        fn nothing_panics(text in "[-0-9TZ:.é]{0,24}") {
            let _ = Timestamp::parse(&text);
        }
    }
}
