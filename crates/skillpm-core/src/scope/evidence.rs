//! Evidence about the trees that a change would remove or replace: whether they were edited, and whether a skill is
//! installed from them. Each fact is looked up when it is first needed, because most changes remove no tree.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::Files;
use super::goal::Goal;
use super::receipts::{Made, Receipts};
use super::sources;
use super::step::Location;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::scope::Scope;
use crate::settings::Settings;
use crate::store::Store;

/// A check for unedited trees among those that differ from what is locked.
#[derive(Debug)]
pub(crate) struct Unedited<'a> {
    settings: &'a Settings,
    scope: &'a Scope,
    store: Option<Store>,
    /// The trees that skillpm put there; read only if the store does not have a tree.
    placed: OnceCell<Made<'a>>,
}

impl<'a> Unedited<'a> {
    /// Returns a check that has read nothing yet.
    pub(crate) fn new(settings: &'a Settings, scope: &'a Scope) -> Self {
        Self { settings, scope, store: Store::new(settings).ok(), placed: OnceCell::new() }
    }

    /// Reports whether the tree with `digest` at the place of `name` is unedited: it came from a source, skillpm put it
    /// there from another lockfile, or only its line ends differ.
    pub(crate) fn has(&self, place: &Location, name: &SkillName, digest: &Digest) -> bool {
        self.is_of_source(place, name, digest) || self.is_as_put(place, name, digest)
    }

    /// Reports whether the tree with `digest` came from a source, like everything in the store: nothing is lost if it is
    /// removed.
    pub(crate) fn is_fetched(&self, digest: &Digest) -> bool {
        self.store.as_ref().is_some_and(|store| store.is_whole(digest))
    }

    /// Reports whether the tree with `digest` at `place` is what a merge made for the copies of agents, so that it
    /// is unedited.
    pub(crate) fn is_merged_copy(&self, place: &Location, digest: &Digest) -> bool {
        matches!(place, Location::Agent(_))
            && self.store.as_ref().is_some_and(|store| store.is_merged(digest))
    }

    /// Reports whether the tree with `digest` at the place of `name` came from a source, perhaps with other line ends.
    fn is_of_source(&self, place: &Location, name: &SkillName, digest: &Digest) -> bool {
        let path = || self.scope.place(self.settings, place, name);
        self.is_fetched(digest) || path().is_ok_and(|path| self.scope.index.trees().is_other_line_ends(&path))
    }

    /// Reports whether the tree with `digest` at the place of `name` is the one that skillpm put there.
    fn is_as_put(&self, place: &Location, name: &SkillName, digest: &Digest) -> bool {
        let placed = self.placed.get_or_init(|| Receipts::of(self.settings, self.scope).made(None));
        placed.has(place, name, digest)
    }
}

/// The evidence about the trees that a plan would remove or replace.
#[derive(Debug)]
pub struct Evidence<'a> {
    goal: &'a Goal,
    files: &'a Files,
    unedited: Unedited<'a>,
    /// The directories that the skills of the goal come from.
    coming: OnceCell<BTreeSet<PathBuf>>,
    /// The directories that any skill is installed from.
    all: OnceCell<BTreeSet<PathBuf>>,
    failure: OnceCell<Error>,
}

impl<'a> Evidence<'a> {
    /// Returns the evidence about a change of `scope`, whose files are `files`, to `goal`. Nothing is read yet.
    pub fn new(settings: &'a Settings, scope: &'a Scope, files: &'a Files, goal: &'a Goal) -> Self {
        let unedited = Unedited::new(settings, scope);
        let (coming, all, failure) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { goal, files, unedited, coming, all, failure }
    }

    /// Reports whether the tree with `digest` at the place of `name`, which is locked, came from a source.
    pub(crate) fn is_of_source(&self, place: &Location, name: &SkillName, digest: &Digest) -> bool {
        self.unedited.is_of_source(place, name, digest)
    }

    /// Reports whether the tree with `digest` at the place of `name` is the one that skillpm or a merge put there,
    /// although no lockfile lists it any more, for example after taking one side of a merge.
    pub(crate) fn is_as_put(&self, place: &Location, name: &SkillName, digest: &Digest) -> bool {
        self.unedited.is_as_put(place, name, digest) || self.unedited.is_merged_copy(place, digest)
    }

    /// Reports whether a skill that comes is installed from the directory `real`, or from one in it.
    pub(crate) fn is_coming_from(&self, real: &Path) -> bool {
        contains(self.coming.get_or_init(|| self.here(sources::coming(self.goal))), real)
    }

    /// Reports whether a skill is installed from the directory `real`, or from one in it. Its content belongs to its author,
    /// and may be the only copy, whatever is locked.
    pub fn is_source(&self, real: &Path) -> bool {
        let all = || {
            let all = sources::coming(self.goal).chain(sources::there(self.files));
            self.here(all.chain(sources::orphan_dirs(self.goal)))
        };
        contains(self.all.get_or_init(all), real)
    }

    /// Fails if the directory of a source could not be found out, so that a tree may be one.
    ///
    /// # Errors
    ///
    /// Fails with the reason.
    pub fn check(self) -> Result<()> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    fn here<'s>(&self, from: impl Iterator<Item = sources::SourceDir<'s>>) -> BTreeSet<PathBuf> {
        sources::here(self.unedited.settings, self.unedited.scope, from).unwrap_or_else(|error| {
            let _ = self.failure.set(error);
            BTreeSet::new()
        })
    }
}

/// Reports whether `dirs` contains `real`, or a directory in it.
pub(crate) fn contains(dirs: &BTreeSet<PathBuf>, real: &Path) -> bool {
    // In sorted order, what is in a directory follows it directly.
    dirs.range(real.to_owned()..).next().is_some_and(|dir| dir.starts_with(real))
}
