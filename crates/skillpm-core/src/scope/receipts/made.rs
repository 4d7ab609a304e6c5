//! The paths of a scope that skillpm made, according to its receipts.

use std::collections::BTreeMap;

use super::{Facts, Marks, Receipts, parse, spot, still_put};
use crate::digest::Digest;
use crate::lockfile::Lockfile;
use crate::name::SkillName;
use crate::scope::checked_dirs::CheckedDirs;
use crate::scope::files::Files;
use crate::scope::step::Location;

/// The paths of a scope that skillpm made, according to its receipts on this machine.
///
/// A path may be deleted or replaced only if a receipt says that skillpm put its present content there. The lockfile counts
/// as a receipt as well, for teams that commit their skills; these receipts add what it cannot say: which files were there
/// before skillpm came, and which an earlier lockfile placed.
#[derive(Debug)]
pub(crate) struct Made<'a> {
    places: CheckedDirs<'a>,
    facts: Facts,
    lock: Lockfile,
}

impl Made<'_> {
    /// Reports whether this machine has no record of the scope.
    pub(crate) fn is_empty(&self) -> bool {
        self.facts.put.is_empty()
            && self.facts.found.is_empty()
            && self.facts.linked.is_empty()
            && self.lock.skills.is_empty()
    }

    /// Reports whether the tree with `digest` at the place of `name` is the one that was put there, identical to what was
    /// locked then: it was not edited, even if the lockfile has changed since.
    pub(crate) fn has(&self, place: &Location, name: &SkillName, digest: &Digest) -> bool {
        let locked = self.lock.skills.get(name).is_some_and(|locked| locked.digest == *digest);
        locked && self.put(place, name)
    }

    /// Reports whether skillpm put a tree at the place of `name`, and it is still that one, perhaps edited.
    pub(crate) fn put(&self, place: &Location, name: &SkillName) -> bool {
        self.is_marked(&self.facts.put, place, name)
    }

    /// Reports whether the tree at the place of `name` was there before skillpm would have put the same bytes there.
    pub(crate) fn was_there(&self, place: &Location, name: &SkillName) -> bool {
        self.is_marked(&self.facts.found, place, name) && !self.put(place, name)
    }

    /// Reports whether skillpm made a link to `name` for the agent of `place`, and nothing else since.
    pub(crate) fn is_link(&self, place: &Location, name: &SkillName) -> bool {
        self.facts.linked.get(name).is_some_and(|linked| linked.contains(&spot(place)))
    }

    /// Returns the names of the skills that the record knows, each perhaps several times.
    pub(crate) fn names(&self) -> impl Iterator<Item = &SkillName> {
        let Facts { put, found, linked } = &self.facts;
        self.lock.skills.keys().chain(put.keys()).chain(found.keys()).chain(linked.keys())
    }

    /// Returns the ids of the agents for which skillpm made a link or a copy of `name`, each perhaps twice.
    pub(crate) fn agents_of(&self, name: &SkillName) -> impl Iterator<Item = &str> {
        let locked = self.lock.skills.get(name).into_iter().flat_map(|locked| &locked.agents);
        let linked = self.facts.linked.get(name).into_iter().flatten();
        let put = self.facts.put.get(name).into_iter().flat_map(BTreeMap::keys);
        locked.chain(linked).chain(put).map(String::as_str).filter(|spot| !spot.is_empty())
    }

    fn is_marked(&self, marks: &Marks, place: &Location, name: &SkillName) -> bool {
        let mark = marks.get(name).and_then(|marks| marks.get(&spot(place)));
        mark.is_some_and(|mark| still_put(&self.places, name, &spot(place), *mark).as_ref() == Some(place))
    }
}

impl<'a> Receipts<'a> {
    /// Returns what was put into the scope, to find out what may be deleted or replaced there. `files` are the current
    /// ones, where they were read: usually the lockfile is as it was, and need not be parsed again.
    pub(crate) fn made(&self, files: Option<&Files>) -> Made<'a> {
        let text = self.read();
        let same = |lock: &str| files.filter(|files| files.lock_text.as_deref() == Some(lock));
        let lock_of = |lock: &str| same(lock).map(|files| files.lock.clone()).or_else(|| parse(lock));
        let known = self.known(&text).and_then(|(heading, lock)| Some((Facts::of(heading), lock_of(lock)?)));
        let (facts, lock) = known.unwrap_or_default();
        Made { places: CheckedDirs::new(self.scope, self.settings), facts, lock }
    }
}
