//! Directories on this machine that skills are installed from. Their content belongs to its author, and may
//! be the only copy.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use super::files::Files;
use super::goal::Goal;
use super::receipts::PreviousInstall;
use crate::agents;
use crate::error::Result;
use crate::fs;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::scope::Scope;
use crate::settings::Settings;
use crate::source;
use crate::spec::Origin;

/// A source and the directory of a skill in it.
pub(crate) type SourceDir<'a> = (&'a Origin, Option<&'a str>);

/// Returns the sources of the skills that `goal` brings: where each was found, which may be below what the
/// manifest names. An editable skill is its own source, and is not copied.
pub(crate) fn coming(goal: &Goal) -> impl Iterator<Item = SourceDir<'_>> {
    goal.put.iter().filter_map(|wanted| wanted.content.locked()).map(found)
}

/// Returns the sources of the installed skills according to the manifest and the lockfile.
pub(crate) fn there(files: &Files) -> impl Iterator<Item = SourceDir<'_>> {
    files.manifest.skills().values().filter_map(from).chain(files.lock.skills.values().map(found))
}

fn found(locked: &Locked) -> SourceDir<'_> {
    (&locked.origin, locked.path.as_deref())
}

/// Returns the sources of the skills that nothing names any more.
pub(crate) fn orphan_dirs(goal: &Goal) -> impl Iterator<Item = SourceDir<'_>> {
    goal.left.values().filter_map(|was| match was {
        PreviousInstall::Copy(locked, _) => Some((&locked.origin, locked.path.as_deref())),
        PreviousInstall::Link(_) => None,
    })
}

fn from(requirement: &Requirement) -> Option<SourceDir<'_>> {
    (!requirement.editable).then_some((&requirement.origin, requirement.path.as_deref()))
}

/// Returns the directories that exist on this machine, with links resolved, and that may overlap with the
/// places of skills.
pub(crate) fn here<'a>(
    settings: &Settings,
    scope: &Scope,
    from: impl Iterator<Item = SourceDir<'a>>,
) -> Result<BTreeSet<PathBuf>> {
    let mut real = BTreeSet::new();
    // The manifest and the lockfile name the same sources, and thousands of skills come from few of them.
    let from: BTreeSet<SourceDir<'a>> = from.collect();
    let places = OnceCell::new();
    let mut last: Option<(&Origin, Option<PathBuf>)> = None;
    for (origin, path) in from {
        if last.as_ref().is_none_or(|(known, _)| *known != origin) {
            let dir = source::place(settings, scope.as_root(), origin)?;
            let is_near = |dir: &PathBuf| {
                let places: &Vec<PathBuf> = places.get_or_init(|| around(settings, scope));
                // A path that cannot be examined cannot have been read as a source.
                let real = fs::real_path(dir).ok().flatten();
                real.is_some_and(|real| {
                    places.iter().any(|place| real.starts_with(place) || place.starts_with(&real))
                })
            };
            last = Some((origin, dir.filter(is_near)));
        }
        let Some((_, Some(dir))) = &last else { continue };
        let below = path.map(|path| dir.join(path));
        // A repository may have no such directory outside its history, which is removed with it.
        let whole = origin.has_revisions() || below.is_none();
        for dir in below.iter().chain(whole.then_some(dir)) {
            real.extend(fs::real_path(dir).ok().flatten());
        }
    }
    Ok(real)
}

/// Returns the directories that contain all places of `scope`. Resolving the links of a thousand paths
/// elsewhere would take longer than much of the rest of an installation.
fn around(settings: &Settings, scope: &Scope) -> Vec<PathBuf> {
    let agents = agents::all().iter().filter_map(|agent| scope.agent_dir(settings, agent));
    let dirs: BTreeSet<PathBuf> =
        [scope.root.clone(), scope.skills_dir()].into_iter().chain(agents).collect();
    dirs.iter().filter_map(|dir| fs::real_path(dir).ok().flatten()).collect()
}
