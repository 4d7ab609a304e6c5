//! skillpm

// values
pub mod digest;
pub mod name;
pub mod path;
pub mod refusal;
pub mod spec;
pub mod tree;
// machine
pub mod fs;
#[cfg(feature = "http")]
pub mod http;
pub mod source;
// verbs
pub mod context;
pub mod env;
pub mod error;
pub mod reporter;
pub mod settings;
