//! `registry index`: derives lists and search from records and events.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::opened::{shown, writer};
use super::place::in_directory;
use crate::context::Context;
use crate::error::{NamedFailure, Result};
use crate::registry::Derived;

/// A request to derive all files.
#[derive(Debug, Clone, Default)]
pub struct IndexRequest {
    /// The registry: a directory, or a name of `[registries]`; by default the working directory.
    pub registry: Option<PathBuf>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistryIndexOutcome")]
pub struct IndexOutcome {
    /// The directory of the registry.
    pub registry: String,
    /// The number of skills.
    pub skills: usize,
    /// The number of their versions.
    pub versions: usize,
    /// The files that were written, below the registry.
    pub written: Vec<String>,
    /// The files that were removed.
    pub removed: Vec<String>,
    /// The skills that are damaged: what was derived of them before stays as it is.
    pub left_out: Vec<NamedFailure>,
    /// Whether nothing was written because it was only to be shown.
    pub dry_run: bool,
}

/// Derives all files of a registry from its records and events. A skill that is damaged is no error: it is left out, and
/// the outcome says so.
///
/// # Errors
///
/// Fails if a file cannot be read or written.
pub fn index(context: &Context, request: &IndexRequest) -> Result<IndexOutcome> {
    let registry = in_directory(context, request.registry.as_deref())?;
    let derived = if request.dry_run { registry.outdated()? } else { writer(context, &registry)?.index()? };
    let Derived { skills, versions, written, removed, left_out } = derived;
    let (registry, dry_run) = (shown(&registry), request.dry_run);
    Ok(IndexOutcome { registry, skills, versions, written, removed, left_out, dry_run })
}
