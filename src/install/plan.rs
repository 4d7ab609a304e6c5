//! The plan: what an installation or removal changes. Computed from values, touching nothing.

mod merged;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use merged::Merged;

use super::agents::Agent;
use super::editable::Editable;
use super::state::{Files, Found, Survey};
use crate::digest::Digest;
use crate::fs::{LinkKind, System};
use crate::lockfile::{Locked, Lockfile};
use crate::manifest::{Agents, Manifest, Requirement};
use crate::name::SkillName;
use crate::spec::{Origin, Reference};

/// Where a copy or link lies: in the canonical directory, out of agents' sight, or in an agent's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// `.agents/skills` of the scope.
    Canonical,
    /// `.agents/.skillpm-disabled` of the scope.
    Disabled,
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
    /// The canonical copy moves out of agents' sight, edits and all.
    Disable {
        /// The skill.
        name: SkillName,
        /// What lies there; `None` for what no skill may have, which moves all the same.
        digest: Option<Digest>,
    },
    /// It moves back.
    Enable {
        /// The skill.
        name: SkillName,
        /// What lies there; `None` for what no skill may have, which moves all the same.
        digest: Option<Digest>,
    },
    /// The canonical place gets a link to the directory that the manifest names; another link there is
    /// replaced.
    Edit {
        /// The skill.
        name: SkillName,
    },
    /// A link comes back that an earlier transaction set aside, whatever it says; another link there is
    /// set aside. Only `undo` does this: the journal of a stranger cannot.
    Relink {
        /// Where.
        place: Place,
        /// Of which skill.
        name: SkillName,
        /// The digest of what the link says.
        says: Digest,
    },
}

impl Step {
    /// The place that it changes, and of which skill.
    pub fn place(&self) -> (Place, &SkillName) {
        match self {
            Self::Put { place, name, .. }
            | Self::Remove { place, name, .. }
            | Self::Relink { place, name, .. }
            | Self::Unlink { place, name } => (place.clone(), name),
            Self::Link { agent, name } => (Place::Agent(agent.clone()), name),
            Self::Disable { name, .. } | Self::Edit { name } => (Place::Canonical, name),
            Self::Enable { name, .. } => (Place::Disabled, name),
        }
    }

    /// The skill that it is about.
    pub fn name(&self) -> &SkillName {
        match self {
            Self::Put { name, .. }
            | Self::Remove { name, .. }
            | Self::Link { name, .. }
            | Self::Unlink { name, .. }
            | Self::Relink { name, .. }
            | Self::Disable { name, .. }
            | Self::Enable { name, .. }
            | Self::Edit { name } => name,
        }
    }

    /// The place that what lies at [`Step::place`] moves to.
    pub fn goes_to(&self) -> Option<Place> {
        match self {
            Self::Disable { .. } => Some(Place::Disabled),
            Self::Enable { .. } => Some(Place::Canonical),
            _ => None,
        }
    }
}

/// A skill that is to be there.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name under which it is installed.
    pub name: SkillName,
    /// What is to lie in its place.
    pub content: Content,
    /// What the manifest is to say of it; `None` leaves the manifest as it is.
    pub requirement: Option<Requirement>,
    /// The agents that are to see it, or would if it were not disabled.
    pub agents: Vec<&'static Agent>,
    /// Agents whose link or copy goes, where they have one.
    pub leaving: BTreeSet<&'static str>,
    /// Whether agents are not to see it for now.
    pub disabled: bool,
}

/// What is to lie in the place of a skill.
#[derive(Debug, Clone)]
pub enum Content {
    /// The tree that is locked.
    Locked(Locked),
    /// Whatever lies there, edited or missing, though this is locked.
    AsItIs(Locked),
    /// What was made of the tree that lies there and of the one that is locked.
    Merged(Merged),
    /// A link to a directory that somebody works on. It is not locked: its bytes change at any time.
    Editable(Editable),
}

impl Content {
    /// What is locked.
    pub fn locked(&self) -> Option<&Locked> {
        match self {
            Self::Locked(locked) | Self::AsItIs(locked) => Some(locked),
            Self::Merged(merged) => Some(&merged.locked),
            Self::Editable(_) => None,
        }
    }

