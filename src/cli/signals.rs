//! Ctrl-C and the like, while another program runs for us.
//!
//! A signal ends skillpm at once, as if nothing were done about signals, unless `git` or a script runs:
//! those are in process groups of their own, which the terminal does not reach, so they are ended
//! first.

#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::Ordering;

#[cfg(unix)]
use signal_hook::consts::{SIGINT, SIGTERM};

/// Prepares for signals.
pub(super) fn install() {
    #[cfg(unix)]
    // Not SIGHUP: it is ignored under `nohup`, and that must stay so.
    for signal in [SIGINT, SIGTERM] {
        let signals = crate::interrupt::signals();
        // In this order: what takes the default action does not return. Where a handler cannot be set,
        // the default action stays.
        let idle = Arc::clone(&signals.idle);
        if signal_hook::flag::register_conditional_default(signal, idle).is_ok() {
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signals.asked), number);
        }
    }
}

/// Takes the action of a signal that came while another program ran.
pub(super) fn obey() {
    #[cfg(unix)]
    if let Ok(signal @ 1..) = i32::try_from(crate::interrupt::signals().asked.load(Ordering::SeqCst)) {
        // It does not return, as neither of the two is ignored.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}
