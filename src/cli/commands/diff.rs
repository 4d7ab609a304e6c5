//! `diff`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::several::or_all;
use crate::cli::{App, exit, render};
use skillpm_core::ops::diff::{Compared, DiffRequest, diff};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("diff",
    "skillpm diff                    what you edited, in all skills"
    "skillpm diff pdf --newest       what `skillpm update pdf` would bring, new capabilities first"
    "skillpm diff --newest --stat    the same of all skills, without the lines"
);

// Arguments of `diff`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct DiffArgs {
    /// compare these skills only [default: all that differ]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// compare what is locked with what its source has now: what `skillpm update` would bring
    #[arg(long)]
    newest: bool,

    /// compare what is locked with the highest tag or the newest commit past the one in the manifest
    #[arg(long, conflicts_with = "newest")]
    latest: bool,

    /// show how much each file changed, without its lines
    #[arg(long)]
    stat: bool,

    /// show only the names of files that differ
    #[arg(long, conflicts_with = "stat")]
    name_only: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// end with exit code 1 if something differs
    #[arg(long)]
    exit_code: bool,

    /// print the skills that differ as a JSON array
    #[arg(long, conflicts_with_all = ["stat", "name_only"])]
    json: bool,
}

pub(super) fn run(app: &App, args: &DiffArgs) -> Result<u8> {
    let compared = match (args.newest, args.latest) {
        (true, _) => Compared::Newest,
        (_, true) => Compared::Latest,
        _ => Compared::Installed,
    };
    let request = DiffRequest { names: or_all(&args.names), scope: scope(&args.scope), compared };
    let outcome = diff(&app.context, &request)?;
    if args.json {
        render::versions::json(&app.printer, &outcome);
    } else if args.name_only {
        render::versions::names(&app.printer, &outcome);
    } else {
        render::versions::show(&app.printer, &outcome, compared, args.stat);
    }
    Ok(exit::diff(&outcome, args.exit_code))
}
