//! Open files that several readers share.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{Kind, PathContext, PathError};

/// An open file that is read at positions, from any thread.
#[derive(Debug)]
pub struct SharedFile {
    file: File,
    len: u64,
}

impl SharedFile {
    /// Opens the regular file at `path`.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be opened, or is not a regular file (a pipe would block forever).
    pub fn open(path: &Path) -> Result<Self, PathError> {
        let metadata = std::fs::metadata(path).at("open", path)?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")).at("open", path);
        }
        Self::from_file(File::open(path).at("open", path)?).at("open", path)
    }

    /// Opens the regular file at `path`; `None` if it does not exist. Does not follow a link.
    pub(crate) fn open_plain(path: &Path) -> Result<Option<Self>, PathError> {
        if super::kind(path)? != Some(Kind::File) {
            return Ok(None);
        }
        // The path may lead to something else by now, and a pipe would block.
        let file = super::tree::open_no_follow(path).at("open", path)?;
        if !file.metadata().at("open", path)?.is_file() {
            return Ok(None);
        }
        Self::from_file(file).at("open", path).map(Some)
    }

    /// Takes ownership of an open file.
    ///
    /// # Errors
    ///
    /// Fails if its length cannot be determined.
    pub fn from_file(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file, len })
    }

    /// Returns the length in bytes when the file was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reports whether the file was empty when it was opened.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads all of it.
    pub(crate) fn read_all(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.len).unwrap_or(usize::MAX)];
        self.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// Reads at `offset` until `buf` is full.
    ///
    /// # Errors
    ///
    /// Fails with `UnexpectedEof` if the file ends before `buf` is full.
    pub fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file, buf, offset)
    }
}

/// Reads from `file` at `offset` until `buf` is full.
pub(super) fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, buf, offset);
    #[cfg(windows)]
    {
        let (mut buf, mut offset) = (buf, offset);
        while !buf.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(file, buf, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => {
                    buf = &mut buf[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }
}
