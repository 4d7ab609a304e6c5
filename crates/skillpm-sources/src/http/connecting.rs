//! Whether connections are being made: so long the limit of a connection holds, and then that of an answer.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The connections of one agent that are being made. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(super) struct Connecting(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// How many are being made now.
    count: usize,
    /// When the last one was made, or given up.
    last: Option<Instant>,
}

impl Connecting {
    /// Returns the time since which a request that began at `began` has waited for its answer: the current time as long
    /// as connections are made, but at most `began` plus `limit`, since no connection takes longer.
    pub(super) fn waiting_since(&self, began: Instant, limit: Option<Duration>) -> Instant {
        let state = self.lock();
        let since = if state.count > 0 { Some(Instant::now()) } else { state.last };
        let most = limit.and_then(|limit| began.checked_add(limit));
        let since = since.map_or(began, |since| since.max(began));
        most.map_or(since, |most| since.min(most))
    }

    /// Counts `connection` until it is made or given up.
    pub(super) fn count<F: Future>(&self, connection: F) -> impl Future<Output = F::Output> + use<F> {
        let made = self.start();
        async move {
            let _made = made;
            connection.await
        }
    }

    fn start(&self) -> Made {
        self.lock().count += 1;
        Made(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is being made; made or given up when it is dropped.
struct Made(Connecting);

impl Drop for Made {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.count = state.count.saturating_sub(1);
        state.last = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_waited_for_from_the_connection_on() {
        let (connecting, limit) = (Connecting::default(), Some(Duration::from_secs(30)));
        let began = Instant::now();
        assert_eq!(connecting.waiting_since(began, limit), began);
        let made = connecting.start();
        std::thread::sleep(Duration::from_millis(2));
        assert!(connecting.waiting_since(began, limit) > began);
        assert_eq!(connecting.waiting_since(began, Some(Duration::ZERO)), began);
        drop(made);
        let since = connecting.waiting_since(began, limit);
        assert!(since > began && since == connecting.waiting_since(began, None));
        // A connection that is kept: made before the request began.
        let began = Instant::now() + Duration::from_secs(1);
        assert_eq!(connecting.waiting_since(began, limit), began);
    }
}
