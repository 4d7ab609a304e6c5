//! `trust` and `untrust`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::trust::{TrustOutcome, TrustRequest, UntrustRequest, trust, untrust};
use skillpm_sources::error::Result;

pub(super) const UNTRUST_EXAMPLES: &str = after!("untrust",
    "skillpm untrust ~/work/my-skills     its unlocked skills may no longer run scripts"
    "skillpm untrust .                    the directory you are in"
);

pub(super) const EXAMPLES: &str = after!("trust",
    "skillpm trust ~/work/my-skills     unlocked skills in and below it may run scripts"
    "skillpm trust                      which directories are trusted"
);

// Arguments of `trust`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrustArgs {
    /// directories to trust, with all below them [default: list them]
    #[arg(value_name = "DIR")]
    directories: Vec<PathBuf>,

    /// trust your home directory or one above it as well
    #[arg(short, long, requires = "directories")]
    force: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

// Arguments of `untrust`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UntrustArgs {
    /// directories to stop trusting
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &TrustArgs) -> Result<u8> {
    let request = TrustRequest { directories: args.directories.clone(), force: args.force };
    let outcome = trust(&app.context, &request)?;
    if args.directories.is_empty() {
        show(app, args.json, &outcome, render::trust::list);
    } else {
        show(app, args.json, &outcome, |printer, outcome| render::trust::changed(printer, outcome, true));
    }
    Ok(exit::SUCCESS)
}

/// Runs `untrust`.
pub(super) fn undo(app: &App, args: &UntrustArgs) -> Result<u8> {
    let outcome = untrust(&app.context, &UntrustRequest { directories: args.directories.clone() })?;
    show(app, args.json, &outcome, |printer, outcome| render::trust::changed(printer, outcome, false));
    Ok(exit::SUCCESS)
}

fn show(
    app: &App,
    json: bool,
    outcome: &TrustOutcome,
    text: impl Fn(&crate::cli::printer::Printer, &TrustOutcome),
) {
    if json {
        app.printer.json(outcome);
    } else {
        text(&app.printer, outcome);
    }
    app.printer.warnings(&outcome.warnings);
}
