//! The truth about one version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::json::{compact, read};
use super::names::{name_in_file, version_in_file};
use super::{Facts, FileError, Listed, Timestamp, files};
use crate::digest::Digest;
use crate::name::SkillName;
use crate::requirement::Requirement;
use crate::version::Version;

/// The archive of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Artifact {
    /// The digest of the archive's bytes.
    pub digest: Digest,
    /// The number of its bytes.
    pub size: u64,
}

/// Where a version was made, as its publisher says. Nothing is decided by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The source, such as the address of a repository.
    pub source: String,
    /// The revision of the source, such as a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// The truth about one version, in `index/<name>/<version>.json`. The file is created once and never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The skill.
    #[serde(deserialize_with = "name_in_file")]
    pub name: SkillName,
    /// The version as its author wrote it.
    #[serde(deserialize_with = "version_in_file")]
    pub version: Version,
    /// What the skill does and when to use it.
    pub description: String,
    /// The license.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The digest of the skill's tree of files.
    pub digest: Digest,
    /// The archive that holds it.
    pub artifact: Artifact,
    /// The declared dependencies, each as the author wrote it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// When it was published.
    pub published: Timestamp,
    /// Where it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

impl Record {
    /// Reads the record at the path that `name` and `key` lead to; `key` is the file's name without its ending.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a record, or are about something other than what their path says.
    pub fn parse(bytes: &[u8], name: &SkillName, key: &str) -> Result<Self, FileError> {
        let record = Self::read(bytes)?;
        if record.name != *name {
            return Err(FileError::OtherName { found: record.name.into(), expected: name.to_string() });
        }
        if files::version_key(&record.version) != key {
            return Err(FileError::OtherVersion { found: record.version.into(), expected: key.to_owned() });
        }
        Ok(record)
    }

    /// Reads a record whose path is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a record.
    pub fn read(bytes: &[u8]) -> Result<Self, FileError> {
        read(bytes)
    }

    /// Returns the first field that a list has otherwise; `None` if `listed` is about this version.
    pub fn differs_from(&self, listed: &Listed) -> Option<&'static str> {
        let fields = [
            ("version", self.version.as_str() == listed.version.as_str()),
            ("digest", self.digest == listed.digest),
            ("artifact", self.artifact == listed.artifact),
            ("dependencies", self.dependencies == listed.dependencies),
            ("published", self.published == listed.published),
        ];
        fields.into_iter().find(|(_, is_same)| !is_same).map(|(field, _)| field)
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        compact(self)
    }

    /// Returns the first field in which the record differs from what the skill itself says.
    pub fn difference(&self, facts: &Facts) -> Option<&'static str> {
        let same = |one: &[String], other: &[String]| {
            let parse = |texts: &[String]| -> Vec<Result<Requirement, String>> {
                texts.iter().map(|text| text.parse().map_err(|_| text.clone())).collect()
            };
            one == other || parse(one) == parse(other)
        };
        [
            (self.name == facts.name, "name"),
            (self.version.as_str() == facts.version.as_str(), "version"),
            (self.description == facts.description, "description"),
            (self.license == facts.license, "license"),
            (self.tags == facts.tags, "tags"),
            (same(&self.dependencies, &facts.dependencies), "dependencies"),
        ]
        .into_iter()
        .find_map(|(is_same, field)| (!is_same).then_some(field))
    }
}
