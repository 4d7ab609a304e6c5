//! `test`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::agents::tokens;
use super::validate::FormatArg;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::test::{DEFAULT_TOP, TestRequest, agent_or_command, repository, test};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("test",
    "skillpm test                                        all skills below this directory"
    "skillpm test skills/pdf --agent claude-code         against what Claude Code lists on this machine"
    "skillpm test --since origin/main --format github     on a build machine, what a change touches"
    "skillpm test skills/pdf --agent \"codex exec --json\"     ask the agent itself"
);

// Arguments of `test`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct TestArgs {
    /// skills, or directories to look for skills in; all that are found compete
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// test all skills of the repository around this directory
    #[arg(long, conflicts_with = "paths")]
    all: bool,

    /// rank over what this agent lists here, with these skills in the project
    ///
    /// or a command that asks an agent, such as `'codex exec --json'` [default: rank over the skills alone]
    #[arg(short, long, value_name = "AGENT|COMMAND")]
    #[arg(help_heading = "Agents")]
    agent: Option<String>,

    /// the window of its model, such as 200k or 1m [default: that of its settings or its usual model]
    #[arg(long, value_name = "TOKENS", value_parser = tokens, requires = "agent")]
    #[arg(help_heading = "Agents", hide_short_help = true)]
    window: Option<u64>,

    /// the right skill has to be among this many
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_TOP, value_parser = parse_count)]
    top: usize,

    /// rank over the instructions of the skills too
    ///
    /// a model sees these only after it chose
    #[arg(long)]
    bodies: bool,

    /// test only skills with a file that is not committed
    ///
    /// changed, staged or untracked; the others compete
    #[arg(long)]
    changed: bool,

    /// test only skills with a file that changed since this commit, branch or tag; the others compete
    #[arg(long, value_name = "REF", conflicts_with = "changed")]
    #[arg(hide_short_help = true)]
    since: Option<String>,

    /// how often to put each request to the agent
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = parse_count, requires = "agent")]
    #[arg(help_heading = "Agents", hide_short_help = true)]
    repeat: usize,

    /// how long the agent may take for one request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "agent", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(help_heading = "Agents", hide_short_help = true)]
    timeout: u64,

    /// keep what the agent prints in this directory
    #[arg(long, value_name = "DIR", requires = "agent")]
    #[arg(help_heading = "Agents", hide_short_help = true)]
    keep: Option<PathBuf>,

    /// `human`, `full`, `concise` (a line for each failure), or for programs `json`, `sarif`, `github`, `gitlab` or
    /// `junit`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Human)]
    #[arg(hide_possible_values = true, conflicts_with = "json")]
    #[arg(help_heading = "Output", hide_short_help = true)]
    format: FormatArg,

    /// short for `--format json`
    #[arg(long)]
    #[arg(help_heading = "Output")]
    json: bool,

    /// write the report into this file
    #[arg(short, long, value_name = "FILE")]
    #[arg(help_heading = "Output", hide_short_help = true)]
    output: Option<PathBuf>,
}

pub(super) fn run(app: &App, args: &TestArgs) -> Result<u8> {
    let settings = &app.context.settings;
    let typed = args.agent.as_deref().map(|typed| agent_or_command(typed, &settings.cwd));
    let (agent, mut command) = typed.transpose()?.unwrap_or_default();
    if let Some(command) = &mut command {
        command.repeat = args.repeat;
        command.timeout = Duration::from_secs(args.timeout);
        command.keep = args.keep.as_ref().map(|dir| settings.cwd.join(dir));
    }
    let changes = super::changes(args.since.as_ref(), args.changed);
    let targets = if args.all { vec![repository(settings)?] } else { args.paths.clone() };
    let (window, top, bodies) = (args.window, args.top, args.bodies);
    let request = TestRequest { targets, changes, agent, window, top, bodies, command };
    let outcome = test(&app.context, &request)?;
    let format = if args.json { FormatArg::Json } else { args.format };
    let output = args.output.as_ref().map(|file| settings.cwd.join(file));
    render::test::show(&app.printer, settings, &outcome, format, output.as_deref())?;
    Ok(if outcome.passes() { exit::SUCCESS } else { exit::FINDINGS })
}

/// Parses a number of things, of which there is at least one.
fn parse_count(text: &str) -> std::result::Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number > 0).ok_or("it is a number from 1")
}
