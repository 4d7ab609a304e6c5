//! The plan: what an installation or removal changes. Computed from values, touching nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::agents::Agent;
use super::state::{Files, Found, Survey};
use crate::digest::Digest;
use crate::lockfile::{Locked, Lockfile};
use crate::manifest::{Agents, Manifest, Requirement};
use crate::name::SkillName;

/// Where a copy or link lies: in the canonical directory, or in an agent's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// `.agents/skills` of the scope.
    Canonical,
    /// The directory of the agent with this id.
    Agent(String),
}

/// One change. Steps hold names, never paths: a journal that a stranger wrote can name no place
/// that the program would not write to anyway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Step {
    /// A tree comes to a place, in exchange for the one that lies there.
    Put {
        /// Where.
        place: Place,
        /// Of which skill.
        name: SkillName,
        /// What comes.
        digest: Digest,
        /// What lies there.
        replaces: Option<Digest>,
    },
    /// A tree goes.
    Remove {
        /// Where.
        place: Place,
        /// Of which skill.
        name: SkillName,
        /// What lies there.
        old: Digest,
    },
    /// An agent's directory gets a link to the canonical copy; another link there is replaced.
    Link {
        /// The agent.
        agent: String,
        /// The skill.
        name: SkillName,
    },
    /// A link goes.
    Unlink {
        /// Where.
        place: Place,
        /// Of which skill.
        name: SkillName,
    },
}

impl Step {
    /// The place that it changes, and of which skill.
    pub fn place(&self) -> (Place, &SkillName) {
        match self {
            Self::Put { place, name, .. }
            | Self::Remove { place, name, .. }
            | Self::Unlink { place, name } => (place.clone(), name),
            Self::Link { agent, name } => (Place::Agent(agent.clone()), name),
        }
    }
}

/// A skill that is to be there.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name under which it is installed.
    pub name: SkillName,
    /// What is locked of it.
    pub locked: Locked,
    /// What the manifest says of it; `None` leaves the manifest as it is.
    pub requirement: Option<Requirement>,
}

/// What a plan is to reach.
#[derive(Debug, Default)]
pub struct Goal {
    /// Skills that are to be there.
    pub put: Vec<Wanted>,
    /// Skills of which only the entries are written: what lies on disk stays as it is.
    pub record: Vec<Wanted>,
    /// Trees that may be replaced though no lockfile names them: another tool made them of the same
    /// skill. They are kept in the store.
    pub known: BTreeMap<SkillName, BTreeSet<Digest>>,
    /// Skills that are to go.
    pub remove: Vec<SkillName>,
    /// Agents that are to see the skills.
    pub agents: Vec<&'static Agent>,
    /// What the manifest is to say about agents.
    pub manifest_agents: Option<Agents>,
    /// Whether agents get copies in place of links.
    pub copy: bool,
    /// Whether what is in the way may go. It is kept in the store first.
    pub force: bool,
}

/// What will be done, in this order.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Changes of trees and links.
    pub steps: Vec<Step>,
    /// Trees that are in no lockfile and go because of `--force`: saved before anything is done.
    pub keep: Vec<(Place, SkillName)>,
    /// The new lockfile, where it differs from the old one.
    pub lock: Option<Lockfile>,
    /// The new manifest, where it differs from the old one.
    pub manifest: Option<Manifest>,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.lock.is_none() && self.manifest.is_none()
    }
}

/// Something of the user's that is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The skill.
    pub name: SkillName,
    /// Where it lies.
    pub place: Place,
    /// What is the matter.
    pub kind: ConflictKind,
}

/// What is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictKind {
    /// The installed copy was edited.
    Modified,
    /// A directory that skillpm did not install.
    Untracked,
    /// A link to somewhere else.
    Link,
    /// An installed skill whose name is the same on some file systems; `--force` does not help.
    SameName(SkillName),
    /// A file, or a directory with things in it that no skill may have, so that the store could not
    /// keep it; `--force` does not help.
    NotASkill,
}

