//! A request to check skills.

use std::path::PathBuf;

use super::baseline::BaselineRequest;
use crate::lint::{Profile, RuleOptions, Safety};
use crate::paths::Changes;
use crate::paths::Target;

/// A request to check skills.
#[derive(Debug, Clone, Default)]
pub struct ValidateRequest {
    /// The files and directories to check.
    pub targets: Vec<Target>,
    /// How they are checked.
    pub options: LintOptions,
    /// The treatment of findings that can be repaired.
    pub repairs: Repairs,
    /// The skills that are checked.
    pub changes: Changes,
    /// The findings that are known.
    pub baseline: BaselineRequest,
}

/// How skills are checked, over what the manifests around them say.
#[derive(Debug, Clone, Default)]
pub struct LintOptions {
    /// The only manifest that counts, instead of the nearest one above each file. Its patterns are relative to the working
    /// directory.
    pub config: Option<PathBuf>,
    /// The rules.
    pub rules: RuleOptions,
    /// Whether files that a manifest excludes are left out even if they were named.
    pub force_exclude: bool,
    /// Whether named files that belong to no skill are left out, instead of being an error.
    pub ignore_unknown: bool,
}

impl From<Profile> for LintOptions {
    fn from(profile: Profile) -> Self {
        Self { rules: profile.into(), ..Self::default() }
    }
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
