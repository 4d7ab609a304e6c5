//! A file that is one gzip member (RFC 1952).

use std::io::Write;

use super::bytes::{Part, at_most, u16_at, u32_at};
use super::inflate::{InflateError, inflate};
use super::kind;
use crate::fs::{SharedFile, anonymous_temp_file};
use crate::refusal::{Limits, Refusal};
use crate::tree::ReadError;

/// The name that messages use for the stream, since it has no entry name.
const NAME: &str = "the gzip stream";
const TRAILER_LEN: u64 = 8;
/// The largest header that is accepted. Extra fields have a two-byte length, and names are short.
const MAX_HEADER: usize = 68 * 1024;

/// Inflates `file` into a temporary file.
///
/// The file has exactly one member, so the length of the file gives the length of the stream: it must end
/// eight bytes before the end, where the checksum and length are.
pub(super) fn unpack(file: &SharedFile, limits: &Limits) -> Result<SharedFile, ReadError> {
    let start = header_len(file)?;
    let Some(packed) = file.len().checked_sub(start + TRAILER_LEN) else {
        return Err(Refusal::Truncated("the gzip stream has no end").into());
    };
    let mut temp = anonymous_temp_file().map_err(|error| std::io::Error::new(error.source.kind(), error))?;
    let mut crc = crc32fast::Hasher::new();
    let most = limits.archive_content.min(file.len().saturating_mul(limits.ratio).max(Limits::RATIO_FLOOR));
    let mut part = Part { file, offset: start, left: packed };
    let size = inflate(&mut part, packed, most, &mut |bytes| {
        crc.update(bytes);
        temp.write_all(bytes)
    })
    .map_err(|error| refused(error, most, limits))?;
    let mut trailer = [0; 8];
    file.read_exact_at(&mut trailer, file.len() - TRAILER_LEN)?;
    if u32_at(&trailer, 0) != crc.finalize() {
        return Err(Refusal::BadChecksum(NAME.to_owned()).into());
    }
    let declared = u64::from(u32_at(&trailer, 4));
    if declared != size & u64::from(u32::MAX) {
        return Err(Refusal::SizeMismatch { name: NAME.to_owned(), declared, actual: size }.into());
    }
    Ok(SharedFile::from_file(temp)?)
}

fn refused(error: InflateError, most: u64, limits: &Limits) -> ReadError {
    ReadError::Refused(match error {
        InflateError::Io(error) => return error.into(),
        InflateError::Damaged => Refusal::BadData(NAME.to_owned()),
        InflateError::Incomplete => Refusal::Truncated("the gzip stream has no end"),
        InflateError::Trailing => Refusal::StrayBytes("after the gzip stream"),
        InflateError::TooLong if most == limits.archive_content => {
            Refusal::TooLarge { size: most.saturating_add(1), limit: most }
        }
        InflateError::TooLong => {
            Refusal::Ratio { name: NAME.to_owned(), ratio: limits.ratio + 1, limit: limits.ratio }
        }
    })
}

/// Returns where the compressed data starts.
fn header_len(file: &SharedFile) -> Result<u64, ReadError> {
    let mut head = vec![0; at_most(file.len(), MAX_HEADER)];
    file.read_exact_at(&mut head, 0)?;
    if !head.starts_with(&[0x1F, 0x8B]) {
        return Err(kind::refusal("a gzip file", &head[..head.len().min(512)]).into());
    }
    Ok(parse_header(&head)? as u64)
}

fn parse_header(head: &[u8]) -> Result<usize, Refusal> {
    const HEADER_CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let cut = || Refusal::Truncated("the gzip header");
    let fixed = head.get(..10).ok_or_else(cut)?;
    let (method, flags) = (fixed[2], fixed[3]);
    if method != 8 || flags & 0xE0 != 0 {
        return Err(Refusal::Malformed("the gzip header is of an unknown kind".to_owned()));
    }
    let mut at = 10;
    if flags & EXTRA != 0 {
        let len = head.get(at..at + 2).ok_or_else(cut)?;
        at += 2 + usize::from(u16_at(len, 0));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let rest = head.get(at..).ok_or_else(cut)?;
            at += 1 + rest.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
        }
    }
    let covered = head.get(..at).ok_or_else(cut)?;
    if flags & HEADER_CRC != 0 {
        let stored = u16_at(head.get(at..at + 2).ok_or_else(cut)?, 0);
        if u32::from(stored) != crc32fast::hash(covered) & 0xFFFF {
            return Err(Refusal::BadChecksum("the gzip header".to_owned()));
        }
        at += 2;
    }
    Ok(at)
}
