//! The bytes behind a tree or a set of files, wherever they lie.

use std::io::{self, Write};

use super::Rights;
use crate::refusal::Refusal;

/// The bytes behind the entries of a tree.
pub trait Content: Send + Sync {
    /// Writes the whole content of entry `id` to `sink`. For a symbolic link that is its target.
    ///
    /// # Errors
    ///
    /// [`ReadError::Refused`] where the bytes are not what the tree declared (checksum, size);
    /// [`ReadError::Io`] where they could not be read or written.
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError>;

    /// Adds the content of the file `id` to `buffer`, no more than `limit` bytes of it, and returns how many
    /// bytes it has: as far as they were counted, where these are more.
    ///
    /// # Errors
    ///
    /// As [`Content::copy_to`].
    fn append_to(&self, id: usize, limit: u64, buffer: &mut Vec<u8>) -> Result<u64, ReadError> {
        append_by_copy(|sink| self.copy_to(id, sink), limit, buffer)
    }

    /// What the file `id` may be used for at most.
    fn rights(&self, _id: usize) -> Rights {
        Rights::ALL
    }
}

/// What [`Content::append_to`] does, with what `copy` writes.
///
/// # Errors
///
/// As `copy`.
pub fn append_by_copy(
    copy: impl FnOnce(&mut dyn Write) -> Result<(), ReadError>,
    limit: u64,
    buffer: &mut Vec<u8>,
) -> Result<u64, ReadError> {
    let mut sink = Counted { buffer, limit, count: 0 };
    copy(&mut sink)?;
    Ok(sink.count)
}

/// A buffer that takes no more than so many bytes and counts the others.
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

/// Why content could not be delivered.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes are not what was declared.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The machine could not read or write.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Content held in memory, for tests and for files made on the spot.
#[derive(Debug, Default)]
pub struct Memory(pub Vec<Vec<u8>>);

impl Content for Memory {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        Ok(sink.write_all(&self.0[id])?)
    }
}
