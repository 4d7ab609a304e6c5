//! The synchronous side of the HTTP library, which is asynchronous.
//!
//! A thread of the runtime watches the connections. A request is driven by the thread that made it, which sleeps in
//! between: so that it may itself be a thread of another runtime, as in a server or a Python program.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_executor::block_on;
use tokio::time::timeout;

/// The runtime that watches the connections, in a thread of its own. It must not be dropped inside of another runtime.
#[derive(Debug)]
pub(super) struct Runtime(tokio::runtime::Runtime);

impl Runtime {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("skillpm-http")
            .enable_all()
            .build()
            .map(Self)
    }

    /// Drives `future` until it is ready and returns its output; `None` if `limit` has passed since the last sign of life,
    /// whose time `last` returns.
    pub(super) fn wait<F: Future>(
        &self,
        future: F,
        limit: Option<Duration>,
        last: impl Fn() -> Instant,
    ) -> Option<F::Output> {
        let _context = self.0.enter();
        block_on(async {
            let Some(limit) = limit else { return Some(future.await) };
            let mut future = pin!(future);
            loop {
                match timeout(limit.saturating_sub(last().elapsed()), &mut future).await {
                    Ok(output) => return Some(output),
                    Err(_) if last().elapsed() >= limit => return None,
                    Err(_) => {}
                }
            }
        })
    }
}

/// The last sign of life of what clones share. It lives as long as it is held.
#[derive(Debug, Clone)]
pub(super) struct Pulse(Arc<Mutex<Beats>>);

#[derive(Debug)]
struct Beats {
    last: Instant,
    holders: usize,
}

impl Pulse {
    /// Starts with the current time.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Beats { last: Instant::now(), holders: 0 })))
    }

    /// Sets the time to the current one.
    pub(super) fn beat(&self) {
        self.lock().last = Instant::now();
    }

    /// Returns the time.
    pub(super) fn last(&self) -> Instant {
        let beats = self.lock();
        if beats.holders > 0 { Instant::now() } else { beats.last }
    }

    /// Holds it until `future` is ready or dropped.
    pub(super) fn hold<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        self.lock().holders += 1;
        let held = Held(self.clone());
        async move {
            let _held = held;
            future.await
        }
    }

    fn lock(&self) -> MutexGuard<'_, Beats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Held(Pulse);

impl Drop for Held {
    fn drop(&mut self) {
        let mut beats = self.0.lock();
        beats.holders -= 1;
        beats.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn a_silent_future_is_given_up() {
        let runtime = Runtime::start().expect("a thread");
        let limit = Duration::from_millis(20);
        let began = Instant::now();
        assert_eq!(runtime.wait(pending::<()>(), Some(limit), || began), None);
        assert!(began.elapsed() >= limit);
        assert_eq!(runtime.wait(ready(7), None, Instant::now), Some(7));
    }

    #[test]
    fn a_pulse_lives_as_long_as_it_is_held() {
        let pulse = Pulse::new();
        let (one, other) = (pulse.hold(pending::<()>()), pulse.hold(pending::<()>()));
        drop(one);
        // It ends because the time goes on.
        let held = pulse.last();
        while pulse.last() == held {}
        drop(other);
        assert_eq!(pulse.last(), pulse.last());
    }

    /// A library that waits with `block_on` panics there.
    #[test]
    fn the_caller_may_be_in_a_runtime_itself() {
        let [outer, inner] = [0; 2].map(|_| Arc::new(Runtime::start().expect("a thread")));
        let runtime = Arc::clone(&inner);
        let task = outer.0.spawn(async move { runtime.wait(async { 7 }, None, Instant::now) });
        assert_eq!(outer.wait(task, None, Instant::now).expect("an end").expect("no panic"), Some(7));
    }
}
