//! Times as servers and people write them.

use chrono::DateTime;

const DAY: u64 = 86_400;

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers may send.
pub(super) fn parse_date(text: &str) -> Option<u64> {
    DateTime::parse_from_rfc2822(text).ok()?.timestamp().try_into().ok()
}

/// Reads `2026-11-21T08:49:37Z`, as interfaces that speak JSON write times.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    Some(DateTime::parse_from_rfc3339(text).ok()?.timestamp())
}

/// Writes the time `seconds` after `now` for people: `in 40 minutes, at 14:32 UTC`.
pub(super) fn until(seconds: u64, now: u64) -> String {
    let wait = match seconds {
        0..=90 => plural(seconds, "second"),
        91..=7200 => plural(seconds.div_ceil(60), "minute"),
        7201..=172_800 => plural(seconds.div_ceil(3600), "hour"),
        172_801..=315_360_000 => plural(seconds.div_ceil(DAY), "day"),
        _ => "more than 10 years".to_owned(),
    };
    if seconds > DAY {
        return format!("in {wait}");
    }
    let end = now.saturating_add(seconds) % DAY;
    format!("in {wait}, at {:02}:{:02} UTC", end / 3600, end / 60 % 60)
}

fn plural(count: u64, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_servers() {
        assert_eq!(parse_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse_date("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        for bad in
            ["", "x", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Foo 1994 08:49:37 GMT", "a 0 Nov 1 1:1:1 GMT"]
        {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_of_interfaces() {
        assert_eq!(parse_timestamp("1994-11-06T08:49:37Z"), Some(784_111_777));
        assert_eq!(parse_timestamp("1994-11-06T08:49:37.123Z"), Some(784_111_777));
        for bad in [
            "",
            "1994-11-06",
            "1994-13-06T08:49:37Z",
            "1994-11-06T08:49:37",
            "1994-11-06T24:49:37Z",
            "-1-1-1T1:1:1Z",
        ] {
            assert_eq!(parse_timestamp(bad), None, "{bad}");
        }
    }

    #[test]
    fn waits_for_people() {
        let now = 13 * 3600 + 52 * 60;
        assert_eq!(until(1, now), "in 1 second, at 13:52 UTC");
        assert_eq!(until(2400, now), "in 40 minutes, at 14:32 UTC");
        assert_eq!(until(10 * 3600, now), "in 10 hours, at 23:52 UTC");
        assert_eq!(until(3 * DAY, now), "in 3 days");
        assert_eq!(until(999_999_999, now), "in more than 10 years");
        assert_eq!(until(u64::MAX, now), "in more than 10 years");
    }
}
