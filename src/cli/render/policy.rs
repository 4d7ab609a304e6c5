//! `policy`: the lines in force, and their decisions about sources.

use super::one_line;
use crate::cli::printer::Printer;
use skillpm_core::ops::policy::{PolicyDecision, PolicyOutcome};
use skillpm_format::admission::Permission;

pub(crate) fn json(printer: &Printer, outcome: &PolicyOutcome) {
    printer.json(outcome);
}

pub(crate) fn show(printer: &Printer, outcome: &PolicyOutcome) {
    if outcome.sources.is_empty() {
        for line in &outcome.lines {
            printer.data(&one_line(&line.to_string()));
        }
        if outcome.lines.is_empty() {
            printer.note("no policy restricts what may be installed or run here");
            printer.hints(&outcome.hints());
        }
        return;
    }
    for ruling in &outcome.sources {
        let verdict = if ruling.admitted { "admitted" } else { "refused" };
        printer.data(&format!("{verdict} {}", one_line(&ruling.source)));
        for decided in &ruling.decisions {
            printer.data(&format!("  {}", because(decided)));
        }
        for pending in &ruling.when_installed {
            printer.data(&format!("  {}", one_line(&format!("{}: {}", pending.reason, pending.line))));
        }
        let because = ruling.scripts.because();
        if because.line.is_some() {
            let answer = match ruling.scripts {
                Permission::Allowed(_) => "its scripts may run",
                Permission::Ask(_) => "its scripts may run if a person agrees",
                Permission::Denied(_) => "its scripts may not run",
            };
            printer.data(&format!("  {}", one_line(&format!("{answer}: {because}"))));
        }
        if let Some(line) = &ruling.unix_sockets {
            let told = format!("its scripts may use unix sockets: {line} says so");
            printer.data(&format!("  {}", one_line(&told)));
        }
        if ruling.decisions.is_empty()
            && ruling.when_installed.is_empty()
            && because.line.is_none()
            && ruling.unix_sockets.is_none()
        {
            printer.data("  no line applies");
        }
    }
}

/// Prints the decisions about the sources of an installation.
pub(crate) fn explain(printer: &Printer, decided: &[PolicyDecision]) {
    for decided in decided {
        printer.note(&format!("`{}` {}", one_line(&decided.subject), because(decided)));
    }
    if decided.is_empty() {
        printer.note("no policy applies to what was installed");
    }
}

fn because(decided: &PolicyDecision) -> String {
    one_line(&format!("{}: {}", decided.decision.reason, decided.decision.line))
}
