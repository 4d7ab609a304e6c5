//! The formats of [Agent Skills](https://agentskills.io) and of skillpm, as values and rules without input or output.
//!
//! The values are documents (`SKILL.md`), skills, trees of files and their digests, manifests, lockfiles, sources as
//! written, and the files of other tools. The rules are the linter, the resolution of dependencies, merges, reviews and
//! policies, and the files of a registry.
//!
//! ```
//! use skillpm_format::document::Document;
//! use skillpm_format::lint::{self, Subject};
//! use skillpm_format::skill;
//!
//! let text = "---\nname: pdf\ndescription: Reads PDF files. Use it for forms.\n---\n\n# PDF\n";
//! let document = Document::parse(text.to_owned());
//!
//! // What an agent needs of a skill, read as leniently as agents read it ...
//! let loaded = skill::load(&document)?;
//! assert_eq!(loaded.meta.name, "pdf");
//!
//! // ... and what the specification says, as strictly as authors want it.
//! let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
//! assert!(lint::check(&subject).is_empty());
//! # Ok::<(), skillpm_format::skill::LoadError>(())
//! ```
//!
//! Without the feature `collation`, other tools' hashes over names beyond ASCII cannot be computed.

// values
pub mod advice;
pub mod codes;
pub mod credentials;
pub mod digest;
pub mod document;
pub mod interop;
pub mod lockfile;
pub mod manifest;
pub mod name;
pub mod path;
pub mod profile;
pub mod refusal;
pub mod requirement;
pub mod scope_kind;
mod serialized;
mod sides;
pub mod skill;
pub mod spec;
pub mod text;
pub mod tokens;
pub mod tree;
pub mod version;
// rules
pub mod admission;
pub mod lint;
pub mod merge;
pub mod ranking;
pub mod registry;
pub mod resolve;
pub mod review;

#[cfg(test)]
mod schemas;
#[cfg(test)]
mod testing;
