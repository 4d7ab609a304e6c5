//! Fetching skills: the file system, archives, HTTP and git, the store, registries, and every kind of source.
//!
//! Imports run one way: ground, files, carriers, store, registries, sources, and below them the rules and values of
//! [`skillpm_format`]. Without the feature `http` it reaches no network, without `git` it reads no repositories.

#[cfg(feature = "http")]
use skillpm_format::credentials;
use skillpm_format::{
    advice, codes, digest, document, interop, lockfile, manifest, name, path, refusal, resolve, review,
    scope_kind, skill, spec, text, tree, version,
};

// ground
pub mod context;
pub mod env;
pub mod error;
pub mod interrupt;
pub mod processes;
pub mod reporter;
pub mod settings;
pub mod workers;
// files
pub mod fs;
// carriers
pub mod archive;
#[cfg(feature = "git")]
pub mod git;
#[cfg(feature = "http")]
pub mod http;
// store
pub mod store;
// registries
pub mod registry;
// sources
pub mod source;
