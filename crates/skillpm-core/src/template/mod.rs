//! What new skills are made from.
//!
//! A [`Template`] is a set of files; [`Template::fill`] makes the files of one skill of it. Text is
//! filled in where a file's name ends in `.jinja`, and in `SKILL.md`; every other file is copied as it
//! is. In frontmatter and in YAML files a value always stands as one YAML scalar, quoted where it
//! must be, so that no value can add a line or a key.

mod builtin;
mod declare;
mod fill;
mod language;
mod scalar;

use std::collections::{BTreeMap, BTreeSet};

pub use builtin::{BUILTIN, Builtin};
pub use declare::Variable;

use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::path::SafePath;
use crate::tree::FileSet;

/// The file in which a template says what it wants to know.
pub const DECLARATION: &str = "template.toml";
/// What the names of files end in that are filled in.
const FILLED: &str = ".jinja";
/// The largest file that is filled in, and the largest that comes of it, in bytes.
const MAX_TEXT: u64 = 4 << 20;

/// Files that a skill can be made from.
#[derive(Debug, Clone)]
pub struct Template {
    /// What it is called where something is said of it.
    pub name: String,
    /// What it wants to know besides what every skill has, in the order of their names.
    pub variables: Vec<Variable>,
    files: Vec<TemplateFile>,
}

/// One file of a template.
#[derive(Debug, Clone)]
struct TemplateFile {
    path: SafePath,
    executable: bool,
    bytes: Vec<u8>,
}

/// A directory that skills keep files in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// `scripts/`: programs that an agent runs.
    Scripts,
    /// `references/`: texts that an agent reads when it needs them.
    References,
    /// `assets/`: files that an agent works with.
    Assets,
}

impl Resource {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Scripts, Self::References, Self::Assets];

    /// Returns the directory.
    pub fn directory(self) -> &'static str {
        match self {
            Self::Scripts => "scripts",
            Self::References => "references",
            Self::Assets => "assets",
        }
    }
}

/// What is filled in. Every text is one line.
#[derive(Debug, Clone)]
pub struct Values {
    /// The skill's name.
    pub name: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// Its license, an SPDX expression.
    pub license: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The directories that it gets a first file in, if the template has none there.
    pub resources: BTreeSet<Resource>,
    /// The values of the template's own variables.
    pub variables: BTreeMap<String, String>,
}

impl Template {
    /// Returns the built-in template `name`.
    pub fn builtin(name: &str) -> Option<Self> {
        BUILTIN.iter().find(|builtin| builtin.name == name).map(Builtin::template)
    }

    /// Returns the template that `set` holds; `name` is what it is called.
    ///
    /// # Errors
    ///
    /// Fails for a set without a `SKILL.md`, a declaration that cannot be read, and files that cannot be read.
    pub fn from_files(name: &str, set: &FileSet) -> Result<Self> {
        let mut files = Vec::new();
        let mut variables = Vec::new();
        for file in set.files() {
            let bytes = set.read(file)?;
            if file.path.as_str() == DECLARATION {
                variables = declare::read(name, &bytes)?;
                continue;
            }
            let executable = file.executable || is_script(&file.path, &bytes);
            files.push(TemplateFile { path: file.path.clone(), executable, bytes });
        }
        let template = Self { name: name.to_owned(), variables, files };
        if template.files.iter().all(|file| !fill::is_skill_file(&file.path)) {
            return Err(Error::usage(format!("the template `{name}` has no `SKILL.md`"))
                .hint("name the directory of the template itself: `./dir`, `owner/repo/dir`"));
        }
        Ok(template)
    }

    /// Returns the files of a skill with `values` in them.
    ///
    /// # Errors
    ///
    /// Fails for a template that is wrong, asks for a value that it does not declare, or does not end.
    pub fn fill(&self, values: &Values) -> Result<FileSet> {
        fill::fill(self, values)
    }

    /// Reports whether the template has a file in the directory of `resource`.
    fn has(&self, resource: Resource) -> bool {
        let directory = resource.directory();
        self.files.iter().any(|file| file.path.ancestors().next() == Some(directory))
    }
}

/// Reports whether the file is meant to be run, also where its source keeps no executable bits.
fn is_script(path: &SafePath, bytes: &[u8]) -> bool {
    path.ancestors().next() == Some(Resource::Scripts.directory()) && bytes.starts_with(b"#!")
}

#[cfg(test)]
mod tests;