    /// The digest of the tree that agents with copies get; `None` where they get links in any case.
    fn tree(&self) -> Option<Digest> {
        match self {
            Self::Merged(merged) => Some(merged.tree),
            other => other.locked().map(|locked| locked.digest),
        }
    }

    /// Whether both are the same files, wherever they came from.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Editable(one), Self::Editable(two)) => one.directory == two.directory,
            _ => matches!((self.locked(), other.locked()), (Some(a), Some(b)) if a.digest == b.digest),
        }
    }
}

impl Wanted {
    /// A skill that nobody sees until [`Wanted::agents`] says who does.
    pub fn new(name: SkillName, content: Content, requirement: Option<Requirement>) -> Self {
        Self { name, content, requirement, agents: Vec::new(), leaving: BTreeSet::new(), disabled: false }
    }

    /// The ids of the agents that get a link or copy of their own.
    pub fn linked(&self) -> impl Iterator<Item = &'static str> {
        self.agents.iter().filter(|agent| !agent.is_universal()).map(|agent| agent.id)
    }
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
    /// The agents that get links and copies, where those of the others are not looked after.
    pub only: Option<BTreeSet<&'static str>>,
    /// What the manifest is to say of skills that are otherwise left alone.
    pub entries: BTreeMap<SkillName, Requirement>,
    /// What the manifest is to say about agents.
    pub manifest_agents: Option<Agents>,
    /// Whether agents get copies in place of links.
    pub copy: bool,
    /// Whether what is in the way may go. It is kept in the store first.
    pub force: bool,
    /// Which links can be made.
    pub system: System,
}

/// What will be done, in this order.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Changes of trees and links.
    pub steps: Vec<Step>,
    /// What each link that comes will be.
    pub links: Vec<NewLink>,
    /// Trees that are in no lockfile and go because of `--force`: saved before anything is done.
    pub keep: Vec<(Place, SkillName)>,
    /// The new lockfile, where it differs from the old one.
    pub lock: Option<Lockfile>,
    /// The new manifest, where it differs from the old one.
    pub manifest: Option<Manifest>,
}

/// Which of the two files of a scope change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ChangedFiles {
    /// `skillpm.toml`.
    pub manifest: bool,
    /// `skillpm.lock`.
    pub lockfile: bool,
}

/// A link that will be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewLink {
    /// Where.
    pub place: Place,
    /// Of which skill.
    pub name: SkillName,
    /// Which.
    #[serde(flatten)]
    pub link: LinkKind,
}

impl Plan {
    /// Which of the two files change.
    pub fn files(&self) -> ChangedFiles {
        ChangedFiles { manifest: self.manifest.is_some(), lockfile: self.lock.is_some() }
    }

    /// Whether a tree goes that lies somewhere.
    pub fn takes_trees(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step, Step::Remove { .. } | Step::Put { replaces: Some(_), .. }))
    }

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
    /// A skill of this name that came from somewhere else.
    OtherSource(Origin),
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
        links: RefCell::default(),
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
    /// The links from agents' directories to that of the canonical copies.
    links: RefCell<BTreeMap<PathBuf, LinkKind>>,
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

impl<'a> Planner<'a> {
    fn put(&mut self, wanted: &Wanted) {
        let name = &wanted.name;
        if let Some(other) = self.same_name(name) {
            return self.conflict(&Place::Canonical, name, ConflictKind::SameName(other));
        }
        if let Some(origin) = self.other_source(wanted) {
            return self.conflict(&Place::Canonical, name, ConflictKind::OtherSource(origin));
        }
        // Links go before what they lead to, and come after it.
        self.leave(wanted);
        let mut lies = None;
        match &wanted.content {
            Content::Editable(editable) => self.editable(wanted, editable),
            Content::Locked(locked) => {
                let (home, found) = self.bring_home(wanted);
                self.tree(&home, name, locked.digest, &found);
            }
            Content::Merged(merged) => {
                let (home, found) = self.bring_home(wanted);
                self.merged(&home, name, merged, &found);
            }
            Content::AsItIs(_) => match self.bring_home(wanted).1 {
                // Nothing leads to what is not there.
                Found::Absent => return,
                Found::Tree(tree) => lies = tree,
                _ => {}
            },
        }
        if !wanted.disabled {
            self.arrive(wanted, lies);
        }
    }

