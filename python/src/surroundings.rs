//! Where and how the library runs in this process.

use std::path::PathBuf;

use skillpm::env::Env;
use skillpm::error::{Error, Result};
use skillpm::settings::Settings;

/// What the environment of this process says now, for a project around `root`, else around the working
/// directory.
pub(crate) fn settings(root: Option<PathBuf>) -> Result<Settings> {
    let mut settings = Settings::from_env(env("name the project's directory")?)?;
    if let Some(root) = root {
        settings.cwd = settings.cwd.join(root);
    }
    Ok(settings)
}

/// The directory `dir` for who is where this process is now; without one, that very place.
pub(crate) fn below_here(dir: Option<PathBuf>) -> Result<PathBuf> {
    match dir {
        Some(dir) if dir.is_absolute() => Ok(dir),
        Some(dir) => Ok(env("name an absolute one")?.cwd.join(dir)),
        None => Ok(env("name one with `cwd`")?.cwd),
    }
}

fn env(hint: &str) -> Result<Env> {
    Env::from_process()
        .map_err(|error| Error::io("failed to find the working directory").because(error).hint(hint))
}
