//! Detection of trees that nobody edited, although they differ from what is locked.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::context::Context;
use crate::digest::Digest;
use crate::install::plan::{Conflict, ConflictKind, Location};
use crate::install::receipts::{Made, Receipts};
use crate::install::scope::Scope;
use crate::name::SkillName;
use crate::store::Store;

/// Returns the trees in the way that were not edited: they came from a source, or skillpm put them there. Their
/// bytes are read, so that only what was verified is removed. A tree that is in no lockfile may have been put
/// there by another tool from the same source, so for it only the record counts.
pub(super) fn unedited(
    context: &Context,
    scope: &Scope,
    conflicts: &[Conflict],
) -> (BTreeSet<Digest>, BTreeSet<(Location, SkillName)>) {
    use ConflictKind::{Modified, Untracked};
    let (mut fetched, mut untouched) = (BTreeSet::new(), BTreeSet::new());
    let mut trees =
        conflicts.iter().filter(|conflict| matches!(conflict.kind, Modified | Untracked)).peekable();
    if trees.peek().is_none() {
        return (fetched, untouched);
    }
    let placed = Receipts::of(&context.settings, scope).made(None);
    for Conflict { name, place, kind } in trees {
        let Ok(path) = scope.place(&context.settings, place, name) else { continue };
        let Some(digest) = scope.index.trees().digest(&path) else { continue };
        let is_other_line_ends = || scope.index.trees().is_other_line_ends(&path);
        if *kind == Modified && (is_fetched(context, &digest) || is_other_line_ends()) {
            fetched.insert(digest);
        } else if placed.has(place, name, &digest) || is_merged_copy(context, place, &digest) {
            untouched.insert((place.clone(), name.clone()));
        }
    }
    (fetched, untouched)
}

/// Reports whether the tree with `digest` at `place` is what a merge made for the copies of agents, so that
/// nobody has edited it since.
pub(super) fn is_merged_copy(context: &Context, place: &Location, digest: &Digest) -> bool {
    matches!(place, Location::Agent(_))
        && Store::new(&context.settings).is_ok_and(|store| store.is_merged(digest))
}

/// Reports whether the tree with `digest` came from a source, like everything in the store: it was not edited,
/// and nothing is lost if it is removed.
pub(in crate::ops) fn is_fetched(context: &Context, digest: &Digest) -> bool {
    Store::new(&context.settings).is_ok_and(|store| store.is_whole(digest))
}

/// A check for trees that were not edited, although they differ from what is locked: they came from a source,
/// or skillpm put them there from another lockfile.
pub(in crate::ops) struct Unedited<'a> {
    context: &'a Context,
    scope: &'a Scope,
    /// The trees that skillpm put there; read only if the store does not have a tree.
    placed: OnceCell<Made<'a>>,
}

impl<'a> Unedited<'a> {
    /// Returns a check that has read nothing yet.
    pub(in crate::ops) fn new(context: &'a Context, scope: &'a Scope) -> Self {
        Self { context, scope, placed: OnceCell::new() }
    }

    /// Reports whether the tree with `digest` at the place of `name` is unedited.
    pub(in crate::ops) fn has(&self, place: &Location, name: &SkillName, digest: &Digest) -> bool {
        let placed =
            || self.placed.get_or_init(|| Receipts::of(&self.context.settings, self.scope).made(None));
        let path = self.scope.place(&self.context.settings, place, name);
        // If only line endings differ, nothing that somebody wrote is lost.
        let other_line_ends = || path.is_ok_and(|path| self.scope.index.trees().is_other_line_ends(&path));
        is_fetched(self.context, digest) || placed().has(place, name, digest) || other_line_ends()
    }
}
