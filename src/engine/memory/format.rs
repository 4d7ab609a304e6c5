//! The bytes of a memory in a file.
//!
//! ```text
//! "skillpm skills\n"  version
//! version of skillpm: another one may read skills otherwise
//! digest of policy and sources
//! moment of the newest entry
//! count of directories, for each: path, its device, what it was if it was old enough, count of names
//!     for each name: itself and its kind
//!     the places of the names, in the order in which they are looked at
//!     for each of these: what the file of the skill was that is known there, or zeros
//!     for each name: how many bytes of metadata there are of that skill, with [`KNOWN`] and its signs
//! crc32 of all that
//! the metadata ([`super::record`]) in the order of directories and names, each behind the ones before, but with
//!     their crc32 behind those that are [`PIECE`] bytes or more, and behind the last ones
//! how long all is up to the first crc32 and with it
//! ```
//!
//! The length stands last, so that the file is written while it is made: whole, it takes as much memory again as
//! all that is remembered. It is read so, too ([`super::records`]).
//!
//! Numbers are little-endian, texts have their length before them. Whatever is not exactly so, is no memory: it
//! costs some reading, and nothing else. A skill with deviations is not written: those are told with
//! places in its file.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crc32fast::Hasher;

use super::record::{Place, Record, Signs};
use super::records::{Records, SUM};
use super::{Known, MAX_FILE, Memory, SeenDir};
use crate::digest::Digest;
use crate::engine::Lookup;
use crate::fs::{Kind, Listing, SharedFile};
use crate::install::index::bytes::{Reader, STAT, put_moment, put_stat, put_text};

const MAGIC: &[u8] = b"skillpm skills\n";
/// Raised with any change of the format.
const VERSION: u32 = 4;
/// How many bytes the length at the end has.
const LENGTH: u32 = u32::BITS / 8;
/// That a skill is known, beside the length of its metadata.
const KNOWN: u32 = 1 << 31;
/// That it has the name of its directory.
const AT_HOME: u32 = 1 << 30;
/// That it has fields that the specification does not have.
const EXTRA: u32 = 1 << 29;
/// How large a piece of the file grows before it is written, and one of the metadata before it is summed up.
const PIECE: usize = 64 << 10;
/// More bytes than most entries have.
const ENTRY: usize = 1024;
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Writes the bytes of the file to `out`.
///
/// # Errors
///
/// Where `out` does not take them, and for what no file can hold.
pub(super) fn encode(memory: &Memory, key: &Digest, out: &mut dyn Write) -> io::Result<()> {
    let bytes = Vec::with_capacity(PIECE + ENTRY);
    let mut pieces = Pieces { out, bytes, sum: Hasher::new(), size: 0 };
    let mut dirs: Vec<_> = memory.dirs.iter().collect();
    dirs.sort_unstable_by_key(|(path, _)| *path);
    let bytes = &mut pieces.bytes;
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    put_text(bytes, PROGRAM.as_bytes()).ok_or(ErrorKind::InvalidData)?;
    bytes.extend(key.as_bytes());
    put_moment(bytes, memory.newest.ok_or(ErrorKind::InvalidData)?);
    put_count(bytes, dirs.len())?;
    for (path, dir) in &dirs {
        put_dir(path, dir, &memory.records, &mut pieces)?;
    }
    pieces.end()?;
    let head = pieces.size;
    for (_, dir) in &dirs {
        for record in (0..dir.skills.len()).filter_map(|at| record(dir, at, &memory.records)) {
            pieces.bytes.extend(record.meta);
            if pieces.bytes.len() >= PIECE {
                pieces.end()?;
            }
        }
    }
    if !pieces.bytes.is_empty() {
        pieces.end()?;
    }
    let head = u32::try_from(head).map_err(|_| ErrorKind::FileTooLarge)?;
    pieces.out.write_all(&head.to_le_bytes())
}