/// Computes what is to be done to reach `goal`.
///
/// # Errors
///
/// Everything that is in the way and that `goal.force` does not clear.
pub fn plan(goal: &Goal, files: &Files, survey: &Survey) -> Result<Plan, Vec<Conflict>> {
    let mut planner = Planner {
        goal,
        files,
        survey,
        alike: alike(goal, files),
        plan: Plan::default(),
        conflicts: Vec::new(),
    };
    for wanted in &goal.put {
        planner.put(wanted);
    }
    for wanted in &goal.record {
        planner.record(&wanted.name);
    }
    for name in &goal.remove {
        planner.remove(name);
    }
    let Planner { mut plan, conflicts, .. } = planner;
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    plan.lock = new_lock(goal, files);
    plan.manifest = new_manifest(goal, files);
    Ok(plan)
}

struct Planner<'a> {
    goal: &'a Goal,
    files: &'a Files,
    survey: &'a Survey,
    /// The names that will be there, by the key under which they fall together.
    alike: BTreeMap<String, BTreeSet<&'a SkillName>>,
    plan: Plan,
    conflicts: Vec<Conflict>,
}

fn alike<'a>(goal: &'a Goal, files: &'a Files) -> BTreeMap<String, BTreeSet<&'a SkillName>> {
    let gone: BTreeSet<&SkillName> = goal.remove.iter().collect();
    let known = files.manifest.skills().keys().chain(files.lock.skills.keys());
    let mut alike: BTreeMap<String, BTreeSet<&SkillName>> = BTreeMap::new();
    let wanted = goal.put.iter().chain(&goal.record);
    for name in known.chain(wanted.map(|wanted| &wanted.name)) {
        if !gone.contains(name) {
            alike.entry(name.collision_key()).or_default().insert(name);
        }
    }
    alike
}

