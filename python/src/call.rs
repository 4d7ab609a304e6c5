//! The one way into the library.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
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
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    whole(py, done)?.map_err(|failure| errors::raised(py, failure))
}

/// As [`run`], for work that may wait for long, such as for a server that never answers: a signal such as that of
/// Ctrl-C ends the call at once.
pub(crate) fn run_stoppable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Arc<dyn Reporter>) -> Result<T, SessionError> + Send + 'static,
) -> PyResult<T> {
    run_asking(py, &Waiter::default(), |caller| work(caller))?.map_err(|failure| errors::raised(py, failure))
}

/// As [`run_stoppable`], for work that may ask whoever called: see [`Caller::ask`]. Whoever has `waiter` can end the
/// call, too. What failed is returned.
///
/// Python tells the main thread of signals, so the work has one of its own. It is told that nobody waits any more,
/// and ends when it next looks. A change that has begun is waited for: half of it is of use to nobody.
pub(crate) fn run_asking<T: Send + 'static, E: Send + 'static>(
    py: Python<'_>,
    waiter: &Waiter,
    work: impl FnOnce(Arc<Caller>) -> Result<T, E> + Send + 'static,
) -> PyResult<Result<T, E>> {
    let (tell, told) = mpsc::channel();
    let ask = tell.clone();
    let caller = Arc::new(Caller {
        waiter: waiter.clone(),
        // Nobody hears of it where nobody waits any more.
        ask: Box::new(move |question| drop(ask.send(Said::Asked(question)))),
        raised: Mutex::default(),
    });
    let asking = Arc::clone(&caller);
    let spawned = thread::Builder::new().name("skillpm".to_owned()).spawn(move || {
        let _ = tell.send(Said::Done(catch_unwind(AssertUnwindSafe(|| work(asking)))));
    });
    if let Err(error) = spawned {
        return Err(errors::raised(py, Error::io("failed to start a thread").because(error).into()));
    }
    let waiter = waiter.clone();
    let done = py.detach(move || {
        let mut signal = None;
        loop {
            match told.recv_timeout(LOOK) {
                Ok(Said::Done(done)) => return signal.map_or(Ok(done), Err),
                Ok(Said::Asked(question)) => {
                    Python::attach(question);
                    continue;
                }
                // The thread is gone without a word.
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Box::new("a thread ended too early") as Box<dyn Any + Send>));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let ended = if waiter.is_stopped() {
                PyRuntimeError::new_err("nobody waits for this call any more")
            } else if signal.is_none()
                && let Err(error) = check_signals()
            {
                error
            } else {
                continue;
            };
            if waiter.stop() {
                // A program that was started hears of no Ctrl-C, and outlives a process that ends now.
                if !interrupt::signals().idle.load(Ordering::SeqCst) {
                    let _ = told.recv_timeout(GRACE);
                }
                return Err(ended);
            }
            signal = Some(ended);
        }
    })?;
    // What a callback raised comes before what followed from it.
    let raised = caller.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    raised.map_or_else(|| whole(py, done), Err)
}

/// What a signal raises that came meanwhile. Only the main thread of Python hears of signals; in others this does
/// nothing.
pub(crate) fn check_signals() -> PyResult<()> {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone has one lifetime only")]
    Python::attach(|py| py.check_signals())
}

/// What work returned that is over; a panic becomes an exception.
fn whole<T>(py: Python<'_>, done: thread::Result<T>) -> PyResult<T> {
    done.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        errors::defect(py, text.unwrap_or("no reason was given"))
    })
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
#[pyclass(frozen, module = "skillpm._native")]
#[derive(Clone, Default)]
pub(crate) struct Waiter(Arc<AtomicU8>);

#[pymethods]
impl Waiter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Waits no more. It is too late for that where a change has begun.
    fn stop(&self) -> bool {
        self.go(STOPPED) != CHANGES
    }
}

impl Waiter {
    /// Goes on to `next`, unless something came before, and returns where it is then.
    fn go(&self, next: u8) -> u8 {
        match self.0.compare_exchange(PREPARES, next, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => next,
            Err(now) => now,
        }
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst) == STOPPED
    }
}

/// What the thread of the work says to that of the call.
enum Said<T> {
    Asked(Question),
    Done(thread::Result<T>),
}

/// What is done in the thread of the call.
type Question = Box<dyn FnOnce(Python<'_>) + Send>;

/// Whoever called, for work in another thread.
pub(crate) struct Caller {
    waiter: Waiter,
    ask: Box<dyn Fn(Question) + Send + Sync>,
    raised: Mutex<Option<PyErr>>,
}

impl Caller {
    /// The answer to `question`, which is asked in the thread of the call: functions of Python expect to be called
    /// there. `None` where nobody waits any more, or where it raised something: that is what the call raises then.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = mpsc::channel();
        (self.ask)(Box::new(move |py| drop(answer.send(question(py)))));
        match answered.recv().ok()? {
            Ok(answer) => Some(answer),
            Err(error) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                None
            }
        }
    }
}

impl Reporter for Caller {
    fn is_stopped(&self) -> bool {
        self.waiter.is_stopped()
    }

    fn may_change(&self) -> bool {
        self.waiter.go(CHANGES) == CHANGES
    }
}

/// Panics, in builds for tests only: what becomes of a panic can be seen in no other way.
#[cfg(debug_assertions)]
#[pyfunction]
pub(crate) fn fail(py: Python<'_>, text: Given<String>) -> PyResult<()> {
    #[expect(clippy::panic, reason = "it is what is tested")]
    run(py, || panic!("{}", *text))
}
