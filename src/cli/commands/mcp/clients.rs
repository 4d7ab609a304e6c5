//! `mcp install`, `mcp uninstall` and `mcp status`: the configuration files of clients.

use clap::{Args, Subcommand};

use crate::cli::args::ScopeArg;
use crate::cli::{App, exit, render};
use skillpm_core::hints;
use skillpm_core::ops::mcp::{
    McpInstallRequest, McpStatusRequest, McpUninstallRequest, Planned, all, detected, plan_install,
    plan_uninstall, status,
};
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::env;
use skillpm_sources::error::{Error, ErrorKind, Result};
use skillpm_sources::reporter::Choice;

// The actions.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum Action {
    /// add the server to the configuration of clients
    ///
    /// everything else in their files stays as it is
    Install(InstallArgs),

    /// remove the server from the configuration of clients
    ///
    /// a file that is as `install` left it becomes what it was, byte for byte
    Uninstall(UninstallArgs),

    /// show which clients are set up
    ///
    /// it also says whether the command that they start exists
    Status(StatusArgs),
}

// Arguments of `mcp install`.
#[derive(Debug, Clone, Args)]
pub(super) struct InstallArgs {
    /// client to set up; may be given several times [default: choose from those on this machine]
    #[arg(short, long = "client", value_name = "NAME")]
    clients: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ClientScope,

    /// name of the server in the client [default: skillpm]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// replace another server that has the name, and change a file that is read-only
    #[arg(short, long)]
    force: bool,

    /// Flags of a change.
    #[command(flatten)]
    how: How,

    /// arguments of the server, behind `--`
    ///
    /// the client starts `skillpm mcp` with them, or this program by its path if `skillpm` on `PATH` is not this one
    #[arg(value_name = "ARGS", last = true)]
    arguments: Vec<String>,
}

// Arguments of `mcp uninstall`.
#[derive(Debug, Clone, Args)]
pub(super) struct UninstallArgs {
    /// client to change; may be given several times [default: all that have the server]
    #[arg(short, long = "client", value_name = "NAME")]
    clients: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ClientScope,

    /// name of the server in the client [default: skillpm]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// remove another server that has the name, and change a file that is read-only
    #[arg(short, long)]
    force: bool,

    /// Flags of a change.
    #[command(flatten)]
    how: How,
}

// Arguments of `mcp status`.
#[derive(Debug, Clone, Args)]
pub(super) struct StatusArgs {
    /// client to show; may be given several times [default: those on this machine]
    #[arg(short, long = "client", value_name = "NAME")]
    clients: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ClientScope,

    /// show clients that are not on this machine too
    #[arg(short, long, conflicts_with = "clients")]
    all: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

// The clients and scope whose configuration is meant.
#[derive(Debug, Clone, Default, Args)]
struct ClientScope {
    /// `user`: your own configuration; `project`: that of the project around the working directory, for clients that have
    /// one [default: user; both where nothing is changed]
    #[arg(long, value_name = "SCOPE", value_enum, hide_possible_values = true, hide_short_help = true)]
    #[arg(conflicts_with_all = ["global", "project"])]
    scope: Option<ScopeArg>,

    /// your own configuration: short for `--scope user`
    #[arg(short, long, conflicts_with = "project")]
    global: bool,

    /// the project's configuration: short for `--scope project`
    #[arg(short, long)]
    project: bool,
}

// Flags of a change.
#[derive(Debug, Clone, Args)]
struct How {
    /// do not ask
    #[arg(short, long)]
    yes: bool,

    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

impl Action {
    /// Reports whether a flag says not to ask questions.
    pub(super) fn asks_nothing(&self) -> bool {
        match self {
            Self::Install(InstallArgs { how, .. }) | Self::Uninstall(UninstallArgs { how, .. }) => {
                how.yes || how.json
            }
            Self::Status(_) => true,
        }
    }
}

impl ClientScope {
    fn kind(&self) -> Option<ScopeKind> {
        match (self.scope, self.global, self.project) {
            (Some(ScopeArg::User), ..) | (None, true, _) => Some(ScopeKind::User),
            (Some(ScopeArg::Project), ..) | (None, _, true) => Some(ScopeKind::Project),
            (None, false, false) => None,
        }
    }
}

pub(super) fn run(app: &App, action: &Action) -> Result<u8> {
    match action {
        Action::Install(args) => install(app, args)?,
        Action::Uninstall(args) => uninstall(app, args)?,
        Action::Status(args) => show(app, args)?,
    }
    Ok(exit::SUCCESS)
}

fn install(app: &App, args: &InstallArgs) -> Result<()> {
    let scope = args.scope.kind();
    let request = McpInstallRequest {
        clients: if args.clients.is_empty() { pick(app, scope)? } else { args.clients.clone() },
        scope,
        name: args.name.clone(),
        program: env::own_program(),
        arguments: args.arguments.clone(),
        force: args.force,
    };
    carry_out(app, plan_install(&app.context, &request)?, &args.how)
}

fn uninstall(app: &App, args: &UninstallArgs) -> Result<()> {
    let request = McpUninstallRequest {
        clients: args.clients.clone(),
        scope: args.scope.kind(),
        name: args.name.clone(),
        force: args.force,
    };
    carry_out(app, plan_uninstall(&app.context, &request)?, &args.how)
}

fn show(app: &App, args: &StatusArgs) -> Result<()> {
    let request = McpStatusRequest { clients: args.clients.clone(), scope: args.scope.kind(), all: args.all };
    let outcome = status(&app.context, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::mcp::status(&app.printer, &outcome);
    }
    Ok(())
}

/// Lets the user pick clients among those on this machine.
fn pick(app: &App, scope: Option<ScopeKind>) -> Result<Vec<String>> {
    let found = detected(&app.context, scope);
    let ids = |clients: &[&str]| clients.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    let found_ids: Vec<_> = found.iter().map(|client| client.id).collect();
    if found.is_empty() {
        let known: Vec<_> = all().iter().map(|client| client.id).collect();
        return Err(
            Error::usage("no client was found on this machine").hint(hints::name_a_client(&ids(&known)))
        );
    }
    let items: Vec<_> = found.iter().map(|client| Choice::new(client.id, client.name)).collect();
    match app.context.interact.choose("which clients do you want to set up?", &items) {
        Some(picked) if picked.is_empty() => {
            Err(Error::new(ErrorKind::Findings, "nothing was changed: no client was chosen"))
        }
        Some(picked) => {
            Ok(picked.into_iter().filter_map(|at| Some((*found_ids.get(at)?).to_owned())).collect())
        }
        None => Err(Error::usage("name the clients to set up, with `--client NAME`")
            .hint(format!("on this machine are {}", ids(&found_ids)))),
    }
}

/// Shows the change, asks if a person can be asked, and makes it.
fn carry_out(app: &App, planned: Planned<'_>, how: &How) -> Result<()> {
    let outcome = planned.outcome(how.dry_run);
    if !how.json {
        render::mcp::diffs(&app.printer, &outcome);
    }
    if how.dry_run || !outcome.changes() {
        render::mcp::changed(&app.printer, &outcome, how.json);
        return Ok(());
    }
    if app.context.interact.confirm("make this change?") == Some(false) {
        return Err(Error::new(ErrorKind::Findings, "nothing was changed: the answer was no"));
    }
    render::mcp::changed(&app.printer, &planned.apply()?, how.json);
    Ok(())
}
