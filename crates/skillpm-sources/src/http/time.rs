//! Times for people.

const DAY: u64 = 86_400;

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
