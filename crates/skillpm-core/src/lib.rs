//! The library of skillpm, the package manager and engine for [Agent Skills](https://agentskills.io).
//!
//! Everything that the program does is a verb in [`ops`], which takes a request and returns an outcome, and prints
//! nothing. Front ends translate: the command line, the Python package.
//!
//! Imports run one way: verbs, what they share, the state of a scope, and below them what fetches
//! ([`skillpm_sources`]), and the rules and values of [`skillpm_format`]. Without the feature `http` it reaches no network,
//! without `git` it reads no repositories, and without `create` it makes no new skills.

#[cfg(feature = "http")]
use skillpm_format::credentials;
use skillpm_format::{
    admission, advice, codes, digest, document, interop, lint, lockfile, manifest, merge, name, path,
    profile, ranking, refusal, requirement, resolve, review, scope_kind, skill, spec, text, tokens, tree,
    version,
};
#[cfg(feature = "git")]
use skillpm_sources::git;
#[cfg(feature = "http")]
use skillpm_sources::http;
use skillpm_sources::{
    archive, context, env, error, fs, interrupt, registry, reporter, settings, source, store, workers,
};

// ground
pub mod agents;
#[cfg(not(feature = "git"))]
mod git;
// machine
pub mod engine;
pub mod scope;
#[cfg(feature = "create")]
pub mod template;
pub mod trust;
pub mod updates;
// what verbs share
mod change;
mod fetch;
pub mod paths;
pub mod session;
// verbs
pub mod ops;
// how agents reach them
pub mod toolkit;
// what to do after them
pub mod hints;

/// Trees and skills in memory, as the tests of the format make them.
#[cfg(test)]
#[path = "../../skillpm-format/src/testing.rs"]
mod testing;
