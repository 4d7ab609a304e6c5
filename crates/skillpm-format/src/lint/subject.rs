//! The input of a check: values only, gathered by the caller.

use super::reference::Reading;
use crate::document::{Document, Node};
use crate::name::{NameError, SkillName};
use crate::text::trimmed;
use crate::tree::keys::FoundKey;

/// The input of a check.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The file's content.
    pub document: &'a Document,
    /// The name of the file's directory, if that name is meaningful.
    pub directory_name: Option<&'a str>,
    /// The name of the file.
    pub file_name: &'a str,
    /// The other files of the skill; `None` if they are unknown, and then nothing is reported about them.
    pub files: Option<&'a [SkillFile]>,
    /// The skills that are checked together with this one, including this one.
    pub others: &'a [OtherSkill],
    /// The document as read by the reference validator, if already known.
    pub(super) reading: Option<&'a Reading>,
    /// Whether the name has already been checked and found valid.
    pub(super) right_name: bool,
    /// The description, as returned by [`Self::text`]: many rules use it.
    pub(super) description: Option<(&'a Node, &'a str)>,
}

/// A file or link of a skill, other than its `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// The path relative to the skill's directory, `/`-separated.
    pub path: String,
    /// The kind of file.
    pub kind: SkillFileKind,
}

/// The kind of a path in a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillFileKind {
    /// A regular file.
    File {
        /// Whether any executable bit is set.
        executable: bool,
        /// Whether its first two bytes are `#!`.
        shebang: bool,
        /// The text, for Markdown files of moderate size.
        markdown: Option<String>,
        /// Whether it is an archive that requires a password.
        locked: bool,
        /// The keys of services in its text.
        keys: Vec<FoundKey>,
    },
    /// A symbolic link.
    Link,
}

/// Another skill in the same run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherSkill {
    /// The name, as written.
    pub name: String,
    /// The names of the skills that it needs, without ranges and sources.
    pub needs: Vec<String>,
}

impl<'a> Subject<'a> {
    /// Creates a subject from a single `SKILL.md`.
    pub fn new(document: &'a Document, directory_name: Option<&'a str>, file_name: &'a str) -> Self {
        Self {
            document,
            directory_name,
            file_name,
            files: None,
            others: &[],
            reading: None,
            right_name: false,
            description: text_of(document, "description"),
        }
    }

    /// Adds the other files of the skill.
    #[must_use]
    pub fn with_files(self, files: &'a [SkillFile]) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Adds the skills that are checked together with it.
    #[must_use]
    pub fn among(self, others: &'a [OtherSkill]) -> Self {
        Self { others, ..self }
    }

    /// Returns the same skill with another document.
    pub(super) fn seen_as<'b>(&self, document: &'b Document) -> Subject<'b>
    where
        'a: 'b,
    {
        let description = text_of(document, "description");
        Subject { document, reading: None, right_name: false, description, ..*self }
    }

    /// Returns the key and the value of a top-level field.
    pub(super) fn field(&self, name: &str) -> Option<&'a (Node, Node)> {
        self.document.frontmatter()?.entry(name)
    }

    /// Returns the value of a top-level field with its trimmed text, if it is text and not blank.
    pub(super) fn text(&self, name: &str) -> Option<(&'a Node, &'a str)> {
        text_of(self.document, name)
    }

    /// Returns the name, like [`Self::text`], and the reasons why it is invalid. Returns `None` if there are none.
    pub(super) fn wrong_name(&self) -> Option<(&'a Node, &'a str, Vec<NameError>)> {
        if self.right_name {
            return None;
        }
        let (node, name) = self.text("name")?;
        let problems = SkillName::problems(name);
        (!problems.is_empty()).then_some((node, name, problems))
    }
}

/// Returns the value of the top-level field `name` with its trimmed text, if it is text and not blank.
fn text_of<'a>(document: &'a Document, name: &str) -> Option<(&'a Node, &'a str)> {
    let value = document.frontmatter()?.get(name)?;
    let text = trimmed(value.text()?);
    (!text.is_empty()).then_some((value, text))
}
