//! Applies a resolution to the manifest and the lockfile: which skill depends on which, and what is no longer needed.

use std::collections::{BTreeMap, BTreeSet};

use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::resolve::Assignment;
use crate::resolve::graph::dependents;
use crate::scope::plan::{Content, Wanted};
use crate::scope::state::Files;

/// Writes into `wanted` which skills each one depends on. The manifest does not mention what was selected, unless an
/// editable skill depends on it.
pub(crate) fn write_all(assignment: &Assignment, wanted: &mut [Wanted]) {
    for wanted in wanted {
        if assignment.is_selected(&wanted.name) {
            let is_of_editable = assignment.of_editable().contains(&wanted.name);
            wanted.requirement = wanted.content.locked().filter(|_| is_of_editable).map(Locked::requirement);
        }
        if let Content::Locked(locked) | Content::AsItIs(locked) = &mut wanted.content {
            write(assignment, &wanted.name, locked);
        }
    }
}

/// Writes the dependencies of `name` into its future lock entry. Dependencies that were not resolved stay.
pub(crate) fn write(assignment: &Assignment, name: &SkillName, locked: &mut Locked) {
    if let Some(needed) = assignment.of(name) {
        locked.dependencies = needed.iter().cloned().collect();
    }
}

/// Returns manifest entries for skills that are locked only because others need them and that an editable
/// skill now depends on: the manifest has to request them.
pub(crate) fn request_for_editable(
    assignment: &Assignment,
    files: &Files,
) -> BTreeMap<SkillName, Requirement> {
    let silent = assignment.of_editable().iter().filter(|name| !files.manifest.asks_for(name));
    let entry = |name: &SkillName| {
        let written = files.manifest.skills().get(name).cloned();
        let entry = written.or_else(|| files.lock.skills.get(name).map(Locked::requirement))?;
        Some((name.clone(), Requirement { dependency: false, ..entry }))
    };
    silent.filter_map(entry).collect()
}

/// Leaves the dependencies of `wanted` as they are in the lockfile, since they were not examined.
pub(crate) fn keep_locked(files: &Files, wanted: &mut [Wanted]) {
    for wanted in wanted {
        if let (Content::Locked(locked), Some(old)) =
            (&mut wanted.content, files.lock.skills.get(&wanted.name))
        {
            locked.dependencies.clone_from(&old.dependencies);
        }
    }
}

/// Returns the skills that others depended on and that nothing depends on any more once `wanted` is installed
/// and the manifest also requests `entries`.
pub(crate) fn unneeded<'a>(
    files: &'a Files,
    wanted: &'a [Wanted],
    entries: impl Iterator<Item = &'a SkillName>,
) -> Vec<SkillName> {
    let anew = wanted.iter().map(|one| (&one.name, one.content.locked())).collect();
    let asked = wanted.iter().filter(|one| one.is_asked()).map(|one| &one.name);
    let stay = files.staying(asked.chain(entries), &anew);
    let lock = &files.lock.skills;
    files.kept().into_iter().filter(|name| lock.contains_key(name) && !stay.contains(name)).collect()
}

/// Returns the skills that neither the manifest nor `asked` requests, each with the skills among `stay` that
/// need it, once the entries in `anew` replace the current lock entries.
pub(crate) fn dependents_of<'a>(
    files: &'a Files,
    stay: &BTreeSet<SkillName>,
    asked: &BTreeSet<&SkillName>,
    anew: &BTreeMap<&'a SkillName, Option<&'a Locked>>,
) -> BTreeMap<SkillName, BTreeSet<SkillName>> {
    let lock = &files.lock.skills;
    let as_before = lock.iter().filter(|(name, _)| !anew.contains_key(name));
    let mut by_name =
        dependents(as_before.chain(anew.iter().filter_map(|(name, locked)| Some((*name, (*locked)?)))));
    // Without a manifest, everything in the lockfile is requested.
    let is_asked = |name: &SkillName| match files.manifest_text {
        Some(_) => asked.contains(name) || files.manifest.asks_for(name),
        None => asked.contains(name) || lock.contains_key(name),
    };
    by_name.retain(|name, by| {
        by.retain(|by| stay.contains(by));
        !by.is_empty() && stay.contains(name) && !is_asked(name)
    });
    by_name
}