    /// Gives the agents of `wanted` their links or copies; `lies` is the tree that stays in its place,
    /// where that is not what is locked.
    fn arrive(&mut self, wanted: &Wanted, lies: Option<Digest>) {
        let survey = self.survey;
        let mut dirs = BTreeSet::new();
        for agent in &wanted.agents {
            if self.goal.only.as_ref().is_some_and(|only| !only.contains(agent.id)) {
                continue;
            }
            // The canonical copy serves it, in either scope.
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
            let place = Place::Agent(agent.id.to_owned());
            match &wanted.content {
                // It looks into the very directory.
                Content::Editable(editable) if dir.join(wanted.name.as_str()) == editable.directory => {}
                // A copy of what changes at any time would be wrong as soon as it is made.
                Content::Editable(_) => self.link(agent, dir, &wanted.name, None, found),
                content => {
                    let Some(digest) = content.tree() else { continue };
                    let link = self.link_in(dir, &wanted.name);
                    let copy = self.goal.copy || link == LinkKind::Copy;
                    // A copy of what lies there says what a link would.
                    let follows = matches!(found, Found::Tree(Some(tree)) if Some(*tree) == lies);
                    if copy && !follows {
                        self.tree(&place, &wanted.name, digest, found);
                    } else if !copy {
                        let same = if follows { lies } else { Some(digest) };
                        self.link(agent, dir, &wanted.name, same, found);
                    }
                }
            }
        }
    }

    fn record(&mut self, name: &SkillName) {
        if let Some(other) = self.same_name(name) {
            self.conflict(&Place::Canonical, name, ConflictKind::SameName(other));
        }
    }

    /// Takes the links and copies of agents away that are not to see `wanted`.
    fn leave(&mut self, wanted: &Wanted) {
        let survey = self.survey;
        let stays = |agent: &&Agent| !wanted.disabled && !agent.is_universal();
        let mut dirs: BTreeSet<_> = wanted
            .agents
            .iter()
            .copied()
            .filter(|agent| stays(agent))
            .filter_map(|agent| survey.dirs.get(agent.id))
            .collect();
        for (agent, found, known) in self.there(&wanted.name) {
            let leaves = known || wanted.leaving.contains(agent) || wanted.disabled;
            if !leaves || survey.dirs.get(agent).is_none_or(|dir| !dirs.insert(dir)) {
                continue;
            }
            self.drop_link(agent, &wanted.name, found, known);
        }
    }

    /// What lies in the directories of agents, and whether the lockfile knows of it. Of agents that share
    /// a directory, one that it knows comes first.
    fn there(&self, name: &SkillName) -> Vec<(&'static str, &'a Found, bool)> {
        let (survey, locked) = (self.survey, self.files.lock.skills.get(name));
        let known = |agent: &str| locked.is_some_and(|locked| locked.agents.contains(agent));
        let mut there: Vec<_> = survey.of(name).map(|(agent, found)| (agent, found, known(agent))).collect();
        there.sort_by_key(|(_, _, known)| !known);
        there
    }

    /// Plans that what lies in the directory of `agent` goes: a link of ours, an unchanged copy, and
    /// where the lockfile knows of it an edited copy too, as far as that is allowed.
    fn drop_link(&mut self, agent: &'static str, name: &SkillName, found: &Found, known: bool) {
        let place = Place::Agent(agent.to_owned());
        match found {
            Found::OurLink => self.plan.steps.push(Step::Unlink { place, name: name.clone() }),
            // Only an unchanged copy is known to be ours without a word in the lockfile.
            Found::Tree(Some(old)) if Some(*old) == self.locked(name) => self.drop_tree(&place, name, *old),
            Found::Tree(old) if known => {
                if let Some(old) = self.may_replace(&place, name, *old) {
                    self.drop_tree(&place, name, old);
                }
            }
            _ => {}
        }
    }

