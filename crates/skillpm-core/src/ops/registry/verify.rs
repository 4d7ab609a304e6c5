//! `registry verify`: reads every byte of a registry.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::opened::shown;
use super::place::in_directory;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{self, Defect};

/// A request to verify a registry.
#[derive(Debug, Clone, Default)]
pub struct VerifyRequest {
    /// The registry: a directory, or a name of `[registries]`; by default the working directory.
    pub registry: Option<PathBuf>,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistryVerifyOutcome")]
pub struct VerifyOutcome {
    /// The directory of the registry.
    pub registry: String,
    /// The number of skills.
    pub skills: usize,
    /// The number of their versions.
    pub versions: usize,
    /// The number of bytes of their archives.
    pub bytes: u64,
    /// The defects, sorted by path.
    pub defects: Vec<Defect>,
    /// Files that belong to nothing and harm nothing, sorted.
    pub strays: Vec<String>,
    /// Skills that a writer was at work on when it was killed.
    pub pending: Vec<String>,
}

/// Reads every byte of a registry.
///
/// # Errors
///
/// Fails if the registry does not exist, or a directory of it cannot be read. Every problem of a file is a defect.
pub fn verify(context: &Context, request: &VerifyRequest) -> Result<VerifyOutcome> {
    let registry = in_directory(context, request.registry.as_deref())?;
    let verified = registry::verify(&registry)?;
    Ok(VerifyOutcome {
        registry: shown(&registry),
        skills: verified.skills,
        versions: verified.versions,
        bytes: verified.bytes,
        defects: verified.defects,
        strays: verified.strays,
        pending: verified.pending.into_iter().map(String::from).collect(),
    })
}
