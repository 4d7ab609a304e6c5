//! `registry list`: what a registry has.

use std::path::PathBuf;

use serde::Serialize;

use super::opened::{open, shown};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::registry::{History, Record, registry_name};

/// A request to list a registry.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// The registry; that in the working directory if there is none.
    pub registry: Option<PathBuf>,
    /// The skill whose versions are listed; without one, all skills.
    pub name: Option<String>,
}

/// A skill of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSkill {
    /// The name.
    pub name: String,
    /// What it does and when to use it, as its newest version says.
    pub description: String,
    /// The version that describes it; `None` if all are yanked.
    pub newest: Option<String>,
    /// The versions, ascending.
    pub versions: Vec<ListedVersion>,
}

/// A version of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedVersion {
    /// The version.
    pub version: String,
    /// When it was published, in the format of RFC 3339.
    pub published: String,
    /// If it is yanked: the reason, which may be empty.
    pub yanked: Option<String>,
    /// The digest of the skill's files.
    pub digest: Digest,
    /// The digest of the archive.
    pub artifact: Digest,
    /// The number of bytes of the archive.
    pub size: u64,
    /// The declared dependencies.
    pub dependencies: Vec<String>,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListOutcome {
    /// The directory of the registry.
    pub registry: String,
    /// The name of the registry.
    pub name: String,
    /// The skills, sorted by name.
    pub skills: Vec<ListedSkill>,
}

/// Lists the skills of a registry, as its records and events have them.
///
/// # Errors
///
/// Fails if there is no registry or no such skill, and for a record or event that is damaged.
pub fn list(context: &Context, request: &ListRequest) -> Result<ListOutcome> {
    let registry = open(context, request.registry.as_deref())?;
    let histories = match &request.name {
        Some(name) => {
            let name = registry_name(name).map_err(|error| Error::usage(error.to_string()))?;
            vec![registry.known(&name)?]
        }
        None => registry.histories()?,
    };
    let skills = histories.iter().filter_map(skill).collect();
    Ok(ListOutcome { registry: shown(&registry), name: registry.config().name.to_string(), skills })
}

/// Returns the skill with this history; `None` if it has no version.
fn skill(history: &History) -> Option<ListedSkill> {
    let newest = history.newest();
    let describing = newest.or(history.records().last())?;
    let version = |record: &Record| ListedVersion {
        version: record.version.to_string(),
        published: record.published.to_string(),
        yanked: history.yanked(&record.version).map(str::to_owned),
        digest: record.digest,
        artifact: record.artifact.digest,
        size: record.artifact.size,
        dependencies: record.dependencies.clone(),
    };
    Some(ListedSkill {
        name: history.name().to_string(),
        description: describing.description.clone(),
        newest: newest.map(|record| record.version.to_string()),
        versions: history.records().iter().map(version).collect(),
    })
}
