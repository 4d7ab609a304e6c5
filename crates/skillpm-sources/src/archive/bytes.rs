//! Reading bytes at positions in a file.

use std::io::{self, Read};

use crate::fs::SharedFile;
use crate::refusal::Refusal;
use crate::tree::ReadError;

/// Returns the two bytes at `at` as a little-endian number. `bytes` must reach that far.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Returns the four bytes at `at` as a little-endian number. `bytes` must reach that far.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// Returns the eight bytes at `at` as a little-endian number. `bytes` must reach that far.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Returns `len` as a number of bytes in memory, at most `cap`.
pub(super) fn at_most(len: u64, cap: usize) -> usize {
    usize::try_from(len).map_or(cap, |len| len.min(cap))
}

/// A forward-moving view into a file: headers that are close together cost one read.
pub(super) struct Window<'a> {
    file: &'a SharedFile,
    /// The end of the bytes that may be read.
    end: u64,
    /// The part of the archive that is incomplete if the bytes end too early.
    what: &'static str,
    start: u64,
    size: usize,
    buffer: Vec<u8>,
}

impl<'a> Window<'a> {
    /// Returns a view of the bytes before `end` that reads `size` bytes at a time. `what` names what is
    /// incomplete if more bytes are requested.
    pub(super) fn new(file: &'a SharedFile, end: u64, size: usize, what: &'static str) -> Self {
        Self { file, end, what, start: 0, size, buffer: Vec::new() }
    }

    /// Returns the `len` bytes at `offset`.
    pub(super) fn get(&mut self, offset: u64, len: usize) -> Result<&[u8], ReadError> {
        let stop = offset.checked_add(len as u64).filter(|stop| *stop <= self.end);
        let Some(stop) = stop else {
            return Err(Refusal::Truncated(self.what).into());
        };
        if offset < self.start || stop > self.start + self.buffer.len() as u64 {
            // If `len` is not 0, `offset` is below `end` here: an empty slice reads nothing.
            self.buffer.resize(at_most(self.end - offset, self.size.max(len)), 0);
            self.start = offset;
            if let Err(error) = self.file.read_exact_at(&mut self.buffer, offset) {
                self.buffer.clear();
                return Err(error.into());
            }
        }
        let from = at_most(offset - self.start, self.buffer.len());
        Ok(&self.buffer[from..from + len])
    }
}

/// The bytes of one part of a file, in order.
pub(super) struct Part<'a> {
    pub(super) file: &'a SharedFile,
    pub(super) offset: u64,
    pub(super) left: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = at_most(self.left, buf.len());
        self.file.read_exact_at(&mut buf[..count], self.offset)?;
        self.offset += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}
