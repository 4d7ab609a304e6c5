//! Names and versions that a registry can hold.

use serde::{Deserialize, Deserializer};

use super::MAX_VERSION_CHARS;
use crate::name::{NameError, SkillName};
use crate::path::SafePath;
use crate::version::{Version, VersionError};

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

/// Returns the name that `text` is, if a registry can hold a skill of that name: exactly as it writes it.
pub fn exact_name(text: &str) -> Option<SkillName> {
    registry_name(text).ok().filter(|name| name.as_str() == text)
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
pub(super) fn name_in_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SkillName, D::Error> {
    let text = String::deserialize(deserializer)?;
    let name = registry_name(&text).map_err(serde::de::Error::custom)?;
    if name.as_str() == text {
        Ok(name)
    } else {
        Err(serde::de::Error::custom("a name has spaces around it"))
    }
}

/// Reads a version in a file.
pub(super) fn version_in_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    registry_version(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
