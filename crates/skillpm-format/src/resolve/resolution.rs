//! What a resolution says, and why there is none.

use std::collections::{BTreeMap, BTreeSet};

use super::declared::Declared;
use super::dependent::{Dependent, Resolved};
use super::graph::reached;
use super::provider::{Available, Has, meets};
use crate::name::SkillName;
use crate::requirement::{Requirement, RequirementError};
use crate::spec::{Origin, SourceSpec};

/// What satisfies the dependencies of some skills.
#[derive(Debug)]
pub struct Resolution<C, E> {
    /// Which skill satisfies which dependency.
    pub assignment: Assignment,
    /// The skills that are to be fetched, in the order in which they were found.
    pub selected: Vec<Selected<C>>,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// With [`OnUnresolved::Skip`], the dependencies that nothing satisfies.
    pub unresolved: Vec<Unresolved<C, E>>,
}

/// A skill that is to be fetched, because another one depends on it.
#[derive(Debug)]
pub struct Selected<C> {
    /// The skill.
    pub skill: Dependent,
    /// What it takes to fetch it.
    pub candidate: C,
    /// The skill for which it was found, the first of those that depend on it.
    pub by: SkillName,
    /// The skill that was asked about, for which that one comes.
    pub root: SkillName,
}

/// Which skill satisfies which dependency.
#[derive(Debug, Default)]
pub struct Assignment {
    /// The skills that come, by the key under which names are the same.
    pub(super) coming: BTreeMap<String, Resolved>,
    /// The names of the skills that each skill depends on.
    pub(super) edges: BTreeMap<SkillName, BTreeSet<String>>,
    /// What editable skills depend on.
    pub(super) of_editable: BTreeSet<SkillName>,
    pub(super) selected: BTreeSet<SkillName>,
}

/// What happens where nothing satisfies a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnresolved {
    /// There is no resolution.
    #[default]
    Stop,
    /// The resolution does without, and says so.
    Skip,
}

/// A dependency that nothing satisfies.
#[derive(Debug)]
pub struct Unresolved<C, E> {
    /// The skill that was asked about, which depends on it directly or through others.
    pub root: SkillName,
    /// The skill that declares it.
    pub dependent: SkillName,
    /// The dependency, as it is written.
    pub text: String,
    /// Why nothing satisfies it.
    pub reason: Reason<C, E>,
}

/// Why nothing satisfies a dependency.
#[derive(Debug)]
pub enum Reason<C, E> {
    /// Its source does not have it.
    Source(E),
    /// Other skills depend on another skill of that name.
    Conflict(Box<Conflict<C>>),
    /// With this skill there are more than [`MOST`](super::MOST).
    TooMany(SkillName),
}

/// Two skills of one name that different skills depend on.
#[derive(Debug)]
pub struct Conflict<C> {
    /// The one that is installed or selected.
    pub kept: Resolved,
    /// The skills that depend on that.
    pub by: Vec<SkillName>,
    /// The other one.
    pub rejected: Available<C>,
    /// What was declared of it, as an address.
    pub spec: SourceSpec,
}

/// What a person should know of a resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// What `dependent` declares says nothing.
    Malformed {
        /// The skill.
        dependent: SkillName,
        /// What it declares.
        text: String,
        /// What is wrong.
        error: RequirementError,
    },
    /// What is installed is out of the range that `dependent` declares.
    OutOfRange {
        /// The skill.
        dependent: SkillName,
        /// What it declares.
        text: String,
        /// The version that is there.
        version: Option<String>,
    },
    /// What comes is out of the range that `dependent` declares, which stays as it is.
    NowOutOfRange {
        /// The skill.
        dependent: SkillName,
        /// What it declares.
        text: String,
        /// The skill that comes.
        name: SkillName,
        /// Its version.
        version: Option<String>,
    },
    /// Nobody has what `dependent` declares.
    Missing {
        /// The skill.
        dependent: SkillName,
        /// What it declares.
        text: String,
        /// Its own source, which was asked.
        source: Origin,
        /// What that has.
        has: Has,
    },
    /// What the user requested stays, instead of what `dependent` declares.
    RequestedStays {
        /// The skill.
        dependent: SkillName,
        /// Where it declares the other one to be.
        spec: Box<SourceSpec>,
        /// What stays.
        kept: SkillName,
        /// Where that comes from.
        place: Box<SourceSpec>,
    },
    /// Something else is in the place of a skill that `dependent` declares.
    NoRoom {
        /// The skill.
        dependent: SkillName,
        /// The other one.
        name: SkillName,
    },
}

impl Assignment {
    /// Returns the names of the skills that `name` depends on; `None` where its dependencies were not resolved.
    pub fn of(&self, name: &SkillName) -> Option<&BTreeSet<String>> {
        self.edges.get(name)
    }

    /// Returns whether `name` was selected because others depend on it.
    pub fn is_selected(&self, name: &SkillName) -> bool {
        self.selected.contains(name)
    }

    /// Returns what editable skills depend on. The lockfile says nothing of these, so the manifest has to request it.
    pub fn of_editable(&self) -> &BTreeSet<SkillName> {
        &self.of_editable
    }

    /// Returns `roots` and the skills on which they depend, directly or through others, when those in `without` cannot be
    /// had.
    pub fn reached<'a>(
        &self,
        roots: impl IntoIterator<Item = &'a SkillName>,
        without: &BTreeSet<SkillName>,
    ) -> BTreeSet<SkillName> {
        let is_there = |name: &&SkillName| !without.contains(*name);
        let mut reached = reached(roots, |name| {
            Some(name).filter(is_there).and_then(|name| self.edges.get(name)).into_iter().flatten()
        });
        reached.retain(|name| is_there(&name));
        reached
    }

    /// Returns what to tell of `dependent`, which stays as it is, where what comes is out of its ranges.
    pub fn out_of_range_for(&self, dependent: &Dependent) -> Vec<Notice> {
        let told = dependent.declared.iter().filter_map(|Declared { text, requirement }| {
            let Ok(Requirement::Named { name, range }) = requirement else { return None };
            let coming = self.coming.get(&name.collision_key())?;
            (!meets(range.as_ref(), coming.version.as_deref())).then(|| Notice::NowOutOfRange {
                dependent: dependent.name.clone(),
                text: text.clone(),
                name: name.clone(),
                version: coming.version.clone(),
            })
        });
        told.collect()
    }
}
