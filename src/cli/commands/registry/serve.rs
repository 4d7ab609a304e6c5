//! `registry serve` and `registry site`, which another program does: the package manager itself stays small.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::cli::App;
use skillpm_sources::context::Context;
use skillpm_sources::env::program_dirs;
use skillpm_sources::error::{Error, Result};
use skillpm_sources::fs::{exists, real_path};

/// The program that serves registries.
const PROGRAM: &str = "skillpm-registry";

// Arguments of `registry serve` and `registry site`.
#[derive(Debug, Clone, Args)]
pub(super) struct ServeArgs {
    /// arguments for the same command of `skillpm-registry`, which its `--help` lists
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs `verb` of the other program in the place of this one. Returns its exit code, where it does not take the place.
pub(super) fn run(app: &App, verb: &str, args: &ServeArgs) -> Result<u8> {
    let program = find(&app.context)?;
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts the server")]
    let mut command = Command::new(&program);
    command.arg(verb).args(&args.arguments).current_dir(&app.context.settings.cwd);
    replace_by(&mut command)
        .map_err(|error| Error::io(format!("`{}` cannot be started", program.display())).because(error))
}

/// Makes the process that of `command`. Returns only if that fails.
#[cfg(unix)]
fn replace_by(command: &mut Command) -> std::io::Result<u8> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

/// Runs `command` and returns its exit code.
#[cfg(not(unix))]
fn replace_by(command: &mut Command) -> std::io::Result<u8> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::cli::exit::FINDINGS))
}

/// Returns the path of the program: beside this one, or else in a directory of `PATH`.
fn find(context: &Context) -> Result<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    // Links are followed: a package manager may link this program from elsewhere.
    let own = std::env::current_exe().ok().and_then(|path| real_path(&path).ok().flatten());
    let beside = own.and_then(|path| path.parent().map(Path::to_path_buf));
    let path = context.settings.env.vars.get(std::ffi::OsStr::new("PATH"));
    beside
        .into_iter()
        .chain(program_dirs(path.map(AsRef::as_ref)))
        .map(|dir| dir.join(&name))
        .find(|path| exists(path))
        .ok_or_else(|| {
            Error::usage(format!("`{PROGRAM}` is not installed: it is a program of its own"))
                .hint(format!("`cargo install {PROGRAM}` builds it; or take it from the archive of the release, and put it beside `skillpm`"))
        })
}
