//! Ownership: which of the paths of a scope a change may delete or replace.
//!
//! The rule: **only what a receipt of the scope says that skillpm put there, and only as it was put there.** A receipt
//! is the lockfile, which says what is in the canonical place and which agents got a link or a copy, or the record
//! of this machine ([`Receipts`]). Equal bytes prove nothing: an author's own `skills/pdf` has the bytes of the skill
//! that was published from it. Everything else is foreign. It is left as it is and named, and `--force` alone moves it
//! away, into the store.
//!
//! The steps of a plan that take something away are made from an [`Owned`] place and nothing else, and only this room
//! gives one.

use std::collections::{BTreeMap, BTreeSet};

use super::files::Files;
use super::receipts::{Made, Receipts};
use super::step::{Location, Step};
use crate::digest::Digest;
use crate::lockfile::Lockfile;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::settings::Settings;

/// The receipts of this machine about the places of some skills.
#[derive(Debug, Clone, Default)]
pub struct Ownership {
    /// The places where a tree is the one that skillpm put there.
    trees: BTreeSet<(Location, SkillName)>,
    /// The places where a tree is not skillpm's, although the lockfile lists them: it was there before skillpm would
    /// have put the same bytes there, or skillpm made a link there.
    found: BTreeSet<(Location, SkillName)>,
    /// The agents for which skillpm made a link or a copy.
    agents: BTreeMap<SkillName, BTreeSet<String>>,
}

/// A place whose content may be deleted or replaced.
#[derive(Debug)]
#[must_use]
pub(crate) struct Owned {
    place: Location,
    name: SkillName,
}

impl Ownership {
    /// Reads the receipts of `scope`, whose files are `files`, about the skills `names`.
    pub fn read<'n>(
        settings: &Settings,
        scope: &Scope,
        files: &Files,
        names: impl IntoIterator<Item = &'n SkillName>,
    ) -> Self {
        let made = Receipts::of(settings, scope).made(Some(files));
        if made.is_empty() { Self::default() } else { Self::of_names(&made, &files.lock, names) }
    }

    /// Works like [`Ownership::read`], for all skills that the receipts know.
    pub(crate) fn of_scope(settings: &Settings, scope: &Scope, lock: &Lockfile) -> Self {
        let made = Receipts::of(settings, scope).made(None);
        let names: BTreeSet<&SkillName> = made.names().collect();
        Self::of_names(&made, lock, names)
    }

    fn of_names<'n>(
        made: &Made<'_>,
        lock: &Lockfile,
        names: impl IntoIterator<Item = &'n SkillName>,
    ) -> Self {
        let mut ownership = Self::default();
        for name in names {
            let agents: BTreeSet<String> = made.agents_of(name).map(ToOwned::to_owned).collect();
            let locked = lock.skills.get(name).into_iter().flat_map(|locked| &locked.agents);
            let everywhere = agents.iter().chain(locked).cloned().map(Location::Agent);
            for place in [Location::Canonical, Location::Disabled].into_iter().chain(everywhere) {
                // Where skillpm made a link, it did not make a tree.
                if made.was_there(&place, name) || made.is_link(&place, name) && !made.put(&place, name) {
                    ownership.found.insert((place, name.clone()));
                } else if !is_locked(lock, &place, name) && made.put(&place, name) {
                    ownership.trees.insert((place, name.clone()));
                }
            }
            if !agents.is_empty() {
                ownership.agents.insert(name.clone(), agents);
            }
        }
        ownership
    }

    /// Returns the agents for which this machine made a link or a copy of `name`.
    pub(crate) fn agents_of(&self, name: &SkillName) -> impl Iterator<Item = &str> {
        self.agents.get(name).into_iter().flatten().map(String::as_str)
    }

    /// Returns the agents for which this machine made a link or a copy of any skill.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.values().flatten().map(String::as_str)
    }

    /// Reports whether a receipt says that skillpm put something for the agent of `place`, or `name` into `place`.
    pub(crate) fn is_received(&self, lock: &Lockfile, place: &Location, name: &SkillName) -> bool {
        let listed = match place {
            Location::Agent(id) => self.agents.get(name).is_some_and(|agents| agents.contains(id)),
            _ => false,
        };
        listed || is_locked(lock, place, name)
    }

    /// Reports whether a tree at the place of `name` is known not to be skillpm's.
    pub(crate) fn was_there(&self, place: &Location, name: &SkillName) -> bool {
        self.found.contains(&(place.clone(), name.clone()))
    }

    /// Returns the place of `name` with a tree in it, if skillpm put that tree there. Whether it is as it was put there
    /// is a question of its digest.
    pub(crate) fn of_tree(&self, lock: &Lockfile, place: &Location, name: &SkillName) -> Option<Owned> {
        let key = (place.clone(), name.clone());
        let ours = !self.found.contains(&key) && (is_locked(lock, place, name) || self.trees.contains(&key));
        ours.then_some(Owned { place: key.0, name: key.1 })
    }

    /// Returns the place of `name` with a link to the canonical copy in it, if skillpm made that link.
    pub(crate) fn of_link(&self, lock: &Lockfile, place: &Location, name: &SkillName) -> Option<Owned> {
        self.is_received(lock, place, name).then(|| Owned { place: place.clone(), name: name.clone() })
    }
}

fn is_locked(lock: &Lockfile, place: &Location, name: &SkillName) -> bool {
    lock.skills.get(name).is_some_and(|locked| match place {
        Location::Canonical | Location::Disabled => true,
        Location::Agent(id) => locked.agents.contains(id),
    })
}

impl Owned {
    /// Returns a place about which something other than a receipt decides: the manifest about the links of editable
    /// skills, or the user, with `--force` or with a verb that takes over what another tool installed. What would be lost
    /// is saved in the store first.
    pub(super) fn without_receipt(place: Location, name: SkillName) -> Self {
        Self { place, name }
    }

    /// Returns `place`, to which an earlier step of the plan moves what is here.
    pub(super) fn moved(self, place: Location) -> Self {
        Self { place, ..self }
    }

    /// Returns the step that removes the tree `old`.
    pub(crate) fn remove(self, old: Digest) -> Step {
        Step::Remove { place: self.place, name: self.name, old }
    }

    /// Returns the step that puts the tree `digest` there instead of the tree `old`.
    pub(crate) fn replace(self, digest: Digest, old: Digest) -> Step {
        Step::Put { place: self.place, name: self.name, digest, replaces: Some(old) }
    }

    /// Returns the step that removes the link.
    pub(crate) fn unlink(self) -> Step {
        Step::Unlink { place: self.place, name: self.name }
    }
}
