//! The input of a check: values only, gathered by the caller.

use std::collections::BTreeMap;

use super::reference::Reading;
use super::{ending, target};
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
    /// Where links out of the skill's directory lead, by path from there; `None` if its surroundings are unknown.
    pub outside: Option<&'a BTreeMap<String, Outside>>,
    /// The skills that are checked together with this one, including this one.
    pub others: &'a [OtherSkill],
    /// Where another skill with the same name and other text is, as it is to be shown.
    pub twin: Option<&'a str>,
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
    File(FileFacts),
    /// A symbolic link.
    Link,
    /// A directory that no search enters, such as `target`.
    Unlisted,
}

/// What rules know of a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileFacts {
    /// Whether any executable bit is set.
    pub executable: bool,
    /// The size in bytes.
    pub size: u64,
    /// Whether its first two bytes are `#!`.
    pub shebang: bool,
    /// The text, for Markdown, scripts and settings of moderate size.
    pub text: Option<String>,
    /// Whether it is an archive that requires a password.
    pub locked: bool,
    /// The keys of services in its text.
    pub keys: Vec<FoundKey>,
}

impl SkillFile {
    /// Returns what is known of a regular file; `None` for a link.
    pub(super) fn facts(&self) -> Option<&FileFacts> {
        match &self.kind {
            SkillFileKind::File(facts) => Some(facts),
            SkillFileKind::Link | SkillFileKind::Unlisted => None,
        }
    }

    /// Returns the text of a Markdown file, if it is known.
    pub(super) fn markdown(&self) -> Option<&str> {
        self.facts()?.text.as_deref().filter(|_| self.is_markdown())
    }

    /// Reports whether the name is that of a Markdown file.
    pub(super) fn is_markdown(&self) -> bool {
        ending(&self.path).eq_ignore_ascii_case("md")
    }

    /// Returns the directory that the file is in, below the skill's; empty for that itself.
    pub(super) fn directory(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(directory, _)| directory)
    }
}

/// What a link out of a skill's directory leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outside {
    /// Nothing.
    Gone,
    /// Another skill, or a file of it.
    Skill {
        /// The name of its directory.
        name: String,
        /// Whether both are installed in the same directory.
        beside: bool,
    },
    /// Another file or directory.
    File,
}

/// Returns the paths that `document` links to out of its skill's directory, each once. Most documents have none, and
/// then nothing is parsed.
pub fn links_outside(document: &Document) -> Vec<String> {
    let subject = Subject::new(document, None, "");
    let mut paths: Vec<String> = target::outside(&subject).map(|(_, path)| path).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
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
            outside: None,
            others: &[],
            twin: None,
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

    /// Adds where its links out of its directory lead.
    #[must_use]
    pub fn surrounded(self, outside: &'a BTreeMap<String, Outside>) -> Self {
        Self { outside: Some(outside), ..self }
    }

    /// Adds the skills that are checked together with it.
    #[must_use]
    pub fn among(self, others: &'a [OtherSkill]) -> Self {
        Self { others, ..self }
    }

    /// Adds where another skill with the same name and other text is, if there is one.
    #[must_use]
    pub fn with_twin(self, twin: Option<&'a str>) -> Self {
        Self { twin, ..self }
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
