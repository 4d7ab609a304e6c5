//! Passes output on to the caller, whose own reader may be slow.
//!
//! One thread follows the script and ends it in time. The caller's own thread receives the output, and may block as
//! long as it likes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::limits::TICK;
use super::{Stream, Watch};

/// The number of waiting bytes at which the script has to wait, too.
const ROOM: usize = 1 << 20;

/// The output that one thread reads from a script and another passes on.
pub(super) struct OutputQueue {
    /// Whether the caller wants the output.
    hears: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Stream, Vec<u8>)>,
    /// The number of waiting bytes, including those that are being passed on.
    bytes: usize,
    /// Whether everything was passed on and the caller takes no more.
    is_left: bool,
    /// Whether the caller wants the script to stop.
    is_stopped: bool,
    /// Whether no more output will come.
    is_over: bool,
}

impl OutputQueue {
    /// Returns an empty queue; `hears` says whether the caller wants the output.
    pub(super) fn new(hears: bool) -> Self {
        Self { hears, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Queues output for the caller without waiting.
    pub(super) fn put(&self, stream: Stream, bytes: Vec<u8>) {
        if !self.hears {
            return;
        }
        let mut state = self.state();
        state.bytes += bytes.len();
        state.waiting.push_back((stream, bytes));
        self.changed.notify_all();
    }

    /// Reports whether there is space for more, now or within `limit`.
    pub(super) fn has_room(&self, limit: Duration) -> bool {
        self.wait(limit, |state| state.bytes < ROOM).bytes < ROOM
    }

    /// Reports whether the caller wants the script to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Reports whether the caller has taken everything, now or within `limit`.
    pub(super) fn is_left(&self, limit: Duration) -> bool {
        self.wait(limit, |state| state.is_left).is_left
    }

    /// Returns a guard that announces, at the latest when it is dropped, that no more output will come.
    pub(super) fn ending(&self) -> Ending<'_> {
        Ending(self)
    }

    /// Passes output on to `watch` in order until no more will come.
    pub(super) fn attend(&self, watch: &mut dyn Watch) {
        let _leaving = Leaving(self);
        let mut asked: Option<Instant> = None;
        loop {
            let mut state = self.wait(TICK, |state| state.is_over || !state.waiting.is_empty());
            let next = state.waiting.pop_front();
            let is_over = state.is_over;
            drop(state);
            match next {
                Some((stream, bytes)) => {
                    watch.output(stream, &bytes);
                    self.state().bytes -= bytes.len();
                    self.changed.notify_all();
                }
                None if is_over => return,
                None => {}
            }
            if !is_over && asked.is_none_or(|asked| asked.elapsed() >= TICK) {
                asked = Some(Instant::now());
                if watch.is_stopped() {
                    self.state().is_stopped = true;
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, limit: Duration, is_so: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.state(), limit, |state| !is_so(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A guard that announces, when dropped, that no more output will come.
pub(super) struct Ending<'a>(&'a OutputQueue);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.state().is_over = true;
        self.0.changed.notify_all();
    }
}

/// A guard that announces, when dropped, that the caller takes no more, even if the caller's code panicked.
struct Leaving<'a>(&'a OutputQueue);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_left = true;
        // If all went well, there is nothing left to stop.
        state.is_stopped = true;
        drop(state);
        self.0.changed.notify_all();
    }
}
