//! The headers in front of the entries of a zip archive (4.3.7), and the data descriptors behind them.

use super::super::bytes::{Window, u16_at, u32_at, u64_at};
use super::central::{CentralRecord, EMPTY_STREAM, directory_with_content, flags};
use super::content::EntryContent;
use super::extra;
use crate::fs::SharedFile;
use crate::refusal::Refusal;
use crate::tree::ReadError;

const SIGNATURE: &[u8; 4] = b"PK\x03\x04";
const HEADER_LEN: usize = 30;
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";

/// Finds the content of all `records`, which are sorted by offset.
///
/// The entries must be adjacent from the start of the file to `end`, where the directory starts: then no
/// entry hides between them and no two entries share bytes.
pub(super) fn locate(
    file: &SharedFile,
    records: &[CentralRecord],
    end: u64,
) -> Result<Vec<EntryContent>, ReadError> {
    // If entries are small, one large read serves many headers; if they are large, most of it would be
    // content.
    let mean = end / (records.len() as u64).max(1);
    let size = if mean < 4096 { 64 * 1024 } else { 1024 };
    let mut window = Window::new(file, end, size, "an entry has no end");
    let mut places = Vec::with_capacity(records.len());
    let mut at = 0;
    for (index, record) in records.iter().enumerate() {
        if record.offset != at {
            return Err(stray(index == 0).into());
        }
        let next = records.get(index + 1);
        let (place, stop) = locate_one(&mut window, record, next, end)?;
        places.push(place);
        at = stop;
    }
    if at != end {
        return Err(stray(records.is_empty()).into());
    }
    Ok(places)
}

fn stray(in_front: bool) -> Refusal {
    Refusal::StrayBytes(if in_front { "in front of the first entry" } else { "between or after the entries" })
}

/// Returns where the content of `record` is, and where everything that belongs to the entry ends.
fn locate_one(
    window: &mut Window<'_>,
    record: &CentralRecord,
    next: Option<&CentralRecord>,
    end: u64,
) -> Result<(EntryContent, u64), ReadError> {
    let limit = next.map_or(end, |next| next.offset);
    // Checked before the entry is read: the header of an overlapping entry may be another entry's.
    let overlap = |stop: Option<u64>| match stop {
        Some(stop) if stop <= limit => Ok(stop),
        _ => Err(Refusal::Overlap(next.unwrap_or(record).name.clone())),
    };
    let name_at = record.offset + HEADER_LEN as u64;
    let least = name_at.checked_add(record.name_len() as u64);
    overlap(least.and_then(|least| least.checked_add(record.packed)))?;
    let header = window.get(record.offset, HEADER_LEN)?;
    if !header.starts_with(SIGNATURE) {
        return Err(Refusal::Malformed(format!("`{}`: this entry has no header", record.name)).into());
    }
    let lens = [26, 28].map(|field| usize::from(u16_at(header, field)));
    let bytes = window.get(record.offset, HEADER_LEN + lens[0] + lens[1])?;
    let descriptor = check_header(bytes, lens[0], record)?;
    let data = record.offset + bytes.len() as u64;
    let data_end = overlap(data.checked_add(record.packed))?;
    let stop = overlap(data_end.checked_add(descriptor as u64))?;
    if record.node.is_none() && record.packed > 0 && window.get(data, EMPTY_STREAM.len())? != EMPTY_STREAM {
        return Err(directory_with_content(&format!("{}/", record.name)).into());
    }
    if descriptor > 0 {
        check_descriptor(window.get(data_end, descriptor)?, record)?;
    }
    Ok((EntryContent::new(record, data, name_at), stop))
}

/// Compares the local header with the `record` in the directory. Returns the length of the data descriptor
/// behind the content.
fn check_header(bytes: &[u8], name_len: usize, record: &CentralRecord) -> Result<usize, Refusal> {
    let (name, extra) = bytes[HEADER_LEN..].split_at(name_len);
    let same_name = name
        .strip_prefix(record.name.as_bytes())
        .is_some_and(|rest| if record.node.is_none() { rest == b"/" } else { rest.is_empty() });
    let differ = |field| Refusal::HeaderMismatch { name: record.name.clone(), field };
    if !same_name {
        return Err(differ("name"));
    }
    // Some writers announce the data descriptor only in the local header.
    let flags = u16_at(bytes, 6);
    let streamed = flags & flags::DESCRIPTOR != 0;
    if flags & !flags::DESCRIPTOR != record.flags & !flags::DESCRIPTOR
        || record.flags & flags::DESCRIPTOR > flags & flags::DESCRIPTOR
    {
        return Err(differ("flags"));
    }
    if u16_at(bytes, 8) != record.method {
        return Err(differ("compression method"));
    }
    let zip64 = extra::zip64(extra, &record.name)?;
    let narrow = [u32_at(bytes, 22), u32_at(bytes, 18)];
    let ([size, packed], rest) = extra::widen(narrow, zip64, &record.name)?;
    extra::check_used_up(rest, &record.name)?;
    let crc = u32_at(bytes, 14);
    if crc != record.crc && !(streamed && crc == 0) {
        return Err(differ("checksum"));
    }
    // Info-ZIP knows one of the two sizes when it writes a stream.
    let same = |local: u64, central| local == central || streamed && local == 0;
    if !same(size, record.size) || !same(packed, record.packed) {
        return Err(differ("size"));
    }
    Ok(match (streamed, zip64.is_some() || record.wide) {
        (false, _) => 0,
        (true, false) => 16,
        (true, true) => 24,
    })
}

/// Compares the data descriptor (4.3.9) with the directory. Its signature is optional in the specification
/// but required here: without it no reader can distinguish the two lengths.
fn check_descriptor(bytes: &[u8], record: &CentralRecord) -> Result<(), Refusal> {
    let [packed, size] = if bytes.len() == 16 {
        [8, 12].map(|at| u64::from(u32_at(bytes, at)))
    } else {
        [8, 16].map(|at| u64_at(bytes, at))
    };
    if !bytes.starts_with(DESCRIPTOR)
        || u32_at(bytes, 4) != record.crc
        || [packed, size] != [record.packed, record.size]
    {
        return Err(Refusal::HeaderMismatch { name: record.name.clone(), field: "data descriptor" });
    }
    Ok(())
}
