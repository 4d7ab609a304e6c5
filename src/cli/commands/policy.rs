//! `policy`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::policy::{PolicyRequest, policy};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("policy",
    "skillpm policy                        all lines in force, the machine's before the manifest's"
    "skillpm policy acme/skills npm:x      what they say of two sources; exit code 5 if one is refused"
    "skillpm install acme/skills --explain  which line let it in"
);

// Arguments of `policy`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyArgs {
    /// sources to ask about, as after `skillpm install` [default: show all lines in force]
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,

    /// Where.
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(app: &App, args: &PolicyArgs) -> Result<u8> {
    let request = PolicyRequest { sources: args.sources.clone(), scope: scope(&args.scope) };
    let outcome = policy(&app.context, &request)?;
    if args.json {
        render::policy::json(&app.printer, &outcome);
    } else {
        render::policy::show(&app.printer, &outcome);
    }
    let admitted = outcome.sources.iter().all(|ruling| ruling.admitted);
    Ok(if admitted { exit::SUCCESS } else { exit::INTEGRITY })
}
