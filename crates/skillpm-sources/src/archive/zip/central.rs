//! The directory of entries at the end of a zip archive (4.3.12).

use super::super::bytes::{Window, u16_at, u32_at};
use super::super::names;
use super::eocd::Directory;
use super::extra;
use crate::fs::SharedFile;
use crate::refusal::{Limits, Refusal};
use crate::tree::{Node, ReadError};

const SIGNATURE: &[u8; 4] = b"PK\x01\x02";
const HEADER_LEN: usize = 46;
/// The average length of a record with its name, extra fields and comment, beyond the length of one maximal
/// record: memory use grows only with the count.
const MEAN_LEN: u64 = 512;

/// The deflate stream of no bytes (RFC 1951, 3.2.6: a last block with fixed codes that holds only its end).
pub(super) const EMPTY_STREAM: &[u8] = &[3, 0];

/// One entry, as the directory describes it.
pub(super) struct CentralRecord {
    /// The name as written, without the slash of a directory.
    pub(super) name: String,
    /// `None` for a directory.
    pub(super) node: Option<Node>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    /// The compressed length in bytes.
    pub(super) packed: u64,
    /// The inflated length in bytes.
    pub(super) size: u64,
    /// The offset of the local header.
    pub(super) offset: u64,
    /// Whether one of the two sizes needs 64 bits, so that the data descriptor has 64-bit sizes too.
    pub(super) wide: bool,
}

impl CentralRecord {
    /// Returns the bytes of the name in the archive.
    pub(super) fn name_len(&self) -> usize {
        self.name.len() + usize::from(self.node.is_none())
    }
}

/// Bits of the general purpose flags (4.4.4).
pub(super) mod flags {
    pub(in super::super) const ENCRYPTED: u16 = 1;
    pub(in super::super) const DESCRIPTOR: u16 = 1 << 3;
    pub(in super::super) const STRONG: u16 = 1 << 6;
    pub(in super::super) const MASKED: u16 = 1 << 13;
    /// Compression effort, data descriptor, and names in UTF-8.
    pub(in super::super) const KNOWN: u16 = 0b110 | DESCRIPTOR | 1 << 11;
}

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;

/// Reads all records of the directory.
pub(super) fn read(
    file: &SharedFile,
    directory: &Directory,
    limits: &Limits,
) -> Result<Vec<CentralRecord>, ReadError> {
    let Directory { offset, size, count, .. } = *directory;
    if count > limits.archive_entries {
        return Err(Refusal::TooManyEntries { count, limit: limits.archive_entries }.into());
    }
    if count * HEADER_LEN as u64 > size {
        return Err(wrong_count().into());
    }
    if size > count * MEAN_LEN + 0x3_0000 {
        return Err(Refusal::Malformed("its directory is too large for its entries".to_owned()).into());
    }
    let end = offset + size;
    let mut window = Window::new(file, end, 64 * 1024, "its directory of entries");
    let mut records = Vec::new();
    let mut content = 0_u64;
    let mut at = offset;
    for _ in 0..count {
        let header = window.get(at, HEADER_LEN)?;
        if !header.starts_with(SIGNATURE) {
            return Err(wrong_count().into());
        }
        let [name, extra, comment] = [28, 30, 32].map(|field| usize::from(u16_at(header, field)));
        let bytes = window.get(at, HEADER_LEN + name + extra + comment)?;
        let record = parse(bytes, name, extra)?;
        content = content.saturating_add(record.size);
        if content > limits.archive_content {
            return Err(Refusal::TooLarge { size: content, limit: limits.archive_content }.into());
        }
        check_ratio(&record, limits)?;
        records.push(record);
        at += (HEADER_LEN + name + extra + comment) as u64;
    }
    if at == end {
        return Ok(records);
    }
    Err(match window.get(at, 4) {
        Ok(next) if next == SIGNATURE => wrong_count(),
        _ => Refusal::StrayBytes("after the last record of its directory"),
    }
    .into())
}

fn wrong_count() -> Refusal {
    Refusal::Malformed("its directory holds fewer entries than it declares".to_owned())
}

