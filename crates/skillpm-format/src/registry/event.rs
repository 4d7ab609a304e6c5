//! What happened to a version after it was published.

use serde::{Deserialize, Serialize};

use super::json::{compact, read};
use super::names::version_in_file;
use super::{FileError, Timestamp};
use crate::version::Version;

/// An event, in `index/<name>/events/<n>.json`. The file is created once and never changed; the last event of a version
/// counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A version is no longer for new installations. It stays available to those who have it locked.
    Yank {
        /// The version.
        #[serde(deserialize_with = "version_in_file")]
        version: Version,
        /// Why; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        /// When.
        time: Timestamp,
    },
    /// A yanked version may be installed again.
    Unyank {
        /// The version.
        #[serde(deserialize_with = "version_in_file")]
        version: Version,
        /// When.
        time: Timestamp,
    },
    /// An event of a kind that this version of the program does not know.
    #[serde(other)]
    Unknown,
}

impl Event {
    /// Reads an event.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not an event.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        read(bytes)
    }

    /// Returns the version that it is about.
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Yank { version, .. } | Self::Unyank { version, .. } => Some(version),
            Self::Unknown => None,
        }
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        compact(self)
    }
}
