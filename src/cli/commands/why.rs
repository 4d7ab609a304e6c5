//! `why`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::why::{WhyRequest, why};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("why",
    "skillpm why pdf            why it is here, where it came from, who sees it"
    "skillpm why pdf --json     for programs"
);

// Arguments of `why`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhyArgs {
    /// the name of the installed skill
    #[arg(value_name = "NAME")]
    name: String,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &WhyArgs) -> Result<u8> {
    let outcome = why(&app.context, &WhyRequest { name: args.name.clone(), scope: scope(&args.scope) })?;
    if args.json {
        render::why::json(&app.printer, &outcome);
    } else {
        render::why::show(&app.printer, &outcome);
    }
    Ok(if outcome.installed.is_empty() { exit::FINDINGS } else { exit::SUCCESS })
}
