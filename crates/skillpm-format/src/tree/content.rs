//! The bytes of a tree or a set of files, wherever they are stored.

use std::io::{self, Write};

use super::Rights;
use crate::refusal::Refusal;

/// The bytes of the entries of a tree.
pub trait Content: Send + Sync {
    /// Writes the whole content of entry `id` to `sink`. For a symbolic link that is its target.
    ///
    /// # Errors
    ///
    /// Fails with [`ReadError::Refused`] if the bytes differ from what the tree declared (checksum, size), and with
    /// [`ReadError::Io`] if they could not be read or written.
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError>;

    /// Adds the content of the file `id` to `buffer`, at most `limit` bytes of it, and returns its total number of
    /// bytes: as far as they were counted, if there are more than `limit`.
    fn append_to(&self, id: usize, limit: u64, buffer: &mut Vec<u8>) -> Result<u64, ReadError> {
        append_by_copy(|sink| self.copy_to(id, sink), limit, buffer)
    }

    /// Returns the maximum permissions of the file `id`.
    fn rights(&self, _id: usize) -> Rights {
        Rights::ALL
    }
}

/// Does what [`Content::append_to`] does, with the bytes that `copy` writes.
pub fn append_by_copy(
    copy: impl FnOnce(&mut dyn Write) -> Result<(), ReadError>,
    limit: u64,
    buffer: &mut Vec<u8>,
) -> Result<u64, ReadError> {
    let mut sink = Counted { buffer, limit, count: 0 };
    copy(&mut sink)?;
    Ok(sink.count)
}

/// A buffer that accepts a limited number of bytes and only counts the rest.
struct Counted<'a> {
    buffer: &'a mut Vec<u8>,
    limit: u64,
    count: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit.saturating_sub(self.count);
        let fit = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.buffer.extend_from_slice(&bytes[..fit]);
        self.count += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The reason why content could not be delivered.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes differ from what was declared.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Reading or writing failed on this machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Content held in memory, for tests and for generated files.
#[derive(Debug, Default)]
pub struct Memory(pub Vec<Vec<u8>>);

impl Content for Memory {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        Ok(sink.write_all(&self.0[id])?)
    }
}
