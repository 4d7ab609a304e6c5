//! The result of the search.

use std::collections::{BTreeMap, BTreeSet};

use super::declared::Declared;
use super::dependent::Dependent;
use super::explanation::Explanation;
use super::graph::reached;
use super::problem::SkillId;
use super::provider::{Has, meets};
use crate::name::SkillName;
use crate::requirement::{Requirement, RequirementError};
use crate::spec::{Origin, SourceSpec};
use crate::version::Version;

/// One version of each skill that is needed.
#[derive(Debug, PartialEq, Eq)]
pub struct Solution<C, E> {
    /// The versions of skills of registries. Each is required by the user or by another skill.
    pub versions: BTreeMap<SkillId, ChosenVersion>,
    /// The skills to fetch from other sources, in the order in which they were found.
    pub selected: Vec<Selected<C>>,
    /// Which skill satisfies which dependency.
    pub assignment: Assignment,
    /// The notices for the user, about the selected versions.
    pub notices: Vec<Notice>,
    /// With [`OnUnresolved::Skip`](super::OnUnresolved::Skip), the dependencies that nothing satisfies.
    pub unresolved: Vec<Unresolved<E>>,
}

/// The version of a skill of a registry that was selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenVersion {
    /// The version.
    pub version: Version,
    /// The parties that require the skill.
    pub needed_by: BTreeSet<Asker>,
    /// The skill that it was found for, if the user does not require it.
    pub found: Option<FoundFor>,
}

/// A skill to fetch because another one depends on it.
#[derive(Debug, PartialEq, Eq)]
pub struct Selected<C> {
    /// The skill.
    pub skill: Dependent,
    /// The data needed to fetch it.
    pub candidate: C,
    /// The skill that it was found for.
    pub found: FoundFor,
}

/// The skill for which another one was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFor {
    /// The first of those that depend on it.
    pub by: SkillName,
    /// The requested skill that it is needed for.
    pub root: SkillName,
}

/// The party that requires a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// The user.
    User,
    /// A skill.
    Skill {
        /// The name.
        name: SkillName,
        /// The version, if it has one.
        version: Option<String>,
    },
}

/// The assignment of skills to dependencies.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The versions of the skills that come, by the key under which names are equal.
    pub(super) coming: BTreeMap<String, Option<String>>,
    /// The names of the skills that each skill depends on.
    pub(super) edges: BTreeMap<SkillName, BTreeSet<String>>,
    /// The dependencies of editable skills.
    pub(super) of_editable: BTreeSet<SkillName>,
    pub(super) selected: BTreeSet<SkillName>,
}

/// A dependency that nothing satisfies.
#[derive(Debug, PartialEq, Eq)]
pub struct Unresolved<E> {
    /// The requested skill, which depends on it directly or through others.
    pub root: SkillName,
    /// The skill that declares it.
    pub dependent: SkillName,
    /// The dependency, as written.
    pub text: String,
    /// Why its source does not have it.
    pub error: E,
}

/// The reason why there is no solution.
#[derive(Debug)]
pub enum SolveError<E> {
    /// The provider cannot read a registry, or stopped the search.
    Provider(E),
    /// The source of a dependency does not have it.
    Unresolved(Box<Unresolved<E>>),
    /// No choice of versions satisfies all requirements, or two skills would have one name.
    NoSolution(Box<Explanation>),
    /// A skill exceeds [`MAX_SKILLS`](super::MAX_SKILLS) or [`MAX_FOUND`](super::MAX_FOUND).
    TooMany {
        /// The skill.
        name: SkillName,
        /// The things that are too many.
        what: &'static str,
        /// The maximum number.
        limit: usize,
    },
    /// The search was given up after [`MAX_STEPS`](super::MAX_STEPS) decisions.
    TooHard,
}

/// Something in a solution that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A declaration of `dependent` has no meaning.
    Malformed {
        /// The skill.
        dependent: SkillName,
        /// The declaration.
        text: String,
        /// The problem.
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
        /// The version.
        by: Option<String>,
        /// The declaration.
        text: String,
        /// The skill whose ranges are replaced.
        name: SkillName,
        /// The version.
        version: String,
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
        /// The version.
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
        /// The offer of that source.
        has: Has,
    },
    /// A skill that the user requested stays, although `dependent` declares another one.
    RequestedStays {
        /// The skill.
        dependent: SkillName,
        /// The declared source of the other one.
        spec: Box<SourceSpec>,
        /// The skill that stays.
        name: SkillName,
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

    /// Records that the skill `name` of a registry comes in `version` because others depend on it.
    pub fn select(&mut self, name: &SkillName, version: &Version) {
        self.selected.insert(name.clone());
        self.coming.insert(name.collision_key(), Some(version.to_string()));
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
        let notices = dependent.declared.iter().filter_map(|Declared { text, requirement }| {
            let Ok(Requirement::Named { name, range }) = requirement else { return None };
            let version = self.coming.get(&name.collision_key())?;
            (!meets(range.as_ref(), version.as_deref())).then(|| Notice::NowOutOfRange {
                dependent: dependent.name.clone(),
                text: text.clone(),
                name: name.clone(),
                version: version.clone(),
            })
        });
        notices.collect()
    }
}
