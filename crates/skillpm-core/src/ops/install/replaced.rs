//! Warnings about installed skills that an installation replaces with another version.

use crate::advice::Warning;
use crate::codes;
use crate::lockfile::Locked;
use crate::scope::plan::{Goal, Wanted};
use crate::scope::state::Files;
use crate::spec::Reference;

/// Returns the warnings about the skills of `goal` that are locked at another version in `files`.
pub(super) fn told(goal: &Goal, files: &Files) -> Vec<Warning> {
    let asked = goal.put.iter().filter(|wanted| wanted.requirement.is_some());
    let both = asked.filter_map(|wanted| Some((wanted, files.lock.skills.get(&wanted.name)?)));
    both.flat_map(|(wanted, old)| [moved(wanted, old), unpinned(wanted, files)]).flatten().collect()
}

/// Returns a warning if a skill with the same files now comes from somewhere else, which nothing else reports.
fn moved(wanted: &Wanted, old: &Locked) -> Option<Warning> {
    let new = wanted.content.locked().filter(|new| new.digest == old.digest)?;
    let place = |locked: &Locked| {
        let inside = locked.path.as_deref().map(|path| format!(", `{path}`")).unwrap_or_default();
        format!("`{}`{inside}", locked.origin)
    };
    (place(new) != place(old)).then(|| {
        let told = format!(
            "`{}` has the same files as before, and comes from {} from now on, no longer from {}",
            wanted.name,
            place(new),
            place(old)
        );
        Warning::new(codes::SOURCE_CHANGED, told)
    })
}

/// Returns a warning if a skill is no longer pinned as it was in the manifest.
fn unpinned(wanted: &Wanted, files: &Files) -> Option<Warning> {
    let before = files.manifest.skills().get(&wanted.name)?.reference.as_ref()?;
    let now = wanted.requirement.as_ref()?.reference.as_ref();
    let is_pin = matches!(before, Reference::Tag(_) | Reference::Rev(_));
    (is_pin && now != Some(before)).then(|| {
        let now = now.map_or("the default branch".to_owned(), |now| format!("`{}`", now.name()));
        let told = format!("`{}` was pinned to `{}` and now follows {now}", wanted.name, before.name());
        Warning::new(codes::PIN_REMOVED, told)
    })
}
