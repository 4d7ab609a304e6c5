//! `trust` and `untrust`: manage the directories whose skills may run scripts although they are not locked.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Opt, Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock, Own};
use crate::path::normal;
use crate::trust::{Standing, TrustedDir, TrustedDirs, exposed};

/// A request to trust directories.
#[derive(Debug, Clone, Default)]
pub struct TrustRequest {
    /// The directories. If empty, the trusted ones are listed.
    pub directories: Vec<PathBuf>,
    /// Whether to trust even the home directory, the root directory or a directory between them.
    pub force: bool,
}

/// A request to stop trusting directories.
#[derive(Debug, Clone, Default)]
pub struct UntrustRequest {
    /// The directories. They need not exist any more.
    pub directories: Vec<PathBuf>,
}

/// The directories that are now trusted. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrustOutcome {
    /// All directories, sorted by path.
    pub directories: Vec<Trusted>,
    /// The paths that this command added or removed.
    pub changed: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// One directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trusted {
    /// The path, with all links resolved.
    pub path: String,
    /// The time when it was trusted.
    pub since: String,
    /// Whether the trust is still valid.
    pub state: TrustState,
    /// The reason, if it is not.
    pub reason: Option<String>,
}

/// Whether the trust in a directory is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustState {
    /// It is valid.
    Trusted,
    /// The directory is gone, or another one has replaced it.
    Replaced,
    /// Other users control its content.
    Exposed,
}

/// Trusts directories, with everything below them. Without any, returns the trusted ones.
///
/// # Errors
///
/// Fails for something that is not a directory; for the home directory, or one above it, without `force`; for
/// a directory that other users control; and if the file of trusted directories cannot be written. Nothing
/// has been changed then.
pub fn trust(context: &Context, request: &TrustRequest) -> Result<TrustOutcome> {
    if request.directories.is_empty() {
        return Ok(outcome(&TrustedDirs::read(&context.settings), Vec::new()));
    }
    let mut wanted = Vec::new();
    for dir in &request.directories {
        wanted.push(checked(context, dir, request.force)?);
    }
    change(context, |dirs| {
        let mut changed = Vec::new();
        for dir in wanted {
            if dirs.get(&dir.path).is_some_and(|known| known.identity == dir.identity) {
                continue;
            }
            changed.push(dir.path.display().to_string());
            dirs.insert(dir);
        }
        Ok(changed)
    })
}

/// Removes the trust in directories.
///
/// # Errors
///
/// Fails for a directory that is not trusted, and names the trusted one above it; also if the file of trusted
/// directories cannot be written. Nothing has been changed then.
pub fn untrust(context: &Context, request: &UntrustRequest) -> Result<TrustOutcome> {
    change(context, |dirs| {
        let mut changed = Vec::new();
        for given in &request.directories {
            let path = context.settings.cwd.join(given);
            let real = fs::real_path(&path)?.unwrap_or_else(|| normal(&path));
            match dirs.remove(&real) {
                Some(dir) => changed.push(dir.path.display().to_string()),
                // It was named twice.
                None if changed.contains(&real.display().to_string()) => {}
                None => return Err(unknown(dirs, &real)),
            }
        }
        Ok(changed)
    })
}

/// Changes the file while holding its lock.
fn change(
    context: &Context,
    edit: impl FnOnce(&mut TrustedDirs) -> Result<Vec<String>>,
) -> Result<TrustOutcome> {
    let file = TrustedDirs::file(&context.settings)?;
    let state = file.parent().unwrap_or(&file);
    let _lock = DirLock::acquire(state, || context.reporter.waiting_for_lock(state))?;
    let mut dirs = TrustedDirs::read(&context.settings);
    let changed = edit(&mut dirs)?;
    if !changed.is_empty() {
        fs::write_small(&file, dirs.text().as_bytes())?;
    }
    Ok(outcome(&dirs, changed))
}

fn outcome(dirs: &TrustedDirs, changed: Vec<String>) -> TrustOutcome {
    let directories = dirs.iter().map(|dir| {
        let (state, reason) = match dir.standing(&dir.path) {
            Ok(Standing::Trusted(_)) => (TrustState::Trusted, None),
            Ok(Standing::Exposed { path, reason }) if path == dir.path => (TrustState::Exposed, Some(reason)),
            Ok(Standing::Exposed { path, reason }) => {
                (TrustState::Exposed, Some(format!("`{}`: {reason}", path.display())))
            }
            Ok(Standing::Replaced(_) | Standing::Untrusted) => (
                TrustState::Replaced,
                Some("the trusted directory is gone, or another one replaced it".to_owned()),
            ),
            Err(error) => (TrustState::Exposed, Some(Error::from(error).with_causes().to_string())),
        };
        Trusted { path: dir.path.display().to_string(), since: dir.since.clone(), state, reason }
    });
    let directories = directories.collect();
    TrustOutcome { directories, changed, warnings: dirs.damage().into_iter().collect() }
}

/// Returns the directory `given`, if it may be trusted.
fn checked(context: &Context, given: &Path, force: bool) -> Result<TrustedDir> {
    let path = context.settings.cwd.join(given);
    let shown = given.display();
    let no_directory = || {
        Error::usage(format!("`{shown}` is not a directory"))
            .hint("name the directory of a skill, or one above it")
    };
    let real = fs::real_path(&path)?.ok_or_else(no_directory)?;
    let own = Own::of(&real)?.ok_or_else(no_directory)?;
    if real.to_str().is_none() {
        return Err(Error::usage(format!("`{shown}` cannot be trusted: its path is not UTF-8"))
            .hint("give it a name in UTF-8 first"));
    }
    let home = match &context.settings.home {
        Some(home) => fs::real_path(home)?,
        None => None,
    };
    let holds = if real.parent().is_none() {
        Some("everything on this machine")
    } else if home.is_some_and(|home| home.starts_with(&real)) {
        Some("all that is in your home directory")
    } else {
        None
    };
    if let Some(what) = holds.filter(|_| !force) {
        return Err(Error::usage(format!("`{}` contains {what}, including downloads", real.display()))
            .hint(message!("trust the directory you work in, or use ", Opt::Force)));
    }
    if let Some((path, reason)) = exposed(&real, &real)? {
        return Err(Error::integrity(format!("`{shown}` cannot be trusted: `{}`: {reason}", path.display()))
            .hint("change its owner or its mode, as with `chmod o-w`"));
    }
    Ok(TrustedDir::now(&real, own.identity))
}

fn unknown(dirs: &TrustedDirs, real: &Path) -> Error {
    let error = Error::usage(format!("`{}` is not trusted", real.display()));
    match dirs.covers(real) {
        Some(above) => error.hint(message!(
            format_args!("`{}` is trusted, with everything below it: ", above.path.display()),
            Verb::Untrust.call().path(&above.path)
        )),
        None => error.hint(message!(Verb::Trust, " lists the trusted ones")),
    }
}
