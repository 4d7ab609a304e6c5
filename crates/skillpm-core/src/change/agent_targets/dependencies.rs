//! The agents for skills that are not requested: those that see their dependents.

use std::collections::BTreeSet;

use super::{AgentTargets, Ids, needs_link};
use crate::fetch::dependencies::dependents_of;
use crate::name::SkillName;
use crate::scope::plan::{Content, Wanted};

impl AgentTargets<'_> {
    /// Records skills that are added, some of them because others need them, and installed skills that become
    /// requested. The needs of an earlier version no longer count.
    pub(crate) fn on_install<'b>(
        &mut self,
        wanted: &'b [Wanted],
        there: impl Iterator<Item = &'b SkillName>,
    ) {
        let coming = wanted.iter().filter(|one| one.is_asked()).map(|one| &one.name);
        let asked: BTreeSet<_> = coming.chain(there).collect();
        for name in &asked {
            self.ask_for(name);
        }
        self.asked.extend(asked.iter().map(|name| (*name).clone()));
        for one in wanted.iter().filter(|one| matches!(one.content, Content::Editable(_))) {
            self.work_on(&one.name);
        }
        let anew = wanted.iter().map(|one| (&one.name, one.content.locked())).collect();
        let stay = self.files.staying(asked.iter().copied(), &anew);
        self.dependents = dependents_of(self.files, &stay, &asked, &anew);
    }

    /// Records that the skills `names` are removed.
    pub(crate) fn on_remove(&mut self, names: &[SkillName]) {
        let stay = self.kept.iter().filter(|name| !names.contains(name)).cloned().collect();
        let gone = names.iter().map(|name| (name, None)).collect();
        self.dependents = dependents_of(self.files, &stay, &BTreeSet::new(), &gone);
    }

    /// Records that the manifest requests `name` from now on. A skill that was installed as a dependency keeps its agents.
    pub(crate) fn ask_for(&mut self, name: &SkillName) {
        if !self.dependents.contains_key(name) {
            return;
        }
        let (ids, usual) = (self.of(name), self.of_new());
        self.dependents.remove(name);
        if ids != usual {
            self.now.own.insert(name.clone(), ids);
        }
    }

    /// Records that `name` is editable. From then on it is not locked, so if the scope has no default, the manifest
    /// keeps its agents.
    fn work_on(&mut self, name: &SkillName) {
        let entry = self.files.manifest.skills().get(name);
        if self.now.default.is_some() || entry.is_some_and(|entry| entry.editable) {
            return;
        }
        let ids = self.of(name);
        if !ids.is_empty() {
            self.now.own.insert(name.clone(), ids);
        }
    }

    /// Returns the skills that others need, that are not among `wanted`, and whose agents change. Their trees
    /// stay.
    pub(crate) fn affected(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        let lock = &self.files.lock.skills;
        let there: BTreeSet<_> = wanted.iter().map(|one| &one.name).collect();
        // A skill that others needed until now may become requested.
        let asked = self.now.own.keys().filter(|name| !self.before.own.contains_key(*name));
        let along = self.dependents.keys().chain(asked).filter(|name| !there.contains(name));
        let locked = along.filter_map(|name| Some((name, lock.get(name)?)));
        let other = locked.filter(|(name, locked)| {
            let ids = self.of(name);
            !locked.agents.iter().map(String::as_str).eq(ids.iter().copied().filter(|id| needs_link(id)))
        });
        let manifest = self.files.manifest.skills();
        let other = other.map(|(name, locked)| Wanted {
            disabled: manifest.get(name).is_some_and(|entry| entry.disabled),
            ..Wanted::new(name.clone(), Content::AsItIs(locked.clone()), None)
        });
        other.collect()
    }

    /// Returns the agents that see a dependent of `name`, which is not requested; `None` if it has no dependents.
    pub(crate) fn of_dependents(&self, name: &SkillName, seen: &mut BTreeSet<SkillName>) -> Option<Ids> {
        let by = self.dependents.get(name).filter(|_| seen.insert(name.clone()))?;
        let of = |by: &SkillName| match self.now.own.get(by) {
            Some(own) => Some(own.clone()),
            None if self.dependents.contains_key(by) => self.of_dependents(by, seen),
            None => Some(self.usual(by)),
        };
        by.iter().filter_map(of).reduce(|one, other| &one | &other)
    }
}
