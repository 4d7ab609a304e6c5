//! The dependencies of skills, and the skills that satisfy them. Nothing here reads or writes.
//!
//! [`resolve`] takes a [`Problem`], the installed and the requested skills, and returns a [`Resolution`]: which skill
//! satisfies which dependency, and which skills to fetch for that, in the order in which they were found. If there is
//! none, it returns the reason as an [`Unresolved`]. It asks a [`DependencyProvider`] what sources have.
//!
//! The rule: a skill that is installed or was selected before satisfies a dependency, and a skill that the user
//! requested wins over all. If such a skill is outside a range, that is a [`Notice`], not a conflict. A name without a
//! source means a skill in the source of the skill that depends on it, as nothing else states where it is.
//!
//! Sources have one version of a skill. Registries list several, among which [`versions`] selects.

pub mod declared;
mod dependent;
pub mod graph;
mod place;
mod provider;
mod resolution;
mod resolver;
#[cfg(test)]
mod tests;
pub mod versions;

pub use self::dependent::{Dependent, Required, Resolved, comes_from};
pub use self::place::{directory_of, sibling};
pub use self::provider::{Available, DependencyProvider, Has, Location, Offer, meets};
pub use self::resolution::{
    Assignment, Conflict, Notice, OnUnresolved, Reason, Resolution, Selected, Unresolved,
};
pub use self::resolver::{Answer, MOST, Problem, resolve};
