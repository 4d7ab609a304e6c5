//! What an agent needs of a skill.

mod codes;
mod deviation;
pub mod find;
#[cfg(test)]
mod policies;
mod read;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unsupported;

use serde::Serialize;

pub use deviation::{Deviation, DeviationKind};

use crate::document::{Document, Hint, Position, Problem, ProblemKind};
use crate::policy::Policy;

/// The name that the specification gives a skill's file.
pub const SKILL_FILE: &str = "SKILL.md";

/// The largest `SKILL.md` that is read anywhere, in bytes: what can be checked and listed can be installed.
pub const MAX_SKILL_FILE: u64 = 10 << 20;

/// The metadata of a skill, read leniently.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SkillMeta {
    /// The name as written, without white space around it. Not checked: it may be anything, so it
    /// is never part of a path.
    pub name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// The version as written: `metadata.version`, else a top-level `version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it is filed under: `metadata.tags`, else a top-level `tags`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What it needs besides itself, as written: `metadata.dependencies`, else a top-level
    /// `dependencies`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The license.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What the skill needs around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The tools that the skill asks for. Nothing is enforced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// The `metadata` mapping. Scalars are strings as written.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// The fields that the specification does not have.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// A skill that an agent can use.
#[derive(Debug, Clone)]
pub struct Loaded<'a> {
    /// Its metadata.
    pub meta: SkillMeta,
    /// The Markdown after the frontmatter.
    pub body: &'a str,
    /// What was wrong with the file and did not matter.
    pub problems: &'a [Problem],
    /// What was off and was tolerated, and is to be told.
    pub deviations: Vec<Deviation>,
}

/// Why an agent cannot use a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not text, or not text where the metadata stands.
    #[error("{problem} (line {}, column {})", at.line, at.column)]
    Encoding {
        /// What is wrong.
        problem: ProblemKind,
        /// Where.
        at: Position,
    },
    /// Nothing in the file.
    #[error("{}", Hint::Empty)]
    Empty,
    /// No frontmatter, or one that is never closed, is too large or is no mapping.
    #[error("{problem}")]
    Frontmatter {
        /// What is wrong.
        problem: ProblemKind,
        /// Where.
        at: Position,
    },
    /// The frontmatter is not YAML.
    #[error("{problem} (line {}, column {})", at.line, at.column)]
    Yaml {
        /// What is wrong.
        problem: ProblemKind,
        /// Where.
        at: Position,
    },
    /// A required field is not there.
    #[error("the required field `{0}` is missing from the frontmatter")]
    Missing(&'static str),
    /// A required field has nothing in it.
    #[error("the required field `{0}` is empty")]
    EmptyField(&'static str),
    /// A required field has nothing in it because a comment starts where its value should.
    #[error("the required field `{0}` is empty: what follows `#` is a comment unless it is in quotes")]
    Comment(&'static str),
    /// A required field is not text.
    #[error("the field `{field}` must be text, but it is {found}")]
    NotText {
        /// The field.
        field: &'static str,
        /// What it is, with its article.
        found: &'static str,
    },
    /// Something that could be read and that the policy does not tolerate.
    #[error("{0} (line {line}, column {column})", line = _0.at.line, column = _0.at.column)]
    Refused(Box<Deviation>),
}

/// Returns what an agent needs of `document`: a name and a description that can be read.
///
/// Everything else that is off is in [`Loaded::deviations`] or the linter's to say.
///
/// # Errors
///
/// Why no agent can use it.
pub fn load(document: &Document) -> Result<Loaded<'_>, LoadError> {
    load_with(document, &Policy::DEFAULT, None)
}

/// As [`load()`], of a file in the directory `directory`: a skill without a name gets that one.
///
/// # Errors
///
/// Why no agent can use it.
pub fn load_in<'a>(document: &'a Document, directory: Option<&str>) -> Result<Loaded<'a>, LoadError> {
    load_with(document, &Policy::DEFAULT, directory)
}

/// Returns what an agent needs of `document` as `policy` has it. `directory` is the name of the
/// directory that the file lies in, where it has one that counts.
///
/// # Errors
///
/// Why no agent can use it: a file that cannot be read, or the first thing that `policy` does not
/// tolerate.
pub fn load_with<'a>(
    document: &'a Document,
    policy: &Policy,
    directory: Option<&str>,
) -> Result<Loaded<'a>, LoadError> {
    read::load(document, policy, directory)
}
