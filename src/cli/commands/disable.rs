//! `disable` and `enable`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::disable::{DisableOutcome, DisableRequest, disable, enable};
use skillpm_core::ops::remove::ALL;
use skillpm_sources::error::Result;

pub(super) const ENABLE_EXAMPLES: &str = after!("enable",
    "skillpm enable pdf               as it was, edits included"
    "skillpm enable pdf --dry-run     what would be done"
);

pub(super) const EXAMPLES: &str = after!("disable",
    "skillpm disable pdf          hide it from all agents of the project"
    "skillpm disable pdf -g       the same for your own skills"
    "skillpm disable '*'          all skills of the project"
);

// Arguments of `disable` and `enable`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct DisableArgs {
    /// the names of the installed skills; `'*'` is all of them
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,

    /// all skills of the scope
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// replace what is in the way, such as copies that you edited
    ///
    /// the store keeps it
    #[arg(short, long)]
    force: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &DisableArgs) -> Result<u8> {
    show(app, args, &disable(&app.context, &request(args))?, true);
    Ok(exit::SUCCESS)
}

/// Runs `enable`.
pub(super) fn undo(app: &App, args: &DisableArgs) -> Result<u8> {
    show(app, args, &enable(&app.context, &request(args))?, false);
    Ok(exit::SUCCESS)
}

fn request(args: &DisableArgs) -> DisableRequest {
    DisableRequest {
        names: if args.all { vec![ALL.to_owned()] } else { args.names.clone() },
        scope: scope(&args.scope),
        dry_run: args.dry_run,
        force: args.force,
    }
}

fn show(app: &App, args: &DisableArgs, outcome: &DisableOutcome, disabled: bool) {
    if args.json {
        render::disable::json(&app.printer, outcome);
    } else {
        render::disable::show(&app.printer, outcome, disabled);
    }
}
