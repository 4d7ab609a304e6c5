//! The end of a zip archive, which locates its directory (4.3.14 to 4.3.16).

use super::super::bytes::{at_most, u16_at, u32_at, u64_at};
use super::super::kind;
use crate::fs::SharedFile;
use crate::refusal::Refusal;
use crate::tree::ReadError;

const END: &[u8; 4] = b"PK\x05\x06";
const END_LEN: usize = 22;
const LOCATOR: &[u8; 4] = b"PK\x06\x07";
const LOCATOR_LEN: usize = 20;
const WIDE_END: &[u8; 4] = b"PK\x06\x06";
const WIDE_END_LEN: usize = 56;
/// The length of the longest tail that holds the three records.
const TAIL_LEN: usize = WIDE_END_LEN + LOCATOR_LEN + END_LEN + 0xFFFF;

/// The place of the directory of entries.
pub(super) struct Directory {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) count: u64,
    pub(super) comment: Vec<u8>,
}

/// Finds the directory of the archive in `file`.
///
/// Readers search for the end record from the back or from the front, and some take the first match. So the
/// record must be unambiguous: the last signature in the file is the record, its comment ends with the file,
/// and no other record claims to end there.
pub(super) fn find(file: &SharedFile) -> Result<Directory, ReadError> {
    let mut tail = vec![0; at_most(file.len(), TAIL_LEN)];
    let tail_start = file.len() - tail.len() as u64;
    file.read_exact_at(&mut tail, tail_start)?;
    let Some(at) = place(&tail)? else {
        let head = kind::head(file)?;
        return Err(match kind::of(&head) {
            Some(kind::Kind::Zip) => Refusal::Truncated("its directory of entries is missing"),
            _ => kind::refusal("a zip archive", &head),
        }
        .into());
    };
    let (directory, start) = read(&tail, at)?;
    check_place(&directory, tail_start + start as u64)?;
    Ok(directory)
}

/// Returns the position of the end record in the tail of a file.
fn place(tail: &[u8]) -> Result<Option<usize>, Refusal> {
    let claim = |at: usize| {
        let record = tail.get(at..at + END_LEN)?;
        Some(at + END_LEN + usize::from(u16_at(record, 20)))
    };
    let found: Vec<usize> =
        tail.windows(4).enumerate().filter(|(_, four)| four == END).map(|(at, _)| at).collect();
    let Some(at) = found.last().copied() else {
        return Ok(None);
    };
    let fits = claim(at) == Some(tail.len());
    if found.iter().any(|other| *other != at && claim(*other) == Some(tail.len())) {
        return Err(Refusal::SecondArchive("its comment"));
    }
    match claim(at) {
        _ if fits => Ok(Some(at)),
        Some(end) if end < tail.len() => Err(Refusal::StrayBytes("after its end")),
        _ => Err(Refusal::Truncated("its comment is incomplete")),
    }
}

/// Reads the end record at `at` and the records before it. Returns where they start.
fn read(tail: &[u8], at: usize) -> Result<(Directory, usize), Refusal> {
    let end = &tail[at..at + END_LEN];
    let mut directory = Directory {
        offset: u32_at(end, 16).into(),
        size: u32_at(end, 12).into(),
        count: u16_at(end, 10).into(),
        comment: tail[at + END_LEN..].to_vec(),
    };
    let disks = [u16_at(end, 4), u16_at(end, 6)];
    let on_this_disk = u64::from(u16_at(end, 8));
    let wide = at.checked_sub(LOCATOR_LEN).filter(|from| tail[*from..].starts_with(LOCATOR));
    let Some(locator) = wide else {
        if disks != [0, 0] || on_this_disk != directory.count {
            return Err(split());
        }
        return Ok((directory, at));
    };
    if disks.iter().any(|disk| !matches!(disk, 0 | 0xFFFF)) || on_this_disk != directory.count {
        return Err(split());
    }
    let start = widen(tail, locator, &mut directory)?;
    Ok((directory, start))
}

/// Takes the values of the zip64 record in front of the `locator`. Returns where that record starts.
fn widen(tail: &[u8], locator: usize, directory: &mut Directory) -> Result<usize, Refusal> {
    let malformed = |what: &str| Refusal::Malformed(format!("its zip64 end record {what}"));
    if u32_at(tail, locator + 4) != 0 || u32_at(tail, locator + 16) > 1 {
        return Err(split());
    }
    let start = locator
        .checked_sub(WIDE_END_LEN)
        .filter(|from| tail[*from..].starts_with(WIDE_END))
        .ok_or_else(|| malformed("is not where it belongs"))?;
    let record = &tail[start..locator];
    if u64_at(record, 4) != WIDE_END_LEN as u64 - 12 {
        return Err(malformed("has an unknown length"));
    }
    if u32_at(record, 16) != 0 || u32_at(record, 20) != 0 || u64_at(record, 24) != u64_at(record, 32) {
        return Err(split());
    }
    let fields = [
        (&mut directory.count, 0xFFFF, u64_at(record, 32)),
        (&mut directory.size, u64::from(u32::MAX), u64_at(record, 40)),
        (&mut directory.offset, u64::from(u32::MAX), u64_at(record, 48)),
    ];
    for (narrow, unset, wide) in fields {
        if *narrow != unset && *narrow != wide {
            return Err(malformed("contradicts the one after it"));
        }
        *narrow = wide;
    }
    // The record is where the directory ends, so the locator can only point there.
    let end = directory.offset.checked_add(directory.size);
    if end != Some(u64_at(tail, locator + 8)) {
        return Err(malformed("is not where its locator says"));
    }
    Ok(start)
}

fn split() -> Refusal {
    Refusal::Malformed("it is one part of an archive in several files".to_owned())
}

/// Checks that the directory ends where the end record, at `start`, begins.
fn check_place(directory: &Directory, start: u64) -> Result<(), Refusal> {
    match directory.offset.checked_add(directory.size) {
        Some(end) if end == start => Ok(()),
        Some(end) if end < start => Err(Refusal::StrayBytes("in front of it, or around its directory")),
        _ => Err(Refusal::Truncated("its directory of entries is after its end")),
    }
}
