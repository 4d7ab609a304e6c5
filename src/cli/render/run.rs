//! `run`: messages next to the output of the script.

use std::time::Duration;

use super::error;
use crate::cli::exit;
use crate::cli::printer::Printer;
use skillpm_core::ops::run::RunOutcome;

pub(crate) fn json(printer: &Printer, outcome: &RunOutcome) {
    printer.json(outcome);
}

pub(crate) fn show(printer: &Printer, outcome: &RunOutcome, timeout: Duration) {
    let ran = &outcome.ran;
    for (captured, what) in [(&ran.stdout, "output"), (&ran.stderr, "error")] {
        if captured.is_cut() {
            let (kept, total) = (captured.bytes.len(), captured.total);
            printer.warning(&format!("standard {what} was cut: {kept} of {total} bytes were shown"));
            printer.hint(&outcome.output_hint());
        }
    }
    match ran.leftovers {
        0 => {}
        1 => printer.warning("a process that the script left behind was killed"),
        count => printer.warning(&format!("{count} processes that the script left behind were killed")),
    }
    if let Some(closed) = &ran.sandbox.closed {
        printer.warning(&format!("the script had no access to the working directory: {closed}"));
        printer.hint(&outcome.closed_hint());
    }
    if let Some(error) = outcome.failure(timeout.as_secs_f64()) {
        error::ends_with(printer, &error, exit::run(ran));
    }
}
