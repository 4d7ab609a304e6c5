//! Packages of other languages that contain skills.

mod crates;
mod npm;
mod python;
mod r;

use std::fmt;

use super::kind::{Compared, Foreign, NotExpressible, PatternForm, SourceFacts, SourceKind, Typed};
use super::{SourceSpec, SpecError, skill_name, split_directory, subdirectory};
pub use python::distribution_name;

/// A package installed by its own package manager; skillpm installs no packages.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Package {
    /// The ecosystem of the package.
    pub ecosystem: Ecosystem,
    /// The name; for a Python distribution in the form in which names are compared (PEP 503).
    pub name: String,
}

/// The packages of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ecosystem {
    /// Python distributions.
    Python,
    /// npm packages.
    Npm,
    /// R packages.
    R,
    /// Crates of Rust.
    Crate,
}

/// The facts about an ecosystem's packages: a file and a row in [`Ecosystem::row`].
struct Row {
    /// The word before the colon of a source, and the key in a manifest.
    key: &'static str,
    /// Whether a name is valid in the ecosystem.
    takes: fn(&str) -> bool,
    /// The form in which a name is stored.
    kept: fn(&str) -> String,
    /// The form in which a name, or a pattern of names with `*`, is compared.
    compared: fn(&str) -> String,
    /// The command that installs a package, at a version if one is given.
    install: fn(&str, Option<&str>) -> String,
}

/// The maximum length of a package name, in bytes.
const MAX_NAME: usize = 214;

impl Ecosystem {
    /// All ecosystems.
    pub const ALL: [Self; 4] = [Self::Python, Self::Npm, Self::R, Self::Crate];

    fn row(self) -> &'static Row {
        match self {
            Self::Python => &python::ROW,
            Self::Npm => &npm::ROW,
            Self::R => &r::ROW,
            Self::Crate => &crates::ROW,
        }
    }

    /// Returns the word before the colon of a source, which is also the key in a manifest.
    pub fn key(self) -> &'static str {
        self.row().key
    }

    /// Returns the ecosystem with this key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ecosystem| ecosystem.key() == key)
    }

    /// Returns `name`, which may be a pattern with `*`, in the form in which the ecosystem's registry compares names.
    pub fn compared(self, name: &str) -> String {
        (self.row().compared)(name)
    }
}

/// Reports whether `text` starts with neither `.` nor `-` and contains only ASCII letters and digits and characters of
/// `more`.
fn is_word(text: &str, more: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['.', '-'])
        && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

impl Package {
    /// Returns the package `name` of `ecosystem`.
    ///
    /// # Errors
    ///
    /// Fails on a name that no package of the ecosystem can have: it becomes part of a path.
    pub fn new(ecosystem: Ecosystem, name: &str) -> Result<Self, SpecError> {
        let row = ecosystem.row();
        if name.len() <= MAX_NAME && (row.takes)(name) {
            Ok(Self { ecosystem, name: (row.kept)(name) })
        } else {
            Err(SpecError::BadPackage(name.to_owned(), row.key))
        }
    }

    /// Returns the command that installs it, at `version` if one is given, in the syntax of its package manager.
    pub fn install_command(&self, version: Option<&str>) -> String {
        (self.ecosystem.row().install)(&self.name, version)
    }
}

impl SourceKind for Package {
    const KEYS: &'static [&'static str] = &["python", "npm", "r", "crate"];
    const MANIFEST_KEYS: &'static [&'static str] = Self::KEYS;
    const PATTERN: PatternForm = PatternForm::Package;
    const FOREIGN_TYPES: &'static [&'static str] = &["node_modules"];
    const TYPED: &'static [Typed] = &[(
        &["python:name", "npm:name", "r:name", "crate:name"],
        "the skills of an [installed package](../guide/packages.md)",
    )];

    fn read(key: &'static str, text: &str) -> Result<Self, SpecError> {
        let ecosystem = Ecosystem::of_key(key).ok_or_else(|| SpecError::Unsupported(text.to_owned()))?;
        Self::new(ecosystem, text)
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        let (key, rest) = text.split_once(':')?;
        Ecosystem::of_key(key).map(|ecosystem| typed(ecosystem, rest))
    }

    fn from_foreign(source: &str, _: Option<&str>) -> Result<SourceSpec, String> {
        let package = Self::new(Ecosystem::Npm, source).map_err(|error| error.to_string())?;
        Ok(SourceSpec::new(package))
    }
}

impl SourceFacts for Package {
    fn kind(&self) -> &'static str {
        self.ecosystem.key()
    }

    fn written(&self) -> String {
        self.name.clone()
    }

    fn is_on_this_machine(&self) -> bool {
        true
    }

    fn has_only_skills(&self) -> bool {
        true
    }

    /// Checks that the version of a package is a version label of its ecosystem.
    fn check_revision(&self, revision: &str) -> Result<(), String> {
        if revision.is_empty() || revision.chars().any(char::is_control) {
            return Err("the `revision` of a package is its version".to_owned());
        }
        Ok(())
    }

    fn version_hint(&self) -> &'static str {
        "`@` names a skill; the version of a package is the one that is installed"
    }

    fn compared(&self) -> Compared<'_> {
        Compared::Package(self.ecosystem, &self.name)
    }

    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        Err(NotExpressible::Kind("packages that skillpm found"))
    }
}

/// Reads `name//directory@skill`.
fn typed(ecosystem: Ecosystem, text: &str) -> Result<SourceSpec, SpecError> {
    if text.contains('#') {
        return Err(SpecError::NoRevisions(format!("{}:{text}", ecosystem.key())));
    }
    // The name of an npm package may start with `@`, and then contains a slash.
    let scope = text.starts_with('@').then(|| text.find('/')).flatten().map_or(0, |at| at + 1);
    let (rest, skill) = match text[scope..].rsplit_once('@') {
        Some((rest, skill)) if !skill.contains('/') => (&text[..scope + rest.len()], Some(skill)),
        _ => (text, None),
    };
    let (name, path) = split_directory(rest);
    Ok(SourceSpec {
        origin: Package::new(ecosystem, name)?.into(),
        path: subdirectory(path)?,
        reference: None,
        skill: skill.map(skill_name).transpose()?,
    })
}

/// Writes `python:name`.
impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ecosystem.key(), self.name)
    }
}
