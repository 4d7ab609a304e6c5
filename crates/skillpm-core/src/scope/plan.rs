//! The plan: what an installation or removal changes. It is a pure computation and touches nothing.

mod agents;
mod conflicts;
mod home;
mod merged;
mod orphans;
mod texts;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use super::goal::{Content, Goal, Merged, Wanted};
pub use super::step::{Location, Step};

use super::evidence::Evidence;
use super::files::Files;
use super::on_disk::OnDisk;
use super::ownership::Owned;
use super::state::Survey;
use crate::fs::LinkKind;
use crate::lockfile::Lockfile;
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::spec::Origin;

/// The changes to make, in this order.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Changes of trees and links.
    pub steps: Vec<Step>,
    /// The kind of each new link.
    pub links: Vec<NewLink>,
    /// Trees that are in no lockfile and are removed because of `--force`: saved before any change.
    pub keep: Vec<(Location, SkillName)>,
    /// Those of them that skillpm did not put there.
    pub given_up: BTreeSet<(Location, SkillName)>,
    /// Unedited trees that are removed although this lockfile does not list them: saved in the store.
    pub store: Vec<(Location, SkillName)>,
    /// The new lockfile, if it differs from the old one.
    pub lock: Option<Lockfile>,
    /// The new manifest, if it differs from the old one.
    pub manifest: Option<Manifest>,
    /// Trees that nothing names any more, and that stay because they were edited.
    pub stays: Vec<(Location, SkillName)>,
    /// Skills that stay in place because the other scope in the same directory has them too.
    pub shared: BTreeSet<SkillName>,
    /// Places with what skillpm did not put there, and that are left as they are.
    pub foreign: BTreeSet<(Location, SkillName)>,
    /// What is left as it is in the directories of agents, where a link or a copy would be: copies that were edited, and links
    /// to somewhere else. The agent's id, and the skill.
    pub left: BTreeSet<(String, SkillName)>,
    /// Skills with an unresolved merge that ends with this plan.
    pub ended: BTreeSet<SkillName>,
}

/// Which of the two files of a scope change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ChangedFiles {
    /// `skillpm.toml`.
    pub manifest: bool,
    /// `skillpm.lock`.
    pub lockfile: bool,
}

/// A link to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewLink {
    /// The place of the link.
    pub place: Location,
    /// The skill.
    pub name: SkillName,
    /// The kind of link.
    #[serde(flatten)]
    pub link: LinkKind,
}

impl Plan {
    /// Returns which of the two files change.
    pub fn files(&self) -> ChangedFiles {
        ChangedFiles { manifest: self.manifest.is_some(), lockfile: self.lock.is_some() }
    }

    /// Returns where the tree of `name` is before the plan that takes it at `place`.
    pub fn current_location(&self, place: &Location, name: &SkillName) -> Location {
        let moves = |step: &&Step| step.goes_to().as_ref() == Some(place) && step.name() == name;
        self.steps.iter().find(moves).map_or_else(|| place.clone(), |step| step.place().0)
    }

    /// Reports whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.lock.is_none() && self.manifest.is_none()
    }
}

/// Something of the user's that is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The skill.
    pub name: SkillName,
    /// The place.
    pub place: Location,
    /// The kind of conflict.
    pub kind: ConflictKind,
}

/// The kinds of conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictKind {
    /// The installed copy was edited.
    Modified,
    /// A directory that skillpm did not install.
    Untracked,
    /// A link to somewhere else.
    Link,
    /// An installed skill whose name is equal on some file systems; `--force` does not help.
    SameName(SkillName),
    /// A skill with this name that came from somewhere else.
    OtherSource(Origin),
    /// A skill with this name that came from this path in the same source, where it still is.
    OtherPath(Origin, String),
    /// A file, or a directory with content that no skill may have, so that the store could not keep it;
    /// `--force` does not help.
    NotASkill,
    /// A tree that contains a git repository, which the store could not keep; `--force` does not help.
    Repository,
    /// The directory that a skill is installed from, which a copy or link would replace; `--force` does not
    /// help.
    Source,
    /// The installed copy, if the skill is also installed from it: it is the only copy.
    OnlyCopy,
}

