//! Templates for new skills.
//!
//! A [`Template`] is a set of files from which [`Template::fill`] makes the files of one skill. Text is filled in in
//! `SKILL.md` and in files whose names end in `.jinja`; all other files are copied unchanged. In frontmatter and in
//! YAML files a value is always one YAML scalar, quoted if necessary, so no value can add a line or a key.

mod builtin;
mod declare;
mod fill;
mod language;
mod scalar;

use std::collections::{BTreeMap, BTreeSet};

pub use declare::Variable;
pub use skillpm_templates::{BUILTIN, Builtin};

use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::path::SafePath;
use crate::tree::FileSet;

/// The file in which a template declares its variables.
pub(crate) const DECLARATION: &str = "template.toml";
/// The suffix of the names of files that are filled in.
const FILLED: &str = ".jinja";
/// The maximum size, in bytes, of a file that is filled in and of the result.
const MAX_TEXT: u64 = 4 << 20;

/// A set of files that a skill can be made from.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// The name in messages.
    pub name: String,
    /// The variables besides those that every template has, sorted by name.
    pub variables: Vec<Variable>,
    pub(crate) files: Vec<TemplateFile>,
}

/// One file of a template.
#[derive(Debug, Clone)]
pub(crate) struct TemplateFile {
    pub(crate) path: SafePath,
    pub(crate) executable: bool,
    pub(crate) bytes: Vec<u8>,
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
    /// All resources.
    pub const ALL: [Self; 3] = [Self::Scripts, Self::References, Self::Assets];

    /// Returns the name of the directory.
    pub fn directory(self) -> &'static str {
        match self {
            Self::Scripts => "scripts",
            Self::References => "references",
            Self::Assets => "assets",
        }
    }
}

/// The values that a template is filled in with. Every text is one line.
#[derive(Debug, Clone)]
pub struct Values {
    /// The skill's name.
    pub name: SkillName,
    /// The description: what it does and when to use it.
    pub description: String,
    /// The license, as an SPDX expression.
    pub license: Option<String>,
    /// The author.
    pub author: Option<String>,
    /// The directories in which it gets a first file, unless the template has files there.
    pub resources: BTreeSet<Resource>,
    /// The values of the template's own variables.
    pub variables: BTreeMap<String, String>,
}

impl Template {
    /// Returns the built-in template `name`.
    pub(crate) fn builtin(name: &str) -> Option<Self> {
        BUILTIN.iter().find(|builtin| builtin.name == name).map(builtin::template)
    }

    /// Returns the template with the files of `set`; `name` is its name in messages.
    pub(crate) fn from_files(name: &str, set: &FileSet) -> Result<Self> {
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

    /// Returns the files of a skill, filled in with `values`.
    pub(crate) fn fill(&self, values: &Values) -> Result<FileSet> {
        fill::fill(self, values)
    }

    /// Reports whether the template has a file in the directory of `resource`.
    fn has(&self, resource: Resource) -> bool {
        let directory = resource.directory();
        self.files.iter().any(|file| file.path.ancestors().next() == Some(directory))
    }
}

/// Reports whether the file is meant to be run, even if its source does not store executable bits.
fn is_script(path: &SafePath, bytes: &[u8]) -> bool {
    path.ancestors().next() == Some(Resource::Scripts.directory()) && bytes.starts_with(b"#!")
}

#[cfg(test)]
mod tests;
