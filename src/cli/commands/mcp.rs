//! `mcp`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use skillpm_mcp::{Offer, Selection, serve_stdio};

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit};
use crate::error::{Error, Result};
use crate::ops::places::{Opened, Places};
use crate::policy::{Freshness, Policy};

pub(super) const EXAMPLES: &str = after!("mcp",
    "skillpm mcp                                what a client starts: all skills, on standard input and output"
    "skillpm mcp --skill pdf --skill review     only two of them"
    "skillpm mcp --scope user --tag office      the user's skills with a tag"
);

// Arguments of `mcp`.
#[derive(Debug, Clone, Args)]
pub(crate) struct McpArgs {
    /// only this skill; repeat it for more
    #[arg(long, value_name = "NAME")]
    skill: Vec<String>,

    /// only skills with this tag; repeat it for more tags
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// only skills that this agent sees
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// more directories of skills, after the others
    #[arg(long, value_name = "DIR")]
    dir: Vec<PathBuf>,

    /// also the skills of a project that you did not trust with `skillpm trust`
    #[arg(long)]
    untrusted: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,
}

pub(super) fn run(app: &App, args: &McpArgs) -> Result<u8> {
    let places = Places {
        scope: scope(&args.scope),
        agent: args.agent.clone(),
        dirs: args.dir.clone(),
        alone: false,
        only_trusted: !args.untrusted,
    };
    let policy = Policy { freshness: Freshness::Stat, ..Policy::DEFAULT };
    let Opened { session, warnings, .. } = places.open(&app.context, policy)?;
    app.printer.warnings(&warnings);
    let printer = Arc::clone(&app.printer);
    let selection = Selection { names: args.skill.clone(), tags: args.tag.clone() };
    let offer =
        Offer::new(session, selection, move |warning| printer.warnings(std::slice::from_ref(warning)));
    serve_stdio(offer).map_err(|error| Error::config(error.to_string()))?;
    Ok(exit::SUCCESS)
}
