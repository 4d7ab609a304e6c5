//! The one way into the library.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use skillpm_core::session::SessionError;
use skillpm_sources::error::Error;
use skillpm_sources::interrupt;
use skillpm_sources::reporter::Reporter;

use crate::errors;
#[cfg(debug_assertions)]
use crate::given::Given;

/// Runs `work` without the interpreter, so that other threads go on, and turns its failure into an exception.
///
/// A panic is a defect of skillpm. It becomes an exception like any other: what is no subclass of `Exception`
/// would end a host that is prepared for everything else.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, SessionError> + Send,
) -> PyResult<T> {
    // Whatever `work` borrows is either read only or whole again after a failure.
    ended(py, py.detach(|| catch_unwind(AssertUnwindSafe(work))))
}

/// As [`run`], for work that may wait for long, such as for a server that never answers: a signal such as that of
/// Ctrl-C ends the call at once.
///
/// Python tells the main thread of signals, so the work has one of its own. It is told that nobody waits any more,
/// and ends when it next looks. A change that has begun is waited for: half of it is of use to nobody.
pub(crate) fn run_stoppable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Arc<dyn Reporter>) -> Result<T, SessionError> + Send + 'static,
) -> PyResult<T> {
    let waiter = Arc::new(Waiter(AtomicU8::new(PREPARES)));
    let reporter = Arc::clone(&waiter);
    let (tell, told) = mpsc::channel();
    let spawned = thread::Builder::new().name("skillpm".to_owned()).spawn(move || {
        // Nobody hears of it where nobody waits any more.
        let _ = tell.send(catch_unwind(AssertUnwindSafe(|| work(reporter))));
    });
    if let Err(error) = spawned {
        return Err(errors::raised(py, Error::io("failed to start a thread").because(error).into()));
    }
    let done = py.detach(move || {
        let mut signal = None;
        loop {
            match told.recv_timeout(LOOK) {
                Ok(done) => return signal.map_or(Ok(done), Err),
                // The thread is gone without a word.
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Box::new("a thread ended too early") as Box<dyn Any + Send>));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if signal.is_none()
                && let Err(error) = check_signals()
            {
                if waiter.stop() {
                    // A program that was started hears of no Ctrl-C, and outlives a process that ends now.
                    if !interrupt::signals().idle.load(Ordering::SeqCst) {
                        let _ = told.recv_timeout(GRACE);
                    }
                    return Err(error);
                }
                signal = Some(error);
            }
        }
    })?;
    ended(py, done)
}

/// What a signal raises that came meanwhile. Only the main thread of Python hears of signals; in others this does
/// nothing.
pub(crate) fn check_signals() -> PyResult<()> {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone has one lifetime only")]
    Python::attach(|py| py.check_signals())
}

/// What becomes of work that is over.
fn ended<T>(py: Python<'_>, done: thread::Result<Result<T, SessionError>>) -> PyResult<T> {
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => Err(errors::raised(py, failure)),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Err(errors::defect(py, text.unwrap_or("no reason was given")))
        }
    }
}

/// How long a signal may have to wait.
const LOOK: Duration = Duration::from_millis(50);

/// How long a program that fetches has for its end.
const GRACE: Duration = Duration::from_secs(3);

/// Nothing is changed yet, and somebody waits.
const PREPARES: u8 = 0;
/// The change is being made.
const CHANGES: u8 = 1;
/// Nobody waits any more.
const STOPPED: u8 = 2;

/// How far work is, and whether somebody waits for it.
struct Waiter(AtomicU8);

impl Waiter {
    /// Waits no more. It is too late for that where a change has begun.
    fn stop(&self) -> bool {
        self.go(STOPPED) != CHANGES
    }

    /// Goes on to `next`, unless something came before, and returns where it is then.
    fn go(&self, next: u8) -> u8 {
        match self.0.compare_exchange(PREPARES, next, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => next,
            Err(now) => now,
        }
    }
}

impl Reporter for Waiter {
    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst) == STOPPED
    }

    fn may_change(&self) -> bool {
        self.go(CHANGES) == CHANGES
    }
}

/// Panics, in builds for tests only: what becomes of a panic can be seen in no other way.
#[cfg(debug_assertions)]
#[pyfunction]
pub(crate) fn fail(py: Python<'_>, text: Given<String>) -> PyResult<()> {
    #[expect(clippy::panic, reason = "it is what is tested")]
    run(py, || panic!("{}", *text))
}
