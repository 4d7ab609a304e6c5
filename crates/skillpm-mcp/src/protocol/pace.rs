//! Slows down a client that asks too often, such as one that subscribes again and again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time between two messages of a client that sends all the time.
const INTERVAL: Duration = Duration::from_millis(10);
/// The number of messages that a client may send at once: it may read every file of all its skills.
const BURST: u32 = 1_000;
/// The longest time that a request over HTTP waits. A client that would have to wait longer is refused.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The pace of one client.
#[derive(Debug)]
pub(super) struct Pace {
    /// When all messages so far are paid for.
    paid: Instant,
}

impl Pace {
    /// Returns the pace of a client that has sent nothing until `now`.
    pub(super) fn new(now: Instant) -> Self {
        Self { paid: now }
    }

    /// Counts a message that arrives `now`.
    pub(super) fn count(&mut self, now: Instant) {
        self.paid = self.paid.max(now) + INTERVAL;
    }

    /// Returns when the next message may be taken: `now`, unless there were many.
    pub(super) fn next(&self, now: Instant) -> Instant {
        let next = self.paid + INTERVAL;
        next.checked_sub(INTERVAL * BURST).map_or(now, |next| next.max(now))
    }

    /// Reports whether at least this number of messages was counted after `began`.
    #[cfg(test)]
    pub(super) fn has_counted(&self, messages: u32, began: Instant) -> bool {
        self.paid >= began + INTERVAL * messages
    }
}

/// The paces of the clients over HTTP, by their sessions. All clients without a session share one pace.
#[derive(Debug, Default)]
pub(super) struct Paces(Mutex<BTreeMap<Option<Arc<str>>, Pace>>);

impl Paces {
    /// Counts a request of `session` that arrives `now`, and returns when it may be answered.
    pub(super) fn admit(&self, session: Option<Arc<str>>, now: Instant) -> Result<Instant, Duration> {
        let mut paces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that owes nothing is like one that was never there.
        paces.retain(|_, pace| pace.paid > now);
        let pace = paces.entry(session).or_insert_with(|| Pace::new(now));
        let next = pace.next(now);
        if next - now > MAX_WAIT {
            return Err(next - now);
        }
        pace.count(now);
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_more_is_slowed() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        for _ in 0..BURST {
            assert_eq!(pace.next(now), now);
            pace.count(now);
        }
        assert_eq!(pace.next(now), now + INTERVAL);
        assert_eq!(pace.next(now + INTERVAL * BURST), now + INTERVAL * BURST);
    }

    /// Over HTTP, nobody waits for long, and those who are refused do not make it worse.
    #[test]
    fn a_client_that_hammers_is_refused_and_recovers() {
        let (paces, now) = (Paces::default(), Instant::now());
        let session = |id: &str| Some(Arc::from(id));
        let mut admitted = 0;
        while paces.admit(session("a"), now).is_ok() {
            admitted += 1;
        }
        assert!((BURST..2 * BURST).contains(&admitted), "{admitted}");
        for _ in 0..10 * BURST {
            let wait = paces.admit(session("a"), now).expect_err("refused");
            assert!(wait <= MAX_WAIT + INTERVAL, "{wait:?}");
        }
        // Others are not slowed, and after a moment the client goes on.
        assert_eq!(paces.admit(session("b"), now), Ok(now));
        assert_eq!(paces.admit(None, now), Ok(now));
        let later = now + MAX_WAIT;
        assert!(paces.admit(session("a"), later).is_ok());
    }

    /// Sessions that ended, and ids that were made up, take no memory.
    #[test]
    fn clients_that_owe_nothing_are_forgotten() {
        let (paces, now) = (Paces::default(), Instant::now());
        for at in 0..1_000 {
            let now = now + INTERVAL * at;
            paces.admit(Some(at.to_string().into()), now).expect("admitted");
            assert!(paces.0.lock().expect("no panic").len() <= 2);
        }
    }
}
