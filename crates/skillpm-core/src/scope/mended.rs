//! Repair of a lockfile after a merge of version control.

use super::files::{Files, parse_lock, read_lockfile, read_manifest, read_text};
use super::trees::is_tree;
use super::{Scope, problem};
use crate::advice::{Verb, message};
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::lockfile::{LockError, Lockfile, Mended};
use crate::manifest::Manifest;

impl Files {
    /// Reads both files of `scope`. Repairs what a merge left in the lockfile, with or without conflict
    /// markers, if the manifest says what is requested, and a manifest to which both sides added skills.
    pub fn read_mended(scope: &Scope) -> Result<Self> {
        let error = match Self::read(scope) {
            Ok(files) => return Ok(files),
            Err(error) => error,
        };
        let (manifest, manifest_text) = match read_manifest(scope) {
            Ok(read) => read,
            Err(error) => merged_manifest(scope).ok_or(error)?,
        };
        let lock_text = read_lockfile(scope)?;
        if let Ok(lock) = parse_lock(scope, lock_text.as_deref()) {
            return Ok(Self { manifest, manifest_text, lock, lock_text, conflicts: None });
        }
        let is_merged = |text: &String| Lockfile::parse(text).is_err_and(|error| error.is_of_merge());
        let Some(text) = lock_text.filter(is_merged) else { return Err(error) };
        let mended = Mended::parse(&text).ok();
        // Without a manifest, it is unknown what is requested.
        let is_whole = |mended: &Mended| mended.others.is_empty() && !mended.is_torn;
        let Some(Mended { mut lock, others, .. }) =
            mended.filter(|mended| manifest_text.is_some() || is_whole(mended))
        else {
            return Err(torn(scope, &text).unwrap_or(error));
        };
        let conflicts = Some(others.keys().cloned().collect());
        for (name, other) in others {
            // The installed tree comes from one of the sides, and may be replaced like any installed tree.
            if is_tree(&scope.skill_dir(&name), &other.digest) {
                lock.skills.insert(name, other);
            }
        }
        Ok(Self { manifest, manifest_text, lock, lock_text: Some(text), conflicts })
    }
}

/// Returns a manifest that has the skills of both sides of a merge, and the text with the conflict markers.
fn merged_manifest(scope: &Scope) -> Option<(Manifest, Option<String>)> {
    let text = read_text(&scope.manifest).ok()??.ok()?;
    Some((Manifest::merged(&text)?, Some(text)))
}

/// Returns the error for a lockfile in conflict that cannot be repaired, or `None` if it has no conflict
/// markers.
fn torn(scope: &Scope, text: &str) -> Option<Error> {
    let Err(LockError::MergeConflict { line }) = Lockfile::parse(text) else { return None };
    let place = FilePosition::new(&scope.lockfile, line, 1);
    let message = "there are merge-conflict markers, and the sides cannot be told apart";
    Some(Error::at(ErrorKind::Config, place, message).coded(problem::LOCK_CONFLICT.id).hint(message!(
        "choose one side, for example with `git checkout --ours skillpm.lock`, then run ",
        Verb::Install.within(scope.kind),
        ": it adds what the manifest asks for"
    )))
}
