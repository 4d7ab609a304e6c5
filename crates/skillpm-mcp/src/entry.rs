//! What the skills extension says of a skill: its address, its frontmatter and its files with their digests.

use serde_json::{Map, Value};
use skillpm_core::engine::load;
use skillpm_core::engine::resources::{DigestedFile, Undigested, digested};

use crate::offer::Served;
use crate::uri::encode;

/// The number of files that every client accepts for a skill.
const MAX_FILES: usize = 512;
/// The number of bytes that every client accepts for a skill.
const MAX_BYTES: u64 = 16 << 20;
/// The number of characters that the extension allows for a name.
const MAX_NAME: usize = 64;

/// A skill as the extension has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The address of its `SKILL.md`.
    pub(crate) uri: String,
    /// The name.
    pub(crate) name: String,
    /// The description.
    pub(crate) description: String,
    /// The other fields of the frontmatter.
    pub(crate) fields: Map<String, Value>,
    /// All its files.
    pub(crate) files: Vec<EntryFile>,
}

/// A file of an [`Entry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryFile {
    /// Its address.
    pub(crate) uri: String,
    /// The digest, as `sha256:` and 64 digits.
    pub(crate) digest: String,
    /// The size in bytes.
    pub(crate) size: u64,
}

/// The reason why the extension cannot carry a skill. Tools still offer it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCarried {
    /// The name breaks the rules of the extension, which are those of the specification of skills.
    #[error(
        "its name may have only lower-case letters, digits and single hyphens, and at most {MAX_NAME} characters"
    )]
    Name,
    /// There is no description in the frontmatter.
    #[error("its frontmatter has no description")]
    NoDescription,
    /// The frontmatter names the skill differently than skillpm does, as for one that is called by its directory.
    #[error("its frontmatter has no name, or another one")]
    OtherName,
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The files are too many or too large, or cannot be read.
    #[error(transparent)]
    Files(#[from] Undigested),
}

impl Entry {
    /// Reads the skill and returns what the extension says of it.
    ///
    /// # Errors
    ///
    /// Fails with [`NotCarried`].
    pub(crate) fn read(served: &Served) -> Result<Self, NotCarried> {
        let skill = &served.skill;
        let name = &skill.meta.name;
        if !is_name(name) {
            return Err(NotCarried::Name);
        }
        let document =
            load::frontmatter(&skill.file).map_err(|error| NotCarried::Unreadable(error.to_string()))?;
        let frontmatter = document.frontmatter().map(skillpm_core::document::Node::to_typed_json);
        let Some(Value::Object(mut fields)) = frontmatter else { return Err(NotCarried::OtherName) };
        if fields.remove("name").as_ref().and_then(Value::as_str) != Some(name) {
            return Err(NotCarried::OtherName);
        }
        let description = match fields.remove("description") {
            Some(Value::String(text)) if !text.trim().is_empty() => text,
            _ => return Err(NotCarried::NoDescription),
        };
        let files = digested(&skill.dir, &skill.file, MAX_FILES, MAX_BYTES)?;
        let files = files.iter().map(|file| EntryFile::of(served, file)).collect();
        Ok(Self { uri: served.uri(load::SKILL_FILE), name: name.clone(), description, fields, files })
    }
}

impl EntryFile {
    fn of(served: &Served, file: &DigestedFile) -> Self {
        Self {
            uri: encode(&format!("{}/{}", served.path, file.path)),
            digest: file.digest.to_string(),
            size: file.size,
        }
    }
}

/// Reports whether a name is one that the extension carries.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !c.is_uppercase();
    name.chars().count() <= MAX_NAME
        && name.split('-').all(|part| !part.is_empty() && part.chars().all(is_letter))
}
