//! Resolution of the paths of a request to skills: files, skills' directories, whole repositories, and
//! patterns for them.

mod inside;
mod installed;
mod pattern;
mod search;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::engine::load::MAX_SKILL_FILE;
use crate::error::{Error, Result};
use crate::fs::{self, Looked};

pub(super) use inside::Inside;
pub(super) use installed::Installed;

/// A target that the user named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A skill's directory, a `SKILL.md`, a directory to search for skills, or a pattern such as
    /// `skills/**/SKILL.md` for them.
    Path(PathBuf),
    /// A text that need not be in any file yet.
    Text {
        /// The content.
        bytes: Vec<u8>,
        /// The intended file, for the name of its directory and for messages.
        file: Option<PathBuf>,
    },
}

/// The name in messages of a text without a file.
pub(super) const NO_FILE: &str = "<stdin>";

impl Target {
    /// Returns the name in messages of a text whose file is to be `file`.
    pub(super) fn shown(file: Option<&Path>) -> PathBuf {
        file.unwrap_or(Path::new(NO_FILE)).to_owned()
    }

    /// Returns the error for a text that would have to be changed in place.
    pub(super) fn no_place(verb: &str) -> Error {
        Error::usage(format!("standard input cannot be {verb} in its place"))
            .hint("name a file or a directory")
    }
}

/// The location of a skill's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileLocation {
    /// Its directory, with all links resolved.
    pub(super) dir: PathBuf,
    /// Its name.
    pub(super) name: OsString,
    /// Its path for display.
    pub(super) shown: PathBuf,
    /// Whether the user named the skill itself, and not a directory with skills in it.
    pub(super) is_named: bool,
}

/// The content read at a [`FileLocation`].
pub(super) enum Content {
    /// The content of a regular file.
    Bytes(Vec<u8>),
    /// Not read: a link, a pipe, or more than a skill's file may have.
    Unread,
}

impl FileLocation {
    /// Returns the path of the file.
    pub(super) fn file(&self) -> PathBuf {
        self.dir.join(&self.name)
    }

    /// Returns the name of the directory, if it has one.
    pub(super) fn directory(&self) -> Option<&OsStr> {
        self.dir.file_name()
    }

    /// Reads the file. Returns `None` if it no longer exists.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read.
    pub(super) fn read(&self) -> Result<Option<Content>> {
        let mut bytes = Vec::new();
        Ok(match fs::read_regular(&self.file(), MAX_SKILL_FILE, &mut bytes)? {
            Looked::Absent => None,
            Looked::Read => Some(Content::Bytes(bytes)),
            Looked::Other => Some(Content::Unread),
        })
    }
}

/// The places that were searched for skills, as they are shown: if one of them changes, other skills may be
/// found. Only a watch records them.
#[derive(Debug, Default)]
pub(super) struct Searched(Option<Vec<PathBuf>>);

impl Searched {
    /// Returns an empty list that is recorded.
    pub(super) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    fn at(&mut self, path: impl FnOnce() -> PathBuf) {
        if let Some(paths) = &mut self.0 {
            paths.push(path());
        }
    }

    fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        self.0.unwrap_or_default()
    }
}

/// Finds skills, each once.
pub(super) struct Finder<'a> {
    cwd: &'a Path,
    searched: &'a mut Searched,
    seen: BTreeSet<PathBuf>,
}

impl<'a> Finder<'a> {
    /// Returns a finder that resolves paths from `cwd`, and records in `searched` where it looked.
    pub(super) fn new(cwd: &'a Path, searched: &'a mut Searched) -> Self {
        Self { cwd, searched, seen: BTreeSet::new() }
    }

    /// Returns the skills that `typed` names and that were not named before, sorted by the bytes of their
    /// paths. An existing path is not a pattern.
    ///
    /// # Errors
    ///
    /// Fails for a path that does not exist, cannot be read, or holds no skill, and for a pattern that is
    /// invalid or matches nothing.
    pub(super) fn find(&mut self, typed: &Path) -> Result<Vec<FileLocation>> {
        let at = self.cwd.join(typed);
        let mut found = Vec::new();
        match pattern::read(typed) {
            Some(pattern) if fs::kind(&at)?.is_none() => {
                for typed in pattern.matches(self.cwd, self.searched)? {
                    found.extend(search::find(&typed, &self.cwd.join(&typed), self.searched)?);
                }
            }
            _ => found = search::find(typed, &at, self.searched)?,
        }
        found.retain(|place| self.seen.insert(place.file()));
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
