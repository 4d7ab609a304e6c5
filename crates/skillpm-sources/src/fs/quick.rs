//! Reading many small files and directories at little cost.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::look::{is_absent, leads_round};
use super::{Kind, PathContext, PathError};

/// The result of reading a file into a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// The buffer holds all of the file.
    Read,
    /// Nothing is there.
    Absent,
    /// Something is there that was not read: a link, something other than a regular file, or a file above the
    /// limit.
    Other,
}

/// An open directory below which many files are read: its path is resolved once, not for each file.
#[derive(Debug)]
pub struct Base {
    pub(super) path: PathBuf,
    #[cfg(unix)]
    handle: rustix::fd::OwnedFd,
}

impl Base {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    ///
    /// Fails if it does not exist or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, PathError> {
        Ok(Self {
            path: path.to_owned(),
            #[cfg(unix)]
            handle: directory(path).at("open", path)?,
        })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the handle of the directory.
    #[cfg(unix)]
    pub(super) fn handle(&self) -> &rustix::fd::OwnedFd {
        &self.handle
    }

    /// Appends the `size` bytes of the regular file at `below` to `buffer`. Returns `false` and adds nothing
    /// if the file is not as expected. Does not follow a link at the end of the path.
    pub(super) fn append_expected(&self, below: &Path, size: u64, buffer: &mut Vec<u8>) -> bool {
        let Ok(size) = usize::try_from(size) else { return false };
        let Ok(file) = self.open_below(below) else { return false };
        let start = buffer.len();
        // One byte more than expected: this detects a file that grew.
        buffer.reserve_exact(size.saturating_add(1));
        let spare = buffer.capacity() - start;
        let is_expected = matches!(read_once(&file, buffer), Ok(count) if count == size) && spare > size;
        if !is_expected {
            buffer.truncate(start);
        }
        is_expected
    }

    /// Returns the kind of what is at `below` this directory, or `None` if nothing is. Does not follow a link
    /// at the end of the path.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be examined, for a reason other than absence.
    pub fn kind(&self, below: &Path) -> Result<Option<Kind>, PathError> {
        #[cfg(unix)]
        match rustix::fs::statat(self.handle(), below, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
                rustix::fs::FileType::RegularFile => Kind::File,
                rustix::fs::FileType::Directory => Kind::Directory,
                rustix::fs::FileType::Symlink => Kind::Symlink,
                _ => Kind::Other,
            })),
            Err(error) => {
                let source = io::Error::from(error);
                let absent = is_absent(&source) || leads_round(&source);
                if absent { Ok(None) } else { Err(source).at("look at", &self.path.join(below)) }
            }
        }
        #[cfg(not(unix))]
        super::kind(&self.path.join(below))
    }

    /// Reads the target of the link at `below` this directory; `None` if it does not exist, or is not UTF-8.
    pub fn link_text(&self, below: &str) -> Option<String> {
        #[cfg(unix)]
        return rustix::fs::readlinkat(self.handle(), below, Vec::new()).ok()?.into_string().ok();
        #[cfg(not(unix))]
        return std::fs::read_link(self.path.join(below)).ok()?.into_os_string().into_string().ok();
    }

    #[cfg(unix)]
    pub(super) fn open_below(&self, below: impl rustix::path::Arg) -> io::Result<fs::File> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(self.handle(), below, flags, Mode::empty())?.into())
    }

    #[cfg(not(unix))]
    pub(super) fn open_below(&self, below: &Path) -> io::Result<fs::File> {
        super::tree::open_no_follow(&self.path.join(below))
    }
}

/// Opens the directory at `path`.
#[cfg(unix)]
fn directory(path: &Path) -> io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    // Anything else is refused before it is opened: a pipe would block.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Reads once and appends to `buffer`, at most what it has room for.
#[cfg(unix)]
pub(super) fn read_once(file: &fs::File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::read(file, rustix::buffer::spare_capacity(buffer))?)
}

/// Reads once and appends to `buffer`, at most what it has room for.
#[cfg(not(unix))]
pub(super) fn read_once(mut file: &fs::File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let start = buffer.len();
    buffer.resize(buffer.capacity(), 0);
    let read = file.read(&mut buffer[start..]);
    buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
    read
}

/// Returns the entries of directory `path`, in the order of the directory. Does not follow links.
///
/// # Errors
///
/// Fails if it is not a directory or cannot be read.
pub fn entries(path: &Path) -> Result<Vec<(OsString, Kind)>, PathError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).at("read", path)? {
        let entry = entry.at("read", path)?;
        let kind = entry.file_type().at("look at", path)?;
        found.push((entry.file_name(), kind.into()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_holds_one_file_after_the_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        let base = Base::open(dir.path()).expect("opens");
        let mut buffer = Vec::new();
        let mut read_into = |path: &str, limit| {
            let looked = base.read_into(Path::new(path), limit, &mut buffer).expect("reads");
            (looked, String::from_utf8(buffer.clone()).expect("text"))
        };
        for text in ["a long text", "", "short"] {
            fs::write(&path, text).expect("writes");
            assert_eq!(read_into("f", 11), (Looked::Read, text.to_owned()));
        }
        assert_eq!(read_into("f", 4).0, Looked::Other);
        assert_eq!(read_into(".", 4).0, Looked::Other);
        for gone in ["gone", "f/below"] {
            assert_eq!(read_into(gone, 4).0, Looked::Absent);
        }
        assert!(Base::open(&path.join("gone")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_told_apart() {
        let dir = tempfile::tempdir().expect("a directory");
        let (link, pipe) = (dir.path().join("link"), dir.path().join("pipe"));
        std::os::unix::fs::symlink("nowhere", &link).expect("links");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        let mut kinds = entries(dir.path()).expect("lists");
        kinds.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(kinds, [("link".into(), Kind::Symlink), ("pipe".into(), Kind::Other)]);
    }
}
