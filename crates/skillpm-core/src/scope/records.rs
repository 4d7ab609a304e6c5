//! Where the records of this machine about scopes are: in the user's own state directory, one file for each scope.

use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::error::Result;
use crate::fs::{self, Kind};
use crate::scope::Scope;
use crate::settings::Settings;

/// Returns the file of the record `NAME.ending` in `room` about `scope`, or `None` if this user has no state directory, and
/// the directory of the scope as the record names it.
pub(super) fn of_scope(
    settings: &Settings,
    scope: &Scope,
    room: &str,
    ending: &str,
) -> (Option<PathBuf>, String) {
    let work_dir = scope.work_dir();
    let real = fs::resolved(&work_dir);
    // In the user's home both scopes share one directory, and have a record each.
    let key = [scope.kind.to_string().as_bytes(), b"\0", real.as_os_str().as_encoded_bytes()].concat();
    let file = directory(settings, room).map(|dir| dir.join(format!("{}.{ending}", Digest::of(&key).hex())));
    (file, real.display().to_string())
}

/// Returns the records in `room` of scopes that no longer exist, such as those of removed projects. `directory_in` returns
/// the directory that a record names, or `None` if it cannot be read.
pub(super) fn stale(
    settings: &Settings,
    room: &str,
    directory_in: impl Fn(&Path) -> Option<String>,
) -> Result<Vec<PathBuf>> {
    let Some(dir) = directory(settings, room) else { return Ok(Vec::new()) };
    let files = fs::list_dir(&dir)?.into_iter().map(|name| dir.join(name));
    let is_there = |scope: String| matches!(fs::kind(Path::new(&scope)), Ok(Some(Kind::Directory)));
    Ok(files.filter(|file| !directory_in(file).is_some_and(is_there)).collect())
}

fn directory(settings: &Settings, room: &str) -> Option<PathBuf> {
    settings.dirs.state.as_ref().map(|state| state.join(room))
}
