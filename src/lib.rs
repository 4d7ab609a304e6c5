//! The program `skillpm`: the command line in front of [`skillpm_core`], which it hands on to its tests.

pub use skillpm_core::*;

pub mod cli;

/// A project and a home directory, as the tests of the library have them.
#[cfg(test)]
#[path = "../crates/skillpm-core/src/engine/testing.rs"]
#[expect(dead_code, reason = "the tests of the library need more of it")]
mod world;

/// Trees and skills in memory, as the tests of the format make them.
#[cfg(test)]
#[path = "../crates/skillpm-format/src/testing.rs"]
#[expect(dead_code, reason = "the tests of other crates need more of it")]
mod testing;
