//! `remove`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::remove::{RemoveRequest, remove};

// Arguments of `remove`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RemoveArgs {
    /// the names of the installed skills
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be removed, do nothing
    #[arg(long)]
    dry_run: bool,

    /// also remove skills that you edited; the edited copy is kept in the store
    #[arg(short, long)]
    force: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &RemoveArgs) -> Result<u8> {
    let request = RemoveRequest {
        names: args.names.clone(),
        scope: scope(&args.scope),
        dry_run: args.dry_run,
        force: args.force,
    };
    let outcome = remove(&app.context, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::remove::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
