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
pub mod fs;

#[cfg(feature = "http")]
#[cfg(test)]
// rooms
pub mod http;
pub mod source;
// verbs
mod testing;
pub mod archive;
pub mod context;
pub mod env;
pub mod error;
pub mod install;
pub mod reporter;
pub mod settings;
pub mod store;
