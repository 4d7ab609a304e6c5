//! The program `skillpm`: the command line in front of [`skillpm_core`].

pub mod cli;

// What the two modules below name, which other crates have as their own.
#[cfg(test)]
use skillpm_core::engine;
#[cfg(test)]
use skillpm_format::{path, profile, refusal, tree};
#[cfg(test)]
use skillpm_sources::{context, env, fs, settings};

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
