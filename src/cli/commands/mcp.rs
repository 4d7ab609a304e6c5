//! `mcp`.

mod clients;

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use skillpm_mcp::{Offer, serve_http, serve_stdio};

use super::run::seconds;
use super::scope;
use crate::cli::args::{InterpreterArgs, LoadingArgs, ScopeArgs};
use crate::cli::help::after;
use crate::cli::printer::terminals;
use crate::cli::{App, exit};
use skillpm_core::engine::run::check_interpreters;
use skillpm_core::hints;
use skillpm_core::ops::run::RunRequest;
use skillpm_core::session::places::{OpenedPlaces, Places};
use skillpm_core::toolkit::Selection;
use skillpm_format::admission::Scripts;
use skillpm_format::advice::CommandLine;
use skillpm_format::profile::{Freshness, LoadProfile};
use skillpm_sources::env;
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("mcp",
    "skillpm mcp                                what a client starts: all skills, over stdio"
    "skillpm mcp --skill pdf --skill review     only two of them"
    "skillpm mcp --scope user --tag office      the user's skills with a tag"
    "skillpm mcp install --client cursor        set up a client, so that it starts the server"
);

/// How long a search counts: a client asks for many pages in a row.
const FRESH: Duration = Duration::from_secs(1);

// Arguments of `mcp`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    /// The action, instead of serving.
    #[command(subcommand)]
    action: Option<clients::Action>,

    /// The skills to serve, and how.
    #[command(flatten)]
    serve: ServeArgs,
}

impl McpArgs {
    /// Reports whether a flag says not to ask questions.
    pub(super) fn asks_nothing(&self) -> bool {
        self.action.as_ref().is_some_and(clients::Action::asks_nothing)
    }
}

// Flags of the server.
#[derive(Debug, Clone, Args)]
struct ServeArgs {
    /// serve over HTTP on this port of this machine instead
    ///
    /// to clients that send the token that is printed; `0` for any
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,

    /// only this skill; repeat it for more
    #[arg(long, value_name = "NAME")]
    skill: Vec<String>,

    /// only skills with this tag; repeat it for more tags
    #[arg(long, value_name = "TAG")]
    #[arg(hide_short_help = true)]
    tag: Vec<String>,

    /// only skills that this agent sees
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// Which skills, and how they are loaded.
    #[command(flatten)]
    loading: LoadingArgs,

    /// offer no tools: only the skills extension, resources and prompts
    #[arg(long)]
    #[arg(hide_short_help = true)]
    no_tools: bool,

    /// whether scripts run if no policy decides
    ///
    /// `deny`, `ask` (the user, by the client) or `allow`
    #[arg(long, value_name = "DECISION", value_enum, default_value = "deny")]
    #[arg(help_heading = "Scripts")]
    scripts: ScriptsArg,

    /// cut scripts off from the network and all sockets
    #[arg(long)]
    #[arg(help_heading = "Scripts", hide_short_help = true)]
    no_network: bool,

    /// how many seconds a script may take [default: what its skill says, or 30]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(help_heading = "Scripts", hide_short_help = true)]
    timeout: Option<Duration>,

    /// Which programs run scripts.
    #[command(flatten)]
    interpreters: InterpreterArgs,

    /// also the skills of a project that you did not trust with `skillpm trust`
    #[arg(long)]
    #[arg(hide_short_help = true)]
    untrusted: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,
}

/// Whether scripts run.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ScriptsArg {
    Deny,
    Ask,
    Allow,
}

impl From<ScriptsArg> for Scripts {
    fn from(scripts: ScriptsArg) -> Self {
        match scripts {
            ScriptsArg::Deny => Self::Deny,
            ScriptsArg::Ask => Self::Ask,
            ScriptsArg::Allow => Self::Allow,
        }
    }
}

pub(super) fn run(app: &App, args: &McpArgs) -> Result<u8> {
    match &args.action {
        Some(action) => clients::run(app, action),
        None => serve(app, &args.serve),
    }
}

fn serve(app: &App, args: &ServeArgs) -> Result<u8> {
    let interpreters = args.interpreters.chosen()?;
    // The user is told now, not a model later.
    check_interpreters(&app.context.settings, &interpreters)?;
    let places = Places {
        scope: scope(&args.scope),
        agent: args.agent.clone(),
        dirs: args.loading.dir.clone(),
        alone: false,
        only_trusted: !args.untrusted,
    };
    let profile = LoadProfile { freshness: Freshness::Ttl(FRESH), ..args.loading.profile.clone() };
    let OpenedPlaces { session, warnings, .. } = places.open(&app.context, profile)?;
    app.printer.warnings(&warnings);
    let printer = Arc::clone(&app.printer);
    let mut run = RunRequest { default_decision: args.scripts.into(), ..RunRequest::new("", "") };
    run.options.no_network = args.no_network;
    run.options.interpreters = interpreters;
    let selection = Selection {
        names: args.skill.clone(),
        tags: args.tag.clone(),
        no_tools: args.no_tools,
        scripts: run.default_decision != Scripts::Deny,
        run,
        timeout: args.timeout,
        ..Selection::default()
    };
    let warn = move |warning: &_| printer.warnings(std::slice::from_ref(warning));
    let offer = Offer::new(session, selection, &CommandLine, warn);
    let served = match args.http {
        None => {
            if terminals().0 {
                app.printer
                    .note("waiting for a client: it starts this command and speaks with it; Ctrl-C ends it");
                app.printer.hint(&hints::set_up_client());
            }
            serve_stdio(offer)
        }
        Some(port) => {
            // A client that starts this has its configuration before the token is known, unless it sets one.
            let given = app.context.settings.env.get(env::SKILLPM_MCP_TOKEN);
            let told = given.is_some();
            serve_http(offer, port, given.map(str::to_owned), |address, token| {
                app.printer.data(&format!("listening at {address}"));
                if !told {
                    app.printer.data(&format!("Authorization: Bearer {token}"));
                }
            })
        }
    };
    served.map_err(|error| Error::config(error.to_string()))?;
    Ok(exit::SUCCESS)
}
