//! The configuration of a registry, which marks a directory as one.

use serde::{Deserialize, Serialize};

use super::FORMAT;
use super::error::FileError;
use super::json::{pretty, read};
use super::names::name_in_file;
use crate::name::SkillName;

/// The file `config.json`: what makes a directory a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The format of the files.
    pub format: u64,
    /// The name of the registry, which follows the rules for names of skills.
    #[serde(deserialize_with = "name_in_file")]
    pub name: SkillName,
    /// Where a server has its own interface, relative to the file. Files alone have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
}

impl Config {
    /// Returns the configuration of a new registry.
    pub fn new(name: SkillName) -> Self {
        Self { format: FORMAT, name, api: None }
    }

    /// Returns the configuration as a server with its interface at `api` answers it.
    #[must_use]
    pub fn with_api(mut self, api: &str) -> Self {
        self.api = Some(api.to_owned());
        self
    }

    /// Reads `config.json`.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a configuration, or one of a newer format.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        #[derive(Deserialize)]
        struct Format {
            format: u64,
        }
        // The format first: errors about the fields of a newer one would mislead.
        let Format { format } = read(bytes)?;
        if format != FORMAT {
            return Err(FileError::Format(format));
        }
        read(bytes)
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        pretty(self)
    }
}
