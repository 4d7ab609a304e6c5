//! `agents`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::agents::{AgentsRequest, agents};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("agents",
    "skillpm agents                     the agents on this machine"
    "skillpm agents claude-code         all that one of them sees"
    "skillpm agents --all --json        the whole table, for programs"
);

// Arguments of `agents`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AgentsArgs {
    /// show all of this agent, such as `claude-code`; can be repeated [default: the agents in use]
    #[arg(value_name = "AGENT")]
    names: Vec<String>,

    /// show every agent that skillpm knows
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print a JSON array
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &AgentsArgs) -> Result<u8> {
    let request = AgentsRequest { names: args.names.clone(), all: args.all, scope: scope(&args.scope) };
    let outcome = agents(&app.context, &request)?;
    if args.json {
        render::agents::json(&app.printer, &outcome);
    } else if args.names.is_empty() && !app.printer.look().verbose {
        render::agents::table(&app.printer, &outcome);
    } else {
        render::agents::full(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
