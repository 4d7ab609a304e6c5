//! The index that searches read.

use serde::{Deserialize, Serialize};

use super::json::{compact, read};
use super::names::{name_in_file, version_in_file};
use super::{FileError, Head};
use crate::name::SkillName;
use crate::version::Version;

/// All skills with the texts that people search in, in `search.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchIndex {
    /// The skills, sorted by name.
    pub skills: Vec<SearchSkill>,
}

/// One skill of a [`SearchIndex`], as its newest version describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSkill {
    /// The name.
    #[serde(deserialize_with = "name_in_file")]
    pub name: SkillName,
    /// What the skill does and when to use it.
    pub description: String,
    /// The tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The newest version.
    #[serde(deserialize_with = "version_in_file")]
    pub version: Version,
}

impl SearchIndex {
    /// Returns the index of these skills.
    pub fn of<'a>(heads: impl IntoIterator<Item = &'a Head>) -> Self {
        let skill = |head: &Head| SearchSkill {
            name: head.name.clone(),
            description: head.description.clone(),
            tags: head.tags.clone(),
            version: head.version.clone(),
        };
        Self { skills: heads.into_iter().map(skill).collect() }
    }

    /// Reads `search.json`.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not such a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        read(bytes)
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        compact(self)
    }
}
