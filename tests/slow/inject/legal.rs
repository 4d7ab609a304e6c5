//! What a machine may look like after a fault.

use std::collections::{BTreeMap, BTreeSet};

use super::Scenario;
use crate::support::Sandbox;
use crate::support::snapshot::{Snapshot, Thing};

/// The name without the random part that a temporary one has.
fn settled(path: &str) -> String {
    let part = |part: &str| {
        for prefix in [".skillpm-tmp-", ".skillpm-", "stage-", ".download-", "gone-", ".tmp"] {
            if let Some(rest) = part.strip_prefix(prefix)
                && rest.len() == 6
                && rest.bytes().all(|b| b.is_ascii_alphanumeric())
            {
                return format!("{prefix}*");
            }
        }
        part.to_owned()
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// All that is on the machine, random parts of names taken out, and what is noted of files by their numbers and times.
pub(super) fn state(sandbox: &Sandbox) -> Snapshot {
    let all = Snapshot::of(sandbox.root());
    let is_note =
        |path: &str| path.starts_with("home/.local/state/skillpm/placed/") && !path.contains(".skillpm-tmp-");
    let all = all.0.into_iter().filter(|(path, _)| !is_note(path));
    Snapshot(all.map(|(path, thing)| (settled(&path), thing)).collect())
}

/// Where a path belongs to something that is to be old or new as a whole; `None` for what only skillpm
/// looks at, and for directories that hold several of them.
fn unit(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let hidden = |part: &str| part.starts_with(".skillpm-") && part != ".skillpm-disabled";
    match parts[..] {
        ["project", _, "skills" | ".skillpm-disabled", name, ..] if !hidden(name) => {
            Some(parts[..4].join("/"))
        }
        ["project", "skills", name, ..] if !hidden(name) => Some(parts[..3].join("/")),
        ["home", ".local" | ".cache", ..] | ["project", "skills", ..] => None,
        ["project", dir, ..] if [".agents", ".claude", ".junie"].contains(&dir) => None,
        ["project", name, ..] if hidden(name) => None,
        [root, name, ..] => Some(format!("{root}/{name}")),
        _ => None,
    }
}

pub(super) fn units(state: &Snapshot) -> BTreeMap<String, Snapshot> {
    // What is being written belongs to nothing yet; the next run has to clear it.
    let is_pending = |path: &str| path.split('/').any(|part| part == ".skillpm-tmp-*");
    let settled = state.0.iter().filter(|(path, _)| !is_pending(path));
    let state = Snapshot(settled.map(|(path, thing)| (path.clone(), thing.clone())).collect());
    let names: BTreeSet<String> = state.0.keys().filter_map(|path| unit(path)).collect();
    names.into_iter().map(|name| (name.clone(), state.part(&name))).collect()
}

/// What is wrong with the machine: what no fault may lead to.
pub(super) fn illegal(
    scenario: &Scenario,
    now: &Snapshot,
    before: &Snapshot,
    after: &Snapshot,
) -> Result<(), String> {
    let [there, before, after] = [now, before, after].map(units);
    let names: BTreeSet<&String> = there.keys().chain(before.keys()).chain(after.keys()).collect();
    for name in names {
        let [there, before, after] = [&there, &before, &after].map(|units| units.get(name));
        let absent = scenario.absent && there.is_none();
        if there != before && there != after && !absent {
            return Err(format!("`{name}` is neither old nor new: {there:?}, {before:?}, {after:?}"));
        }
    }
    lost(scenario, now)
}

/// What the user wrote and is nowhere any more.
pub(super) fn lost(scenario: &Scenario, now: &Snapshot) -> Result<(), String> {
    match scenario.precious.iter().find(|text| !now.has(text)) {
        Some(text) => Err(format!("`{text}` is lost: {now:?}")),
        None => Ok(()),
    }
}

/// The project without what `undo` and `update --abort` would need, and without the directories that are empty: a run that was
/// killed before it began may leave one, and who takes something back may fail to remove one.
pub(super) fn project(sandbox: &Sandbox) -> Snapshot {
    let mut all = Snapshot::of(&sandbox.project());
    let notes = [".agents/.skillpm-undo", ".agents/.skillpm-merge"];
    all.0.retain(|path, _| !notes.iter().any(|note| path.starts_with(note)));
    let dirs: Vec<String> = all.0.keys().rev().cloned().collect();
    for dir in dirs {
        if all.0[&dir] == Thing::Directory && all.part(&dir).0.len() == 1 {
            all.0.remove(&dir);
        }
    }
    all
}

/// Temporary names anywhere on the machine. Half downloads are not meant, which are kept until they are old, nor half notes
/// of the user's, which go with the next note. What `undo` would need goes as a whole.
pub(super) fn rubbish(state: &Snapshot) -> Vec<&String> {
    let is_temporary =
        |path: &&String| ["*", ".skillpm-tx", ".skillpm-moving"].iter().any(|part| path.contains(part));
    let goes_later = |path: &String| {
        let is_half = path.contains("/.download-*") && path.starts_with("home/.cache/")
            || path.contains("/.skillpm-tmp-*") && path.starts_with("home/.local/state/");
        let is_note = ["undo", "merge"]
            .iter()
            .any(|note| path.starts_with(&format!("project/.agents/.skillpm-{note}/")));
        is_half || is_note
    };
    state.0.keys().filter(is_temporary).filter(|path| !goes_later(path)).collect()
}
