//! The files of a static registry: one directory that holds versions of skills, and that any web host can serve.
//!
//! The truth is one [`Record`] for each version and one [`Event`] for each later change; these files are created once
//! and never changed. Everything else is derived from them: a [`NameList`] for each skill, the [`SearchIndex`], and the
//! files that other tools read. [`files`] has the path of each file.
//!
//! Readers ignore fields that they do not know. Every `parse` function takes bytes that a stranger may have written.

mod derived;
mod event;
mod facts;
pub mod files;
mod history;
mod list;
mod record;
mod search;
#[cfg(test)]
mod tests;
mod timestamp;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

pub use derived::{Head, ai_catalog, discovery, heads, versions};
pub use event::Event;
pub use facts::{Facts, FactsError};
pub use history::{History, HistoryError};
pub use list::{Listed, NameList};
pub use record::{Artifact, Provenance, Record};
pub use search::{SearchIndex, SearchSkill};
pub use timestamp::Timestamp;

use crate::name::{NameError, SkillName};
use crate::path::SafePath;
use crate::version::{Version, VersionError};

/// The format that is written, and the newest one that is read.
pub const FORMAT: u64 = 1;
/// The largest number of bytes of a file of the registry, artifacts apart.
pub const MAX_FILE: u64 = 64 << 20;
/// The largest number of versions of one skill.
pub const MAX_VERSIONS: usize = 10_000;
/// The largest number of characters in a version. A version is part of a file name.
pub const MAX_VERSION_CHARS: usize = 128;

/// The file `config.json`: what makes a directory a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The format of the files.
    pub format: u64,
    /// The name of the registry, which follows the rules for names of skills.
    #[serde(deserialize_with = "name_in_file")]
    pub name: SkillName,
}

/// Why the bytes of a file are not what the registry's format has there. The file's path is the caller's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// More bytes than [`MAX_FILE`].
    #[error("it has {0} bytes, {MAX_FILE} are allowed")]
    TooLarge(u64),
    /// Not JSON, or a field that is missing or wrong.
    #[error("{line}:{column}: {message}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// A format that this version of the program does not know.
    #[error("it has format {0}, this skillpm reads format {FORMAT}")]
    Format(u64),
    /// It describes another skill than the one that its path names.
    #[error("it is about `{found}`, but its path names `{expected}`")]
    OtherName {
        /// The name in the file.
        found: String,
        /// The name in the path.
        expected: String,
    },
    /// It describes another version than the one that its path names.
    #[error("it is about version `{found}`, but its path names `{expected}`")]
    OtherVersion {
        /// The version in the file.
        found: String,
        /// The version in the path.
        expected: String,
    },
    /// More versions than [`MAX_VERSIONS`].
    #[error("it lists {0} versions, {MAX_VERSIONS} are allowed")]
    TooManyVersions(usize),
    /// Two versions that are equal, or not in ascending order.
    #[error("version `{second}` comes after `{first}`, which is not lower")]
    Order {
        /// The earlier entry.
        first: String,
        /// The later entry.
        second: String,
    },
}

/// Why a registry does not take a skill of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameRefusal {
    /// The specification does not allow it.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A letter outside of ASCII: names of other scripts can look like another skill's name.
    #[error("the name `{0}` has letters other than `a` to `z`, which a registry does not allow")]
    NotAscii(String),
    /// The name of a device on Windows, where no file can have it.
    #[error("the name `{0}` is reserved for a device on Windows, which a registry does not allow")]
    Device(String),
}

/// Returns the name in `text`, if a registry can hold a skill of that name: ASCII only, and a file name on every system.
///
/// # Errors
///
/// Returns the rule that `text` breaks.
pub fn registry_name(text: &str) -> Result<SkillName, NameRefusal> {
    let name = SkillName::new(text)?;
    if !name.as_str().is_ascii() || name.as_str() != text.trim() {
        return Err(NameRefusal::NotAscii(text.chars().take(64).collect()));
    }
    if SafePath::new(name.as_str()).is_ok_and(|path| path.is_device()) {
        return Err(NameRefusal::Device(name.into()));
    }
    Ok(name)
}

/// Returns the version in `text`, if a registry can hold it: not too long for a file name.
///
/// # Errors
///
/// Fails if `text` is not a version, or too long.
pub fn registry_version(text: &str) -> Result<Version, VersionError> {
    let version = Version::new(text)?;
    let length = version.as_str().chars().count();
    if length > MAX_VERSION_CHARS {
        return Err(VersionError::Invalid {
            text: version.as_str().chars().take(40).chain(['…']).collect(),
            reason: format!("it has {length} characters, {MAX_VERSION_CHARS} are allowed"),
        });
    }
    Ok(version)
}

/// Reads a name in a file: exactly as a registry writes it.
fn name_in_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SkillName, D::Error> {
    let text = String::deserialize(deserializer)?;
    let name = registry_name(&text).map_err(serde::de::Error::custom)?;
    if name.as_str() == text {
        Ok(name)
    } else {
        Err(serde::de::Error::custom("a name has spaces around it"))
    }
}

/// Reads a version in a file.
fn version_in_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    registry_version(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

impl Config {
    /// Returns the configuration of a new registry.
    pub fn new(name: SkillName) -> Self {
        Self { format: FORMAT, name }
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

/// Reads a JSON file.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FileError> {
    if bytes.len() as u64 > MAX_FILE {
        return Err(FileError::TooLarge(bytes.len() as u64));
    }
    serde_json::from_slice(bytes).map_err(|error| FileError::Json {
        line: error.line().max(1),
        column: error.column().max(1),
        message: without_position(&error),
    })
}

/// Returns the message of `error` without its position.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.as_str(), |(before, _)| before).to_owned()
}

/// Returns `value` as compact JSON with a line end.
fn compact<T: Serialize>(value: &T) -> Vec<u8> {
    // It cannot fail: every key is text, and writing to memory has no errors.
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Returns `value` as JSON for people, indented by two spaces, with a line end.
fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    // It cannot fail, as above.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
