//! `registry list`: what a registry has.

use schemars::JsonSchema;
use serde::Serialize;

use super::opened::shown;
use super::place::{AnyRegistry, about};
#[cfg(feature = "http")]
use super::server::RegistryServer;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{History, Objects as _, Record, RegistryDir, registry_name};
#[cfg(feature = "http")]
use crate::registry::{Listed, NameList};

/// A request to list a registry.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// The registry: a directory, an address, or a name of `[registries]`; by default the working directory.
    pub registry: Option<String>,
    /// The skill whose versions are listed; without one, all skills.
    pub name: Option<String>,
}

/// A skill of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistrySkill")]
pub struct ListedSkill {
    /// The name.
    pub name: String,
    /// The description of the newest version.
    pub description: String,
    /// The version that describes it; `None` if all are yanked.
    pub newest: Option<String>,
    /// The versions, ascending. Of a server, they are only listed if the skill was named.
    pub versions: Vec<ListedVersion>,
}

/// A version of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistryListOutcome")]
pub struct ListOutcome {
    /// The directory or the address of the registry.
    pub registry: String,
    /// The name of the registry.
    pub name: String,
    /// The skills, sorted by name.
    pub skills: Vec<ListedSkill>,
}

/// Lists the skills of a registry: of a directory as its records and events have them, of a server as it lists them.
///
/// # Errors
///
/// Fails if there is no registry or no such skill, and for a record or event that is damaged.
pub fn list(context: &Context, request: &ListRequest) -> Result<ListOutcome> {
    let name = request.name.as_deref().map(registry_name).transpose();
    let name = name.map_err(|error| Error::usage(error.to_string()))?;
    match AnyRegistry::find(context, request.registry.as_deref())? {
        AnyRegistry::Directory(registry) => {
            list_in(&registry, name.as_ref()).map_err(|error| about(error, request.registry.as_deref()))
        }
        #[cfg(feature = "http")]
        AnyRegistry::Server(server) => list_of(&server, name.as_ref()),
    }
}

/// Lists the skills of a directory, or the versions of `name`.
fn list_in(registry: &RegistryDir, name: Option<&SkillName>) -> Result<ListOutcome> {
    let histories = match name {
        Some(name) => vec![registry.known(name)?],
        None => registry.histories()?.into_values().collect::<Result<_>>()?,
    };
    let skills = histories.iter().filter_map(skill).collect();
    Ok(ListOutcome { registry: shown(registry), name: registry.config().name.to_string(), skills })
}

/// Lists the skills of a server, or the versions of `name`.
#[cfg(feature = "http")]
fn list_of(server: &RegistryServer, name: Option<&SkillName>) -> Result<ListOutcome> {
    let all = server.skills()?.skills;
    let mut skills: Vec<_> = all
        .into_iter()
        .filter(|skill| name.is_none_or(|name| *name == skill.name))
        .map(|skill| ListedSkill {
            name: skill.name.into(),
            description: skill.description,
            newest: Some(skill.version.into()),
            versions: Vec::new(),
        })
        .collect();
    if let Some(name) = name {
        let list = server.versions(name)?.ok_or_else(|| server.unknown(name))?;
        // A skill whose versions are all yanked, or that is not public, is not in the list of all.
        let skill = skills.pop().unwrap_or_else(|| ListedSkill {
            name: name.to_string(),
            description: String::new(),
            newest: None,
            versions: Vec::new(),
        });
        let newest = skill.newest.or_else(|| newest(&list));
        let versions = list.versions.into_iter().map(listed_version).collect();
        skills = vec![ListedSkill { newest, versions, ..skill }];
    }
    Ok(ListOutcome { registry: server.shown(), name: server.name().to_owned(), skills })
}

/// Returns the newest version that is not yanked.
#[cfg(feature = "http")]
fn newest(list: &NameList) -> Option<String> {
    list.versions.iter().rev().find(|one| one.yanked.is_none()).map(|one| one.version.to_string())
}

#[cfg(feature = "http")]
fn listed_version(listed: Listed) -> ListedVersion {
    ListedVersion {
        version: listed.version.into(),
        published: listed.published.to_string(),
        yanked: listed.yanked,
        digest: listed.digest,
        artifact: listed.artifact.digest,
        size: listed.artifact.size,
        dependencies: listed.dependencies,
    }
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
