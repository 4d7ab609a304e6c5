//! Slows down a client that asks too often, such as one that subscribes again and again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time between two requests of a client that asks all the time.
const INTERVAL: Duration = Duration::from_millis(10);
/// The number of requests that a client may make at once: it may read every file of all its skills.
const BURST: u32 = 1_000;

/// The pace of one client.
#[derive(Debug)]
pub(super) struct Pace {
    /// When all requests so far are paid for.
    paid: Mutex<Instant>,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { paid: Mutex::new(Instant::now()) }
    }

    /// Waits until the client may make another request: no time at all, unless it has made many.
    pub(super) async fn wait(&self) {
        tokio::time::sleep_until(self.next(Instant::now())).await;
    }

    /// Returns when a request that arrives `now` is answered.
    fn next(&self, now: Instant) -> Instant {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        *paid = (*paid).max(now) + INTERVAL;
        paid.checked_sub(INTERVAL * BURST).map_or(now, |start| start.max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_more_is_slowed() {
        let (pace, now) = (Pace::new(), Instant::now());
        for _ in 0..BURST {
            assert_eq!(pace.next(now), now);
        }
        let later = pace.next(now);
        assert!(later > now && later <= now + 2 * INTERVAL, "{:?}", later - now);
        assert_eq!(pace.next(now + INTERVAL * BURST), now + INTERVAL * BURST);
    }
}
