//! Ctrl-C and the like, while another program runs for us.
//!
//! A signal ends skillpm at once, as if nothing were done about signals, unless `git` or a script runs:
//! those are in process groups of their own, which the terminal does not reach, so they are ended
//! first.
//!
//! Commands that change skills as one are watched by a thread: what is being changed is changed to its end, what was
//! only prepared is cleared away, and the person is told which of the two it was.

#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::Ordering;

#[cfg(unix)]
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
#[cfg(unix)]
use signal_hook::iterator::Signals;

use crate::interrupt::Outcome;

/// How much is read of what the system tells of this process.
#[cfg(unix)]
const MAX_STATUS: u64 = 1 << 16;

/// Prepares for signals.
pub(super) fn install() {
    #[cfg(unix)]
    [SIGINT, SIGTERM].into_iter().for_each(register);
}

/// Prepares for signals in a command that changes skills as one, and for the end of the terminal where it may start
/// programs. `say` hears what came of the work before this process ends.
pub(super) fn watch(may_start_others: bool, say: impl FnOnce(&Outcome) + Send + 'static) {
    #[cfg(unix)]
    {
        let hang_up = (may_start_others && may_hang_up()).then_some(SIGHUP);
        let numbers: Vec<_> = [SIGINT, SIGTERM].into_iter().chain(hang_up).collect();
        // Where no thread can be had, a signal acts at once.
        if watch_for(&numbers, say).is_err() {
            numbers.into_iter().for_each(register);
        }
    }
    #[cfg(not(unix))]
    let _ = (may_start_others, say);
}

#[cfg(unix)]
fn watch_for(numbers: &[i32], say: impl FnOnce(&Outcome) + Send + 'static) -> std::io::Result<()> {
    let known = crate::interrupt::signals();
    // The signal is known before this thread wakes: nothing new begins meanwhile.
    for signal in numbers {
        let number = usize::try_from(*signal).unwrap_or_default();
        signal_hook::flag::register_usize(*signal, Arc::clone(&known.asked), number)?;
    }
    let mut signals = Signals::new(numbers)?;
    let wait = move || {
        let Some(signal) = signals.forever().next() else { return };
        let end = |signal| signal_hook::low_level::emulate_default_handler(signal);
        // Whoever asks twice does not want to wait.
        let outcome = crate::interrupt::end(|| {
            if let Some(again) = signals.pending().next() {
                let _ = end(again);
            }
        });
        say(&outcome);
        let _ = end(signal);
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    known.watched.store(true, Ordering::SeqCst);
    Ok(())
}

/// Prepares for the end of the terminal as well: for commands that may start another program.
pub(super) fn install_hang_up() {
    // A terminal that closes ends nothing under `nohup`, and that must stay so.
    #[cfg(unix)]
    if may_hang_up() {
        register(SIGHUP);
    }
}

/// Hears of the end of children where whoever started this program ignores it: the system would throw away how
/// a script ended before anybody asks, and what it starts would inherit that.
pub(super) fn ignore_sigchld() {
    #[cfg(unix)]
    if ignores(SIGCHLD) != Some(false) {
        // What is done about the signal is nothing; that something is makes the difference, and other programs
        // start with the default.
        let _ = signal_hook::flag::register(SIGCHLD, Arc::default());
    }
}

#[cfg(unix)]
fn register(signal: i32) {
    let signals = crate::interrupt::signals();
    // In this order: what takes the default action does not return. Where a handler cannot be set,
    // the default action stays.
    let idle = Arc::clone(&signals.idle);
    if signal_hook::flag::register_conditional_default(signal, idle).is_ok() {
        let number = usize::try_from(signal).unwrap_or_default();
        let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signals.asked), number);
    }
}

/// Whether the end of the terminal is to end this program: nobody had it ignored. Where the system does not tell,
/// nothing is done about it.
#[cfg(unix)]
fn may_hang_up() -> bool {
    ignores(SIGHUP) == Some(false)
}

/// Whether this process ignores `signal`, if the system tells.
#[cfg(unix)]
fn ignores(signal: i32) -> Option<bool> {
    let status = crate::fs::read_text(Path::new("/proc/self/status"), MAX_STATUS).ok().flatten()?;
    is_ignored(signal, &status)
}

/// Whether a process with this `status` ignores `signal`, if that can be told.
#[cfg(unix)]
fn is_ignored(signal: i32, status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> u32::try_from(signal).ok()?.checked_sub(1)? & 1 == 1)
}

/// Takes the action of a signal that came while another program ran, or waits for whoever does.
pub(super) fn reraise() {
    crate::interrupt::halt();
    #[cfg(unix)]
    if let Ok(signal @ 1..) = i32::try_from(crate::interrupt::signals().asked.load(Ordering::SeqCst)) {
        // It does not return, as none of them is ignored.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_told_by_a_bit() {
        let status = |mask: &str| format!("Name:\tx\nSigBlk:\tffff\nSigIgn:\t{mask}\nSigCgt:\t0\n");
        let ignored = |mask: &str| is_ignored(SIGHUP, &status(mask));
        assert_eq!(ignored("0000000000000001"), Some(true), "as under `nohup`");
        assert_eq!(ignored("0000000000001000"), Some(false));
        assert_eq!(is_ignored(SIGTERM, &status("0000000000004000")), Some(true));
        assert_eq!((ignored("x"), is_ignored(SIGHUP, "Name:\tx\n")), (None, None));
    }
}