    /// Brings the tree of `wanted` from the place of disabled skills or back, as it is, and returns the
    /// place where it then is with what lies there.
    fn bring_home(&mut self, wanted: &Wanted) -> (Place, Found) {
        let name = &wanted.name;
        let (canonical, aside) = (self.canonical(name), self.aside(name));
        let (home, lies, other, there) = if wanted.disabled {
            (Place::Disabled, aside, Place::Canonical, canonical)
        } else {
            (Place::Canonical, canonical, Place::Disabled, aside)
        };
        match (&lies, &there) {
            (Found::Absent, Found::Tree(digest)) => {
                let (name, digest) = (name.clone(), *digest);
                self.plan.steps.push(if wanted.disabled {
                    Step::Disable { name, digest }
                } else {
                    Step::Enable { name, digest }
                });
                return (home, there);
            }
            // It lies in both, and one has to go: nothing is lost where the bytes are the same.
            (Found::Tree(Some(one)), Found::Tree(Some(two))) if one == two => {
                self.drop_tree(&other, name, *two);
            }
            (_, Found::Tree(old)) => {
                if let Some(old) = self.may_replace(&other, name, *old) {
                    self.drop_tree(&other, name, old);
                }
            }
            (_, Found::OurLink | Found::OtherLink(_) | Found::Loop) if other == Place::Canonical => {
                self.drop_canonical_link(name, &there);
            }
            _ => {}
        }
        (home, lies)
    }

    /// Plans a link at the canonical place to the directory of `editable`.
    fn editable(&mut self, wanted: &Wanted, editable: &Editable) {
        let name = &wanted.name;
        // A copy from before it became editable, in either place.
        for (place, found) in [(Place::Disabled, self.aside(name)), (Place::Canonical, self.canonical(name))]
        {
            if let Found::Tree(old) = found {
                match self.may_replace(&place, name, old) {
                    Some(old) => self.drop_tree(&place, name, old),
                    None => return,
                }
            }
        }
        let found = self.canonical(name);
        if wanted.disabled {
            return self.drop_canonical_link(name, &found);
        }
        match found {
            Found::OtherLink(text) if editable.link.says(&text) => {}
            Found::OtherLink(_) if !self.is_editable(name) && !self.goal.force => {
                self.conflict(&Place::Canonical, name, ConflictKind::Link);
            }
            Found::Other => self.conflict(&Place::Canonical, name, ConflictKind::NotASkill),
            _ => {
                self.plan.steps.push(Step::Edit { name: name.clone() });
                let link = editable.link.clone();
                self.plan.links.push(NewLink { place: Place::Canonical, name: name.clone(), link });
            }
        }
    }

    /// Plans that a link at the canonical place goes: it holds nothing but its text, yet a stranger's
    /// is only taken away by force.
    fn drop_canonical_link(&mut self, name: &SkillName, found: &Found) {
        let foreign = matches!(found, Found::OtherLink(_)) && !self.is_editable(name);
        match found {
            _ if foreign && !self.goal.force => self.conflict(&Place::Canonical, name, ConflictKind::Link),
            Found::OurLink | Found::OtherLink(_) | Found::Loop => {
                self.plan.steps.push(Step::Unlink { place: Place::Canonical, name: name.clone() });
            }
            _ => {}
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
            Found::OtherLink(_)
                if !(self.goal.force || *place == Place::Canonical && self.is_editable(name)) =>
            {
                return self.conflict(place, name, ConflictKind::Link);
            }
            // A link of ours gives way to a copy.
            Found::OurLink | Found::Loop | Found::OtherLink(_) => {
                self.plan.steps.push(Step::Unlink { place: place.clone(), name: name.clone() });
                None
            }
            Found::Other => return self.conflict(place, name, ConflictKind::NotASkill),
        };
        self.plan.steps.push(Step::Put { place: place.clone(), name: name.clone(), digest, replaces });
    }

