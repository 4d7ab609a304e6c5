//! The log of all that was published and changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::json::{compact, read};
use super::names::{name_in_file, version_in_file};
use super::{Event, FileError, Timestamp};
use crate::digest::Digest;
use crate::name::SkillName;
use crate::version::Version;

/// An entry of the log, in `log/<n / 1000>/<n>.json`. The file is created once and never changed.
///
/// An entry is written before the records and events that it announces, so that nothing can come about that the log does
/// not have. A writer that fails in between leaves an entry about something that did not come about: the record or the
/// event decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogEntry {
    /// When.
    pub time: Timestamp,
    /// Who, if a server knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What.
    pub changes: Vec<LogChange>,
}

/// A change that an entry of the log announces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum LogChange {
    /// A version is published.
    Publish {
        /// The skill.
        #[serde(deserialize_with = "name_in_file")]
        name: SkillName,
        /// The version.
        #[serde(deserialize_with = "version_in_file")]
        version: Version,
        /// The digest of the skill's tree of files.
        digest: Digest,
    },
    /// An event happens.
    Event {
        /// The skill.
        #[serde(deserialize_with = "name_in_file")]
        name: SkillName,
        /// The number of the event.
        number: usize,
        /// The event.
        #[serde(flatten)]
        event: Event,
    },
    /// A change of a kind that this version of the program does not know.
    #[serde(other)]
    Unknown,
}

impl LogEntry {
    /// Reads an entry.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not an entry.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        read(bytes)
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        compact(self)
    }
}

impl LogChange {
    /// Returns the skill that changes.
    pub fn name(&self) -> Option<&SkillName> {
        match self {
            Self::Publish { name, .. } | Self::Event { name, .. } => Some(name),
            Self::Unknown => None,
        }
    }
}
