//! `search`.

use clap::Args;

use super::install::InstallArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::search::{DEFAULT_LIMIT, SearchRequest, pick, search};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("search",
    "skillpm search pdf forms                  in your registries, and among the skills that you have"
    "skillpm search --registry internal pdf    in one registry"
    "skillpm search --installed tables         among the skills that you have"
    "skillpm search --skills-sh pdf            also on skills.sh, a public site"
);

// Arguments of `search`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SearchArgs {
    /// what the skill should do: words of its name, tags or description
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,

    /// search only the registry of this name
    #[arg(long, value_name = "NAME", conflicts_with = "installed")]
    registry: Option<String>,

    /// search only the skills that are available here
    #[arg(long)]
    installed: bool,

    /// ask skills.sh as well, a public site that sees the words
    #[arg(long, conflicts_with = "installed")]
    skills_sh: bool,

    /// show at most this many skills
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_LIMIT)]
    limit: usize,

    /// print the matches as JSON, and do not ask
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(app: &App, args: &SearchArgs) -> Result<u8> {
    let request = SearchRequest {
        words: args.words.clone(),
        registry: args.registry.clone(),
        installed: args.installed,
        skills_sh: args.skills_sh,
        limit: args.limit,
    };
    let outcome = search(&app.context, &request)?;
    if args.json {
        render::search::json(&app.printer, &outcome);
        return Ok(exit::search(&outcome));
    }
    let picked = pick(&app.context, &outcome).unwrap_or_default();
    if picked.is_empty() {
        render::search::show(&app.printer, &outcome, &args.words.join(" "));
        return Ok(exit::search(&outcome));
    }
    super::install::run(app, &InstallArgs::of(picked))
}
