//! Where and how the library runs in this process.

use std::io;
use std::path::PathBuf;

use skillpm_sources::env::{Env, work_dir};
use skillpm_sources::error::{Error, Result};
use skillpm_sources::settings::Settings;

/// What the environment of this process says now, for directories that are named in full: the working directory may be
/// gone.
pub(crate) fn settings_anywhere() -> Result<Settings> {
    let root = || PathBuf::from(std::path::MAIN_SEPARATOR_STR);
    Settings::from_env(Env::from_process_at(work_dir().unwrap_or_else(|_| root())))
}

/// What the environment of this process says now, for a project around `root`, else around the working
/// directory.
pub(crate) fn settings(root: Option<PathBuf>) -> Result<Settings> {
    let env = Env::from_process().map_err(|error| nowhere(error, "name the project's directory"))?;
    let mut settings = Settings::from_env(env)?;
    if let Some(root) = root {
        settings.cwd = settings.cwd.join(root);
    }
    Ok(settings)
}

/// The directory `dir` for who is where this process is now; without one, that very place.
pub(crate) fn below_here(dir: Option<PathBuf>) -> Result<PathBuf> {
    let here = |hint| work_dir().map_err(|error| nowhere(error, hint));
    match dir {
        Some(dir) if dir.is_absolute() => Ok(dir),
        Some(dir) => Ok(here("name an absolute one")?.join(dir)),
        None => here("name one with `cwd`"),
    }
}

fn nowhere(error: io::Error, hint: &str) -> Error {
    Error::io("failed to find the working directory").because(error).hint(hint)
}
