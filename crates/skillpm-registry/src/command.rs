//! The command line.

mod maintenance;
mod owner;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use skillpm_format::text::and;
use skillpm_sources::env::Env;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use futures_util::FutureExt as _;
use tokio::net::TcpListener;

use crate::access::{Holder, Scope, TokenRequest, Tokens};
use crate::app::{App, now};
use crate::config::{Config, PREFIX};
use crate::error::{Error, Result};
use crate::hints;
use crate::log::{Ending, Log};
use crate::pages;
use crate::registry::{Account, Timestamp, registry_name};
use crate::storage::{Location, Storage, check_store, create, create_if_empty};
use crate::web::{self, Metrics, StartupGate, State, Tls};

/// How long the end of the process waits for busy threads.
const LAST: Duration = Duration::from_secs(1);

/// Serve a registry of Agent Skills, and let teams publish to it
#[derive(Debug, Parser)]
#[command(name = "skillpm-registry", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a registry in a directory or a bucket
    Init(InitArgs),
    /// Serve a registry; create it first if the directory or bucket is empty
    Serve(ServeArgs),
    /// Create, list and revoke tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// List, add and remove the owners of any skill
    #[command(subcommand)]
    Owner(owner::OwnerCommand),
    /// Show a skill to all who may read the registry, or only to its owners
    Visibility(owner::VisibilityArgs),
    /// Check every record and archive
    Verify(maintenance::VerifyArgs),
    /// Copy a registry to a directory, or update such a copy
    Backup(maintenance::BackupArgs),
    /// List what is no longer needed; removes nothing
    Garbage(maintenance::GarbageArgs),
    /// Write the pages about all public skills as a static site
    Site(SiteArgs),
}

/// Options of every command.
#[derive(Debug, Args)]
struct Common {
    /// the registry: a directory, or `s3://BUCKET/PREFIX`
    #[arg(value_name = "REGISTRY")]
    registry: Option<String>,

    /// the file with the settings; `SKILLPM_REGISTRY_CONFIG` names it too
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct InitArgs {
    #[command(flatten)]
    common: Common,

    /// name of the registry [default: that of the directory, or the last part of the prefix]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    common: Common,

    /// the address and port to listen at
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
struct SiteArgs {
    #[command(flatten)]
    common: Common,

    /// the directory to write to; pages of an earlier run are replaced or removed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// replace files that are no pages of an earlier run
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a token, and show it this once
    Create(CreateArgs),
    /// List the tokens, without their secrets
    List(ListArgs),
    /// Revoke a token
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
struct CreateArgs {
    #[command(flatten)]
    common: Common,

    /// the account, such as `alice` or `team-docs`
    #[arg(long, value_name = "NAME")]
    account: Account,

    /// what it allows: `read`, `publish`, `yank`, `owner`, `admin`
    #[arg(long = "scope", value_name = "SCOPE", value_parser = scope, default_values = ["read", "publish", "yank", "owner"])]
    scopes: Vec<Scope>,

    /// limit it to this skill, or with a `*` at the end to all whose names start so; can be repeated
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,

    /// days until it expires; 0 for never
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    days: u32,

    /// a note about its purpose
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,

    /// print the token as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    common: Common,

    /// print the tokens as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct RevokeArgs {
    /// ID of the token, as `token list` shows it
    id: String,

    #[command(flatten)]
    common: Common,
}

fn scope(text: &str) -> std::result::Result<Scope, String> {
    Ok(match text {
        "read" => Scope::Read,
        "publish" => Scope::Publish,
        "yank" => Scope::Yank,
        "owner" => Scope::Owner,
        "admin" => Scope::Admin,
        _ => return Err("a scope is `read`, `publish`, `yank`, `owner` or `admin`".to_owned()),
    })
}

/// Runs the program. Returns its exit code: 0, or that of the kind of the error.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && error.kind() != MISSING => return failed(&mistake(&error)),
        // A page of help, or the version.
        Err(error) => error.exit(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&Error::io("no thread can be started").because(error)),
    };
    let done = runtime.block_on(run(cli.command));
    // Reads from a directory are abandoned; writes get a moment.
    runtime.shutdown_timeout(LAST);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// The kind of a command line without a command, which is answered with the page.
const MISSING: ErrorKind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

/// Returns the error for a command line that cannot be parsed, in one line like all errors.
fn mistake(error: &clap::Error) -> Error {
    let text = error.render().to_string().replace('\'', "`");
    let told = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n").next().unwrap_or_default();
    let told = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(names))) => {
            // They look like `--out <DIR>` and `<ID>`.
            let names =
                names.iter().filter_map(|name| name.split([' ', '<', '>']).find(|word| !word.is_empty()));
            let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
            format!("{} {} required", and(&names), if names.len() == 1 { "is" } else { "are" })
        }
        _ => told.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    // The usage has the command that was typed, before its first placeholder.
    let usage =
        text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("skillpm-registry COMMAND");
    let words = usage.split(' ').take_while(|word| !word.starts_with(['[', '<', '-']));
    let command = words.collect::<Vec<_>>().join(" ");
    Error::usage(told).hint(format!("`{command} --help` shows all options"))
}

