//! Tar archives.
//!
//! Only the format of POSIX.1-2001 is read, and of it only regular files, directories and symbolic links. The
//! old extensions of GNU tar, sparse files and all other kinds are refused: readers have disagreed on where
//! the next header is for each of them.

mod content;
mod header;
mod members;
mod pax;

use std::sync::Arc;

use super::bytes::{Part, Window};
use super::{Parts, inflate, kind};
use crate::fs::SharedFile;
use crate::refusal::{Limits, Refusal};
use crate::tree::ReadError;
use header::{BLOCK, Header};
use members::Members;
use pax::Pax;

/// The largest extended header. It holds a few names and times; anything larger is an attack on memory.
const MAX_PAX: usize = 1024 * 1024;

/// Reads the structure of the archive in `file`. The refusal of a file of another kind names `expected`.
pub(super) fn open(
    file: Arc<SharedFile>,
    limits: &Limits,
    expected: &'static str,
) -> Result<Parts, ReadError> {
    let head = kind::head(&file)?;
    // Two empty blocks alone are an empty archive.
    let empty = !head.is_empty() && head.iter().all(|byte| *byte == 0);
    if kind::of(&head) != Some(kind::Kind::Tar) && !empty {
        return Err(kind::refusal(expected, &head).into());
    }
    let mut members = Members::default();
    let mut window = Window::new(&file, file.len(), 32 * 1024, "a member or the empty blocks at its end");
    let mut at = 0;
    while let Some((header, data)) = next_header(&mut window, at)? {
        members.count(limits)?;
        at = data
            .checked_add(header.size)
            .filter(|end| *end <= file.len())
            .ok_or(Refusal::Truncated("a member has no end"))?;
        match header.kind {
            b'x' => members.extend_next(read_pax(&mut window, &header, data)?)?,
            b'g' => members.extend_all(read_pax(&mut window, &header, data)?)?,
            _ => members.add(&header, data, limits)?,
        }
    }
    check_end(&file, at)?;
    members.finish(file)
}

/// Returns the header behind the content that ends at `at`, and the offset of its own content. Returns `None`
/// at the end of the archive.
fn next_header(window: &mut Window<'_>, at: u64) -> Result<Option<(Header, u64)>, ReadError> {
    let start = at.next_multiple_of(BLOCK as u64);
    let padding = usize::try_from(start - at).unwrap_or(BLOCK);
    let bytes = window.get(at, padding + BLOCK)?;
    let (padding, block) = bytes.split_at(padding);
    if padding.iter().any(|byte| *byte != 0) {
        return Err(Refusal::StrayBytes("after the content of a member").into());
    }
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    Ok(Some((Header::parse(block)?, start + BLOCK as u64)))
}

fn read_pax(window: &mut Window<'_>, header: &Header, data: u64) -> Result<Pax, ReadError> {
    let len = usize::try_from(header.size).ok().filter(|len| *len <= MAX_PAX);
    let len = len.ok_or_else(|| Refusal::Malformed("a pax header is too long".to_owned()))?;
    Ok(Pax::parse(window.get(data, len)?)?)
}

/// Checks that at least two empty blocks follow the content that ends at `at`, and nothing else up to the end
/// of the file.
fn check_end(file: &SharedFile, at: u64) -> Result<(), ReadError> {
    let offset = at.next_multiple_of(BLOCK as u64);
    let left = file.len().saturating_sub(offset);
    if left < 2 * BLOCK as u64 || !left.is_multiple_of(BLOCK as u64) {
        return Err(Refusal::Truncated("the two empty blocks at its end are incomplete").into());
    }
    let mut empty = true;
    inflate::copy(&mut Part { file, offset, left }, left, &mut |bytes| {
        empty &= bytes.iter().all(|byte| *byte == 0);
        Ok(())
    })?;
    if empty { Ok(()) } else { Err(Refusal::StrayBytes("after its end").into()) }
}
