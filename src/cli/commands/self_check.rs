//! `self`.

use clap::{Args, Subcommand};

use crate::cli::help::after;
use crate::cli::{App, exit, render, version};
use skillpm_core::ops::self_check::{SelfRequest, check};
use skillpm_sources::error::{ErrorKind, Result};

pub(super) const EXAMPLES: &str = after!("self",
    "skillpm self check               version, how it was installed, and whether there is a newer one"
    "skillpm self check --offline     the same without a request"
);

// Arguments of `self`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SelfArgs {
    /// The action.
    #[command(subcommand)]
    action: Action,
}

// The actions.
#[derive(Debug, Clone, Subcommand)]
enum Action {
    /// ask GitHub whether there is a newer version
    ///
    /// no other command does that; also shows the version, where the program is and what installed it
    Check {
        /// exit with 1 if there is a newer version
        #[arg(long)]
        exit_code: bool,

        /// print the outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

#[expect(clippy::unnecessary_wraps, reason = "every command returns a result")]
pub(super) fn run(app: &App, args: &SelfArgs) -> Result<u8> {
    let Action::Check { exit_code, json } = args.action;
    let request =
        SelfRequest { version: version::NUMBER, commit: version::commit(), target: version::TARGET };
    let outcome = check(&app.context, &request);
    if json {
        app.printer.json(&outcome);
    } else {
        render::self_check::show(&app.printer, &outcome);
    }
    app.printer.warnings(&outcome.warnings);
    let found = if exit_code && outcome.outdated { exit::FINDINGS } else { exit::SUCCESS };
    Ok(outcome.failed.map_or(found, ErrorKind::exit_code))
}