    /// Plans a link for `agent` in its directory `dir`, where `found` lies; a copy with `digest` is ours.
    fn link(&mut self, agent: &Agent, dir: &Path, name: &SkillName, digest: Option<Digest>, found: &Found) {
        let place = Place::Agent(agent.id.to_owned());
        match found {
            Found::OurLink => return,
            Found::Absent | Found::Loop => {}
            Found::OtherLink(_) if self.goal.force => {}
            Found::OtherLink(_) => return self.conflict(&place, name, ConflictKind::Link),
            // The same bytes: nothing is lost when a link takes their place.
            Found::Tree(Some(old)) if Some(*old) == digest => self.drop_tree(&place, name, *old),
            Found::Tree(old) => match self.may_replace(&place, name, *old) {
                Some(old) => self.drop_tree(&place, name, old),
                None => return,
            },
            Found::Other => return self.conflict(&place, name, ConflictKind::NotASkill),
        }
        self.plan.steps.push(Step::Link { agent: agent.id.to_owned(), name: name.clone() });
        self.plan.links.push(NewLink { place, name: name.clone(), link: self.link_in(dir, name) });
    }

    /// The link that an agent's directory `dir` gets to the canonical copy.
    fn link_in(&self, dir: &Path, name: &SkillName) -> LinkKind {
        let mut links = self.links.borrow_mut();
        if let Some(link) = links.get(dir) {
            return link.below(name.as_str());
        }
        let link = LinkKind::choose(self.goal.system, dir, &self.survey.skills_dir);
        let below = link.below(name.as_str());
        links.insert(dir.to_owned(), link);
        below
    }

