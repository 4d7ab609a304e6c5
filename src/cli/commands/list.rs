//! `list`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::list::{ListRequest, list};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("list",
    "skillpm list                   all skills, of the project and yours"
    "skillpm list --scope user      only yours"
    "skillpm list --json            for programs"
);

// Arguments of `list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print a JSON array
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &ListArgs) -> Result<u8> {
    let scope = scope(&args.scope);
    let outcome = list(&app.context, &ListRequest { scope })?;
    if args.json {
        render::list::json(&app.printer, &outcome);
    } else {
        render::list::show(&app.printer, &outcome);
    }
    // The process is about to end: freeing the texts of thousands of skills one by one is wasted time.
    std::mem::forget(outcome);
    Ok(exit::SUCCESS)
}