/// Writes what is remembered of the directory `path`, without metadata; its records may stand among `old` ones.
fn put_dir(path: &Path, dir: &SeenDir, old: &Records, pieces: &mut Pieces<'_>) -> io::Result<()> {
    let bytes = &mut pieces.bytes;
    let path = path.to_str().and_then(|path| put_text(bytes, path.as_bytes()));
    path.ok_or(ErrorKind::InvalidData)?;
    bytes.extend(dir.device.to_le_bytes());
    bytes.push(dir.stat.is_some().into());
    dir.stat.iter().for_each(|stat| put_stat(bytes, stat));
    put_count(bytes, dir.listing.len())?;
    for (name, kind) in dir.listing.iter() {
        let bytes = pieces.next()?;
        put_text(bytes, name.as_bytes()).ok_or(ErrorKind::InvalidData)?;
        bytes.push(kind_byte(kind));
    }
    let tour = dir.listing.tour();
    for at in tour {
        pieces.next()?.extend(at.to_le_bytes());
    }
    for at in tour {
        let stat = record(dir, *at as usize, old).map_or(&[0; STAT][..], |record| record.stat);
        pieces.next()?.extend(stat);
    }
    for at in 0..dir.listing.len() {
        let length = record(dir, at, old).map_or(Some(0), |record| {
            let length = u32::try_from(record.meta.len()).ok().filter(|length| *length < EXTRA)?;
            let signs = [(record.signs.at_home, AT_HOME), (record.signs.extra, EXTRA)];
            Some(signs.iter().filter(|(is_so, _)| *is_so).fold(length | KNOWN, |all, (_, bit)| all | bit))
        });
        pieces.next()?.extend(length.ok_or(ErrorKind::InvalidData)?.to_le_bytes());
    }
    Ok(())
}

/// The record of the skill at `at` of `dir`, which may stand among `old` ones. What has none is read again.
fn record<'a>(dir: &'a SeenDir, at: usize, old: &'a Records) -> Option<Record<'a>> {
    dir.skills.get(at)?.as_ref()?.record(old)
}

fn put_count(bytes: &mut Vec<u8>, count: usize) -> io::Result<()> {
    let count = u32::try_from(count).map_err(|_| ErrorKind::InvalidData)?;
    bytes.extend(count.to_le_bytes());
    Ok(())
}

/// Bytes that are written piece by piece, and summed up.
struct Pieces<'a> {
    out: &'a mut dyn Write,
    bytes: Vec<u8>,
    sum: Hasher,
    /// How many bytes were written.
    size: u64,
}

