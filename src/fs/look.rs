//! Looking without touching.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{PathContext, PathError};

/// What lies at a path. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whatever it leads to.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

/// Returns what lies at `path`, or `None` where nothing does.
///
/// # Errors
///
/// Where the path cannot be looked at for another reason than its absence.
pub fn kind(path: &Path) -> Result<Option<Kind>, PathError> {
    let file_type = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error).at("look at", path),
    };
    Ok(Some(if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_symlink() {
        Kind::Symlink
    } else {
        Kind::Other
    }))
}

/// Whether the error means that there is nothing: also where a parent is no directory.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether the error means that links lead to each other.
fn is_loop(error: &io::Error) -> bool {
    #[cfg(unix)]
    return rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP);
    #[cfg(not(unix))]
    return error.raw_os_error() == Some(1921);
}

/// Reads the regular file at `path`, following links, or returns `None` where there is none.
///
/// # Errors
///
/// Where it cannot be read, is no regular file, or has more than `limit` bytes.
pub fn read_capped(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, PathError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    // A pipe would block for ever, and a device may have no end.
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")).at("read", path);
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).at("read", path)?;
    file.take(limit + 1).read_to_end(&mut bytes).at("read", path)?;
    if bytes.len() as u64 > limit {
        let error = io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"));
        return Err(error).at("read", path);
    }
    Ok(Some(bytes))
}

/// Reads the text file at `path`, or returns `None` where there is none.
///
/// # Errors
///
/// As [`read_capped`], and where it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<Option<String>, PathError> {
    read_capped(path, limit)?
        .map(|bytes| {
            String::from_utf8(bytes)
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
                .at("read", path)
        })
        .transpose()
}

/// Returns the target of the link at `path`, or `None` where there is no link.
///
/// # Errors
///
/// Where the path cannot be looked at.
pub fn read_link(path: &Path) -> Result<Option<PathBuf>, PathError> {
    match kind(path)? {
        Some(Kind::Symlink) => fs::read_link(path).at("read", path).map(Some),
        _ => Ok(None),
    }
}

/// Returns `path` with all links followed, or `None` where it leads to nothing.
///
/// # Errors
///
/// Where a part of the path cannot be looked at.
pub fn real_path(path: &Path) -> Result<Option<PathBuf>, PathError> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if is_absent(&error) || is_loop(&error) => Ok(None),
        Err(error) => Err(error).at("look at", path),
    }
}

/// Returns the names in directory `path`, sorted; nothing where there is no directory. Names that
/// are not UTF-8 cannot be names of ours and are left out.
///
/// # Errors
///
/// Where the directory cannot be read.
pub fn list_dir(path: &Path) -> Result<Vec<String>, PathError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error).at("read", path),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.at("read", path)?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}
