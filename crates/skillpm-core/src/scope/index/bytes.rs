//! Encoding of numbers and texts for an index.

use crate::digest::Digest;
use crate::fs::{FileStat, Moment};

/// Writes `text` with its length. Returns `None` if it is too long.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    bytes.extend(u16::try_from(text.len()).ok()?.to_le_bytes());
    bytes.extend(text);
    Some(())
}

pub(crate) fn put_moment(bytes: &mut Vec<u8>, moment: Moment) {
    bytes.extend(moment.seconds.to_le_bytes());
    bytes.extend(moment.nanoseconds.to_le_bytes());
}

/// Writes `stat` without the file system, which many entries share.
pub(crate) fn put_stat(bytes: &mut Vec<u8>, stat: &FileStat) {
    bytes.extend(stat.mode.to_le_bytes());
    bytes.extend(stat.size.to_le_bytes());
    put_moment(bytes, stat.modified);
    put_moment(bytes, stat.changed);
    bytes.extend(stat.inode.to_le_bytes());
}

/// The bytes that remain to be read.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = u16::from_le_bytes(self.take(2)?.try_into().ok()?);
        self.take(length.into())
    }

    pub(crate) fn moment(&mut self) -> Option<Moment> {
        let seconds = i64::from_le_bytes(self.take(8)?.try_into().ok()?);
        let nanoseconds = self.u32().filter(|nanoseconds| *nanoseconds < 1_000_000_000)?;
        Some(Moment { seconds, nanoseconds })
    }

    pub(crate) fn digest(&mut self) -> Option<Digest> {
        Some(Digest::from_bytes(self.take(32)?.try_into().ok()?))
    }

    /// Reads what [`put_stat`] wrote for a file on file system `device`.
    pub(crate) fn stat(&mut self, device: u64) -> Option<FileStat> {
        let (mode, size) = (self.u32()?, self.u64()?);
        let (modified, changed, inode) = (self.moment()?, self.moment()?, self.u64()?);
        Some(FileStat { device, inode, mode, size, modified, changed })
    }
}