fn failed(error: &Error) -> ExitCode {
    anstream::eprintln!("error: {}", error.with_causes());
    for hint in error.hints() {
        anstream::eprintln!("hint: {}", hints::for_operator(hint));
    }
    ExitCode::from(error.kind().exit_code())
}

async fn run(command: Command) -> Result<()> {
    match command {
        Command::Init(args) => init(args).await,
        Command::Serve(args) => serve(args).await,
        Command::Owner(command) => owner::own(command).await,
        Command::Visibility(args) => owner::show(args).await,
        Command::Verify(args) => maintenance::verify(args).await,
        Command::Backup(args) => maintenance::backup(args).await,
        Command::Garbage(args) => maintenance::garbage(args).await,
        Command::Site(args) => site(args).await,
        Command::Token(TokenCommand::Create(args)) => create_token(args).await,
        Command::Token(TokenCommand::List(args)) => list_tokens(args).await,
        Command::Token(TokenCommand::Revoke(args)) => revoke_token(args).await,
    }
}

impl Common {
    /// Returns the settings: of the file, the environment, and what the command line names.
    fn settings(&self) -> Result<Config> {
        let process = Env::from_process()
            .map_err(|error| Error::config("the environment cannot be read").because(error))?;
        let mut env = process.below(PREFIX);
        let file = env.remove("CONFIG").map(PathBuf::from);
        let mut config = Config::read(self.config.as_ref().or(file.as_ref()).map(PathBuf::as_path), &env)?;
        if let Some(registry) = &self.registry {
            config.registry = Some(registry.clone());
        }
        Ok(config)
    }
}

async fn init(args: InitArgs) -> Result<()> {
    let name = args.name.as_deref().map(registry_name).transpose();
    let name = name.map_err(|error| Error::usage(error.to_string()))?;
    let location = Location::of(&args.common.settings()?)?;
    let name = create(&location, name).await?;
    anstream::println!("`{location}` is the registry `{name}` now");
    Ok(())
}

async fn serve(args: ServeArgs) -> Result<()> {
    let mut config = args.common.settings()?;
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    let tls = Tls::of(&config)?.map(Arc::new);
    let metrics = Metrics::new();
    let _ending = start_log(&metrics)?;
    #[cfg(unix)]
    if let Some(tls) = &tls {
        follow_certificate(Arc::clone(tls))?;
    }
    let settings = config.clone();
    // A missing registry is reported before an address is.
    let location = Location::of(&config)?;
    let stop = stopped()?.shared();
    let refresh = Duration::from_secs(config.refresh_seconds.max(1));
    let (listener, address) = listen(config.listen).await?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    anstream::println!("listening at {scheme}://{address}");
    let watching = match config.metrics_listen {
        Some(address) => Some(listen(address).await?),
        None => None,
    };
    if let Some((_, address)) = &watching {
        anstream::println!("metrics at http://{address}/metrics");
    }
    let (gate, watch) = (StartupGate::new(), StartupGate::new());
    let refused = metrics.refused_connections.clone();
    let serving = async {
        let (counted, stopped) = (refused.clone(), stop.clone());
        let public = web::serve(listener, gate.clone(), &settings, tls.as_deref(), counted, stopped);
        let watched = async {
            if let Some((listener, _)) = watching {
                web::serve(listener, watch.clone(), &settings, None, refused.clone(), stop.clone()).await;
            }
        };
        tokio::join!(public, watched);
    };
    let mut serving = std::pin::pin!(serving);
    // In a task of its own, so that its computations keep no connection waiting.
    let opening = tokio::spawn(open(config, location));
    let app = tokio::select! {
        app = opening => app.map_err(|error| Error::io("a thread of the server ended early").because(error))??,
        () = &mut serving => return Ok(()),
        () = stop.clone() => return Ok(()),
    };
    let state = Arc::new(State::new(app, metrics)?);
    tokio::spawn(follow(Arc::clone(&state), refresh));
    gate.open(web::router(Arc::clone(&state)));
    watch.open(web::watch_router(Arc::clone(&state)));
    let (skills, versions) = state.app.catalog.size();
    tracing::info!(%address, skills, versions, "serving");
    // The process that waited for the address may have closed standard output.
    let name = &state.app.storage.config().name;
    let _ = writeln!(anstream::stdout(), "serving `{name}` (skills: {skills}, versions: {versions})");
    serving.await;
    tracing::info!("stopped");
    Ok(())
}