impl Pieces<'_> {
    /// Where the next entry goes.
    fn next(&mut self) -> io::Result<&mut Vec<u8>> {
        if self.bytes.len() >= PIECE {
            self.pass()?;
        }
        Ok(&mut self.bytes)
    }

    /// Ends with the sum of all since the last one.
    fn end(&mut self) -> io::Result<()> {
        self.pass()?;
        let sum = mem::take(&mut self.sum).finalize();
        self.size += u64::from(SUM);
        self.out.write_all(&sum.to_le_bytes())
    }

    fn pass(&mut self) -> io::Result<()> {
        self.size += self.bytes.len() as u64;
        if self.size > MAX_FILE {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.sum.update(&self.bytes);
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// Reads the head of a file about `key`; `None` for anything that [`encode`] does not write. Metadata are left
/// where they are.
pub(super) fn decode(file: SharedFile, key: &Digest) -> Option<Memory> {
    let size = u32::try_from(file.len()).ok().filter(|size| u64::from(*size) <= MAX_FILE)?;
    let end = size.checked_sub(LENGTH)?;
    let mut length = [0; LENGTH as usize];
    file.read_exact_at(&mut length, end.into()).ok()?;
    let length = u32::from_le_bytes(length);
    let mut bytes = vec![0; usize::try_from(length).ok().filter(|_| length <= end)?];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (head, sum) = bytes.split_last_chunk::<{ SUM as usize }>()?;
    let mut rest = Reader(head.strip_prefix(MAGIC)?);
    if rest.u32()? != VERSION || u32::from_le_bytes(*sum) != crc32fast::hash(head) {
        return None;
    }
    if rest.text()? != PROGRAM.as_bytes() || rest.digest()? != *key {
        return None;
    }
    let newest = rest.moment()?;
    let mut dirs = Lookup::new();
    let mut metas = Metas { start: length, end: length, pieces: Vec::new() };
    for _ in 0..rest.u32()? {
        let path = PathBuf::from(OsString::from(rest.string()?));
        let device = rest.u64()?;
        let stat = rest.option(|rest| rest.stat(device)).ok()?;
        let mut listing = Listing::default();
        for _ in 0..rest.u32()? {
            let name = std::str::from_utf8(rest.text()?).ok()?;
            let kind = byte_kind(rest.take(1)?)?;
            if !is_component(name) || !listing.push(name, kind) {
                return None;
            }
        }
        let tour = (0..listing.len()).map(|_| rest.u32()).collect::<Option<_>>()?;
        if !listing.set_tour(tour) {
            return None;
        }
        let skills = skills(&mut rest, head.len(), &listing, &mut metas)?;
        dirs.insert(path, SeenDir { stat, device, listing: Arc::new(listing), skills, changed: false });
    }
    let is_all = rest.0.is_empty() && metas.finish()? == end;
    let records = is_all.then(|| Arc::new(Records::in_file(bytes, file, metas.pieces)))?;
    Some(Memory { dirs, records, newest: Some(newest), changed: false, kept: None })
}

/// Reads what is known of the skills in `listing`; `rest` is the end of a head of `size` bytes.
fn skills(
    rest: &mut Reader<'_>,
    size: usize,
    listing: &Listing,
    metas: &mut Metas,
) -> Option<Vec<Option<Known>>> {
    let mut stats = vec![0; listing.len()];
    for at in listing.tour() {
        stats[*at as usize] = size - rest.0.len();
        rest.take(STAT)?;
    }
    let mut skills = Vec::with_capacity(stats.len());
    for stat in stats {
        let flagged = rest.u32()?;
        let is_known = flagged & KNOWN != 0;
        if !is_known && flagged != 0 {
            return None;
        }
        let signs = Signs { at_home: flagged & AT_HOME != 0, extra: flagged & EXTRA != 0 };
        let mut place = || Place::new(stat, metas.next(flagged & (EXTRA - 1))?, signs);
        skills.push(if is_known { Some(Known::Written(place()?)) } else { None });
    }
    Some(skills)
}

/// Where metadata are in a file, by how long each are.
struct Metas {
    /// Of the piece that the next ones belong to.
    start: u32,
    /// Of the last ones.
    end: u32,
    pieces: Vec<Range<u32>>,
}

impl Metas {
    /// Where the next ones are, which have `length` bytes.
    fn next(&mut self, length: u32) -> Option<Range<u32>> {
        let start = self.end;
        self.end = start.checked_add(length)?;
        let place = start..self.end;
        if (self.end - self.start) as usize >= PIECE {
            self.finish()?;
        }
        Some(place)
    }

    /// Ends the piece, if it has begun; returns where what follows it starts.
    fn finish(&mut self) -> Option<u32> {
        if self.end > self.start {
            self.pieces.push(self.start..self.end);
            self.end = self.end.checked_add(SUM)?;
            self.start = self.end;
        }
        Some(self.end)
    }
}

/// Whether a path that ends with `name` leads to nothing but what lies in a directory under that name.
fn is_component(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && memchr::memchr2(b'/', 0, name.as_bytes()).is_none()
}

const KINDS: [Kind; 4] = [Kind::File, Kind::Directory, Kind::Symlink, Kind::Other];

fn kind_byte(kind: Kind) -> u8 {
    match kind {
        Kind::File => 0,
        Kind::Directory => 1,
        Kind::Symlink => 2,
        Kind::Other => 3,
    }
}

fn byte_kind(byte: &[u8]) -> Option<Kind> {
    KINDS.get(usize::from(*byte.first()?)).copied()
}