fn parse(bytes: &[u8], name_len: usize, extra_len: usize) -> Result<CentralRecord, Refusal> {
    let (raw, rest) = bytes[HEADER_LEN..].split_at(name_len);
    let full = names::utf8(raw)?;
    let (name, is_directory) = match full.strip_suffix('/') {
        Some(name) => (name, true),
        None => (full, false),
    };
    names::check(name, is_directory)?;
    let flags = u16_at(bytes, 8);
    let method = u16_at(bytes, 10);
    check_features(full, flags, method)?;
    let zip64 = extra::zip64(&rest[..extra_len], full)?;
    let narrow = [u32_at(bytes, 24), u32_at(bytes, 20), u32_at(bytes, 42)];
    let ([size, packed, offset], rest) = extra::widen(narrow, zip64, full)?;
    check_disk(u16_at(bytes, 34), rest, full)?;
    let crc = u32_at(bytes, 16);
    // Writers that deflate everything write the stream of no bytes, which `local` checks.
    let is_empty = packed == 0 || method == DEFLATED && packed == EMPTY_STREAM.len() as u64;
    if is_directory && !((size, crc) == (0, 0) && is_empty) {
        return Err(directory_with_content(full));
    }
    if method == STORED && packed != size {
        return Err(Refusal::SizeMismatch { name: full.to_owned(), declared: size, actual: packed });
    }
    let node = node(full, is_directory, u16_at(bytes, 4), u32_at(bytes, 38), size)?;
    let wide = narrow[0] == u32::MAX || narrow[1] == u32::MAX;
    Ok(CentralRecord { name: name.to_owned(), node, flags, method, crc, packed, size, offset, wide })
}

pub(super) fn directory_with_content(name: &str) -> Refusal {
    Refusal::Malformed(format!("`{name}`: this directory has content"))
}

/// Refuses entries that need a password, and entries that are neither stored nor deflated.
fn check_features(name: &str, flags: u16, method: u16) -> Result<(), Refusal> {
    let unsupported = |feature: String| Refusal::Unsupported { name: name.to_owned(), feature };
    if flags & (flags::ENCRYPTED | flags::STRONG | flags::MASKED) != 0 {
        return Err(Refusal::Encrypted(name.to_owned()));
    }
    if flags & !flags::KNOWN != 0 {
        return Err(unsupported(format!("the feature of the flags {flags:#06x}")));
    }
    if !matches!(method, STORED | DEFLATED) {
        return Err(unsupported(format!("compression method {method}")));
    }
    Ok(())
}

/// Refuses a number of the first part other than 0. The zip64 field may hold it (4.5.3) and nothing else.
fn check_disk(disk: u16, rest: &[u8], name: &str) -> Result<(), Refusal> {
    match (disk, rest) {
        (0xFFFF, [0, 0, 0, 0]) => Ok(()),
        (0, rest) => extra::check_used_up(rest, name),
        _ => Err(Refusal::Malformed(format!("`{name}`: this entry starts in another file"))),
    }
}

/// Returns what an entry is, by the mode in its external attributes (4.4.15). Only systems that have modes
/// write it; for other systems, everything without a trailing slash is a file.
fn node(
    name: &str,
    is_directory: bool,
    made_by: u16,
    attributes: u32,
    size: u64,
) -> Result<Option<Node>, Refusal> {
    const UNIX: u16 = 3;
    const DARWIN: u16 = 19;
    let mode = if matches!(made_by >> 8, UNIX | DARWIN) { attributes >> 16 } else { 0 };
    let kind = mode & 0o170_000;
    if is_directory && matches!(kind, 0 | 0o040_000) {
        return Ok(None);
    }
    let node = match kind {
        0 | 0o100_000 => Node::File { executable: mode & 0o111 != 0, size },
        0o120_000 => Node::Symlink,
        0o010_000 => Node::Special("a named pipe"),
        0o020_000 => Node::Special("a character device"),
        0o060_000 => Node::Special("a block device"),
        0o140_000 => Node::Special("a socket"),
        0o040_000 => return Err(Refusal::FileAndDirectory(name.to_owned())),
        _ => Node::Special("a file of unknown type"),
    };
    if is_directory {
        return Err(Refusal::FileAndDirectory(name.to_owned()));
    }
    Ok(Some(node))
}

fn check_ratio(record: &CentralRecord, limits: &Limits) -> Result<(), Refusal> {
    let ratio = record.size / record.packed.max(1);
    if record.size > Limits::RATIO_FLOOR && ratio > limits.ratio {
        return Err(Refusal::Ratio { name: record.name.clone(), ratio, limit: limits.ratio });
    }
    Ok(())
}
