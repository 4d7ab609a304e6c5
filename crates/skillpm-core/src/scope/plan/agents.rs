//! Planning of links and copies for agents.

use std::collections::BTreeSet;
use std::path::Path;

use super::{ConflictKind, NewLink, Planner};
use crate::agents::{self, Agent};
use crate::digest::Digest;
use crate::fs::LinkKind;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::scope::goal::{Content, Wanted};
use crate::scope::on_disk::OnDisk;
use crate::scope::ownership::Owned;
use crate::scope::step::{Location, Step};

impl<'a> Planner<'a, '_> {
    /// Plans the agents' links or copies of `wanted`. `on_disk` is the tree that stays in place as it is, locked
    /// or not. Copies have the content that a link would show.
    pub(super) fn arrive(&mut self, wanted: &Wanted, on_disk: Option<Digest>) {
        let survey = self.survey;
        let mut dirs = BTreeSet::new();
        for agent in &wanted.agents {
            if self.goal.only.as_ref().is_some_and(|only| !only.contains(agent.id)) {
                continue;
            }
            // The agent reads the canonical copy, in either scope.
            if agent.is_universal() || survey.served.contains(agent.id) {
                continue;
            }
            let (Some(dir), Some(found)) = (survey.dirs.get(agent.id), survey.at(agent.id, &wanted.name))
            else {
                continue;
            };
            if !dirs.insert(dir) {
                continue;
            }
            let place = Location::Agent(agent.id.to_owned());
            match &wanted.content {
                // The agent reads that very directory.
                Content::Editable(editable) if dir.join(wanted.name.as_str()) == editable.directory => {}
                // A copy of a directory that may change at any time would be outdated immediately.
                Content::Editable(_) => self.link(agent, dir, &wanted.name, None, found),
                content => {
                    let Some(digest) = content.tree() else { continue };
                    let link = self.link_in(dir, &wanted.name);
                    if !self.goal.copy && link != LinkKind::Copy {
                        self.link(agent, dir, &wanted.name, Some(digest), found);
                    } else if *found == OnDisk::Tree(Some(digest)) {
                        self.same_tree(&place, &wanted.name, digest);
                    } else {
                        // A copy from before the edits stays, unless the user requests the edits there.
                        self.tree(&place, &wanted.name, on_disk.unwrap_or(digest), found);
                    }
                }
            }
        }
    }

    /// Plans the removal of links and copies of agents that should not see `wanted`.
    pub(super) fn leave(&mut self, wanted: &Wanted) {
        let survey = self.survey;
        let stays = |agent: &&Agent| !wanted.disabled && !agent.is_universal();
        let mut dirs: BTreeSet<_> = wanted
            .agents
            .iter()
            .copied()
            .filter(|agent| stays(agent))
            .filter_map(|agent| survey.dirs.get(agent.id))
            .collect();
        // Skills that stay in sight of an agent are named when the skill is hidden, not at every later change.
        let hides = wanted.disabled && self.canonical(&wanted.name) != OnDisk::Absent;
        for (agent, found, known) in self.there(&wanted.name, self.files.lock.skills.get(&wanted.name)) {
            let ours =
                || matches!(found, OnDisk::OurLink | OnDisk::Written) && self.may_unlink(wanted, agent);
            // A link of this machine that no file of the scope mentions: an agent that the user no longer uses.
            let unused = || {
                *found == OnDisk::OurLink && survey.ownership.agents_of(&wanted.name).any(|id| id == agent)
            };
            let leaves = known || wanted.leaving.contains(agent) || hides || ours() || unused();
            if !leaves || survey.dirs.get(agent).is_none_or(|dir| !dirs.insert(dir)) {
                continue;
            }
            self.drop_link(agent, &wanted.name, found);
        }
    }

    /// Reports whether a link of ours from `agent` to `wanted` is removed although it is in no lockfile:
    /// editable skills are in no lockfile, and the manifest says who sees them. An agent that reads the
    /// canonical copies may still have a link.
    fn may_unlink(&self, wanted: &Wanted, agent: &str) -> bool {
        let is_universal = || agents::find(agent).is_ok_and(Agent::is_universal);
        let asked = self.goal.manifest_agents.as_ref().is_some_and(|agents| agents.targets.is_some());
        let own = wanted.requirement.as_ref().is_some_and(|entry| entry.agents.is_some());
        let says = || asked || own || self.files.manifest.says_who_sees(&wanted.name);
        matches!(wanted.content, Content::Editable(_)) && says() && !is_universal()
    }

    /// Returns what is in the directories of agents, and whether `locked` lists it. Among agents that share a
    /// directory, one that `locked` lists comes first.
    pub(super) fn there(
        &self,
        name: &SkillName,
        locked: Option<&Locked>,
    ) -> Vec<(&'static str, &'a OnDisk, bool)> {
        let survey = self.survey;
        let known = |agent: &str| locked.is_some_and(|locked| locked.agents.contains(agent));
        let mut there: Vec<_> = survey.of(name).map(|(agent, found)| (agent, found, known(agent))).collect();
        there.sort_by_key(|(_, _, known)| !known);
        there
    }

    /// Plans the removal of what is in the directory of `agent`, if a receipt says that skillpm put it there: the link,
    /// a copy of what is locked or installed, and an edited copy as far as that is allowed. Anything else stays.
    pub(super) fn drop_link(&mut self, agent: &'static str, name: &SkillName, found: &OnDisk) {
        let place = Location::Agent(agent.to_owned());
        match found {
            // It belongs to its author: only what was made from it is removed.
            OnDisk::Tree(_) if self.is_source(&place, name) => {}
            OnDisk::OurLink | OnDisk::Written => match self.owned_link(agent, name) {
                Some(owned) => self.take_link(owned),
                None => drop(self.plan.foreign.insert((place, name.clone()))),
            },
            // The files of an agent that was not chosen for it are its user's, and not a matter of `--force`.
            OnDisk::Tree(_) if !self.is_received(&place, name) => {
                self.plan.foreign.insert((place, name.clone()));
            }
            OnDisk::Tree(old) => self.leave_or_take(&place, name, *old),
            OnDisk::OtherLink(_) | OnDisk::Other if self.is_received(&place, name) => {
                self.plan.foreign.insert((place, name.clone()));
            }
            _ => {}
        }
    }

    pub(super) fn is_received(&self, place: &Location, name: &SkillName) -> bool {
        self.survey.ownership.is_received(&self.files.lock, place, name)
    }

    /// Returns the place of the link of `agent` to `name`, if skillpm made it. No lockfile lists the links to editable
    /// skills: they are those of the agents that the manifest names.
    fn owned_link(&self, agent: &str, name: &SkillName) -> Option<Owned> {
        let place = Location::Agent(agent.to_owned());
        let manifest = &self.files.manifest;
        let chosen = || {
            let own = manifest.skills().get(name).and_then(|entry| entry.agents.as_ref());
            let all = own.or(manifest.agents().targets.as_ref()).into_iter().flatten();
            all.filter_map(|id| agents::find(id).ok()).any(|chosen| chosen.id == agent)
        };
        let owned = self.survey.ownership.of_link(&self.files.lock, &place, name);
        owned.or_else(|| {
            let is_made = self.is_editable(name) && chosen();
            is_made.then(|| Owned::without_receipt(place, name.clone()))
        })
    }

    /// Plans a link for `agent` in its directory `dir`, where `found` is. A copy with `digest` is ours.
    pub(super) fn link(
        &mut self,
        agent: &Agent,
        dir: &Path,
        name: &SkillName,
        digest: Option<Digest>,
        found: &OnDisk,
    ) {
        let place = Location::Agent(agent.id.to_owned());
        match found {
            OnDisk::OurLink => return,
            OnDisk::Absent | OnDisk::Loop | OnDisk::Written => {}
            OnDisk::OtherLink(_) if self.goal.force => self.keep(&place, name),
            OnDisk::OtherLink(_) => return self.leave_link(&place, name),
            OnDisk::Tree(_) if self.is_source(&place, name) => {
                return self.conflict(&place, name, ConflictKind::Source);
            }
            OnDisk::Tree(_) if self.stays_foreign(&place, name) => return,
            // Another tool put the same bytes there, and `import` takes them over.
            OnDisk::Tree(Some(old)) if Some(*old) == digest && self.goal.known.contains_key(name) => {
                self.take_tree(Owned::without_receipt(place.clone(), name.clone()), *old);
            }
            // A copy that skillpm did not make shows the agent the very same skill.
            OnDisk::Tree(Some(old))
                if Some(*old) == digest && !self.goal.force && !self.takes(&place, name) =>
            {
                self.plan.foreign.insert((place, name.clone()));
                return;
            }
            OnDisk::Tree(old) => match self.may_replace(&place, name, *old) {
                Some((owned, old)) => self.take_tree(owned, old),
                None => return,
            },
            OnDisk::Other => return self.conflict(&place, name, ConflictKind::NotASkill),
        }
        self.plan.steps.push(Step::Link { agent: agent.id.to_owned(), name: name.clone() });
        self.plan.links.push(NewLink { place, name: name.clone(), link: self.link_in(dir, name) });
    }

    /// Reports whether the tree at `place` may go: skillpm put it there, or another tool did and `import` takes it over.
    fn takes(&self, place: &Location, name: &SkillName) -> bool {
        self.owned(place, name).is_some() || self.goal.known.contains_key(name)
    }

    /// Returns the link to the canonical copy for an agent's directory `dir`.
    pub(super) fn link_in(&self, dir: &Path, name: &SkillName) -> LinkKind {
        let mut links = self.links.borrow_mut();
        if let Some(link) = links.get(dir) {
            return link.below(name.as_str());
        }
        let link = LinkKind::choose(self.goal.system, dir, &self.survey.skills_dir);
        let below = link.below(name.as_str());
        links.insert(dir.to_owned(), link);
        below
    }
}
