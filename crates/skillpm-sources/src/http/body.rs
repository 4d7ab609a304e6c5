//! Reading answers: never more than allowed, never for ever.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;

use crate::settings::Http;

use super::agent::{self, Reply};
use super::url::Url;
use super::{HttpError, translate};

/// The fewest bytes that must come within one timeout. The timeout of each read alone would let a
/// server that drips byte after byte go on for ever.
const PACE: u64 = 1024;

/// Copies the body of `reply`, which `url` sent, to `sink` and returns its length.
pub(super) fn copy(
    url: &Url,
    reply: Reply,
    settings: &Http,
    limit: u64,
    sink: &mut dyn Write,
) -> Result<u64, HttpError> {
    read(url, reply, settings, limit, &mut |piece| sink.write_all(piece).map(|()| true))
}

/// Passes the body of `reply`, which `url` sent, to `take` piece by piece until that returns `false`, and returns the
/// number of bytes.
pub(super) fn read(
    url: &Url,
    mut reply: Reply,
    settings: &Http,
    limit: u64,
    take: &mut dyn FnMut(&[u8]) -> io::Result<bool>,
) -> Result<u64, HttpError> {
    check_encoding(url, reply.headers())?;
    let too_large = || HttpError::TooLarge { host: url.origin().to_string(), limit };
    let expected = reply.length();
    if expected.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut pace = Pace::new(agent::timeout(settings));
    let mut received = 0;
    loop {
        let piece = match reply.next() {
            Ok(None) => break,
            Ok(Some(piece)) => piece,
            Err(failure) => return Err(translate::in_body(failure, url, settings, received, expected)),
        };
        received += piece.len() as u64;
        if received > limit {
            return Err(too_large());
        }
        if pace.too_slow(received, Instant::now()) {
            return Err(translate::stalled(url.origin().to_string(), settings, received));
        }
        if !take(&piece).map_err(HttpError::Write)? {
            return Ok(received);
        }
    }
    // A body without length or chunks ends where the connection does, whole or not: only its reader
    // can tell. Servers of archives announce one or send the other.
    match expected {
        Some(length) if received < length => {
            Err(HttpError::Truncated { host: url.origin().to_string(), received, expected })
        }
        _ => Ok(received),
    }
}

/// Nothing was asked for, so anything but the plain bytes is wrong: a few kilobytes of gzip could
/// become gigabytes.
fn check_encoding(url: &Url, headers: &HeaderMap) -> Result<(), HttpError> {
    let Some(encoding) = headers.get("content-encoding") else {
        return Ok(());
    };
    if encoding.as_bytes().eq_ignore_ascii_case(b"identity") {
        return Ok(());
    }
    let encoding = String::from_utf8_lossy(encoding.as_bytes());
    let encoding = encoding.chars().filter(|c| !c.is_control()).take(40).collect();
    Err(HttpError::Encoding { url: url.clone(), encoding })
}

/// Watches that bytes come fast enough.
struct Pace {
    window: Option<Duration>,
    since: Instant,
    bytes: u64,
}

impl Pace {
    fn new(window: Option<Duration>) -> Self {
        Self { window, since: Instant::now(), bytes: 0 }
    }

    /// Reports whether the last window brought too few bytes, when `received` have come in all at `now`.
    fn too_slow(&mut self, received: u64, now: Instant) -> bool {
        let Some(window) = self.window else {
            return false;
        };
        if now.duration_since(self.since) < window {
            return false;
        }
        let slow = received - self.bytes < PACE;
        (self.since, self.bytes) = (now, received);
        slow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h06_a_drip_is_a_stall() {
        let window = Duration::from_secs(30);
        let mut pace = Pace::new(Some(window));
        let start = pace.since;
        assert!(!pace.too_slow(1, start + window / 2));
        assert!(!pace.too_slow(5000, start + window));
        assert!(!pace.too_slow(5001, start + window + window / 2));
        assert!(pace.too_slow(5100, start + 2 * window));
        assert!(!Pace::new(None).too_slow(0, start + 100 * window));
    }
}
