//! What the skills extension says of a skill: its address, its frontmatter and its files with their digests.

use serde_json::{Map, Value};
use skillpm_core::engine::load;
use skillpm_core::engine::resources::{DigestedFile, Undigested, digested};
use skillpm_format::digest::Digest;
use skillpm_format::document::Document;

use crate::offer::Served;
use crate::settled::settled;
use crate::uri::encode;

/// The number of files that every client accepts for a skill.
const MAX_FILES: usize = 512;
/// The number of bytes that every client accepts for a skill.
const MAX_BYTES: u64 = 16 << 20;
/// The number of characters that the specification of skills allows for a name.
const MAX_NAME: usize = 64;
/// The number of characters that it allows for a description.
const MAX_DESCRIPTION: usize = 1024;
/// The number of characters that it allows for `compatibility`.
const MAX_COMPATIBILITY: usize = 500;

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
    /// The address.
    pub(crate) uri: String,
    /// The digest, as `sha256:` and 64 digits.
    pub(crate) digest: String,
    /// The size in bytes.
    pub(crate) size: u64,
}

/// The reason why the extension cannot carry a skill. Tools still offer it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCarried {
    /// The name cannot be a part of an address, or the address is that of a file of another skill.
    #[error("its name and directory do not give it an address of its own")]
    Address,
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
    /// Other programs read the frontmatter differently, but a client must find in the file what the entry says.
    #[error("other programs do not read its frontmatter in the same way: {0}")]
    Ambiguous(String),
    /// A field breaks the specification of skills. Some clients refuse a whole list for one such entry.
    #[error("`{0}` is not {1}")]
    Field(&'static str, &'static str),
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The files are too many or too large, or cannot be read.
    #[error(transparent)]
    Files(#[from] Undigested),
}

impl Entry {
    /// Reads the skill and returns what the extension says of it.
    pub(crate) fn read(served: &Served) -> Result<Self, NotCarried> {
        let skill = &served.skill;
        let name = &skill.meta.name;
        let path = served.path.as_deref().ok_or(NotCarried::Address)?;
        if !is_name(name) {
            return Err(NotCarried::Name);
        }
        let mut document =
            load::frontmatter(&skill.file).map_err(|error| NotCarried::Unreadable(error.to_string()))?;
        if let Some(problem) = document.problems().first() {
            return Err(NotCarried::Ambiguous(problem.kind.to_string()));
        }
        let mut served_as = None;
        if settled(document.text()).is_some() {
            let whole =
                load::document(&skill.file).map_err(|error| NotCarried::Unreadable(error.to_string()))?;
            served_as = settled(whole.text());
        }
        if let Some(text) = &served_as {
            document = Document::parse(text.clone());
        }
        let frontmatter = document.frontmatter().map(skillpm_format::document::Node::to_typed_json);
        let Some(Value::Object(mut fields)) = frontmatter else { return Err(NotCarried::OtherName) };
        if fields.remove("name").as_ref().and_then(Value::as_str) != Some(name) {
            return Err(NotCarried::OtherName);
        }
        let description = match fields.remove("description") {
            Some(Value::String(text)) if !text.trim().is_empty() => text,
            _ => return Err(NotCarried::NoDescription),
        };
        check_fields(&description, &fields)?;
        let mut files = digested(&skill.dir, &skill.file, MAX_FILES, MAX_BYTES)?;
        if let (Some(text), Some(main)) = (served_as, files.first_mut()) {
            (main.size, main.digest) = (text.len() as u64, Digest::of(text.as_bytes()));
        }
        let files = files.iter().map(|file| EntryFile::of(path, file)).collect();
        Ok(Self {
            uri: encode(&format!("{path}/{}", load::SKILL_FILE)),
            name: name.clone(),
            description,
            fields,
            files,
        })
    }
}

impl EntryFile {
    fn of(path: &str, file: &DigestedFile) -> Self {
        Self {
            uri: encode(&format!("{path}/{}", file.path)),
            digest: file.digest.to_string(),
            size: file.size,
        }
    }
}

/// Checks the fields that the specification of skills describes.
fn check_fields(description: &str, fields: &Map<String, Value>) -> Result<(), NotCarried> {
    let is_short = |value: &Value| {
        value.as_str().is_some_and(|text| (1..=MAX_COMPATIBILITY).contains(&text.chars().count()))
    };
    let is_text_or_list = |value: &Value| {
        value.is_string() || value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
    };
    let unless =
        |is_right: bool, field, wanted| if is_right { Ok(()) } else { Err(NotCarried::Field(field, wanted)) };
    let all = |field, is_right: fn(&Value) -> bool| fields.get(field).is_none_or(is_right);
    unless(
        description.chars().count() <= MAX_DESCRIPTION,
        "description",
        "a text of at most 1024 characters",
    )?;
    unless(all("license", Value::is_string), "license", "a text")?;
    unless(
        fields.get("compatibility").is_none_or(is_short),
        "compatibility",
        "a text of 1 to 500 characters",
    )?;
    unless(
        fields.get("allowed-tools").is_none_or(is_text_or_list),
        "allowed-tools",
        "a text or a list of texts",
    )?;
    unless(all("metadata", Value::is_object), "metadata", "a mapping")
}

/// Reports whether a name is one that the extension carries. Letters beyond ASCII are left out, since some clients refuse a
/// whole list for one of them.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.chars().count() <= MAX_NAME
        && name.split('-').all(|part| !part.is_empty() && part.chars().all(is_letter))
}
