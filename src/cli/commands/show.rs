//! `show`.

use clap::Args;

use super::scope;
use crate::cli::args::{LoadingArgs, ScopeArgs};
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::show::{ShowRequest, show};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("show",
    "skillpm show pdf            fields, files, source, tokens, what it requires and hides"
    "skillpm show pdf -g         yours, also where the project has one of its name"
    "skillpm show pdf --json     for programs"
);

// Arguments of `show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    /// the skill's name, `source:name` for one that is hidden by another, or `./directory` of one that is not installed
    #[arg(value_name = "NAME")]
    name: String,

    /// Which skills, and how they are loaded.
    #[command(flatten)]
    loading: LoadingArgs,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &ShowArgs) -> Result<u8> {
    let request = ShowRequest {
        name: args.name.clone(),
        scope: scope(&args.scope),
        profile: args.loading.profile(),
        dirs: args.loading.dir.clone(),
    };
    let outcome = show(&app.context, &request)?;
    if args.json {
        render::show::json(&app.printer, &outcome);
    } else {
        render::show::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
