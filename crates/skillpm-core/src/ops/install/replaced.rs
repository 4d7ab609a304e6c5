//! Warnings about installed skills that an installation replaces with another version. `update` asks before
//! it adds capabilities; for `install`, naming the source counts as consent.

use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::install::plan::{Goal, Wanted};
use crate::install::scope::ScopeKind;
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::review::review;
use crate::spec::Reference;
use crate::store::Store;

/// Returns the warnings about the skills of `goal` that are locked at another version in `files`, the files
/// of a scope of `kind`.
pub(super) fn told(context: &Context, kind: ScopeKind, goal: &Goal, files: &Files) -> Vec<Warning> {
    let asked = goal.put.iter().filter(|wanted| wanted.requirement.is_some());
    let both = asked.filter_map(|wanted| Some((wanted, files.lock.skills.get(&wanted.name)?)));
    both.flat_map(|(wanted, old)| {
        [moved(wanted, old), unpinned(wanted, files), more(context, kind, wanted, old)]
    })
    .flatten()
    .collect()
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

/// Returns a warning if a skill can do what its previous version, `old`, could not.
fn more(context: &Context, kind: ScopeKind, wanted: &Wanted, old: &Locked) -> Option<Warning> {
    let new = wanted.content.locked().filter(|new| new.digest != old.digest)?;
    let store = Store::new(&context.settings).ok()?;
    // A version that is no longer available cannot be compared.
    let set = |locked: &Locked| store.get(&locked.digest).ok().flatten();
    let review = review(Some(&set(old)?), &set(new)?).ok()?;
    let first = review.changes.iter().find(|change| change.new_capability)?;
    let line = first.line.map_or(String::new(), |line| format!(":{line}"));
    let text =
        if first.text.is_empty() { String::new() } else { format!(", `{}`", first.text.replace('`', "'")) };
    let others = match review.new_capabilities() - 1 {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    let told = message!(
        format_args!(
            "`{}` has a capability that the version before did not have: {}{line}{text}{others}; ",
            wanted.name, first.path
        ),
        Verb::Undo.within(kind),
        " undoes it"
    );
    Some(Warning::new(codes::NEW_CAPABILITY, told))
}
