//! Directories of this machine that skills are installed from. What lies there is its author's, and may be the only copy.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::placed::Was;
use super::plan::Goal;
use super::scope::Scope;
use super::state::Files;
use crate::error::Result;
use crate::fs;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::settings::Settings;
use crate::source::local;
use crate::spec::Origin;

/// A source and the directory of a skill in it.
pub type SourceDir<'a> = (&'a Origin, Option<&'a str>);

/// Where the skills come from that `goal` brings: where each was found, which may be below what the manifest names.
/// What is editable is its own source, and no copy is made of it.
pub fn coming(goal: &Goal) -> impl Iterator<Item = SourceDir<'_>> {
    goal.put.iter().filter_map(|wanted| wanted.content.locked()).map(found)
}

/// Where the skills come from that are there by manifest and lockfile.
pub fn there(files: &Files) -> impl Iterator<Item = SourceDir<'_>> {
    files.manifest.skills().values().filter_map(from).chain(files.lock.skills.values().map(found))
}

fn found(locked: &Locked) -> SourceDir<'_> {
    (&locked.origin, locked.path.as_deref())
}

/// Where the skills came from that nothing names any more.
pub fn left(goal: &Goal) -> impl Iterator<Item = SourceDir<'_>> {
    goal.left.values().filter_map(|was| match was {
        Was::Copy(locked, _) => Some((&locked.origin, locked.path.as_deref())),
        Was::Link(_) => None,
    })
}

fn from(requirement: &Requirement) -> Option<SourceDir<'_>> {
    (!requirement.editable).then_some((&requirement.origin, requirement.path.as_deref()))
}

/// Those of the directories that are on this machine and there, links followed.
///
/// # Errors
///
/// A path that starts with `~` where the home directory is not known.
pub fn here<'a>(
    settings: &Settings,
    scope: &Scope,
    from: impl Iterator<Item = SourceDir<'a>>,
) -> Result<BTreeSet<PathBuf>> {
    let mut real = BTreeSet::new();
    for (origin, path) in from {
        let Some(dir) = local::place(settings, scope, origin)? else { continue };
        let below = path.map(|path| dir.join(path));
        // A repository may have no such directory outside its history, which goes with it.
        let whole = matches!(origin, Origin::Git(_)) || below.is_none();
        for dir in below.into_iter().chain(whole.then_some(dir)) {
            // What cannot be looked at cannot have been read as a source.
            real.extend(fs::real_path(&dir).ok().flatten());
        }
    }
    Ok(real)
}
