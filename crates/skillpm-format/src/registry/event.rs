//! Events in the life of a skill after its versions were published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::json::{compact, read};
use super::names::version_in_file;
use super::{Account, FileError, Timestamp, TrustedPublisher};
use crate::version::Version;

/// An event, in `index/<name>/events/<n>.json`. The file is created once and never changed; the last event about a
/// version, an owner or a publisher counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// An account may publish the skill from now on.
    AddOwner {
        /// The account.
        owner: Account,
        /// When.
        time: Timestamp,
    },
    /// An account may no longer publish the skill.
    RemoveOwner {
        /// The account.
        owner: Account,
        /// When.
        time: Timestamp,
    },
    /// The jobs of a workflow may publish the skill from now on. It replaces an earlier event about the same workflow, also
    /// if that has no id of the repository or another one.
    AddPublisher {
        /// The workflow.
        publisher: TrustedPublisher,
        /// When.
        time: Timestamp,
    },
    /// The jobs of a workflow may no longer publish the skill, for any id of the repository.
    RemovePublisher {
        /// The workflow.
        publisher: TrustedPublisher,
        /// When.
        time: Timestamp,
    },
    /// The visibility of the skill changed.
    SetVisibility {
        /// The visibility.
        visibility: Visibility,
        /// When.
        time: Timestamp,
    },
    /// An event of a kind that this version of the program does not know.
    #[serde(other)]
    Unknown,
}

/// The visibility of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// All who may read the registry.
    #[default]
    Public,
    /// The owners, and those whom the operator lets read it. Only a server enforces that: a static host serves each file to
    /// everyone.
    Private,
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

    /// Returns the version that it is about; `None` for an event about the whole skill.
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Yank { version, .. } | Self::Unyank { version, .. } => Some(version),
            _ => None,
        }
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        compact(self)
    }
}
