//! Packages of other languages that bring skills along.

use std::fmt;
use std::str::FromStr;

use super::SpecError;

/// A package as its own package manager installed it; skillpm installs none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Package {
    /// Whose package it is.
    pub ecosystem: Ecosystem,
    /// Its name; of a Python distribution in the form in which names are compared (PEP 503).
    pub name: String,
}

/// A language's packages.
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

impl Ecosystem {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Python, Self::Npm, Self::R, Self::Crate];

    /// The word before the colon of a source, and the key in a manifest.
    pub fn key(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Npm => "npm",
            Self::R => "r",
            Self::Crate => "crate",
        }
    }

    /// Whether `name` is one that this ecosystem gives out.
    fn takes(self, name: &str) -> bool {
        let word = |text: &str, more: &str| {
            !text.is_empty()
                && !text.starts_with(['.', '-'])
                && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        if name.len() > 214 {
            return false;
        }
        match self {
            Self::Python => word(name, "._-"),
            Self::R => word(name, ".") && name.starts_with(|c: char| c.is_ascii_alphabetic()),
            Self::Crate => word(name, "_-"),
            Self::Npm => match name.strip_prefix('@') {
                Some(scoped) => scoped
                    .split_once('/')
                    .is_some_and(|(scope, name)| word(scope, "._~-") && word(name, "._~-")),
                None => word(name, "._~-"),
            },
        }
    }
}

impl Package {
    /// Returns the package `name` of `ecosystem`.
    ///
    /// # Errors
    ///
    /// A name that no package of the ecosystem can have: it becomes part of a path.
    pub fn new(ecosystem: Ecosystem, name: &str) -> Result<Self, SpecError> {
        if ecosystem.takes(name) {
            let name = if ecosystem == Ecosystem::Python { distribution_name(name) } else { name.to_owned() };
            Ok(Self { ecosystem, name })
        } else {
            Err(SpecError::BadPackage(name.to_owned(), ecosystem.key()))
        }
    }
}

/// The name under which distributions of Python are compared (PEP 503): `My_Pkg.x` is `my-pkg-x`.
pub fn distribution_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// `python:name`.
impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ecosystem.key(), self.name)
    }
}

impl FromStr for Package {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let (key, name) = text.split_once(':').ok_or_else(unsupported)?;
        let ecosystem = Ecosystem::ALL.into_iter().find(|e| e.key() == key).ok_or_else(unsupported)?;
        Self::new(ecosystem, name)
    }
}
