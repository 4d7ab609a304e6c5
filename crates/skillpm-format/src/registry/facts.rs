//! The facts about a skill that a registry repeats.

use super::{MAX_DEPENDENCIES, NameRefusal, registry_name, registry_version};
use crate::name::SkillName;
use crate::resolve::declared::declared;
use crate::skill::SkillMeta;
use crate::version::{Version, VersionError};

/// The fields of a `SKILL.md` that a registry repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name.
    pub name: SkillName,
    /// The version.
    pub version: Version,
    /// What the skill does and when to use it.
    pub description: String,
    /// The license.
    pub license: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The declared dependencies, each as the author wrote it.
    pub dependencies: Vec<String>,
}

/// Why a registry does not take a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactsError {
    /// The name.
    #[error(transparent)]
    Name(#[from] NameRefusal),
    /// It has no version.
    #[error("it has no `metadata.version`, which a registry needs")]
    NoVersion,
    /// The version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// More dependencies than [`MAX_DEPENDENCIES`].
    #[error("it lists {0} dependencies, {MAX_DEPENDENCIES} are allowed")]
    TooManyDependencies(usize),
}

impl Facts {
    /// Returns what a registry repeats of the skill with the metadata `meta`.
    ///
    /// # Errors
    ///
    /// Fails if its name or version is one that no registry takes, and for more than [`MAX_DEPENDENCIES`].
    pub fn of(meta: &SkillMeta) -> Result<Self, FactsError> {
        let version = meta.version.as_deref().ok_or(FactsError::NoVersion)?;
        let dependencies = declared(meta);
        if dependencies.len() > MAX_DEPENDENCIES {
            return Err(FactsError::TooManyDependencies(dependencies.len()));
        }
        Ok(Self {
            name: registry_name(&meta.name)?,
            version: registry_version(version)?,
            description: meta.description.clone(),
            license: meta.license.clone(),
            tags: meta.tags.clone(),
            dependencies: dependencies.into_iter().map(|declared| joined(&declared.text)).collect(),
        })
    }
}

/// Returns a declaration without the spaces that may be in a range of several bounds.
fn joined(text: &str) -> String {
    let bounds: Vec<&str> =
        text.split(|c: char| c == ',' || c.is_whitespace()).filter(|part| !part.is_empty()).collect();
    bounds.join(",")
}
