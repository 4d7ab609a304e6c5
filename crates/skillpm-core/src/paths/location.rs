//! The file of a skill, and what is read of it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::engine::load::MAX_SKILL_FILE;
use crate::error::Result;
use crate::fs::{self, Looked};

/// The location of a skill's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLocation {
    /// The directory, with all links resolved.
    pub(crate) dir: PathBuf,
    /// The name.
    pub(crate) name: OsString,
    /// The path for display.
    pub(crate) shown: PathBuf,
    /// Whether the user named the skill itself, and not a directory with skills in it.
    pub(crate) is_named: bool,
}

/// The content read at a [`FileLocation`].
#[derive(PartialEq, Eq)]
pub(crate) enum Content {
    /// The content of a regular file.
    Bytes(Vec<u8>),
    /// Not read: a link, a pipe, or more than a skill's file may have.
    Unread,
}

impl FileLocation {
    /// Returns the path of the file.
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join(&self.name)
    }

    /// Returns the name of the directory, if it has one.
    pub(crate) fn directory(&self) -> Option<&OsStr> {
        self.dir.file_name()
    }

    /// Reads the file. Returns `None` if it no longer exists.
    pub(crate) fn read(&self) -> Result<Option<Content>> {
        let mut bytes = Vec::new();
        Ok(match fs::read_regular(&self.file(), MAX_SKILL_FILE, &mut bytes)? {
            Looked::Absent => None,
            Looked::Read => Some(Content::Bytes(bytes)),
            Looked::Other => Some(Content::Unread),
        })
    }
}
