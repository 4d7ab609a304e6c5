//! The result of a resolution, and the reasons why there is none.

use std::collections::{BTreeMap, BTreeSet};

use super::declared::Declared;
use super::dependent::{Dependent, Resolved};
use super::graph::reached;
use super::provider::{Available, Has, meets};
use crate::name::SkillName;
use crate::requirement::{Requirement, RequirementError};
use crate::spec::{Origin, SourceSpec};
use crate::version::Version;

/// The skills that satisfy the dependencies of some skills.
#[derive(Debug)]
pub struct Resolution<C, E> {
    /// Which skill satisfies which dependency.
    pub assignment: Assignment,
    /// The skills to fetch, in the order in which they were found.
    pub selected: Vec<Selected<C>>,
    /// The notices for the user.
    pub notices: Vec<Notice>,
    /// With [`OnUnresolved::Skip`], the dependencies that nothing satisfies.
    pub unresolved: Vec<Unresolved<C, E>>,
}

/// A skill to fetch because another one depends on it.
#[derive(Debug)]
pub struct Selected<C> {
    /// The skill.
    pub skill: Dependent,
    /// The data needed to fetch it.
    pub candidate: C,
    /// The skill for which it was found: the first of those that depend on it.
    pub by: SkillName,
    /// The requested skill that it is needed for.
    pub root: SkillName,
}

/// The assignment of skills to dependencies.
#[derive(Debug, Default)]
pub struct Assignment {
    /// The skills to be installed, by the key under which names are equal.
    pub(super) coming: BTreeMap<String, Resolved>,
    /// The names of the skills that each skill depends on.
    pub(super) edges: BTreeMap<SkillName, BTreeSet<String>>,
    /// The dependencies of editable skills.
    pub(super) of_editable: BTreeSet<SkillName>,
    pub(super) selected: BTreeSet<SkillName>,
}

/// What to do if nothing satisfies a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnresolved {
    /// Fail: there is no resolution.
    #[default]
    Stop,
    /// Resolve without it, and report it.
    Skip,
}

/// A dependency that nothing satisfies.
#[derive(Debug)]
pub struct Unresolved<C, E> {
    /// The requested skill, which depends on it directly or through others.
    pub root: SkillName,
    /// The skill that declares it.
    pub dependent: SkillName,
    /// The dependency, as written.
    pub text: String,
    /// Why nothing satisfies it.
    pub reason: Reason<C, E>,
}

/// The reason why nothing satisfies a dependency.
#[derive(Debug)]
pub enum Reason<C, E> {
    /// Its source does not have it.
    Source(E),
    /// Other skills depend on a different skill with that name.
    Conflict(Box<Conflict<C>>),
    /// This skill would exceed [`MOST`](super::MOST).
    TooMany(SkillName),
}

/// Two skills with the same name that different skills depend on.
#[derive(Debug)]
pub struct Conflict<C> {
    /// The one that is installed or selected.
    pub kept: Resolved,
    /// The skills that depend on the kept one.
    pub by: Vec<SkillName>,
    /// The other one.
    pub rejected: Available<C>,
    /// The declared address of the other one.
    pub spec: SourceSpec,
}

/// Something in a resolution that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A declaration of `dependent` has no meaning.
    Malformed {
        /// The skill.
        dependent: SkillName,
        /// The declaration.
        text: String,
        /// What is wrong.
        error: RequirementError,
    },
    /// The installed skill is outside the range that `dependent` declares.
    OutOfRange {
        /// The skill.
        dependent: SkillName,
        /// The declaration.
        text: String,
        /// The installed version.
        version: Option<String>,
    },
    /// The selected version is outside the range that `dependent` declares, because the user overrides it.
    Overridden {
        /// The skill.
        dependent: SkillName,
        /// Its version.
        by: Version,
        /// The declaration.
        text: String,
        /// The skill whose ranges are replaced.
        name: SkillName,
        /// Its version.
        version: Version,
        /// The range of the override.
        range: String,
    },
    /// The new skill is outside the range that `dependent`, which stays unchanged, declares.
    NowOutOfRange {
        /// The skill.
        dependent: SkillName,
        /// The declaration.
        text: String,
        /// The new skill.
        name: SkillName,
        /// Its version.
        version: Option<String>,
    },
    /// No source has what `dependent` declares.
    Missing {
        /// The skill.
        dependent: SkillName,
        /// The declaration.
        text: String,
        /// The dependent's own source, which was asked.
        source: Origin,
        /// What that source has.
        has: Has,
    },
    /// A skill that the user requested stays, although `dependent` declares another one.
    RequestedStays {
        /// The skill.
        dependent: SkillName,
        /// The declared source of the other one.
        spec: Box<SourceSpec>,
        /// The skill that stays.
        kept: SkillName,
        /// The source of the skill that stays.
        place: Box<SourceSpec>,
    },
    /// Something else occupies the place of a skill that `dependent` declares.
    NoRoom {
        /// The skill.
        dependent: SkillName,
        /// The other one.
        name: SkillName,
    },
}

impl Assignment {
    /// Returns the names of the skills that `name` depends on. Returns `None` if its dependencies were not resolved.
    pub fn of(&self, name: &SkillName) -> Option<&BTreeSet<String>> {
        self.edges.get(name)
    }

    /// Reports whether `name` was selected because others depend on it.
    pub fn is_selected(&self, name: &SkillName) -> bool {
        self.selected.contains(name)
    }

    /// Returns the dependencies of editable skills. The lockfile does not record them, so the manifest must request
    /// them.
    pub fn of_editable(&self) -> &BTreeSet<SkillName> {
        &self.of_editable
    }

    /// Returns `roots` and the skills they depend on, directly or through others, with those in `without` unavailable.
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

    /// Returns the notices for `dependent`, which stays unchanged, about new skills outside its ranges.
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
