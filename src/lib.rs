//! skillpm

// values
pub mod digest;
pub mod document;
pub mod name;
pub mod path;
pub mod refusal;
pub mod skill;
pub mod tree;
// rules
pub mod lint;
// machine
pub mod fs;
