//! Handling of Ctrl-C and other signals.
//!
//! A signal ends skillpm at once, as by default, unless `git` or a script runs: these are in process groups
//! of their own, which the terminal does not reach, so they are ended first.
//!
//! A thread watches commands that change skills in one transaction: a change in progress is completed,
//! prepared files are cleared away, and the user is told which of the two happened.

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

use skillpm_sources::interrupt::Outcome;

/// The maximum size of the system's report about this process, in bytes.
#[cfg(unix)]
const MAX_STATUS: u64 = 1 << 16;

/// Installs the signal handling.
pub(super) fn install() {
    #[cfg(unix)]
    [SIGINT, SIGTERM].into_iter().for_each(register);
}

/// Installs the signal handling of a command that changes skills in one transaction, and handles the end of
/// the terminal if it may start programs. `say` gets the outcome before this process ends.
pub(super) fn watch(may_start_others: bool, say: impl FnOnce(&Outcome) + Send + 'static) {
    #[cfg(unix)]
    {
        let hang_up = (may_start_others && may_hang_up()).then_some(SIGHUP);
        let numbers: Vec<_> = [SIGINT, SIGTERM].into_iter().chain(hang_up).collect();
        // Without a thread, a signal acts at once.
        if watch_for(&numbers, say).is_err() {
            numbers.into_iter().for_each(register);
        }
    }
    #[cfg(not(unix))]
    let _ = (may_start_others, say);
}

#[cfg(unix)]
fn watch_for(numbers: &[i32], say: impl FnOnce(&Outcome) + Send + 'static) -> std::io::Result<()> {
    let known = skillpm_sources::interrupt::signals();
    // The signal is recorded before this thread wakes: nothing new begins meanwhile.
    for signal in numbers {
        let number = usize::try_from(*signal).unwrap_or_default();
        signal_hook::flag::register_usize(*signal, Arc::clone(&known.asked), number)?;
    }
    let mut signals = Signals::new(numbers)?;
    // A signal that was recorded before `signals` could see it would never wake the thread. Nothing has begun yet.
    reraise();
    let wait = move || {
        let Some(signal) = signals.forever().next() else { return };
        let end = |signal| signal_hook::low_level::emulate_default_handler(signal);
        // A second signal means that the user does not want to wait.
        let outcome = skillpm_sources::interrupt::end(|| {
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

/// Handles the end of the terminal as well: for commands that may start another program.
pub(super) fn install_hang_up() {
    // The end of the terminal ends nothing under `nohup`, and that must stay so.
    #[cfg(unix)]
    if may_hang_up() {
        register(SIGHUP);
    }
}

/// Handles `SIGCHLD` if the parent of this program ignores it: otherwise the system would discard the exit
/// status of a script before it is read, and child processes would inherit that.
pub(super) fn ignore_sigchld() {
    #[cfg(unix)]
    if ignores(SIGCHLD) != Some(false) {
        // The handler does nothing; its existence makes the difference, and child processes start with the
        // default.
        let _ = signal_hook::flag::register(SIGCHLD, Arc::default());
    }
}

#[cfg(unix)]
fn register(signal: i32) {
    let signals = skillpm_sources::interrupt::signals();
    // In this order, because the default action does not return. If a handler cannot be installed, the
    // default action stays.
    let idle = Arc::clone(&signals.idle);
    if signal_hook::flag::register_conditional_default(signal, idle).is_ok() {
        let number = usize::try_from(signal).unwrap_or_default();
        let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signals.asked), number);
    }
}

/// Reports whether the end of the terminal should end this program: the signal is not ignored. Returns
/// `false` if the system does not report that.
#[cfg(unix)]
fn may_hang_up() -> bool {
    ignores(SIGHUP) == Some(false)
}

/// Returns whether this process ignores `signal`, if the system reports it.
#[cfg(unix)]
fn ignores(signal: i32) -> Option<bool> {
    let status = skillpm_sources::fs::read_text(Path::new("/proc/self/status"), MAX_STATUS).ok().flatten()?;
    is_ignored(signal, &status)
}

/// Returns whether a process with this `status` ignores `signal`, if it can be determined.
#[cfg(unix)]
fn is_ignored(signal: i32, status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> u32::try_from(signal).ok()?.checked_sub(1)? & 1 == 1)
}

/// Takes the action of a signal that arrived while another program ran, or waits for the thread that does.
pub(super) fn reraise() {
    skillpm_sources::interrupt::halt();
    #[cfg(unix)]
    if let Ok(signal @ 1..) =
        i32::try_from(skillpm_sources::interrupt::signals().asked.load(Ordering::SeqCst))
    {
        // This does not return, as none of the signals is ignored.
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
