//! skillpm

// values
pub mod digest;
pub mod document;
pub mod lockfile;
pub mod manifest;
pub mod name;
pub mod path;
pub mod refusal;
pub mod skill;
pub mod spec;
pub mod text;
pub mod tree;
// rules
pub mod lint;
// machine
pub mod archive;
pub mod engine;
pub mod fs;
#[cfg(feature = "http")]
pub mod http;
pub mod install;
pub mod source;
pub mod store;
// verbs
pub mod context;
pub mod env;
pub mod error;
pub mod ops;
pub mod reporter;
pub mod settings;
// front ends
#[cfg(feature = "cli")]
pub mod cli;

#[cfg(test)]
mod testing;
