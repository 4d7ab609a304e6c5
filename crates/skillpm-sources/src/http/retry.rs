//! Which failures may pass, and how long to wait for that.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::HttpError;
use super::rate_limit::LONGEST_WAIT;

/// The first wait; it doubles each time. Short, because most failures that pass, pass at once.
const FIRST: Duration = Duration::from_millis(250);

/// Returns how long to wait before the request is sent again after `error`, when it has been sent again `tried` times
/// before and may be `allowed` times; `None` if that makes no sense.
pub(super) fn wait(error: &HttpError, tried: u32, allowed: u32) -> Option<Duration> {
    let seconds = match error {
        HttpError::Timeout { .. }
        | HttpError::Stalled { .. }
        | HttpError::Connect(..)
        | HttpError::Broken(..)
        | HttpError::Truncated { .. }
        | HttpError::Status { status: 500 | 502..=504, retry_after: None, .. } => None,
        HttpError::Status { status: 500 | 502..=504, retry_after: Some(seconds), .. }
            if *seconds <= LONGEST_WAIT =>
        {
            Some(*seconds)
        }
        HttpError::RateLimit { passing: true, seconds, .. } => *seconds,
        _ => return None,
    };
    (tried < most(error, allowed)).then(|| seconds.map_or_else(|| back_off(tried), Duration::from_secs))
}

/// Returns how often a request is sent again after `error` where that may be done `allowed` times.
pub(super) fn most(error: &HttpError, allowed: u32) -> u32 {
    match error {
        // A silence has cost a whole timeout already: two are enough to know.
        HttpError::Timeout { .. } | HttpError::Stalled { .. } => allowed.min(1),
        _ => allowed,
    }
}

/// 250 ms, 500 ms, 1 s, ... and up to a quarter more, so that many clients do not come back at once.
fn back_off(tried: u32) -> Duration {
    let wait = FIRST * 2_u32.pow(tried.min(6));
    let jitter = u32::try_from(RandomState::new().hash_one(tried) % 256).unwrap_or(0);
    wait + wait / 4 * jitter / 256
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Url;

    fn status(status: u16, retry_after: Option<u64>) -> HttpError {
        let url = Url::parse("https://a.example/").expect("an address");
        HttpError::Status { url, status, detail: None, retry_after, challenge: None }
    }

    #[test]
    fn waits_double_with_some_jitter() {
        for (tried, least) in [(0, 250), (1, 500), (2, 1000), (5, 8000)] {
            let wait = back_off(tried).as_millis();
            assert!((least..=least + least / 4).contains(&wait), "{tried}: {wait}");
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert_eq!(wait(&HttpError::Dns("h".into()), 0, 3), None, "names do not appear in a second");
        let tls = HttpError::Tls { host: "h".into(), reason: "expired".into() };
        for error in [tls, status(404, None), status(401, None), status(403, None), status(501, None)] {
            assert_eq!(wait(&error, 0, 3), None, "{error}");
        }
        assert!(wait(&status(503, None), 2, 3).is_some());
        assert_eq!(wait(&status(503, None), 3, 3), None);
        assert_eq!(wait(&status(503, Some(7)), 0, 3), Some(Duration::from_secs(7)));
        assert_eq!(wait(&status(503, Some(61)), 0, 3), None);
    }

    #[test]
    fn h04_a_silent_server_is_asked_twice() {
        let error = HttpError::Timeout { host: "h".into(), limit: Duration::from_secs(30), connected: true };
        assert!(wait(&error, 0, 3).is_some());
        assert_eq!(wait(&error, 1, 3), None);
        assert_eq!(wait(&error, 0, 0), None);
    }
}
