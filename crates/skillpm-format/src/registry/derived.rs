//! The files about all skills that other tools read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::json::{pretty, read};
use super::names::{name_in_file, version_in_file};
use super::{Config, History, Record, SearchIndex, files};
use crate::digest::Digest;
use crate::name::SkillName;
use crate::version::Version;

/// The `$schema` of the discovery index.
const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// One skill as the files about all skills have it: its newest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The name.
    pub name: SkillName,
    /// The version.
    pub version: Version,
    /// What the skill does and when to use it.
    pub description: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The digest of the archive.
    pub artifact: Digest,
}

impl Head {
    /// Returns the head that `record` makes.
    pub fn of(record: &Record) -> Self {
        Self {
            name: record.name.clone(),
            version: record.version.clone(),
            description: record.description.clone(),
            tags: record.tags.clone(),
            artifact: record.artifact.digest,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct DiscoveryIndex {
    #[serde(rename = "$schema")]
    schema: String,
    skills: Vec<DiscoveryEntry>,
}

#[derive(Serialize, Deserialize)]
struct DiscoveryEntry {
    #[serde(deserialize_with = "name_in_file")]
    name: SkillName,
    #[serde(rename = "type")]
    kind: String,
    description: String,
    url: String,
    digest: Digest,
    #[serde(deserialize_with = "version_in_file")]
    version: Version,
}

impl DiscoveryEntry {
    fn of(head: &Head) -> Self {
        Self {
            name: head.name.clone(),
            kind: "archive".to_owned(),
            description: head.description.clone(),
            url: format!("../../{}", files::artifact(&head.artifact)),
            digest: head.artifact,
            version: head.version.clone(),
        }
    }
}

/// Returns the index of the discovery format, version 0.2. Each entry has a `version` too, which readers of that format
/// ignore.
pub fn discovery<'a>(heads: impl IntoIterator<Item = &'a Head>) -> Vec<u8> {
    let skills = heads.into_iter().map(DiscoveryEntry::of).collect();
    pretty(&DiscoveryIndex { schema: SCHEMA.to_owned(), skills })
}

/// Returns the heads that `search` and `discovery`, the two files about all skills, were made of. Returns `None` if they
/// do not fit together: then only the records can tell.
pub fn heads(search: &[u8], discovery: &[u8]) -> Option<BTreeMap<SkillName, Head>> {
    let index: DiscoveryIndex = read(discovery).ok()?;
    let search = SearchIndex::parse(search).ok()?;
    if index.schema != SCHEMA || index.skills.len() != search.skills.len() {
        return None;
    }
    let mut heads = BTreeMap::new();
    for (entry, skill) in index.skills.into_iter().zip(search.skills) {
        if entry.name != skill.name
            || entry.version != skill.version
            || entry.description != skill.description
        {
            return None;
        }
        let (name, version, artifact) = (entry.name, entry.version, entry.digest);
        let head = Head { name, version, description: skill.description, tags: skill.tags, artifact };
        if heads.last_key_value().is_some_and(|(last, _)| *last >= head.name) {
            return None;
        }
        heads.insert(head.name.clone(), head);
    }
    Some(heads)
}

/// Returns the versions of a skill in the form of the versions proposal for the discovery format: those that are not
/// yanked. Returns `None` if there are none.
pub fn versions(history: &History) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Versions<'a> {
        latest: &'a str,
        versions: Vec<&'a str>,
    }
    let latest = history.newest()?.version.as_str();
    let offered = history.records().iter().filter(|record| history.yanked(&record.version).is_none());
    let versions = offered.map(|record| record.version.as_str()).collect();
    Some(pretty(&Versions { latest, versions }))
}

/// Reports whether `bytes` are what [`versions`] makes.
pub fn are_versions(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Versions {
        latest: String,
        versions: Vec<String>,
    }
    read::<Versions>(bytes).is_ok_and(|read| read.versions.contains(&read.latest))
}

/// Returns the AI Catalog: one entry for each skill. Addresses are relative to the file, since a registry does not know
/// where it is served.
pub fn ai_catalog<'a>(config: &Config, heads: impl IntoIterator<Item = &'a Head>) -> Vec<u8> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Catalog<'a> {
        spec_version: &'static str,
        host: Host<'a>,
        entries: Vec<CatalogEntry<'a>>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Host<'a> {
        display_name: &'a str,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct CatalogEntry<'a> {
        identifier: String,
        display_name: &'a str,
        #[serde(rename = "type")]
        kind: &'static str,
        url: String,
        description: &'a str,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        tags: &'a [String],
        version: &'a str,
    }
    let entry = |head: &'a Head| CatalogEntry {
        identifier: format!("{}/{}", config.name, head.name),
        display_name: head.name.as_str(),
        kind: "application/agent-skills+zip",
        url: format!("../{}", files::artifact(&head.artifact)),
        description: &head.description,
        tags: &head.tags,
        version: head.version.as_str(),
    };
    let entries = heads.into_iter().map(entry).collect();
    pretty(&Catalog { spec_version: "1.0", host: Host { display_name: config.name.as_str() }, entries })
}
