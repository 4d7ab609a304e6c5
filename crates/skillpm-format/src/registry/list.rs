//! All versions of one skill: what a client needs in order to resolve and fetch.

use serde::{Deserialize, Serialize};

use super::json::{compact, read};
use super::names::{name_in_file, version_in_file};
use super::{Artifact, FileError, MAX_DEPENDENCIES, MAX_VERSIONS, Timestamp};
use crate::digest::Digest;
use crate::name::SkillName;
use crate::version::Version;

/// The versions of one skill, in `index/<name>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameList {
    /// The skill.
    #[serde(deserialize_with = "name_in_file")]
    pub name: SkillName,
    /// The versions, ascending. No two are equal but for build metadata.
    pub versions: Vec<Listed>,
}

/// One version of a [`NameList`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The version as its author wrote it.
    #[serde(deserialize_with = "version_in_file")]
    pub version: Version,
    /// The digest of the skill's tree of files.
    pub digest: Digest,
    /// The archive that holds it.
    pub artifact: Artifact,
    /// The declared dependencies, each as the author wrote it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// When it was published.
    pub published: Timestamp,
    /// If it is yanked: the reason, which may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yanked: Option<String>,
}

impl NameList {
    /// Reads the list of the skill `name`.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a list, are about another skill, have too many versions, or do not have them in
    /// ascending order.
    pub fn parse(bytes: &[u8], name: &SkillName) -> Result<Self, FileError> {
        let list: Self = read(bytes)?;
        if list.name != *name {
            return Err(FileError::OtherName { found: list.name.into(), expected: name.to_string() });
        }
        if list.versions.len() > MAX_VERSIONS {
            return Err(FileError::TooManyVersions(list.versions.len()));
        }
        let is_lower = |pair: &[Listed]| {
            pair[0].version.number().cmp_precedence(pair[1].version.number()) == std::cmp::Ordering::Less
        };
        if let Some(pair) = list.versions.windows(2).find(|pair| !is_lower(pair)) {
            let [first, second] = [0, 1].map(|at| pair[at].version.to_string());
            return Err(FileError::Order { first, second });
        }
        Ok(list)
    }

    /// Removes the versions with more dependencies than a registry takes. Returns each with their number: a reader of the
    /// list must not ask for all of them.
    pub fn take_oversized(&mut self) -> Vec<(Version, usize)> {
        let is_oversized = |listed: &Listed| listed.dependencies.len() > MAX_DEPENDENCIES;
        let oversized = self.versions.extract_if(.., |listed| is_oversized(listed));
        oversized.map(|listed| (listed.version, listed.dependencies.len())).collect()
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        compact(self)
    }

    /// Returns the entry of `version`; build metadata does not matter.
    pub fn get(&self, version: &Version) -> Option<&Listed> {
        let at = |listed: &Listed| listed.version.number().cmp_precedence(version.number());
        self.versions.binary_search_by(at).ok().and_then(|at| self.versions.get(at))
    }
}
