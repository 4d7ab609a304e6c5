//! Rate limits, as servers state them.

use std::time::UNIX_EPOCH;

use reqwest::header::HeaderMap;

use crate::env;

/// The longest wait that a server may ask for; beyond it, the request fails with a message.
pub(super) const LONGEST_WAIT: u64 = 60;

/// The time that a server asks its clients to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit {
    /// Seconds from now, where the server says.
    pub(super) seconds: Option<u64>,
    /// Whether the request may be sent again in this run.
    pub(super) passing: bool,
}

/// Reads the limit from an answer with `status`; `None` if the answer is about something else.
///
/// `Retry-After` comes first, as GitHub asks. Without it an allowance that is used up
/// (`x-ratelimit-remaining: 0`) ends at `x-ratelimit-reset`. Times are counted from the server's own
/// `Date`: only the difference counts, so that neither clock has to be right.
pub(super) fn read(status: u16, headers: &HeaderMap) -> Option<Limit> {
    if !matches!(status, 403 | 429) {
        return None;
    }
    if let Some(seconds) = retry_after(headers) {
        return Some(Limit { seconds: Some(seconds), passing: seconds <= LONGEST_WAIT });
    }
    if text(headers, "x-ratelimit-remaining") == Some("0") {
        let reset = text(headers, "x-ratelimit-reset").and_then(|reset| reset.parse::<u64>().ok());
        let seconds = reset.map(|reset| reset.saturating_sub(server_time(headers)));
        return Some(Limit { seconds, passing: false });
    }
    (status == 429).then_some(Limit { seconds: None, passing: true })
}

/// Seconds of the header `Retry-After`, which holds a number or a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let value = text(headers, "retry-after")?.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        return Some(value.parse().unwrap_or(u64::MAX));
    }
    Some(parse_date(value)?.saturating_sub(server_time(headers)))
}

fn server_time(headers: &HeaderMap) -> u64 {
    text(headers, "date").and_then(parse_date).unwrap_or_else(env::now)
}

/// Returns the seconds from the start of 1970 to the date `text`.
fn parse_date(text: &str) -> Option<u64> {
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn limit(status: u16, headers: &[(&'static str, &str)]) -> Option<Limit> {
        let value = |value: &str| HeaderValue::from_str(value).expect("a header");
        read(status, &headers.iter().map(|(k, v)| (k.parse().expect("a name"), value(v))).collect())
    }

    #[test]
    fn h14_short_waits_pass() {
        assert_eq!(limit(429, &[("retry-after", "2")]), Some(Limit { seconds: Some(2), passing: true }));
        let date =
            [("date", "Sun, 06 Nov 1994 08:49:00 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")];
        assert_eq!(limit(403, &date), Some(Limit { seconds: Some(37), passing: true }));
        assert_eq!(limit(429, &[]), Some(Limit { seconds: None, passing: true }));
    }

    #[test]
    fn h15_long_waits_do_not() {
        for (value, seconds) in [("61", 61), ("999999999", 999_999_999), (&"9".repeat(40), u64::MAX)] {
            let wanted = Limit { seconds: Some(seconds), passing: false };
            assert_eq!(limit(429, &[("retry-after", value)]), Some(wanted));
        }
    }

    #[test]
    fn h16_h50_a_reset_is_counted_from_the_servers_clock() {
        let headers = [
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "784114177"),
        ];
        assert_eq!(limit(403, &headers), Some(Limit { seconds: Some(2400), passing: false }));
    }

    #[test]
    fn other_answers_are_no_limits() {
        assert_eq!(limit(403, &[("x-ratelimit-remaining", "5")]), None);
        assert_eq!(limit(404, &[("retry-after", "5")]), None);
        assert_eq!(limit(429, &[("retry-after", "soon")]), Some(Limit { seconds: None, passing: true }));
    }
}
