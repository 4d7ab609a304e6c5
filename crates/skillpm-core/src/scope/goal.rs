//! The goal of a plan.

use std::collections::{BTreeMap, BTreeSet};

use crate::agents::Agent;
use crate::digest::Digest;
use crate::fs::System;
use crate::lockfile::Locked;
use crate::manifest::{Agents, Requirement};
use crate::name::SkillName;
use crate::scope::editable::Editable;
use crate::scope::receipts::PreviousInstall;

/// A skill that should be installed.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name under which it is installed.
    pub name: SkillName,
    /// The content for its place.
    pub content: Content,
    /// The new manifest entry; `None` leaves the manifest as it is.
    pub requirement: Option<Requirement>,
    /// The agents that should see it, or would if it were not disabled.
    pub agents: Vec<&'static Agent>,
    /// Those of them that only this user's own manifest names: the files of the scope do not mention them.
    pub personal: BTreeSet<&'static str>,
    /// Agents whose link or copy is removed, if they have one.
    pub leaving: BTreeSet<&'static str>,
    /// Whether it is currently hidden from agents.
    pub disabled: bool,
    /// The path of the installed skill of this name, a different skill, if it still exists in the source that
    /// this one comes from.
    pub beside: Option<String>,
}

/// The content for the place of a skill.
#[derive(Debug, Clone)]
pub enum Content {
    /// The tree that is locked.
    Locked(Locked),
    /// As it is on disk, even if edited or missing, although this is locked.
    AsItIs(Locked),
    /// The merge of the tree that is there with the one that is locked.
    Merged(Merged),
    /// A link to a directory in which the skill is written. It is not locked: its bytes may change at any time.
    Editable(Editable),
}

/// A merge result: a tree that the user wrote in part.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The lock entry.
    pub locked: Locked,
    /// The digest of the new tree.
    pub tree: Digest,
    /// The tree that was merged and is replaced: exactly this tree, or nothing.
    pub replaces: Option<Digest>,
    /// Whether the existing tree is saved in the store, whether it is replaced or already the same.
    pub keep: bool,
}

impl Content {
    /// Returns the lock entry, if there is one.
    pub fn locked(&self) -> Option<&Locked> {
        match self {
            Self::Locked(locked) | Self::AsItIs(locked) => Some(locked),
            Self::Merged(merged) => Some(&merged.locked),
            Self::Editable(_) => None,
        }
    }

    /// Returns the digest of the tree that agents with copies get, or `None` if they get links in any case.
    pub(super) fn tree(&self) -> Option<Digest> {
        match self {
            Self::Merged(merged) => Some(merged.tree),
            other => other.locked().map(|locked| locked.digest),
        }
    }

    /// Reports whether both have the same files, wherever they came from.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Editable(one), Self::Editable(two)) => one.directory == two.directory,
            _ => matches!((self.locked(), other.locked()), (Some(a), Some(b)) if a.digest == b.digest),
        }
    }
}

impl Wanted {
    /// Returns a skill that no agent sees until [`Wanted::agents`] lists some.
    pub fn new(name: SkillName, content: Content, requirement: Option<Requirement>) -> Self {
        let (agents, personal, leaving) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        Self { name, content, requirement, agents, personal, leaving, disabled: false, beside: None }
    }

    /// Reports whether the user requests it: its new manifest entry is not that of a dependency.
    pub fn is_asked(&self) -> bool {
        self.requirement.as_ref().is_some_and(|entry| !entry.dependency)
    }

    /// Returns the ids of the agents that get a link or copy of their own.
    pub fn linked(&self) -> impl Iterator<Item = &'static str> {
        self.agents.iter().filter(|agent| !agent.is_universal()).map(|agent| agent.id)
    }

    /// Returns those of [`Wanted::linked`] that the lockfile lists.
    pub fn listed(&self) -> impl Iterator<Item = &'static str> {
        self.linked().filter(|id| !self.personal.contains(id))
    }
}

/// The desired state that a plan leads to.
#[derive(Debug, Default)]
pub struct Goal {
    /// Skills that should be installed.
    pub put: Vec<Wanted>,
    /// Skills whose entries are written without touching anything on disk.
    pub record: Vec<Wanted>,
    /// Trees that may be replaced although no lockfile names them: another tool made them from the same
    /// skill. They are saved in the store.
    pub known: BTreeMap<SkillName, BTreeSet<Digest>>,
    /// Skills that should be removed.
    pub remove: Vec<SkillName>,
    /// Skills that were placed here and that neither manifest nor lockfile names: unchanged ones are removed.
    pub left: BTreeMap<SkillName, PreviousInstall>,
    /// The agents that get links and copies, if those of the others are left alone.
    pub only: Option<BTreeSet<&'static str>>,
    /// New manifest entries of skills that are otherwise left alone.
    pub entries: BTreeMap<SkillName, Requirement>,
    /// The new agents of the manifest.
    pub manifest_agents: Option<Agents>,
    /// Whether agents get copies instead of links.
    pub copy: bool,
    /// Whether what is in the way may be removed. It is saved in the store first.
    pub force: bool,
    /// The kind of links that can be made.
    pub system: System,
}
