//! What a resolution makes of manifest and lockfile: who depends on whom, and what nothing depends on any more.

use std::collections::{BTreeMap, BTreeSet};

use crate::install::plan::{Content, Wanted, requirement_of};
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::resolve::Assignment;
use crate::resolve::graph::dependents;

/// Writes into `wanted` which skills each one depends on. Of what was selected the manifest says nothing, unless an editable
/// skill depends on it.
pub(in crate::ops) fn write_all(assignment: &Assignment, wanted: &mut [Wanted]) {
    for wanted in wanted {
        if assignment.is_selected(&wanted.name) {
            let is_of_editable = assignment.of_editable().contains(&wanted.name);
            wanted.requirement = wanted.content.locked().filter(|_| is_of_editable).map(requirement_of);
        }
        if let Content::Locked(locked) | Content::AsItIs(locked) = &mut wanted.content {
            write(assignment, &wanted.name, locked);
        }
    }
}

/// Writes what `name` depends on into what is to be locked of it; what was not resolved stays.
pub(in crate::ops) fn write(assignment: &Assignment, name: &SkillName, locked: &mut Locked) {
    if let Some(needed) = assignment.of(name) {
        locked.dependencies = needed.iter().cloned().collect();
    }
}

/// Returns the entries of skills that are locked for others alone and that an editable skill depends on now: the manifest
/// has to request them.
pub(in crate::ops) fn request_for_editable(
    assignment: &Assignment,
    files: &Files,
) -> BTreeMap<SkillName, Requirement> {
    let silent = assignment.of_editable().iter().filter(|name| !files.manifest.asks_for(name));
    let entry = |name: &SkillName| {
        let written = files.manifest.skills().get(name).cloned();
        let entry = written.or_else(|| files.lock.skills.get(name).map(requirement_of))?;
        Some((name.clone(), Requirement { dependency: false, ..entry }))
    };
    silent.filter_map(entry).collect()
}

/// Leaves the dependencies of `wanted` as the lockfile has them: nobody has looked at them.
pub(in crate::ops) fn keep_locked(files: &Files, wanted: &mut [Wanted]) {
    for wanted in wanted {
        if let (Content::Locked(locked), Some(old)) =
            (&mut wanted.content, files.lock.skills.get(&wanted.name))
        {
            locked.dependencies.clone_from(&old.dependencies);
        }
    }
}

/// Returns the skills that others depended on and that nothing depends on any more when `wanted` is there and the manifest
/// requests `entries`, too.
pub(in crate::ops) fn unneeded<'a>(
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

/// Returns the skills for which nobody asks, neither the manifest nor who asks for `asked`, with those that need them,
/// of the ones that `stay`, once what is `anew` is locked instead of what is now.
pub(in crate::ops) fn dependents_of<'a>(
    files: &'a Files,
    stay: &BTreeSet<SkillName>,
    asked: &BTreeSet<&SkillName>,
    anew: &BTreeMap<&'a SkillName, Option<&'a Locked>>,
) -> BTreeMap<SkillName, BTreeSet<SkillName>> {
    let lock = &files.lock.skills;
    let as_before = lock.iter().filter(|(name, _)| !anew.contains_key(name));
    let mut by_name =
        dependents(as_before.chain(anew.iter().filter_map(|(name, locked)| Some((*name, (*locked)?)))));
    // A lockfile alone asks for all that it has.
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
