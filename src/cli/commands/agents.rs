//! `agents`.

use clap::{Args, Subcommand};

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::usage::action_of;
use crate::cli::{App, exit, render};
use skillpm_core::agents::find;
use skillpm_core::ops::agents::{AgentsRequest, agents, check};
use skillpm_core::ops::link::{UseAgentsRequest, use_agents};
use skillpm_format::advice::Verb;
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("agents",
    "skillpm agents                     the agents on this machine"
    "skillpm agents claude-code         what its model sees of your skills"
    "skillpm agents codex --listing     the listing as its model gets it"
    "skillpm agents use codex cursor    remember that you use these, in all your projects"
);

// Arguments of `agents`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "ACTION")]
pub(crate) struct AgentsArgs {
    /// The action, if it is not to show agents.
    #[command(subcommand)]
    action: Option<Action>,

    /// show all of this agent, such as `claude-code`; can be repeated [default: the agents in use]
    #[arg(value_name = "AGENT")]
    names: Vec<String>,

    /// show every agent that skillpm knows
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// the window of its model, such as 200k or 1m [default: that of its settings or its usual model]
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    #[arg(hide_short_help = true)]
    window: Option<u64>,

    /// print the listing of skills as the agent's model gets it
    #[arg(long, requires = "names", conflicts_with = "json")]
    listing: bool,

    /// compare with what the newest session of Claude Code in this directory records
    #[arg(long, requires = "names", conflicts_with = "listing")]
    #[arg(hide_short_help = true)]
    check: bool,

    /// tell which listed skills are used least
    ///
    /// from the agent's sessions on this machine
    #[arg(long, requires = "names", conflicts_with_all = ["listing", "check"])]
    usage: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// print a JSON array
    #[arg(long)]
    json: bool,
}

// The actions.
#[derive(Debug, Clone, Subcommand)]
enum Action {
    /// say which agents you use, for you alone: installed skills are linked for them, here and in each project that
    /// you install
    Use {
        /// all agents that you use, such as `claude-code cursor`; `'*'` means those that are found on the machine
        #[arg(value_name = "AGENT", required_unless_present = "forget", value_delimiter = ',')]
        names: Vec<String>,

        /// forget what you said: the agents that are found on the machine count
        #[arg(long, conflicts_with = "names")]
        forget: bool,

        /// show what would change, do nothing
        #[arg(long)]
        dry_run: bool,

        /// print the outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(app: &App, args: &AgentsArgs) -> Result<u8> {
    if let Some(Action::Use { names, forget, dry_run, json }) = &args.action {
        let request = UseAgentsRequest { agents: (!forget).then(|| names.clone()), dry_run: *dry_run };
        let outcome = use_agents(&app.context, &request)?;
        if *json {
            app.printer.warnings(&outcome.warnings);
            app.printer.json(&outcome);
        } else {
            render::agents::used(&app.printer, &outcome);
        }
        return Ok(exit::SUCCESS);
    }
    // A name of an agent stands where other commands have an action.
    if let Some(word) = args.names.first()
        && let Err(error) = find(word)
        && let Some(hint) = action_of(Verb::Agents, word)
    {
        return Err(Error::usage(error.to_string()).hint(hint));
    }
    if args.check {
        let outcome = check(&app.context, &args.names, args.window)?;
        if args.json {
            app.printer.json(&outcome);
        } else {
            render::agents::check(&app.printer, &outcome);
        }
        return Ok(if outcome.agrees() { exit::SUCCESS } else { exit::FINDINGS });
    }
    let request = AgentsRequest {
        names: args.names.clone(),
        all: args.all,
        scope: scope(&args.scope),
        window: args.window,
        usage: args.usage,
    };
    let outcome = agents(&app.context, &request)?;
    if args.listing {
        app.printer.warnings(&outcome.warnings);
        app.printer.content(outcome.text()?);
    } else if args.json {
        render::agents::json(&app.printer, &outcome);
    } else if args.names.is_empty() && !app.printer.look().verbose {
        render::agents::table(&app.printer, &outcome);
    } else {
        render::agents::full(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}

/// Parses a number of tokens: `200k` are 200,000, and `1m` a million.
pub(super) fn tokens(text: &str) -> std::result::Result<u64, &'static str> {
    let lower = text.trim().to_ascii_lowercase().replace('_', "");
    let (digits, unit) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (lower.as_str(), 1),
    };
    let tokens =
        digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit)).filter(|count| *count > 0);
    tokens.ok_or("it is a number of tokens, such as `200000`, `200k` or `1m`")
}
