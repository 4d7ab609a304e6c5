//! skillpm

// values
pub mod digest;
pub mod lockfile;
pub mod manifest;
pub mod name;
pub mod path;
pub mod refusal;
pub mod spec;
pub mod text;
pub mod tree;
// machine
pub mod fs;
pub mod install;
pub mod store;
// verbs
pub mod context;
pub mod env;
pub mod error;
pub mod reporter;
pub mod settings;

#[cfg(test)]
mod testing;
