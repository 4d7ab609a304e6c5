//! The result of the solver.

use std::collections::{BTreeMap, BTreeSet};

use super::explanation::Explanation;
use super::problem::{Asker, SkillId};
use crate::name::SkillName;
use crate::resolve::resolution::Notice;
use crate::spec::SourceSpec;
use crate::version::Version;

/// One version of each skill that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// The versions, by skill. Each skill is required from outside or by another one.
    pub versions: BTreeMap<SkillId, ChosenVersion>,
    /// The notices for the user, about the selected versions and the root requirements.
    pub notices: Vec<Notice>,
}

/// The version of a skill that was selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenVersion {
    /// The version.
    pub version: Version,
    /// The index of its release in the list that the provider returned.
    pub index: usize,
    /// The parties that require the skill.
    pub needed_by: BTreeSet<Asker>,
    /// The names that it depends on, in the registry or bound to another source.
    pub dependencies: BTreeSet<SkillName>,
    /// The dependencies that name a source, in the order of the declarations. They are not resolved.
    pub sources: Vec<SourceDependency>,
}

/// A dependency that names a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDependency {
    /// The declaration as written.
    pub text: String,
    /// The source.
    pub spec: SourceSpec,
}

/// The reason why there is no solution.
#[derive(Debug)]
pub enum VersionError<E> {
    /// The provider cannot read a registry, or stopped the search.
    Provider(E),
    /// No choice of versions satisfies all requirements.
    NoSolution(Box<Explanation>),
    /// Two skills of the solution would have the same name.
    TwoRegistries(Box<TwoRegistries>),
    /// This skill would exceed [`MAX_SKILLS`](super::MAX_SKILLS).
    TooMany(SkillName),
    /// The search was given up after [`MAX_STEPS`](super::MAX_STEPS) decisions.
    TooHard,
}

/// Two skills with the same name that a solution would have. They come from two registries, or their names are
/// spellings that some file systems do not distinguish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoRegistries {
    /// One skill, and the parties that require it.
    pub first: (SkillId, BTreeSet<Asker>),
    /// The other skill, and the parties that require it.
    pub second: (SkillId, BTreeSet<Asker>),
    /// The explanation for the user.
    pub explanation: Explanation,
}
