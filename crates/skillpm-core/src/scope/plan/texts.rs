//! The new content of the two files.

use std::collections::BTreeMap;

use crate::lockfile::{Locked, Lockfile};
use crate::manifest::{Manifest, Requirement};
use crate::scope::files::Files;
use crate::scope::goal::Goal;
use crate::text::conflict_line;

pub(super) fn new_lock(goal: &Goal, files: &Files) -> Option<Lockfile> {
    let mut lock = files.lock.clone();
    for wanted in goal.put.iter().chain(&goal.record) {
        match wanted.content.locked().cloned() {
            Some(locked) => {
                let agents = wanted.listed().map(ToOwned::to_owned).collect();
                lock.skills.insert(wanted.name.clone(), Locked { agents, ..locked });
            }
            None => drop(lock.skills.remove(&wanted.name)),
        }
    }
    for name in &goal.remove {
        lock.skills.remove(name);
    }
    // Removing conflict markers is a change in itself.
    (lock != files.lock || files.conflicts.is_some()).then_some(lock)
}

pub(super) fn new_manifest(goal: &Goal, files: &Files) -> Option<Manifest> {
    // Copying the manifest costs more than the rest of a plan that does not change it.
    let silent = goal.put.iter().chain(&goal.record).all(|wanted| wanted.requirement.is_none());
    let has_dependencies = || files.manifest.skills().values().any(|entry| entry.dependency);
    let is_merged = files.manifest_text.as_deref().and_then(conflict_line).is_some();
    if silent
        && !is_merged
        && goal.entries.is_empty()
        && goal.remove.is_empty()
        && goal.manifest_agents.is_none()
        && !has_dependencies()
    {
        return None;
    }
    let changed = rewritten(goal, files.manifest.clone());
    if !is_merged && changed.is_written_as(&files.manifest) {
        return None;
    }
    if files.manifest_text.is_some() || files.lock.skills.is_empty() {
        return Some(changed);
    }
    // A lockfile alone is enough, but the next restore removes what a manifest does not name.
    let mut whole = files.manifest.clone();
    for (name, locked) in &files.lock.skills {
        whole.set_skill(name, locked.requirement());
    }
    Some(rewritten(goal, whole))
}

/// Returns `manifest` with the skills and agents of `goal`.
fn rewritten(goal: &Goal, mut manifest: Manifest) -> Manifest {
    let put = goal
        .put
        .iter()
        .chain(&goal.record)
        .filter_map(|wanted| Some((&wanted.name, wanted.requirement.clone()?)));
    // Sorted, so that the order of discovery does not matter.
    let put: BTreeMap<_, _> = put.collect();
    let entries = goal.entries.iter().map(|(name, entry)| (name, entry.clone()));
    for (name, requirement) in entries.chain(put) {
        manifest.set_skill(name, requirement);
    }
    for name in &goal.remove {
        manifest.remove_skill(name);
    }
    follow(goal, &mut manifest);
    if let Some(agents) = &goal.manifest_agents {
        manifest.set_agents(agents.clone());
    }
    manifest
}

/// Makes the entries of dependencies match their lock entries, and drops those that add nothing.
fn follow(goal: &Goal, manifest: &mut Manifest) {
    for wanted in goal.put.iter().chain(&goal.record) {
        let Some(old) = manifest.skills().get(&wanted.name).filter(|old| old.dependency) else { continue };
        if old.is_implied() {
            manifest.remove_skill(&wanted.name);
        } else if let Some(locked) = wanted.content.locked().filter(|locked| !locked.meets(old)) {
            let (disabled, agents) = (old.disabled, old.agents.clone());
            let new = Requirement { disabled, agents, dependency: true, ..locked.requirement() };
            manifest.set_skill(&wanted.name, new);
        }
    }
}
