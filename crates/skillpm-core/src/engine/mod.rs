//! The engine: what an agent sees of a skill, level by level.
//!
//! [`discover`] reads metadata only and never fails for a skill: it says what it could not use.
//! [`find_among`] looks for one skill by its name, [`activate`] fills in what an agent gets of it, and
//! [`resources`] reads its other files. [`catalog`] is what an agent is told of all of them.
//!
//! A skill's name is an opaque key. Only a text that is a valid [`crate::name::SkillName`] is ever
//! part of a path; every other one is compared with the names that skills give themselves.

mod activate;
mod arguments;
pub mod catalog;
mod codes;
mod discover;
mod dynamic;
pub mod files;
mod find;
mod library;
pub mod load;
mod named;
mod present;
pub mod resources;
pub mod run;
mod scan;
mod skill;
pub(crate) mod sources;
#[cfg(test)]
pub(crate) mod testing;
pub mod tools;

pub use activate::{Activation, activate};
pub use arguments::Arguments;
pub use discover::{Diagnostic, Discovery, discover, discover_with};
pub(crate) use find::Disk;
pub use library::{Instructions, Library, LookupError, NotFound, Snapshot, UnknownSkill};
pub use named::{Hit, calls_itself, failed, find_among, find_at};
pub use present::{Form, LoadedSkill, UnknownForm};
pub use skill::Skill;
pub use sources::{SkillDir, Source, SourceKind, default_sources, each_once, sources_of};
