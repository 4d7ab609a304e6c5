//! What a skill requires and this machine lacks. No program that a skill names is started to find out.

mod interpreter;
mod machine;
mod read;

pub(crate) use machine::{Machine, lacking};
pub(crate) use read::{of_directory, of_script};

#[cfg(test)]
mod tests;
