//! One file per command: from arguments to a request, from an outcome to the screen.

pub(super) mod agents;
pub(super) mod cache;
mod create;
pub(super) mod doctor;
mod explain;
mod fmt;
mod install;
mod invoke;
mod list;
mod remove;
pub(super) mod tree;
mod validate;
pub(super) mod why;

use std::io::Read as _;

use super::App;
use super::args::{Command, ScopeArg, ScopeArgs};
use crate::engine::load::MAX_SKILL_FILE;
use crate::error::{Error, Result};
use crate::install::scope::ScopeKind;

/// All names and aliases of commands, for suggestions.
pub(crate) const NAMES: &[&str] = &[
    "install",
    "add",
    "sync",
    "list",
    "ls",
    "remove",
    "rm",
    "uninstall",
    "validate",
    "lint",
    "explain",
    "fmt",
    "format",
    "create",
    "new",
    "init",
    "agents",
    "tree",
    "why",
    "doctor",
    "cache",
    "invoke",
    "help",
];

/// Runs `command` and returns the exit code.
pub(crate) fn run(app: &App, command: &Command) -> Result<u8> {
    match command {
        Command::Install(args) => install::run(app, args),
        Command::Sync(how) => install::sync(app, how),
        Command::List(args) => list::run(app, args),
        Command::Remove(args) => remove::run(app, args),
        Command::Validate(args) => validate::run(app, args),
        Command::Explain(args) => explain::run(app, args),
        Command::Fmt(args) => fmt::run(app, args),
        Command::Create(args) => create::run(app, args),
        Command::Agents(args) => agents::run(app, args),
        Command::Tree(args) => tree::run(app, args),
        Command::Why(args) => why::run(app, args),
        Command::Doctor(args) => doctor::run(app, args),
        Command::Cache(args) => cache::run(app, args),
        Command::Invoke(args) => invoke::run(app, args),
    }
}

/// Whether `command` was told not to ask.
pub(crate) fn asks_nothing(command: &Command) -> bool {
    match command {
        Command::Install(args) => args.how.yes,
        Command::Sync(how) => how.yes,
        Command::Create(args) => args.yes,
        _ => false,
    }
}

/// All of standard input, a skill's text.
fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_SKILL_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("failed to read standard input").because(error))?;
    if bytes.len() as u64 > MAX_SKILL_FILE {
        return Err(Error::usage(format!("standard input has more than {} MiB", MAX_SKILL_FILE >> 20))
            .hint("a `SKILL.md` is a text of a few pages"));
    }
    Ok(bytes)
}

/// The scope that the flags name.
fn scope(args: &ScopeArgs) -> Option<ScopeKind> {
    match (args.scope, args.global, args.project) {
        (Some(ScopeArg::User), ..) | (None, true, _) => Some(ScopeKind::User),
        (Some(ScopeArg::Project), ..) | (None, _, true) => Some(ScopeKind::Project),
        (None, false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn every_name_can_be_suggested() {
        let cli = Cli::command();
        let mut names: Vec<_> =
            cli.get_subcommands().flat_map(|c| c.get_all_aliases().chain([c.get_name()])).collect();
        names.extend(["help"]);
        names.retain(|name| *name != "i");
        names.sort_unstable();
        let mut suggested = NAMES.to_vec();
        suggested.sort_unstable();
        assert_eq!(names, suggested);
    }
}
