//! One file per command: from arguments to a request, from an outcome to the screen.

mod create;
mod fmt;
mod install;
mod invoke;
mod list;
mod remove;
mod validate;

use super::App;
use super::args::{Command, ScopeArg, ScopeArgs};
use crate::error::Result;
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
    "fmt",
    "format",
    "create",
    "new",
    "init",
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
        Command::Fmt(args) => fmt::run(app, args),
        Command::Create(args) => create::run(app, args),
        Command::Invoke(args) => invoke::run(app, args),
    }
}

/// Whether `command` was told not to ask.
pub(crate) fn asks_nothing(command: &Command) -> bool {
    match command {
        Command::Install(args) => args.how.yes,
        Command::Sync(how) => how.yes,
        _ => false,
    }
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
