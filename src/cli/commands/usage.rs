//! `usage`.

use std::path::PathBuf;

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::usage::{UsageRequest, usage};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("usage",
    "skillpm usage                        what was used, and what never"
    "skillpm usage --since 30d --in .     here, in the last 30 days"
    "skillpm usage --agent codex -v       of one agent, with the directories"
    "skillpm usage --json                 for programs"
);

// Arguments of `usage`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UsageArgs {
    /// only sessions of this agent: `claude-code`, `codex`, `gemini-cli` or `opencode`; can be repeated
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,

    /// only sessions in this directory or below
    #[arg(long = "in", value_name = "DIR")]
    within: Option<PathBuf>,

    /// only what happened since: a date such as 2026-11-01, or how long ago, such as 30d, 12h or 2w
    #[arg(long, value_name = "DATE")]
    since: Option<String>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &UsageArgs) -> Result<u8> {
    let request = UsageRequest {
        agents: args.agents.clone(),
        project: args.within.clone(),
        since: args.since.clone(),
        scope: scope(&args.scope),
    };
    let outcome = usage(&app.context, &request)?;
    if args.json {
        render::usage::json(&app.printer, &outcome);
    } else {
        render::usage::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