/// Opens the registry at `location`, which `config` names. Creates it if the location is empty.
async fn open(config: Config, location: Location) -> Result<App> {
    check_store(&location).await?;
    if let Some(name) = create_if_empty(&location).await? {
        tracing::info!(%name, "created a registry in `{location}`");
    }
    App::open(config).await
}

/// Listens at `address`. Returns the address with the port that was chosen.
async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let failed = |error| Error::usage(format!("`{address}` cannot be listened at")).because(error);
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Lets everything that the process logs be written to standard error, panics too. Returns what writes the last lines.
fn start_log(metrics: &Metrics) -> Result<Ending> {
    let (log, ending) = Log::start(std::io::stderr(), metrics.log_lines_dropped.clone())
        .map_err(|error| Error::io("no thread can be started").because(error))?;
    tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || log.clone()).init();
    // The usual print would block while nothing reads standard error.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(ending)
}

/// Reads what others publish, again and again.
async fn follow(state: Arc<State>, every: Duration) {
    let mut tick = tokio::time::interval(every);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        if let Err(error) = state.app.catalog.refresh(&state.app.storage).await {
            state.metrics.refresh_failures.inc();
            tracing::error!(code = error.code(), "the log cannot be read: {}", error.with_causes());
        }
    }
}

/// Reads the certificate again whenever the process gets `SIGHUP`.
#[cfg(unix)]
fn follow_certificate(tls: Arc<Tls>) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut asked = signal(SignalKind::hangup())
        .map_err(|error| Error::io("signals cannot be listened to").because(error))?;
    tokio::spawn(async move {
        while asked.recv().await.is_some() {
            match tls.read_again() {
                Ok(()) => tracing::info!("the certificate was read again"),
                Err(error) => {
                    tracing::error!(
                        code = error.code(),
                        "the old certificate stays: {}",
                        error.with_causes()
                    );
                }
            }
        }
    });
    Ok(())
}

/// Listens from now on to whether the process is asked to stop. Returns what waits for that.
fn stopped() -> Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let failed = |error| Error::io("signals cannot be listened to").because(error);
        let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
        Ok(async move {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

async fn site(args: SiteArgs) -> Result<()> {
    let app = App::open(args.common.settings()?).await?;
    let written = pages::write(&app, &args.out, args.force).await?;
    for path in &written.replaced {
        anstream::println!("replaced `{path}`, which was no page");
    }
    anstream::println!("wrote {} files to `{}`", written.pages, args.out.display());
    Ok(())
}

async fn tokens(common: &Common) -> Result<Tokens> {
    let storage = Storage::open(&Location::of(&common.settings()?)?).await?;
    Ok(Tokens::new(storage.private()))
}

async fn create_token(args: CreateArgs) -> Result<()> {
    let tokens = tokens(&args.common).await?;
    let seconds = i64::from(args.days) * 86_400;
    let now = now();
    let issued = tokens
        .issue(
            TokenRequest {
                holder: Holder::Account { account: args.account },
                scopes: args.scopes,
                names: args.names,
                expires: (args.days > 0).then(|| Timestamp::new(now.seconds() + seconds)),
                note: args.note,
            },
            now,
        )
        .await?;
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&issued).unwrap_or_default());
        return Ok(());
    }
    anstream::println!("{}", issued.secret);
    anstream::eprintln!("token `{}` of `{}`: it is not shown again", issued.token.id, issued.token.holder);
    Ok(())
}

async fn list_tokens(args: ListArgs) -> Result<()> {
    let all = tokens(&args.common).await?.list().await?;
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&all).unwrap_or_default());
        return Ok(());
    }
    for token in all {
        let scopes: Vec<_> = token.scopes.iter().map(ToString::to_string).collect();
        let expires = token.expires.map_or_else(|| "never".to_owned(), |time| time.to_string());
        anstream::println!(
            "{}  {}  {}  expires {expires}  {}",
            token.id,
            token.holder,
            scopes.join(","),
            token.note
        );
    }
    Ok(())
}

async fn revoke_token(args: RevokeArgs) -> Result<()> {
    let token = tokens(&args.common).await?.revoke(&args.id).await?;
    anstream::println!("the token `{}` of `{}` is revoked", token.id, token.holder);
    Ok(())
}
