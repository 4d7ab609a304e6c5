//! The dependencies of skills, and the skills that satisfy them. Nothing here reads or writes.
//!
//! [`solve`] takes a [`Problem`], the installed and the requested skills, and asks a [`Provider`] what sources have. It
//! returns a [`Solution`] with one version of each skill that is needed, which skill satisfies which dependency, and the
//! skills to fetch for that; or a [`SolveError`] that explains why there is none. It uses the PubGrub algorithm.
//!
//! A registry has several releases of a skill. Any other source has one for each reference that somebody names, so all
//! skills of one name outside of registries are the releases of one package, of which only one can be installed.
//!
//! Selection follows these rules:
//!
//! - The locked version is preferred, then the highest one, or the lowest one if the problem is `minimal`.
//! - A range accepts versions as in Cargo: a pre-release only if a bound names a pre-release of the same three numbers.
//! - Yanked versions, and versions that are too young, are only selected if they are locked.
//! - A name without a source means the installed or selected skill of that name, and otherwise a skill in the source of
//!   the skill that declares it, as nothing else states where it is. For a skill of a registry it is always one of that
//!   registry, unless the name is taken by a skill from elsewhere.
//! - What the user requested wins over all. A skill from outside of registries that is there and outside a range is a
//!   [`Notice`], not a conflict: no other version could be selected.
//! - A dependency on the skill itself is ignored, and cycles are allowed.
//!
//! The versions of registries depend neither on the order of the requirements nor on the order in which a registry lists
//! versions. They are decided in a fixed order: locked requirements, other locked skills, other requirements, and then
//! the remaining skills. Hence the versions of the requirements are the best ones in lexicographic order by name, and no
//! skill of a solution could have a better version while all others keep theirs. Other sources are opened last, each only
//! if a skill that was selected needs it.

mod assemble;
mod choice;
pub mod declared;
mod dependencies;
mod dependent;
mod explanation;
pub mod graph;
mod listing;
mod ordinals;
mod problem;
mod provider;
mod search;
mod sibling;
mod solution;
#[cfg(test)]
mod tests;
mod universe;

pub use self::choice::{Release, ReleaseAge, ReleaseFacts, ReleaseRules};
pub use self::dependent::{Dependent, Installed, comes_from};
pub use self::explanation::Explanation;
pub use self::problem::{
    OnUnresolved, Problem, Reach, RegistryId, RootRequirement, Settled, SkillId, VersionLimit, WantedBy,
};
pub use self::provider::{Available, Has, Location, Offer, Provider, meets};
pub use self::search::{Answer, MAX_STEPS, solve};
pub use self::sibling::{directory_of, sibling};
pub use self::solution::{
    Asker, Assignment, ChosenVersion, FoundFor, Notice, Selected, Solution, SolveError, Unresolved,
};

/// The maximum number of skills of registries that one solution may have, so that an endless chain stops somewhere.
pub const MAX_SKILLS: usize = 10_000;

/// The maximum number of skills of other sources that one solution brings.
pub const MAX_FOUND: usize = 256;
