//! `outdated`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::several::or_all;
use crate::cli::{App, exit, render};
use skillpm_core::ops::outdated::{OutdatedRequest, outdated};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("outdated",
    "skillpm outdated                     what is newer in the sources of all skills"
    "skillpm outdated pdf --json          one skill, for programs"
    "skillpm outdated -p --exit-code      on a build machine: fail if the project has outdated skills"
);

// Arguments of `outdated`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutdatedArgs {
    /// ask about these skills only [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// end with exit code 1 if a skill is outdated
    #[arg(long)]
    exit_code: bool,

    /// print all skills as a JSON array
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &OutdatedArgs) -> Result<u8> {
    let request = OutdatedRequest { names: or_all(&args.names), scope: scope(&args.scope) };
    let outcome = outdated(&app.context, &request)?;
    if args.json {
        render::outdated::json(&app.printer, &outcome);
    } else {
        render::outdated::show(&app.printer, &outcome, !request.names.is_empty());
    }
    Ok(exit::outdated(&outcome, args.exit_code))
}
