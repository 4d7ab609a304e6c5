//! Ending the work and its programs when the user wants to stop.
//!
//! Programs that are started here have process groups of their own, which the terminal's Ctrl-C does not reach: they have to
//! be ended first. The front end reports signals by [`signals`]; a caller that runs a program holds a [`Running`] and checks
//! [`asked`].
//!
//! A front end in the middle of a change does not stop there: a caller that changes something holds a [`Changing`], which is
//! waited for, and preparations are cleared away ([`on_stop`]). One thread waits for signals there and calls [`end`].

use crate::advice::{Call, message};
use crate::codes;
use crate::error::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a front end ends what runs when the user wants to stop, so that no half of it goes on alone: it
/// sets the number of the signal, and takes the default action itself while nothing runs.
#[derive(Debug, Default)]
pub struct Signals {
    /// The number of a signal that asked for an end; 0 where none did.
    pub asked: Arc<AtomicUsize>,
    /// Whether no program runs that would have to be ended first.
    pub idle: Arc<AtomicBool>,
    /// Whether a thread waits for signals, and ends this process when one comes.
    pub watched: AtomicBool,
}

static SIGNALS: LazyLock<Signals> = LazyLock::new(|| {
    let signals = Signals::default();
    signals.idle.store(true, Ordering::SeqCst);
    signals
});
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Returns the [`Signals`] of this process.
pub fn signals() -> &'static Signals {
    &SIGNALS
}

/// Reports whether the user wants to stop.
pub fn asked() -> bool {
    SIGNALS.asked.load(Ordering::SeqCst) != 0
}

/// A running program, which a signal must not leave alone.
#[derive(Debug)]
pub struct Running(());

impl Running {
    /// Counts one more.
    pub fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        SIGNALS.idle.store(false, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if RUNNING.fetch_sub(1, Ordering::SeqCst) == 1 {
            SIGNALS.idle.store(true, Ordering::SeqCst);
        }
    }
}

/// The interval for checking whether what has to end first has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// How long anyone who has stopped a program has to tidy up.
const GRACE: Duration = Duration::from_secs(2);

/// The state of the work when the user stopped it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was changed.
    #[default]
    Unchanged,
    /// A change was made, which this command takes back, if any does.
    Changed(Option<Call>),
}

impl From<&Outcome> for Error {
    fn from(outcome: &Outcome) -> Self {
        let stopped = |told: &str| Self::new(ErrorKind::Findings, told).coded(codes::INTERRUPTED);
        match outcome {
            Outcome::Unchanged => stopped("interrupted; nothing was changed"),
            Outcome::Changed(undo) => {
                let stopped = stopped("interrupted after the change was made");
                undo.iter().fold(stopped, |error, undo| error.hint(message!(undo.clone(), " undoes it")))
            }
        }
    }
}

/// The work that a signal has to wait for, and the preparations that it clears away.
#[derive(Default)]
struct Work {
    changing: usize,
    outcome: Outcome,
    /// Whether the main thread has nothing more to do.
    arrived: bool,
    rest: BTreeMap<u64, Box<dyn Fn() + Send>>,
    next: u64,
}

static WORK: Mutex<Option<Work>> = Mutex::new(None);
static CALM: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Option<Work>> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(work: impl FnOnce(&mut Work) -> T) -> T {
    work(lock().get_or_insert_default())
}

/// Something that is changed as one: a signal waits until it is done.
#[derive(Debug)]
pub struct Changing(());

impl Changing {
    /// Counts one more. After a signal nothing new begins: this does not return then.
    pub fn begin() -> Self {
        if with(|work| work.changing == 0) {
            halt();
        }
        with(|work| work.changing += 1);
        Self(())
    }

    /// Remembers that something was changed, which the command `undone_by` takes back.
    pub fn done(&self, undone_by: Option<Call>) {
        with(|work| work.outcome = Outcome::Changed(undone_by));
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        with(|work| work.changing = work.changing.saturating_sub(1));
        CALM.notify_all();
    }
}

/// A preparation that is cleared away when the user stops, until this value is dropped.
pub struct Rest(u64);

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rest").field(&self.0).finish()
    }
}

/// Has `clear` called when the user stops, while this process may still be writing what is to be cleared.
pub fn on_stop(clear: impl Fn() + Send + 'static) -> Rest {
    with(|work| {
        work.next += 1;
        work.rest.insert(work.next, Box::new(clear));
        Rest(work.next)
    })
}

impl Drop for Rest {
    fn drop(&mut self) {
        with(|work| work.rest.remove(&self.0));
    }
}

/// Waits for the end of the process after a signal that a thread handles.
pub fn halt() {
    if !SIGNALS.watched.load(Ordering::SeqCst) || !asked() {
        return;
    }
    with(|work| work.arrived = true);
    CALM.notify_all();
    loop {
        std::thread::park();
    }
}

/// Waits until programs have ended and changes are done, clears away what was prepared, and returns what came of the
/// work. `look` is called again and again while there is something to wait for.
pub fn end(mut look: impl FnMut()) -> Outcome {
    let mut pause = |work| {
        look();
        CALM.wait_timeout(work, PAUSE).unwrap_or_else(PoisonError::into_inner).0
    };
    if RUNNING.load(Ordering::SeqCst) > 0 {
        while RUNNING.load(Ordering::SeqCst) > 0 {
            drop(pause(lock()));
        }
        // The caller that started the program clears up after it.
        let since = Instant::now();
        while !with(|work| work.arrived) && since.elapsed() < GRACE {
            drop(pause(lock()));
        }
    }
    let mut work = lock();
    while work.as_ref().is_some_and(|work| work.changing > 0) {
        work = pause(work);
    }
    let Work { rest, outcome, .. } = work.take().unwrap_or_default();
    drop(work);
    for clear in rest.into_values() {
        clear();
    }
    outcome
}
