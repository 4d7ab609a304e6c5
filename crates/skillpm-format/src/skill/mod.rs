//! The parts of a skill that an agent needs.

mod codes;
mod deviation;
pub mod find;
pub mod placeholder;
pub mod prerequisites;
#[cfg(test)]
mod profile_tests;
mod read;
pub mod skipped;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unsupported;

use schemars::JsonSchema;
use serde::Serialize;

pub use deviation::{Deviation, DeviationKind};

use crate::document::{Document, Hint, Position, Problem, ProblemKind};
use crate::profile::LoadProfile;

/// The name that the specification gives a skill's file.
pub const SKILL_FILE: &str = "SKILL.md";

/// The maximum size in bytes of a `SKILL.md` that any command reads: a file that can be checked and listed can be
/// installed.
pub const MAX_SKILL_FILE: u64 = 10 << 20;

/// The metadata of a skill, read leniently.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillMeta {
    /// The name as written, without surrounding white space. Not checked: it may be anything, so it is never part of a
    /// path.
    pub name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// The version as written: `metadata.version`, otherwise a top-level `version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The tags: `metadata.tags`, otherwise a top-level `tags`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The dependencies as written: `metadata.dependencies`, otherwise a top-level `dependencies`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The license.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The environment that the skill needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The tools that the skill requests. Nothing is enforced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// The `metadata` mapping. Scalars are strings as written.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// The fields that are not in the specification.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// A skill that an agent can use.
#[derive(Debug, Clone)]
pub struct Loaded<'a> {
    /// The metadata.
    pub meta: SkillMeta,
    /// The Markdown after the frontmatter.
    pub body: &'a str,
    /// The problems with the file that did not prevent loading.
    pub problems: &'a [Problem],
    /// The deviations that were tolerated and should be reported.
    pub deviations: Vec<Deviation>,
}

/// The reason why an agent cannot use a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file, or its metadata, is not text.
    #[error("{problem} (line {}, column {})", at.line, at.column)]
    Encoding {
        /// The problem.
        problem: ProblemKind,
        /// The position.
        at: Position,
    },
    /// The file is empty.
    #[error("{}", Hint::Empty)]
    Empty,
    /// There is no frontmatter, or it is never closed, too large or not a mapping.
    #[error("{problem}")]
    Frontmatter {
        /// The problem.
        problem: ProblemKind,
        /// The position.
        at: Position,
    },
    /// The frontmatter is not YAML.
    #[error("{problem} (line {}, column {})", at.line, at.column)]
    Yaml {
        /// The problem.
        problem: ProblemKind,
        /// The position.
        at: Position,
    },
    /// A required field is missing.
    #[error("the required field `{0}` is missing from the frontmatter")]
    Missing(&'static str),
    /// A required field is empty.
    #[error("the required field `{0}` is empty")]
    EmptyField(&'static str),
    /// A required field is empty because a comment starts where its value should be.
    #[error("the required field `{0}` is empty: what follows `#` is a comment unless it is in quotes")]
    Comment(&'static str),
    /// A required field is not text.
    #[error("the field `{field}` must be text, but it is {found}")]
    NotText {
        /// The field.
        field: &'static str,
        /// The kind of value it is, with its article.
        found: &'static str,
    },
    /// The file has a readable deviation that the profile does not tolerate.
    #[error("{0} (line {line}, column {column})", line = _0.at.line, column = _0.at.column)]
    Refused(Box<Deviation>),
}

/// Returns what an agent needs from `document`: a readable name and description.
///
/// All other deviations are in [`Loaded::deviations`] or left to the linter.
///
/// # Errors
///
/// Returns why no agent can use it.
pub fn load(document: &Document) -> Result<Loaded<'_>, LoadError> {
    load_with(document, &LoadProfile::DEFAULT, None)
}

/// Loads a file in the directory `directory` like [`load()`]: a skill without a name gets the directory's name.
///
/// # Errors
///
/// Returns why no agent can use it.
pub fn load_in<'a>(document: &'a Document, directory: Option<&str>) -> Result<Loaded<'a>, LoadError> {
    load_with(document, &LoadProfile::DEFAULT, directory)
}

/// Returns what an agent needs from `document` according to `profile`. `directory` is the name of the file's directory,
/// if that name is meaningful.
///
/// # Errors
///
/// Returns why no agent can use it: the file cannot be read, or has a deviation that `profile` does not tolerate (the
/// first one).
pub fn load_with<'a>(
    document: &'a Document,
    profile: &LoadProfile,
    directory: Option<&str>,
) -> Result<Loaded<'a>, LoadError> {
    read::load(document, profile, directory)
}
