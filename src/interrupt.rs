//! Asking what runs for us to end, when the user wants to stop.
//!
//! Programs that are started here have process groups of their own, which the terminal's Ctrl-C does
//! not reach: they have to be ended first. The front end tells of signals by [`signals`]; whoever runs
//! a program holds a [`Running`] and looks at [`asked`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// How a front end ends what runs when the user wants to stop, so that no half of it goes on alone: it
/// sets the number of the signal, and takes the default action itself while nothing runs.
#[derive(Debug, Default)]
pub struct Signals {
    /// The number of a signal that asked for an end; 0 where none did.
    pub asked: Arc<AtomicUsize>,
    /// Whether no program runs that would have to be ended first.
    pub idle: Arc<AtomicBool>,
}

static SIGNALS: LazyLock<Signals> = LazyLock::new(|| {
    let signals = Signals::default();
    signals.idle.store(true, Ordering::SeqCst);
    signals
});
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// The [`Signals`] of this process.
pub fn signals() -> &'static Signals {
    &SIGNALS
}

/// Whether the user wants to stop.
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
