//! The engine: what an agent sees of a skill, level by level.
//!
//! [`discover`] reads metadata only and never fails for a skill: it says what it could not use.
//! [`find`] looks for one skill by its name, [`activate`] makes the text that an agent gets of it.
//!
//! A skill's name is an opaque key. Only a text that is a valid [`crate::name::SkillName`] is ever
//! part of a path; every other one is compared with the names that skills give themselves.

mod activate;
mod discover;
pub mod files;
mod find;
pub mod load;
pub mod run;
mod scan;
pub(crate) mod sources;
#[cfg(test)]
pub(crate) mod testing;

pub use activate::activate;
pub use discover::{Diagnostic, Discovery, Skill, discover, discover_with};
pub use find::{Hit, find};
pub use sources::{Entry, Source, default_sources, sources_of};
