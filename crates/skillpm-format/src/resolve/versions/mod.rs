//! The versions of skills that registries list: which one of each skill is selected.
//!
//! [`solve`] takes a [`VersionProblem`], the required skills with their ranges, and asks a [`ReleaseProvider`] what the
//! registries list. It returns a [`Solution`] with one version of each skill that is needed, or a [`VersionError`] that
//! explains why there is none. It uses the PubGrub algorithm.
//!
//! Selection follows these rules:
//!
//! - The locked version is preferred, then the highest one, or the lowest one if the problem is `minimal`.
//! - A range accepts versions as in Cargo: a pre-release only if a bound names a pre-release of the same three numbers.
//! - Yanked versions, and versions that are too young, are only selected if they are locked.
//! - A dependency by name is looked up in the registry of the skill that declares it. A dependency on the skill itself
//!   is ignored, and cycles are allowed. Dependencies on sources are returned to the caller.
//!
//! The solution depends neither on the order of the requirements nor on the order in which a registry lists versions.
//! Versions are decided in a fixed order: locked requirements, other locked skills, other requirements, and then the
//! remaining skills. Hence the versions of the requirements are the best ones in lexicographic order by name, and no
//! skill of a solution could have a better version while all others keep theirs.

mod assemble;
mod choice;
mod explanation;
mod listing;
mod ordinals;
mod problem;
mod search;
mod solution;
#[cfg(test)]
mod tests;
mod universe;

pub use self::choice::{ReleaseFacts, ReleaseRules};
pub use self::explanation::Explanation;
pub use self::problem::{
    Asker, RegistryId, Release, ReleaseAge, ReleaseProvider, RootRequirement, SkillId, VersionLimit,
    VersionProblem,
};
pub use self::search::{MAX_STEPS, solve};
pub use self::solution::{ChosenVersion, Solution, SourceDependency, TwoRegistries, VersionError};

/// The maximum number of skills that one solution may have, so that an endless chain stops somewhere.
pub const MAX_SKILLS: usize = 10_000;
