//! skillpm

// values
pub mod digest;
pub mod name;
pub mod path;
pub mod refusal;
pub mod tree;
// machine
pub mod fs;
// rooms
pub mod archive;
