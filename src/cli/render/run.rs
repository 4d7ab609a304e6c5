//! `run`: messages next to the output of the script.

use std::time::Duration;

use super::error;
use crate::advice::{Opt, message};
use crate::cli::printer::Printer;
use crate::engine::run::{Ended, Exit, UNHEARD};
use crate::error::{Error, ErrorKind};
use crate::ops::run::RunOutcome;

pub(crate) fn json(printer: &Printer, outcome: &RunOutcome) {
    printer.json(outcome);
}

pub(crate) fn show(printer: &Printer, outcome: &RunOutcome, timeout: Duration) {
    let ran = &outcome.ran;
    for (captured, what) in [(&ran.stdout, "output"), (&ran.stderr, "error")] {
        if captured.is_cut() {
            let (kept, total) = (captured.bytes.len(), captured.total);
            printer.warning(&format!("standard {what} was cut: {kept} of {total} bytes were shown"));
            printer.hint("`--max-output` shows more");
        }
    }
    match ran.leftovers {
        0 => {}
        1 => printer.warning("a process that the script left behind was killed"),
        count => printer.warning(&format!("{count} processes that the script left behind were killed")),
    }
    if let Some(closed) = &ran.sandbox.closed {
        printer.warning(&format!("the script had no access to the working directory: {closed}"));
        printer.hint("run it in a directory of the project, or open one with `--write`");
    }
    let name = format!("`{}` of `{}`", ran.script, ran.skill);
    let failed = |kind, what: &str| Error::new(kind, format!("{name} {what}"));
    let error = match (ran.ended, ran.exit) {
        (Some(Ended::Timeout), _) => {
            let seconds = timeout.as_secs_f64();
            failed(ErrorKind::Findings, &format!("was killed: it ran for more than {seconds} s"))
                .hint(message!(Opt::Timeout, " gives it more time"))
        }
        (Some(Ended::Processes), _) => failed(ErrorKind::Findings, "was killed: it had too many processes")
            .hint(message!(Opt::Processes, " allows more")),
        (Some(Ended::Stopped), _) => failed(ErrorKind::Findings, "was stopped"),
        (None, Exit::Signal(signal)) => {
            failed(ErrorKind::Findings, &format!("was killed by signal {signal}"))
        }
        (None, Exit::Unknown) => failed(ErrorKind::Io, "ran, but its exit status is unknown")
            .because(UNHEARD)
            .hint("start `skillpm` from a program that does not wait for its children"),
        // The exit code is the script's own, and the script has said why.
        (None, Exit::Code(_)) => return,
    };
    error::show(printer, &error);
}
