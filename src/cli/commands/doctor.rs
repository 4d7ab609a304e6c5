//! `doctor`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::doctor::{DoctorRequest, doctor};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("doctor",
    "skillpm doctor                     look at the project, at your skills and at the store"
    "skillpm doctor --fix --dry-run     what would be repaired"
    "skillpm doctor --fix               repair it; nothing that you wrote is removed"
);

// Arguments of `doctor`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    /// repair what can be repaired without losing anything
    #[arg(long)]
    fix: bool,

    /// show what `--fix` would repair, do nothing
    #[arg(long, requires = "fix")]
    dry_run: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &DoctorArgs) -> Result<u8> {
    let request = DoctorRequest { scope: scope(&args.scope), fix: args.fix, dry_run: args.dry_run };
    let outcome = doctor(&app.context, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::doctor::show(&app.printer, &outcome, args.fix);
    }
    Ok(if outcome.wrong().next().is_some() { exit::FINDINGS } else { exit::SUCCESS })
}
