//! `list`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::several::{self, or_all};
use crate::cli::{App, exit, render};
use skillpm_core::ops::list::{ListRequest, list};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("list",
    "skillpm list                   all skills, of the project and yours"
    "skillpm list pdf docx          only these two"
    "skillpm list -a claude-code    those that Claude Code sees"
    "skillpm list --json            for programs"
);

// Arguments of `list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// list only these skills [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// list only what this agent sees, such as `claude-code`; can be repeated
    #[arg(short, long = "agent", value_name = "AGENT")]
    agents: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print a JSON array
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &ListArgs) -> Result<u8> {
    let request = ListRequest {
        scope: scope(&args.scope),
        names: or_all(&args.names),
        agents: several::listed(&args.agents),
    };
    let outcome = list(&app.context, &request)?;
    if args.json {
        render::list::json(&app.printer, &outcome);
    } else {
        render::list::show(&app.printer, &outcome, &request.agents);
    }
    // The process is about to end: freeing the texts of thousands of skills one by one is wasted time.
    std::mem::forget(outcome);
    Ok(exit::SUCCESS)
}
