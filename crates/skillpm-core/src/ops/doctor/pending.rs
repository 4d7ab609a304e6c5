//! Leftovers of killed runs beside the files that they were writing, wherever verbs write.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::fs::{self, DirLock, Kind};
use crate::ops::install::own;
use crate::ops::mcp;
use crate::scope::Scope;
use crate::scope::health::{Finding, Inspection, Remedy, problem};
use crate::scope::state::OnDisk;
use crate::settings::Settings;

/// The number of levels of directories that are searched in the user's own directories.
const DEPTH: usize = 3;

/// Returns what was left in a scope outside of the directories that the inspection `look` lists itself: in skills, in
/// the directory where people write them, and beside the configuration of MCP clients.
pub(super) fn of_scope(settings: &Settings, look: &Inspection<'_>) -> Vec<Finding> {
    let scope = &look.scope;
    let own = own::dir(scope);
    let mut dirs = mcp::directories(settings, scope);
    dirs.extend(directories(&own));
    dirs.retain(|dir| scope.check_inside(dir).is_ok());
    // They have no links in them, and some are elsewhere on this machine.
    dirs.extend(look.state.sources().iter().cloned());
    let mut left: BTreeSet<PathBuf> = dirs.iter().flat_map(|dir| fs::abandoned(dir)).collect();
    if scope.check_inside(&own).is_ok() {
        left.extend(new_skills(&own));
    }
    for (dir, entries) in [(scope.skills_dir(), &look.canonical), (scope.disabled_dir(), &look.disabled)] {
        let trees = entries.iter().flatten().filter(|(_, there)| matches!(there, OnDisk::Tree(_)));
        left.extend(trees.flat_map(|(name, _)| in_skill(scope, &dir.join(name))));
    }
    let told = |path: &PathBuf| look.leftovers.contains(path);
    left.into_iter()
        .filter(|path| !told(path))
        .map(|path| Finding { scope: Some(scope.kind), ..finding(path) })
        .collect()
}

/// Returns what was left in the user's own directories for settings, state and data.
pub(super) fn of_user(settings: &Settings) -> Vec<Finding> {
    let dirs = &settings.dirs;
    let mut left = BTreeSet::new();
    for dir in [&dirs.config, &dirs.state, &dirs.data].into_iter().flatten() {
        search(dir, DEPTH, &mut left);
    }
    left.into_iter().map(finding).collect()
}

/// Returns what was left in the installed skill at `path`, which is not opened if nothing in it changed.
fn in_skill(scope: &Scope, path: &Path) -> Vec<PathBuf> {
    let all = scope.index.leftovers(path);
    all.iter().map(|below| path.join(below)).filter(|path| fs::is_abandoned(path)).collect()
}

/// Returns the rest of new skills in `dir`, whose files are complete before they get their name.
fn new_skills(dir: &Path) -> Vec<PathBuf> {
    let names = fs::list_dir(dir).unwrap_or_default();
    let left: Vec<_> = names.iter().map(|name| dir.join(name)).filter(|path| fs::is_leftover(path)).collect();
    // The process that makes one holds a lock on the directory.
    if left.is_empty() || DirLock::try_acquire(dir).is_some() { left } else { Vec::new() }
}

fn search(dir: &Path, depth: usize, left: &mut BTreeSet<PathBuf>) {
    left.extend(fs::abandoned(dir));
    if depth > 0 {
        directories(dir).filter(|below| !fs::is_pending(below)).for_each(|below| {
            search(&below, depth - 1, left);
        });
    }
}

/// Returns the directories in `dir`, without links to others.
fn directories(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let names = fs::list_dir(dir).unwrap_or_default();
    let paths: Vec<_> = names.iter().map(|name| dir.join(name)).collect();
    paths.into_iter().filter(|path| matches!(fs::kind(path), Ok(Some(Kind::Directory))))
}

fn finding(path: PathBuf) -> Finding {
    let message = format!("`{}` was left behind by an interrupted run", path.display());
    Finding::new(&problem::LEFTOVER, path, message).remedy(Remedy::Sweep)
}