impl Planner<'_> {
    fn put(&mut self, wanted: &Wanted) {
        let name = &wanted.name;
        let digest = wanted.locked.digest;
        if let Some(other) = self.same_name(name) {
            return self.conflict(&Place::Canonical, name, ConflictKind::SameName(other));
        }
        self.tree(&Place::Canonical, name, digest, &self.canonical(name));
        for agent in &self.goal.agents {
            // The canonical copy serves it, in either scope.
            if agent.is_universal() || self.survey.served.contains(agent.id) {
                continue;
            }
            if self.survey.sharing.contains(agent.id) {
                continue;
            }
            let Some(found) = self.survey.at(agent.id, name) else { continue };
            let place = Place::Agent(agent.id.to_owned());
            if self.goal.copy {
                self.tree(&place, name, digest, found);
            } else {
                self.link(agent, name, digest, found);
            }
        }
    }

    fn record(&mut self, name: &SkillName) {
        if let Some(other) = self.same_name(name) {
            self.conflict(&Place::Canonical, name, ConflictKind::SameName(other));
        }
    }

    /// Plans a tree with `digest` at a place where `found` lies.
    fn tree(&mut self, place: &Place, name: &SkillName, digest: Digest, found: &Found) {
        let replaces = match found {
            Found::Absent => None,
            Found::Tree(Some(old)) if *old == digest => return,
            Found::Tree(old) => match self.may_replace(place, name, *old) {
                None => return,
                replaced => replaced,
            },
            // A link of ours in an agent's directory gives way to a copy.
            Found::OurLink => {
                self.plan.steps.push(Step::Unlink { place: place.clone(), name: name.clone() });
                None
            }
            Found::OtherLink(_) if self.goal.force => {
                self.plan.steps.push(Step::Unlink { place: place.clone(), name: name.clone() });
                None
            }
            Found::OtherLink(_) => return self.conflict(place, name, ConflictKind::Link),
            Found::Other => return self.conflict(place, name, ConflictKind::NotASkill),
        };
        self.plan.steps.push(Step::Put { place: place.clone(), name: name.clone(), digest, replaces });
    }

    fn link(&mut self, agent: &Agent, name: &SkillName, digest: Digest, found: &Found) {
        let place = Place::Agent(agent.id.to_owned());
        match found {
            Found::OurLink => return,
            Found::Absent => {}
            Found::OtherLink(_) if self.goal.force => {}
            Found::OtherLink(_) => return self.conflict(&place, name, ConflictKind::Link),
            // The same bytes: nothing is lost when a link takes their place.
            Found::Tree(Some(old)) if *old == digest => self.drop_tree(&place, name, *old),
            Found::Tree(old) => match self.may_replace(&place, name, *old) {
                Some(old) => self.drop_tree(&place, name, old),
                None => return,
            },
            Found::Other => return self.conflict(&place, name, ConflictKind::NotASkill),
        }
        self.plan.steps.push(Step::Link { agent: agent.id.to_owned(), name: name.clone() });
    }

    fn remove(&mut self, name: &SkillName) {
        match self.canonical(name) {
            Found::Absent | Found::Other => {}
            Found::OurLink | Found::OtherLink(_) => {
                self.plan.steps.push(Step::Unlink { place: Place::Canonical, name: name.clone() });
            }
            Found::Tree(old) => {
                if let Some(old) = self.may_replace(&Place::Canonical, name, old) {
                    self.drop_tree(&Place::Canonical, name, old);
                }
            }
        }
        let locked = self.locked(name);
        let survey = self.survey;
        for (agent, found) in survey.of(name) {
            if survey.sharing.contains(agent) {
                continue;
            }
            let place = Place::Agent(agent.to_owned());
            match found {
                Found::OurLink => self.plan.steps.push(Step::Unlink { place, name: name.clone() }),
                // Only an unchanged copy is known to be ours.
                Found::Tree(Some(old)) if Some(*old) == locked => self.drop_tree(&place, name, *old),
                _ => {}
            }
        }
    }

    fn drop_tree(&mut self, place: &Place, name: &SkillName, old: Digest) {
        self.plan.steps.push(Step::Remove { place: place.clone(), name: name.clone(), old });
    }

    /// Returns the digest of the tree at a place if it may go: it is the one that was installed, or
    /// force is used, and then it is kept.
    fn may_replace(&mut self, place: &Place, name: &SkillName, old: Option<Digest>) -> Option<Digest> {
        let locked = self.locked(name);
        if old.is_some() && old == locked {
            return old;
        }
        let is_known = |old| self.goal.known.get(name).is_some_and(|known| known.contains(&old));
        let kind = match old {
            None => ConflictKind::NotASkill,
            Some(old_tree) if self.goal.force || is_known(old_tree) => {
                self.plan.keep.push((place.clone(), name.clone()));
                return old;
            }
            Some(_) if locked.is_some() => ConflictKind::Modified,
            Some(_) => ConflictKind::Untracked,
        };
        self.conflict(place, name, kind);
        None
    }

    /// Another skill that stays and would share a directory with `name` on some file systems: manifest
    /// and lockfile refuse to hold both.
    fn same_name(&self, name: &SkillName) -> Option<SkillName> {
        let alike = self.alike.get(&name.collision_key())?;
        alike.iter().find(|other| **other != name).map(|other| (*other).clone())
    }

    fn locked(&self, name: &SkillName) -> Option<Digest> {
        self.files.lock.skills.get(name).map(|locked| locked.digest)
    }

    fn canonical(&self, name: &SkillName) -> Found {
        self.survey.canonical.get(name).cloned().unwrap_or(Found::Absent)
    }

    fn conflict(&mut self, place: &Place, name: &SkillName, kind: ConflictKind) {
        self.conflicts.push(Conflict { name: name.clone(), place: place.clone(), kind });
    }
}

fn new_lock(goal: &Goal, files: &Files) -> Option<Lockfile> {
    let mut lock = files.lock.clone();
    for wanted in goal.put.iter().chain(&goal.record) {
        lock.skills.insert(wanted.name.clone(), wanted.locked.clone());
    }
    for name in &goal.remove {
        lock.skills.remove(name);
    }
    // Marks of a conflict are a change in themselves.
    (lock != files.lock || files.conflicts.is_some()).then_some(lock)
}

fn new_manifest(goal: &Goal, files: &Files) -> Option<Manifest> {
    let mut manifest = files.manifest.clone();
    let wanted = goal.put.iter().chain(&goal.record);
    let requirements: BTreeMap<_, _> =
        wanted.filter_map(|wanted| Some((&wanted.name, wanted.requirement.clone()?))).collect();
    for (name, requirement) in requirements {
        manifest.set_skill(name, requirement);
    }
    for name in &goal.remove {
        manifest.remove_skill(name);
    }
    if let Some(agents) = &goal.manifest_agents {
        manifest.set_agents(agents.clone());
    }
    (manifest.to_string() != files.manifest.to_string()).then_some(manifest)
}
