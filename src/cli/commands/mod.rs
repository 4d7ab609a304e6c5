//! One file per command: from arguments to a request, from an outcome to the screen.

pub(super) mod agents;
pub(super) mod audit;
pub(super) mod cache;
pub(super) mod catalog;
pub(super) mod completions;
pub(super) mod create;
pub(super) mod diff;
pub(super) mod disable;
pub(super) mod doctor;
pub(super) mod explain;
pub(super) mod export;
pub(super) mod fmt;
pub(super) mod import;
pub(super) mod install;
pub(super) mod invoke;
pub(super) mod link;
pub(super) mod list;
pub(super) mod man;
pub(super) mod outdated;
pub(super) mod policy;
pub(super) mod read;
pub(super) mod remove;
pub(super) mod run;
pub(super) mod show;
pub(super) mod tools;
pub(super) mod tree;
pub(super) mod trust;
pub(super) mod undo;
pub(super) mod update;
pub(super) mod validate;
pub(super) mod verify;
pub(super) mod why;

use std::error::Error as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::App;
use super::args::{Command, ScopeArg, ScopeArgs};
use crate::engine::load::MAX_SKILL_FILE;
use crate::error::{Error, ErrorKind, Result};
use crate::install::scope::ScopeKind;
use crate::ops::paths::Target;

/// Runs `command` and returns the exit code.
pub(crate) fn run(app: &App, command: &Command) -> Result<u8> {
    match command {
        Command::Install(args) => {
            install::run(app, args).map_err(|error| or_elsewhere(error, "install", &args.how.scope))
        }
        Command::Sync(how) => install::sync(app, how),
        Command::Update(args) => update::run(app, args),
        Command::List(args) => list::run(app, args),
        Command::Diff(args) => diff::run(app, args),
        Command::Outdated(args) => outdated::run(app, args),
        Command::Remove(args) => remove::run(app, args),
        Command::Link(args) => link::run(app, args),
        Command::Unlink(args) => link::undo(app, args),
        Command::Disable(args) => disable::run(app, args),
        Command::Enable(args) => disable::undo(app, args),
        Command::Validate(args) => validate::run(app, args),
        Command::Explain(args) => explain::run(app, args),
        Command::Fmt(args) => fmt::run(app, args),
        Command::Create(args) => create::run(app, args),
        Command::Agents(args) => agents::run(app, args),
        Command::Undo(args) => undo::run(app, args),
        Command::Tree(args) => tree::run(app, args),
        Command::Why(args) => why::run(app, args),
        Command::Verify(args) => verify::run(app, args),
        Command::Doctor(args) => doctor::run(app, args),
        Command::Cache(args) => cache::run(app, args),
        Command::Catalog(args) => catalog::run(app, args),
        Command::Show(args) => show::run(app, args),
        Command::Read(args) => read::run(app, args),
        Command::Invoke(args) => invoke::run(app, args),
        Command::Tools(args) => tools::run(app, args),
        Command::Run(args) => run::run(app, args),
        Command::Policy(args) => policy::run(app, args),
        Command::Trust(args) => trust::run(app, args),
        Command::Untrust(args) => trust::undo(app, args),
        Command::Audit(args) => audit::run(app, args),
        Command::Import(args) => {
            import::run(app, args).map_err(|error| or_elsewhere(error, "import", &args.scope))
        }
        Command::Export(args) => export::run(app, args),
        Command::Completions(args) => completions::run(app, args),
        Command::Man(args) => man::run(app, args),
    }
}

/// Adds to the error of a command that `verb` that puts skills where `args` say that there is another place, if this one may
/// not be written to. Others read and change what is where it is.
fn or_elsewhere(error: Error, verb: &str, args: &ScopeArgs) -> Error {
    use std::io::{self, ErrorKind as Io};

    let (mut next, mut is_closed) = (error.source(), false);
    while let Some(cause) = next {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        is_closed |= matches!(kind, Some(Io::PermissionDenied | Io::ReadOnlyFilesystem));
        next = cause.source();
    }
    if is_closed && error.kind() == ErrorKind::Io {
        error.hint(match scope(args) {
            Some(ScopeKind::User) => format!("`skillpm {verb} --project` works in this project instead"),
            _ => format!("`skillpm {verb} -g` works on your own skills instead"),
        })
    } else {
        error
    }
}

/// Whether `command` may start another program: a script, or `git`.
pub(crate) fn may_start_others(command: &Command) -> bool {
    use Command::{Create, Diff, Doctor, Import, Install, Outdated, Run, Sync, Undo, Update};
    matches!(
        command,
        Install(_)
            | Sync(_)
            | Update(_)
            | Diff(_)
            | Outdated(_)
            | Create(_)
            | Undo(_)
            | Doctor(_)
            | Import(_)
            | Run(_)
    )
}

/// Whether `command` changes all that it changes in one transaction.
pub(crate) fn changes_as_one(command: &Command) -> bool {
    use Command::{Disable, Enable, Import, Install, Link, Remove, Sync, Undo, Unlink, Update};
    matches!(
        command,
        Install(_)
            | Sync(_)
            | Update(_)
            | Remove(_)
            | Link(_)
            | Unlink(_)
            | Disable(_)
            | Enable(_)
            | Import(_)
            | Undo(_)
    )
}

/// Whether `command` was told not to ask.
pub(crate) fn asks_nothing(command: &Command) -> bool {
    match command {
        Command::Install(args) => args.how.yes,
        Command::Sync(how) => how.yes,
        Command::Update(args) => args.yes,
        Command::Create(args) => args.yes,
        _ => false,
    }
}

/// Whether `path` stands for standard input.
fn is_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// What `paths` name. `-` is standard input, which is to be `input`.
fn targets(paths: &[PathBuf], input: Option<&Path>) -> Result<Vec<Target>> {
    if paths.iter().filter(|path| is_input(path)).count() > 1 {
        return Err(Error::usage("`-` is given twice, but standard input can be read only once")
            .hint("leave one of them out"));
    }
    let target = |path: &PathBuf| {
        if is_input(path) {
            Ok(Target::Text { bytes: standard_input()?, file: input.map(Path::to_owned) })
        } else {
            Ok(Target::Path(path.clone()))
        }
    };
    paths.iter().map(target).collect()
}

/// All of standard input, a skill's text.
fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_SKILL_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("failed to read standard input").because(error))?;
    if bytes.len() as u64 > MAX_SKILL_FILE {
        return Err(Error::usage(format!("standard input has more than {} MiB", MAX_SKILL_FILE >> 20))
            .hint("a `SKILL.md` should be a few pages of text"));
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
