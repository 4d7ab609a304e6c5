//! The library of skillpm, the package manager and engine for [Agent Skills](https://agentskills.io).
//!
//! Everything that the program does is a verb in [`ops`], which takes a request and returns an outcome, and prints
//! nothing. Front ends translate: the command line, the Python package.
//!
//! Imports run one way: verbs, machine, ground, and below them the rules and values of [`skillpm_format`], which this
//! crate hands on. Without the feature `http` it reaches no network, without `git` it reads no repositories, and
//! without
//! `create` it makes no new skills.

pub use skillpm_format::*;

// ground
pub mod agents;
pub mod context;
pub mod env;
pub mod error;
pub mod interrupt;
#[cfg(any(feature = "git", feature = "http"))]
mod processes;
pub mod reporter;
pub mod settings;
mod workers;
// machine
pub mod archive;
pub mod engine;
pub mod fs;
#[cfg(feature = "git")]
pub mod git;
#[cfg(feature = "http")]
pub mod http;
pub mod install;
pub mod registry;
pub mod source;
pub mod store;
#[cfg(feature = "create")]
pub mod template;
pub mod trust;
pub mod updates;
// verbs
pub mod ops;

/// Trees and skills in memory, as the tests of the format make them.
#[cfg(test)]
#[path = "../../skillpm-format/src/testing.rs"]
mod testing;
