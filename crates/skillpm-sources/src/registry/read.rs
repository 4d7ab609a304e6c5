//! Reading the documents of a registry, wherever its files are.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::error::damaged;
use super::{Config, FileError, MAX_FILE, files, package};
use crate::codes;
use crate::error::{Error, Result};
use crate::fs::{Base, Looked, SharedFile};

/// The files of a registry: in a directory, a bucket or a bundle, or at an address.
pub trait ReadFiles {
    /// Reads the file at `path`, of at most `limit` bytes; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or is larger.
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>>;

    /// Opens the file at `path`, of at most `limit` bytes; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read.
    fn open(&self, path: &str, limit: u64) -> Result<Option<Arc<SharedFile>>> {
        self.get(path, limit)?.map(|bytes| package::shared(&bytes)).transpose()
    }

    /// Returns the error for the file at `path` that is not what a registry has there.
    fn unusable(&self, path: &str, reason: &dyn fmt::Display) -> Error {
        damaged(path, reason)
    }
}

/// Reads the document at `path`; `None` if it does not exist.
///
/// # Errors
///
/// Fails if the file cannot be read, or `parse` does not take it.
pub fn read<T>(
    files: &(impl ReadFiles + ?Sized),
    path: &str,
    parse: impl FnOnce(&[u8]) -> Result<T, FileError>,
) -> Result<Option<T>> {
    files.get(path, MAX_FILE)?.map(|bytes| parsed(files, path, &bytes, parse)).transpose()
}

/// Returns the document at `path`, which has these `bytes`.
pub fn parsed<T>(
    files: &(impl ReadFiles + ?Sized),
    path: &str,
    bytes: &[u8],
    parse: impl FnOnce(&[u8]) -> Result<T, FileError>,
) -> Result<T> {
    parse(bytes).map_err(|error| {
        let unusable = files.unusable(path, &error);
        match error {
            FileError::Format(_) => Error::config(unusable.message().clone())
                .coded(codes::REGISTRY_UNUSABLE)
                .hint("update skillpm"),
            _ => unusable,
        }
    })
}

/// Reads what makes a place a registry; `None` if nothing does.
///
/// # Errors
///
/// Fails if it cannot be read, is damaged, or is one of a newer format.
pub fn config(files: &(impl ReadFiles + ?Sized)) -> Result<Option<Config>> {
    read(files, files::CONFIG, Config::parse)
}

/// A directory. Anything but a file in the place of a file, such as a link, is damage.
impl ReadFiles for Base {
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match self.read_into(Path::new(path), limit, &mut bytes)? {
            Looked::Read => Ok(Some(bytes)),
            Looked::Absent => Ok(None),
            Looked::Other => Err(damaged(path, &"it is not a regular file, or is too large")),
        }
    }

    fn open(&self, path: &str, _: u64) -> Result<Option<Arc<SharedFile>>> {
        Ok(SharedFile::open_plain(&self.path().join(path))?.map(Arc::new))
    }
}
