//! What is checked: values only, gathered by whoever asks.

use super::reference::Reading;
use crate::document::{Document, Node};
use crate::name::{NameError, SkillName};
use crate::text::trimmed;

/// What is checked.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The file's content.
    pub document: &'a Document,
    /// The name of the directory that the file lies in, where it has one that counts.
    pub directory_name: Option<&'a str>,
    /// The name of the file.
    pub file_name: &'a str,
    /// The other files of the skill; `None` where nobody looked, and then nothing is said of them.
    pub files: Option<&'a [SkillFile]>,
    /// Paths below the skill's directory at which somebody looked and found nothing.
    pub absent: &'a [String],
    /// The skills that are checked together with this one, this one included.
    pub others: &'a [OtherSkill],
    /// What the reference validator makes of the document, where that is known already.
    pub(super) reading: Option<&'a Reading>,
    /// Whether somebody looked already at the name and found nothing wrong.
    pub(super) right_name: bool,
    /// The description, as [`Self::text`]: many rules ask for it.
    pub(super) description: Option<(&'a Node, &'a str)>,
}

/// A file or link of a skill, other than its `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// The path below the skill's directory, `/`-separated.
    pub path: String,
    /// What it is.
    pub kind: SkillFileKind,
}

/// What lies at a path of a skill.
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
        /// Whether it is an archive that needs a password.
        locked: bool,
    },
    /// A symbolic link.
    Link,
}

/// Another skill of the same run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherSkill {
    /// Its name, as written.
    pub name: String,
    /// The names of the skills that it needs, without ranges and sources.
    pub needs: Vec<String>,
}

impl<'a> Subject<'a> {
    /// A `SKILL.md` by itself.
    pub fn new(document: &'a Document, directory_name: Option<&'a str>, file_name: &'a str) -> Self {
        Self {
            document,
            directory_name,
            file_name,
            files: None,
            absent: &[],
            others: &[],
            reading: None,
            right_name: false,
            description: text_of(document, "description"),
        }
    }

    /// With the other files of the skill.
    #[must_use]
    pub fn with_files(self, files: &'a [SkillFile]) -> Self {
        Self { files: Some(files), ..self }
    }

    /// With paths below the skill's directory at which there is nothing.
    #[must_use]
    pub fn without(self, absent: &'a [String]) -> Self {
        Self { absent, ..self }
    }

    /// With the skills that are checked together with it.
    #[must_use]
    pub fn among(self, others: &'a [OtherSkill]) -> Self {
        Self { others, ..self }
    }

    /// The same skill with another document.
    pub(super) fn seen_as<'b>(&self, document: &'b Document) -> Subject<'b>
    where
        'a: 'b,
    {
        let description = text_of(document, "description");
        Subject { document, reading: None, right_name: false, description, ..*self }
    }

    /// The key and the value of a top-level field.
    pub(super) fn field(&self, name: &str) -> Option<&'a (Node, Node)> {
        self.document.frontmatter()?.entry(name)
    }

    /// The value of a top-level field with its trimmed text, where it is text and not blank.
    pub(super) fn text(&self, name: &str) -> Option<(&'a Node, &'a str)> {
        text_of(self.document, name)
    }

    /// The name, as [`Self::text`], and what makes it none; `None` where nothing does.
    pub(super) fn wrong_name(&self) -> Option<(&'a Node, &'a str, Vec<NameError>)> {
        if self.right_name {
            return None;
        }
        let (node, name) = self.text("name")?;
        let problems = SkillName::problems(name);
        (!problems.is_empty()).then_some((node, name, problems))
    }
}

/// The value of the top-level field `name` with its trimmed text, where it is text and not blank.
fn text_of<'a>(document: &'a Document, name: &str) -> Option<(&'a Node, &'a str)> {
    let value = document.frontmatter()?.get(name)?;
    let text = trimmed(value.text()?);
    (!text.is_empty()).then_some((value, text))
}
