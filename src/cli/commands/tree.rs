//! `tree`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::tree::{TreeRequest, tree};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("tree",
    "skillpm tree                          all skills, and the skills that they need"
    "skillpm tree pdf --agents             one of them, and who sees it"
    "skillpm tree office-base --invert     which skills need it"
);

// Arguments of `tree`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TreeArgs {
    /// show this skill only [default: all]
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// the other way round: show which skills need it
    #[arg(long)]
    invert: bool,

    /// show which agents have a link or a copy of their own
    #[arg(long)]
    agents: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print all skills as a JSON array, each with what it needs and who needs it
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &TreeArgs) -> Result<u8> {
    let request = TreeRequest { name: args.name.clone(), scope: scope(&args.scope), invert: args.invert };
    let outcome = tree(&app.context, &request)?;
    if args.json {
        render::tree::json(&app.printer, &outcome);
    } else {
        render::tree::show(&app.printer, &outcome, args.agents);
    }
    Ok(exit::SUCCESS)
}
