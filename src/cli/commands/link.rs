//! `link` and `unlink`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::several::{self, or_all};
use crate::cli::{App, exit, render};
use skillpm_core::ops::link::{LinkOutcome, LinkRequest, link, unlink};
use skillpm_sources::error::Result;

pub(super) const UNLINK_EXAMPLES: &str = after!("unlink",
    "skillpm unlink --agent cursor          all skills of the project"
    "skillpm unlink --agent junie pdf       only this one"
);

pub(super) const EXAMPLES: &str = after!("link",
    "skillpm link --agent cursor              all skills of the project, and those to come"
    "skillpm link --agent junie pdf docx      only these two"
    "skillpm link --agent '*' --dry-run       what would be linked for the agents on this machine"
);

// Arguments of `link` and `unlink`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LinkArgs {
    /// the names of the installed skills [default: all of the scope]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// the agent, such as `cursor`; can be repeated
    ///
    /// `*` means all agents on this machine, and for `unlink` all that have links
    #[arg(short, long = "agent", value_name = "AGENT", required = true)]
    agents: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// replace what is in the way, such as copies that you edited; the store keeps it
    #[arg(short, long)]
    force: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &LinkArgs) -> Result<u8> {
    show(app, args, &link(&app.context, &request(args))?, true);
    Ok(exit::SUCCESS)
}

/// Runs `unlink`.
pub(super) fn undo(app: &App, args: &LinkArgs) -> Result<u8> {
    show(app, args, &unlink(&app.context, &request(args))?, false);
    Ok(exit::SUCCESS)
}

fn request(args: &LinkArgs) -> LinkRequest {
    LinkRequest {
        agents: several::listed(&args.agents),
        names: or_all(&args.names),
        scope: scope(&args.scope),
        dry_run: args.dry_run,
        force: args.force,
    }
}

fn show(app: &App, args: &LinkArgs, outcome: &LinkOutcome, linked: bool) {
    if args.json {
        render::link::json(&app.printer, outcome);
    } else {
        render::link::show(&app.printer, outcome, linked, !or_all(&args.names).is_empty());
    }
}
