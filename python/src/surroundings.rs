//! Where and how the library runs in this process.

use std::path::PathBuf;

use skillpm::env::Env;
use skillpm::error::{Error, Result};
use skillpm::settings::Settings;

/// What the environment of this process says now, for a project around `root`, else around the working
/// directory.
pub(crate) fn settings(root: Option<PathBuf>) -> Result<Settings> {
    let env = Env::from_process().map_err(|error| {
        Error::io("failed to find the working directory").because(error).hint("name the project's directory")
    })?;
    let mut settings = Settings::from_env(env)?;
    if let Some(root) = root {
        settings.cwd = settings.cwd.join(root);
    }
    Ok(settings)
}
