//! Reading bytes at positions of a file.

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

/// Returns the smaller of a number of bytes in a file and a number of bytes in memory.
pub(super) fn at_most(len: u64, cap: usize) -> usize {
    usize::try_from(len).map_or(cap, |len| len.min(cap))
}

/// A view into a file that moves forward: headers that are close together cost one read.
pub(super) struct Window<'a> {
    file: &'a SharedFile,
    /// Where the bytes that may be examined end.
    end: u64,
    /// What is missing when they end too early.
    what: &'static str,
    start: u64,
    size: usize,
    buffer: Vec<u8>,
}

impl<'a> Window<'a> {
    /// Returns a view of the bytes before `end` that reads `size` bytes at once. `what` names what
    /// is incomplete when more is asked for.
    pub(super) fn new(file: &'a SharedFile, end: u64, size: usize, what: &'static str) -> Self {
        Self { file, end, what, start: 0, size, buffer: Vec::new() }
    }

    /// Returns the `len` bytes at `offset`, or [`Refusal::Truncated`] where there are fewer.
    pub(super) fn get(&mut self, offset: u64, len: usize) -> Result<&[u8], ReadError> {
        let stop = offset.checked_add(len as u64).filter(|stop| *stop <= self.end);
        let Some(stop) = stop else {
            return Err(Refusal::Truncated(self.what).into());
        };
        if offset < self.start || stop > self.start + self.buffer.len() as u64 {
            // `offset` is below `end` here, as far as it matters: an empty slice reads nothing.
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

/// The bytes of a part of a file, one after the other.
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
