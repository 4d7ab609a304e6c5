//! What skills depend on, and what satisfies it. Nothing here reads or writes.
//!
//! [`resolve`] takes a [`Problem`], the skills that are installed and those that are requested, and answers with a
//! [`Resolution`]: which skill satisfies which dependency, and which skills are to be fetched for that, in the order in
//! which they were found. Where there is none it says why, as an [`Unresolved`]. What sources have it asks of a
//! [`DependencyProvider`].
//!
//! The rule: what is installed or was selected before satisfies a dependency, and what the user requested wins over all.
//! A range that it is out of is a [`Notice`], not a conflict. A name without a source means a skill of the source of the
//! skill that depends on it, as nothing else says where it is.

pub mod declared;
mod dependent;
pub mod graph;
mod place;
mod provider;
mod resolution;
mod resolver;
#[cfg(test)]
mod tests;

pub use self::dependent::{Dependent, Required, Resolved, comes_from};
pub use self::place::{directory_of, sibling};
pub use self::provider::{Available, DependencyProvider, Has, Location, Offer, meets};
pub use self::resolution::{
    Assignment, Conflict, Notice, OnUnresolved, Reason, Resolution, Selected, Unresolved,
};
pub use self::resolver::{Answer, MOST, Problem, resolve};