    fn remove(&mut self, name: &SkillName) {
        for (place, found) in [(Place::Canonical, self.canonical(name)), (Place::Disabled, self.aside(name))]
        {
            match found {
                Found::Absent | Found::Other => {}
                // Links among the disabled are none of ours.
                Found::OurLink | Found::OtherLink(_) | Found::Loop if place == Place::Disabled => {}
                Found::OurLink | Found::OtherLink(_) | Found::Loop => {
                    self.plan.steps.push(Step::Unlink { place, name: name.clone() });
                }
                Found::Tree(old) => {
                    if let Some(old) = self.may_replace(&place, name, old) {
                        self.drop_tree(&place, name, old);
                    }
                }
            }
        }
        let survey = self.survey;
        let mut dirs = BTreeSet::new();
        for (agent, found, _) in self.there(name) {
            if survey.dirs.get(agent).is_some_and(|dir| dirs.insert(dir)) {
                self.drop_link(agent, name, found, false);
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
            Some(_) if self.is_known(place, name) => ConflictKind::Modified,
            Some(_) => ConflictKind::Untracked,
        };
        self.conflict(place, name, kind);
        None
    }

    /// Whether the lockfile says that something of ours lies at `place`.
    fn is_known(&self, place: &Place, name: &SkillName) -> bool {
        match (place, self.files.lock.skills.get(name)) {
            (Place::Agent(agent), Some(locked)) => locked.agents.contains(agent),
            (_, locked) => locked.is_some(),
        }
    }

    /// Another skill that stays and would share a directory with `name` on some file systems: manifest
    /// and lockfile refuse to hold both.
    fn same_name(&self, name: &SkillName) -> Option<SkillName> {
        let alike = self.alike.get(&name.collision_key())?;
        alike.iter().find(|other| **other != name).map(|other| (*other).clone())
    }

    /// Where the skill came from that is installed under the name of `wanted`, if that is not where
    /// `wanted` comes from: it is another skill, which only force replaces. The same bytes are the same
    /// skill. What the manifest no longer names is in nobody's way.
    fn other_source(&self, wanted: &Wanted) -> Option<Origin> {
        let new = wanted.requirement.as_ref()?;
        let (origin, path) = match self.files.manifest.skills().get(&wanted.name) {
            Some(old) => (&old.origin, &old.path),
            None if self.files.manifest_text.is_none() => {
                let old = self.files.lock.skills.get(&wanted.name)?;
                (&old.origin, &old.path)
            }
            None => return None,
        };
        let digest = wanted.content.locked().map(|locked| locked.digest);
        let same_bytes = digest.is_some() && digest == self.locked(&wanted.name);
        let same_place = origin == &new.origin || is_same_directory((origin, path), (&new.origin, &new.path));
        (!same_bytes && !same_place && !self.goal.force).then(|| origin.clone())
    }

    /// Whether a link at the canonical place of `name` is ours: the skill is editable, or somebody has
    /// just taken that out of the manifest.
    fn is_editable(&self, name: &SkillName) -> bool {
        let was =
            |entry: &Requirement| matches!(entry.origin, Origin::Local(_)) && self.locked(name).is_none();
        self.files.manifest.skills().get(name).is_some_and(|entry| entry.editable || was(entry))
    }

    fn locked(&self, name: &SkillName) -> Option<Digest> {
        self.files.lock.skills.get(name).map(|locked| locked.digest)
    }

    fn canonical(&self, name: &SkillName) -> Found {
        self.survey.canonical.get(name).cloned().unwrap_or(Found::Absent)
    }

    /// What lies in the place of `name` among the disabled.
    fn aside(&self, name: &SkillName) -> Found {
        self.survey.disabled.get(name).cloned().unwrap_or(Found::Absent)
    }

    fn conflict(&mut self, place: &Place, name: &SkillName, kind: ConflictKind) {
        self.conflicts.push(Conflict { name: name.clone(), place: place.clone(), kind });
    }
}

/// Whether two sources are one directory of this machine: `./src` with `pdf` below it, and `./src/pdf`.
fn is_same_directory(one: (&Origin, &Option<String>), two: (&Origin, &Option<String>)) -> bool {
    let whole = |(origin, path): (&Origin, &Option<String>)| match origin {
        Origin::Local(dir) => {
            let whole = Path::new(dir).join(path.as_deref().unwrap_or(""));
            Some(whole.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>())
        }
        _ => None,
    };
    matches!((whole(one), whole(two)), (Some(one), Some(two)) if one == two)
}

fn new_lock(goal: &Goal, files: &Files) -> Option<Lockfile> {
    let mut lock = files.lock.clone();
    for wanted in goal.put.iter().chain(&goal.record) {
        match wanted.content.locked().cloned() {
            Some(locked) => {
                let agents = wanted.linked().map(ToOwned::to_owned).collect();
                lock.skills.insert(wanted.name.clone(), Locked { agents, ..locked });
            }
            None => drop(lock.skills.remove(&wanted.name)),
        }
    }
    for name in &goal.remove {
        lock.skills.remove(name);
    }
    // Marks of a conflict are a change in themselves.
    (lock != files.lock || files.conflicts.is_some()).then_some(lock)
}

fn new_manifest(goal: &Goal, files: &Files) -> Option<Manifest> {
    // To copy the manifest costs more than all the rest of a plan that changes nothing of it.
    let silent = goal.put.iter().chain(&goal.record).all(|wanted| wanted.requirement.is_none());
    if silent && goal.entries.is_empty() && goal.remove.is_empty() && goal.manifest_agents.is_none() {
        return None;
    }
    let changed = rewritten(goal, files.manifest.clone());
    if changed.is_written_as(&files.manifest) {
        return None;
    }
    if files.manifest_text.is_some() || files.lock.skills.is_empty() {
        return Some(changed);
    }
    // A lockfile alone is enough, but what a manifest does not name goes with the next restore.
    let mut whole = files.manifest.clone();
    for (name, locked) in &files.lock.skills {
        whole.set_skill(name, requirement_of(locked));
    }
    Some(rewritten(goal, whole))
}

/// `manifest` with what `goal` says of skills and agents.
fn rewritten(goal: &Goal, mut manifest: Manifest) -> Manifest {
    let put = goal
        .put
        .iter()
        .chain(&goal.record)
        .filter_map(|wanted| Some((&wanted.name, wanted.requirement.clone()?)));
    // Sorted, so that it does not matter in which order they were found.
    let put: BTreeMap<_, _> = put.collect();
    let entries = goal.entries.iter().map(|(name, entry)| (name, entry.clone()));
    for (name, requirement) in entries.chain(put) {
        manifest.set_skill(name, requirement);
    }
    for name in &goal.remove {
        manifest.remove_skill(name);
    }
    if let Some(agents) = &goal.manifest_agents {
        manifest.set_agents(agents.clone());
    }
    manifest
}

/// What a manifest has to say so that it asks for what is locked.
pub fn requirement_of(locked: &Locked) -> Requirement {
    Requirement {
        path: locked.path.clone(),
        reference: locked.requested.as_deref().map(Reference::from_lockfile),
        name: locked.alias_of.clone(),
        ..Requirement::new(locked.origin.clone())
    }
}

#[cfg(test)]
mod tests;
