//! The arguments of all commands, and those that several commands share. The commands are in `commands/`,
//! each with its own arguments. The comments of these types are the texts of `--help`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory as _, Parser, ValueEnum};

use super::commands::Command;
use super::{help, version};
use skillpm_core::session::{Session, SessionOptions};
use skillpm_format::advice::{Opt, message};
use skillpm_format::profile::{Freshness, LoadProfile};
use skillpm_sources::context::Context;
use skillpm_sources::error::{Error, Result};

/// install, check and use Agent Skills
#[derive(Debug, Parser)]
#[command(
    name = "skillpm",
    bin_name = "skillpm",
    version = version::VERSION.as_str(),
    after_help = help::program(),
    styles = help::STYLES,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    subcommand_value_name = "COMMAND",
    override_usage = "skillpm [OPTIONS] <COMMAND>"
)]
pub(crate) struct Cli {
    /// Flags of all commands.
    #[command(flatten)]
    pub(crate) global: Global,

    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// show version, commit and home page
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = help::GLOBAL, hide_short_help = true)]
    pub(super) version: Option<bool>,
}

/// Returns the program with all commands.
pub(super) fn program() -> clap::Command {
    Cli::command()
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = help::GLOBAL)]
pub(crate) struct Global {
    /// use no network: only what is in the store and on this machine
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) offline: bool,

    /// when to use colours: `auto` (on terminals, unless `NO_COLOR` is set), `always` or `never`
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto)]
    #[arg(hide_possible_values = true, hide_short_help = true)]
    pub(crate) color: ColorWhen,

    /// print only warnings and errors
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "verbose",
        overrides_with = "quiet",
        hide_short_help = true
    )]
    pub(crate) quiet: bool,

    /// say every request and what else helps to find a reason
    #[arg(short, long, global = true, overrides_with = "verbose", hide_short_help = true)]
    pub(crate) verbose: bool,

    /// the form of errors: `text` or `json`; by default that of the output
    #[arg(long, global = true, value_name = "FORM", value_enum, hide = true)]
    pub(crate) error_format: Option<ErrorFormat>,

    /// show this page; `-h` shows a short one
    #[arg(short, long, global = true, action = ArgAction::Help, hide_short_help = true)]
    help: Option<bool>,
}

/// The form of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorFormat {
    /// Lines for people.
    Text,
    /// A line of JSON for each.
    Json,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On terminals.
    #[value(help = None::<&str>)]
    Auto,
    /// Also in pipes and files.
    #[value(help = None::<&str>)]
    Always,
    /// Nowhere.
    #[value(help = None::<&str>)]
    Never,
}

// Which scope.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ScopeArgs {
    /// `project`: the project around the working directory; `user`: your own skills, in every project
    /// [default: project; both where nothing is changed]
    #[arg(long, value_name = "SCOPE", value_enum, hide_possible_values = true, hide_short_help = true)]
    #[arg(conflicts_with_all = ["global", "project"])]
    pub(crate) scope: Option<ScopeArg>,

    /// your own skills, in every project: short for `--scope user`
    #[arg(short, long, conflicts_with = "project")]
    pub(crate) global: bool,

    /// this project's skills: short for `--scope project`
    #[arg(short, long)]
    pub(crate) project: bool,
}

/// A scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// The project around the working directory.
    #[value(help = None::<&str>)]
    Project,
    /// The user, in every project.
    #[value(help = None::<&str>, alias = "global")]
    User,
}

// Where skills are looked for, and how they are loaded.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where skills are looked for")]
pub(crate) struct LoadingArgs {
    /// load skills as another program does: `strict`, `skillkit`, `langchain-skillkit`, `langflow` or `btw`
    #[arg(long, value_name = "PROGRAM", default_value = "default", hide_default_value = true)]
    #[arg(hide_short_help = true)]
    pub(crate) profile: LoadProfile,

    /// more directories of skills; skills of the same name elsewhere hide theirs
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) dir: Vec<PathBuf>,
}

// Which programs run scripts.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Programs")]
pub(crate) struct InterpreterArgs {
    /// the Python that runs scripts, as a name in `PATH` or a path, such as that of a virtual environment; the same as
    /// `--interpreter python=PROGRAM`
    #[arg(long, value_name = "PROGRAM", hide_short_help = true)]
    python: Option<OsString>,

    /// the program that runs scripts in a language such as `python`, `node` or `bash`; can be repeated
    #[arg(long = "interpreter", value_name = "LANGUAGE=PROGRAM", value_parser = interpreter)]
    #[arg(hide_short_help = true)]
    interpreters: Vec<(String, OsString)>,
}

impl InterpreterArgs {
    /// Returns the programs by language.
    pub(crate) fn chosen(&self) -> Result<BTreeMap<String, OsString>> {
        let python = self.python.iter().map(|program| ("python", program));
        let others = self.interpreters.iter().map(|(language, program)| (language.as_str(), program));
        let mut chosen = BTreeMap::new();
        for (language, program) in python.chain(others) {
            if chosen.insert(language.to_owned(), program.clone()).is_some() {
                return Err(Error::usage(format!("two programs are to run scripts for `{language}`"))
                    .hint(message!("name one: ", (Opt::Interpreter, format!("{language}=PROGRAM")))));
            }
        }
        Ok(chosen)
    }
}

/// Parses a language and its program.
fn interpreter(text: &str) -> std::result::Result<(String, OsString), &'static str> {
    let (language, program) =
        text.split_once('=').ok_or("expected a language and a program, such as `python=.venv/bin/python`")?;
    Ok((language.to_owned(), program.into()))
}

impl LoadingArgs {
    /// Returns the profile of a command that searches once.
    pub(crate) fn profile(&self) -> LoadProfile {
        LoadProfile { freshness: Freshness::Stat, ..self.profile.clone() }
    }

    /// Opens the session of a person who types a command with these flags.
    pub(crate) fn session(&self, context: &Context) -> Result<Session> {
        let directories = self.dir.iter().map(|dir| (None, dir.clone())).collect();
        let options = SessionOptions { profile: self.profile(), directories, ..SessionOptions::of_person() };
        Session::new(context.clone(), options)
    }
}