/// Computes the changes that reach `goal` from `survey`. Where a tree would be taken, `evidence` says whether it may go.
///
/// # Errors
///
/// Fails with everything that is in the way and that `goal.force` does not clear.
pub fn plan(
    goal: &Goal,
    files: &Files,
    survey: &Survey,
    evidence: &Evidence<'_>,
) -> Result<Plan, Vec<Conflict>> {
    let mut planner = Planner {
        goal,
        files,
        survey,
        evidence,
        alike: alike(goal, files),
        links: RefCell::default(),
        plan: Plan::default(),
        conflicts: Vec::new(),
        brought: BTreeSet::new(),
    };
    for wanted in &goal.put {
        planner.put(wanted);
    }
    for wanted in &goal.record {
        planner.record(&wanted.name);
    }
    for name in &goal.remove {
        if !planner.stays_shared(name) {
            planner.remove(name);
        }
    }
    for (name, was) in &goal.left {
        planner.plan_orphan(name, was);
    }
    planner.spare_repositories();
    let Planner { mut plan, conflicts, .. } = planner;
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    plan.lock = texts::new_lock(goal, files);
    plan.manifest = texts::new_manifest(goal, files);
    Ok(plan)
}

struct Planner<'a, 'e> {
    goal: &'a Goal,
    files: &'a Files,
    survey: &'a Survey,
    evidence: &'a Evidence<'e>,
    /// The names of all skills after the change, by the key under which they collide.
    alike: BTreeMap<String, BTreeSet<&'a SkillName>>,
    /// The links from agents' directories to the directory of canonical copies.
    links: RefCell<BTreeMap<PathBuf, LinkKind>>,
    plan: Plan,
    conflicts: Vec<Conflict>,
    /// The skills whose trees move from or to the disabled ones; until then they stay where they are.
    brought: BTreeSet<SkillName>,
}

fn alike<'a>(goal: &'a Goal, files: &'a Files) -> BTreeMap<String, BTreeSet<&'a SkillName>> {
    let gone: BTreeSet<&SkillName> = goal.remove.iter().collect();
    let known = files.names();
    let mut alike: BTreeMap<String, BTreeSet<&SkillName>> = BTreeMap::new();
    let wanted = goal.put.iter().chain(&goal.record);
    for name in known.chain(wanted.map(|wanted| &wanted.name)) {
        if !gone.contains(name) {
            alike.entry(name.collision_key()).or_default().insert(name);
        }
    }
    alike
}

impl Planner<'_, '_> {
    fn put(&mut self, wanted: &Wanted) {
        let name = &wanted.name;
        if let Some(other) = self.same_name(name) {
            return self.conflict(&Location::Canonical, name, ConflictKind::SameName(other));
        }
        if let Some(other) = self.other_source(wanted) {
            return self.conflict(&Location::Canonical, name, other);
        }
        if wanted.disabled && self.stays_shared(name) {
            return;
        }
        // Skills that are only kept up to date are not reported again.
        let comes_from_here = |real: PathBuf| self.evidence.is_coming_from(&real);
        if wanted.requirement.is_some()
            && self.survey.path(&Location::Canonical, name).is_some_and(comes_from_here)
        {
            return self.conflict(&Location::Canonical, name, ConflictKind::Source);
        }
        // Links are removed before their targets, and made after them.
        self.leave(wanted);
        let mut on_disk = None;
        match &wanted.content {
            Content::Editable(editable) => self.editable(wanted, editable),
            Content::Locked(locked) => {
                let (home, found) = self.bring_home(wanted);
                self.tree(&home, name, locked.digest, &found);
                // If every byte comes from the source, no merge is left. A record left by a run that was
                // killed or undone may be about this very version.
                let comes = found != OnDisk::Tree(Some(locked.digest));
                if comes || self.locked(name) != Some(locked.digest) {
                    self.plan.ended.insert(name.clone());
                }
            }
            Content::Merged(merged) => {
                let (home, found) = self.bring_home(wanted);
                self.merged(&home, name, merged, &found);
            }
            Content::AsItIs(_) => match self.bring_home(wanted).1 {
                // Nothing can link to a missing tree.
                OnDisk::Absent => return,
                OnDisk::Tree(tree) => on_disk = tree,
                _ => {}
            },
        }
        if !wanted.disabled {
            self.arrive(wanted, on_disk);
        }
    }

