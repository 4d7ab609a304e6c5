//! The command line: translates the typed words into requests and renders outcomes. It decides nothing else.

mod appearance;
mod args;
mod choose;
mod commands;
mod complete;
pub mod exit;
mod help;
mod parse;
mod printer;
mod progress;
mod prompt;
#[cfg(test)]
mod reference;
mod render;
#[cfg(test)]
mod schemas;
mod several;
mod signals;
mod style;
mod tips;
mod usage;
mod version;
mod words;
mod working_dir;

pub use render::diff::version_diff;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use self::appearance::{Appearance, Typed};
use clap::Args as _;

use self::args::{Cli, Global};
use self::commands::Command;
use self::printer::Printer;
use skillpm_sources::context::Context;
use skillpm_sources::env::{self, Env};
use skillpm_sources::error::{Error, Result};
use skillpm_sources::settings::Settings;

/// The environment of a command.
pub(crate) struct App {
    pub(crate) context: Context,
    pub(crate) printer: Arc<Printer>,
}

/// Runs the program.
pub fn main() -> ExitCode {
    ExitCode::from(run(env::arguments()))
}

/// Runs the program with `arguments`, the program's name first, and returns its exit code: for programs that
/// embed the command.
pub fn run(arguments: Vec<OsString>) -> u8 {
    // Programs ask this often, so it is answered before anything else is set up.
    if let [_, only] = &arguments[..]
        && (only == "--version" || only == "-V")
    {
        printer::bare(&format!("skillpm {}", *version::VERSION));
        return 0;
    }
    let env = Env::from_process();
    if let Ok(env) = &env
        && env.get(env::SKILLPM_COMPLETE).is_some()
    {
        let printer = Printer::new(Appearance::new(env, Typed::of(&arguments)));
        return complete::answer(env, &arguments, &printer).unwrap_or_else(|error| failed(&printer, &error));
    }
    let arguments = parse::command_first(help_command(arguments));
    let arguments = several::repeated(parse::registry_in_place(arguments));
    let parsed = parse::parse(&arguments);
    let fallback = Env::default();
    let typed = match &parsed {
        Ok(parsed) => Typed::new(&parsed.cli.global, parsed.json),
        Err(_) => Typed::of(&arguments),
    };
    let look = Appearance::new(env.as_ref().unwrap_or(&fallback), typed);
    let printer = Arc::new(Printer::new(look));
    let result = match parsed {
        Ok(parsed) => env.map_err(no_working_directory).and_then(|env| start(&parsed.cli, env, &printer)),
        Err(error) => usage::answer(&error, &arguments, &printer),
    };
    signals::reraise();
    let code = result.unwrap_or_else(|error| failed(&printer, &error));
    match printer.finish() {
        None => code,
        Some(error) => failed(&printer, &Error::io("failed to write to standard output").because(error)),
    }
}

/// Turns `help install` into `install --help`, and `help --all` into `--help`.
fn help_command(arguments: Vec<OsString>) -> Vec<OsString> {
    // Options of all commands may come first.
    let mut at = 1;
    while let Some(option) =
        arguments.get(at).and_then(|word| word.to_str()).filter(|word| word.starts_with('-'))
    {
        let global = Global::augment_args(clap::Command::new("skillpm"));
        at += if parse::takes_next_word(&global, option) == Some(true) { 2 } else { 1 };
    }
    if arguments.get(at).is_none_or(|first| first != "help") {
        return arguments;
    }
    let mut words =
        arguments.iter().skip(at + 1).filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    let mut turned = arguments[..at].to_vec();
    if let Some(first) = words.next().filter(|first| *first != "help") {
        turned.push(first.into());
        // What follows is an action, if the command has any.
        let mut command = Command::alone(first);
        for word in words {
            let Some(outer) = command.filter(clap::Command::has_subcommands) else { break };
            turned.push(word.into());
            command = outer.find_subcommand(word).cloned();
        }
    }
    turned.push("--help".into());
    turned
}

fn start(cli: &Cli, env: Env, printer: &Arc<Printer>) -> Result<u8> {
    let may_ask = env.interactive && !appearance::build_machine(&env) && !cli.command.asks_nothing();
    let progress = Arc::new(progress::Progress::new(Arc::clone(printer)));
    let nature = cli.command.nature();
    let may_start_others = nature.may_start_others;
    if nature.changes_as_one {
        let progress = Arc::clone(&progress);
        signals::watch(may_start_others, move |outcome| progress.interrupted(outcome));
    } else {
        signals::install();
        if may_start_others {
            signals::install_hang_up();
        }
    }
    if may_start_others {
        signals::ignore_sigchld();
    }
    let mut settings = Settings::from_env(env)?;
    settings.offline |= cli.global.offline;
    printer.stand_in(&settings);
    let context = Context { settings, reporter: progress, interact: prompt::interact(may_ask, printer) };
    cli.command.run(&App { context, printer: Arc::clone(printer) })
}

fn failed(printer: &Printer, error: &Error) -> u8 {
    render::error::show(printer, error);
    error.kind().exit_code()
}

fn no_working_directory(error: std::io::Error) -> Error {
    Error::io("failed to find the working directory").because(error).hint("change to a directory that exists")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_a_command_too() {
        let turned = |words: &[&str]| help_command(words.iter().map(OsString::from).collect());
        assert_eq!(turned(&["skillpm", "help"]), ["skillpm", "--help"]);
        assert_eq!(turned(&["skillpm", "help", "--all"]), ["skillpm", "--help"]);
        assert_eq!(turned(&["skillpm", "help", "help"]), ["skillpm", "--help"]);
        // A page, or the answer to an unknown action.
        assert_eq!(turned(&["skillpm", "help", "cache", "cleer"]), ["skillpm", "cache", "cleer", "--help"]);
        assert_eq!(turned(&["skillpm", "help", "list"]), ["skillpm", "list", "--help"]);
        assert_eq!(turned(&["skillpm", "help", "list", "x"]), ["skillpm", "list", "--help"]);
        assert_eq!(
            turned(&["skillpm", "help", "registry", "owner", "add"]),
            ["skillpm", "registry", "owner", "add", "--help"]
        );
        assert_eq!(
            turned(&["skillpm", "-q", "--color", "never", "help", "list"]),
            ["skillpm", "-q", "--color", "never", "list", "--help"]
        );
        assert_eq!(turned(&["skillpm", "help", "nothing"]), ["skillpm", "nothing", "--help"]);
        assert_eq!(turned(&["skillpm", "list", "help"]), ["skillpm", "list", "help"]);
    }
}
