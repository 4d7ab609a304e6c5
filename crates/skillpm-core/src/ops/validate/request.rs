//! A request to check skills.

use crate::lint::{Ruleset, Safety};
use crate::paths::Target;

/// A request to check skills.
#[derive(Debug, Clone, Default)]
pub struct ValidateRequest {
    /// The files and directories to check.
    pub targets: Vec<Target>,
    /// The rules; [`rules`](super::rules) reads those of a project.
    pub rules: Ruleset,
    /// The treatment of findings that can be repaired.
    pub repairs: Repairs,
}

/// The treatment of findings that can be repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repairs {
    /// They are reported.
    #[default]
    None,
    /// Repairs of this kind are computed, and nothing is written.
    Show(Safety),
    /// Repairs of this kind are made.
    Make(Safety),
}
