//! The package manager and engine for [Agent Skills](https://agentskills.io): directories with a
//! `SKILL.md` that teach coding agents how to do a job.
//!
//! The program `skillpm` is a thin front end of this library: everything that it does is a verb in
//! [`ops`], which takes a request and returns an outcome, and prints nothing.
//!
//! ```
//! use skillpm::document::Document;
//! use skillpm::lint::{self, Subject};
//! use skillpm::skill;
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
//! # Ok::<(), skillpm::skill::LoadError>(())
//! ```
//!
//! Imports run one way: front ends, verbs, machine, rules, values. Without the feature `cli` the
//! library has no front end, without `http` it reaches no network, without `create` it makes no new
//! skills, and without `collation` it cannot compute other tools' hashes over names beyond ASCII.

// values
pub mod advice;
pub mod digest;
pub mod document;
pub mod interop;
pub mod lockfile;
pub mod manifest;
pub mod name;
pub mod path;
pub mod policy;
pub mod refusal;
pub mod requirement;
pub mod scope;
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
pub mod resolve;
pub mod review;
// machine
pub mod agents;
pub mod archive;
pub mod engine;
pub mod fs;
#[cfg(feature = "git")]
pub mod git;
#[cfg(feature = "http")]
pub mod http;
pub mod install;
pub mod source;
pub mod store;
#[cfg(feature = "create")]
pub mod template;
pub mod trust;
// verbs
pub mod context;
pub mod env;
pub mod error;
pub mod interrupt;
pub mod ops;
pub mod reporter;
pub mod settings;
mod workers;
// front ends
#[cfg(feature = "cli")]
pub mod cli;

#[cfg(test)]
mod testing;
