//! The engine: gives agents skills, level by level.
//!
//! [`discover()`] reads only metadata and never fails for a single skill: it reports the skills that it could not use.
//! [`find_among`] finds one skill by its name, [`activate`] fills in its instructions for an agent, and [`resources`]
//! reads its other files. [`catalog`] describes all skills to an agent.
//!
//! A skill's name is an opaque key. Only a text that is a valid [`crate::name::SkillName`] ever becomes part of a path;
//! any other text is only compared with the names in skills' frontmatter.

mod arguments;
pub mod catalog;
mod codes;
mod diagnostic;
mod discover;
mod dynamic;
pub mod files;
mod find;
mod library;
pub mod load;
mod named;
mod placeholders;
pub(crate) mod prerequisites;
mod present;
pub mod resources;
pub mod run;
mod scan;
mod skill;
pub(crate) mod sources;
#[cfg(test)]
pub(crate) mod testing;
pub mod tools;
mod trusted;

pub use arguments::Arguments;
pub use diagnostic::Diagnostic;
pub(crate) use discover::discover;
pub(crate) use find::{Disk, Search};
pub(crate) use library::{Instructions, Library};
pub use library::{LookupError, NotFound, Snapshot, UnknownSkill};
pub use named::Hit;
pub(crate) use named::{calls_itself, failed, find_among, find_at};
pub use placeholders::Activation;
pub(crate) use placeholders::activate;
pub use present::{Form, LoadedSkill, UnknownForm};
pub use skill::Skill;
pub(crate) use sources::{SkillDir, default_sources, each_once, sources_of, with_least};
pub use sources::{Source, SourceKind};