    /// Reports whether a skill is installed from what is at the place of `name`, or from a directory in it.
    fn is_source(&self, place: &Location, name: &SkillName) -> bool {
        // A disabled skill was moved there, so it contains no source.
        *place != Location::Disabled
            && self.survey.path(place, name).is_some_and(|real| self.evidence.is_source(&real))
    }

    /// Reports whether skillpm put what is at `place` there, or the user gives it up.
    fn may_go(&self, place: &Location, name: &SkillName) -> bool {
        self.goal.force || self.owned(place, name).is_some()
    }

    /// Reports whether `name` stays as it is because the other scope in the same directory has it.
    fn stays_shared(&mut self, name: &SkillName) -> bool {
        let stays = self.survey.shared.contains(name);
        if stays {
            self.plan.shared.insert(name.clone());
        }
        stays
    }

    fn record(&mut self, name: &SkillName) {
        if let Some(other) = self.same_name(name) {
            self.conflict(&Location::Canonical, name, ConflictKind::SameName(other));
        }
    }

    fn remove(&mut self, name: &SkillName) {
        for (place, found) in
            [(Location::Canonical, self.canonical(name)), (Location::Disabled, self.disabled(name))]
        {
            match found {
                OnDisk::Absent | OnDisk::Other | OnDisk::Written => {}
                // Links among the disabled are not ours.
                OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop if place == Location::Disabled => {}
                OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop => {
                    if self.goal.force && !self.is_editable(name) {
                        self.keep(&place, name);
                    }
                    if self.goal.force || self.is_editable(name) || found == OnDisk::Loop {
                        self.take_link(Owned::without_receipt(place, name.clone()));
                    } else {
                        self.plan.foreign.insert((place, name.clone()));
                    }
                }
                OnDisk::Tree(Some(old)) if self.may_go(&place, name) && self.is_source(&place, name) => {
                    if self.goal.force {
                        self.keep(&place, name);
                        self.take_tree(Owned::without_receipt(place, name.clone()), old);
                    } else {
                        self.conflict(&place, name, ConflictKind::OnlyCopy);
                    }
                }
                OnDisk::Tree(old) => self.leave_or_take(&place, name, old),
            }
        }
        let survey = self.survey;
        let mut dirs = BTreeSet::new();
        for (agent, found, _) in self.there(name, self.files.lock.skills.get(name)) {
            if survey.dirs.get(agent).is_none_or(|dir| !dirs.insert(dir)) {
                continue;
            }
            self.drop_link(agent, name, found);
        }
    }

    /// Refuses to remove a git repository: digests do not cover it, and the store cannot keep it. Also reports it for trees
    /// that are in the way for another reason, so that `--force` is not used in vain.
    fn spare_repositories(&mut self) {
        use ConflictKind::{Modified, OnlyCopy, Repository, Untracked};
        let survey = self.survey;
        for conflict in &mut self.conflicts {
            if matches!(conflict.kind, Modified | Untracked | OnlyCopy)
                && survey.has_repository(&conflict.place, &conflict.name)
            {
                conflict.kind = Repository;
            }
        }
        let goes = self.plan.steps.iter().filter(|step| step.takes_tree()).map(Step::place);
        let current = goes.map(|(place, name)| (self.current_location(&place, name), name));
        let current = current.filter(|(place, name)| survey.has_repository(place, name));
        let new = current.map(|(place, name)| Conflict { name: name.clone(), place, kind: Repository });
        let new: Vec<_> = new.collect();
        self.conflicts.extend(new);
    }

    fn conflict(&mut self, place: &Location, name: &SkillName, kind: ConflictKind) {
        let place = self.current_location(place, name);
        self.conflicts.push(Conflict { name: name.clone(), place, kind });
    }

    /// Plans to save the tree at `place` in the store before any change.
    fn keep(&mut self, place: &Location, name: &SkillName) {
        let place = self.current_location(place, name);
        self.plan.keep.push((place, name.clone()));
    }

    /// Returns the current place of the tree that will be at `place` when it is replaced.
    fn current_location(&self, place: &Location, name: &SkillName) -> Location {
        match place {
            Location::Canonical if self.brought.contains(name) => Location::Disabled,
            Location::Disabled if self.brought.contains(name) => Location::Canonical,
            place => place.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
