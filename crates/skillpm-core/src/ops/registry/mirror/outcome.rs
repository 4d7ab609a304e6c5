//! The outcome of a mirror.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::YankedVersion;
use crate::error::NamedFailure;

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MirrorOutcome {
    /// The registry that was mirrored, as typed.
    pub source: String,
    /// The directory of the mirror.
    pub registry: String,
    /// The number of skills that were asked for.
    pub skills: usize,
    /// The number of their versions.
    pub versions: usize,
    /// The versions that are new in the mirror, sorted.
    pub added: Vec<MirroredVersion>,
    /// The versions that were yanked, or no longer are.
    pub yanked: Vec<YankedVersion>,
    /// The files that were not a registry's and were replaced when the mirror was made, below its directory.
    pub replaced: Vec<String>,
    /// The files that were not a registry's and in its way, and were removed.
    pub removed: Vec<String>,
    /// The number of archives that were fetched.
    pub fetched: usize,
    /// The number of bytes of these archives.
    pub fetched_bytes: u64,
    /// Skills that others need and that the registry does not have: they come from elsewhere.
    pub elsewhere: Vec<String>,
    /// The skills that are not as the registry says. Nothing new of them is in the mirror.
    pub failures: Vec<NamedFailure>,
}

/// A version that is new in a mirror.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MirroredVersion {
    /// The name of the skill.
    pub name: String,
    /// The version.
    pub version: String,
    /// The number of bytes of the archive.
    pub size: u64,
}
