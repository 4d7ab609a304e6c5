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
//!     these metadata ([`super::record`]), each behind the ones before
//! crc32 of all between the version and itself
//! ```
//!
//! The sum stands last, so that the file is written while it is made: whole, it takes as much memory again as all
//! that is remembered.
//!
//! Numbers are little-endian, texts have their length before them. Whatever is not exactly so, is no memory: it
//! costs some reading, and nothing else. A skill with deviations is not written: those are told with
//! places in its file.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crc32fast::Hasher;

use super::record::{Place, Signs};
use super::{Known, MAX_FILE, Memory, SeenDir};
use crate::digest::Digest;
use crate::engine::Lookup;
use crate::fs::{Kind, Listing};
use crate::install::index::bytes::{Reader, STAT, put_moment, put_stat, put_text};

const MAGIC: &[u8] = b"skillpm skills\n";
/// Raised with any change of the format.
const VERSION: u32 = 3;
/// How many bytes the sum at the end has.
const SUM: usize = size_of::<u32>();
/// That a skill is known, beside the length of its metadata.
const KNOWN: u32 = 1 << 31;
/// That it has the name of its directory.
const AT_HOME: u32 = 1 << 30;
/// That it has fields that the specification does not have.
const EXTRA: u32 = 1 << 29;
/// How large a piece of the file grows before it is written.
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
    pieces.out.write_all(MAGIC)?;
    pieces.out.write_all(&VERSION.to_le_bytes())?;
    put(memory, key, &mut pieces)?;
    pieces.pass()?;
    let sum = pieces.sum.finalize();
    pieces.out.write_all(&sum.to_le_bytes())
}

fn put(memory: &Memory, key: &Digest, pieces: &mut Pieces<'_>) -> io::Result<()> {
    let bytes = &mut pieces.bytes;
    put_text(bytes, PROGRAM.as_bytes()).ok_or(ErrorKind::InvalidData)?;
    bytes.extend(key.as_bytes());
    put_moment(bytes, memory.newest.ok_or(ErrorKind::InvalidData)?);
    let mut dirs: Vec<_> = memory.dirs.iter().collect();
    dirs.sort_unstable_by_key(|(path, _)| *path);
    put_count(bytes, dirs.len())?;
    for (path, dir) in dirs {
        put_dir(path, dir, &memory.bytes, pieces)?;
    }
    Ok(())
}

/// Writes what is remembered of the directory `path`; `old` are the bytes that its records may stand in.
fn put_dir(path: &Path, dir: &SeenDir, old: &[u8], pieces: &mut Pieces<'_>) -> io::Result<()> {
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
    // What has no record is read again.
    let record = |at: usize| dir.skills.get(at)?.as_ref()?.record(old);
    for at in tour {
        let stat = record(*at as usize).map_or(&[0; STAT][..], |record| record.stat);
        pieces.next()?.extend(stat);
    }
    for at in 0..dir.listing.len() {
        let length = record(at).map_or(Some(0), |record| {
            let length = u32::try_from(record.meta.len()).ok().filter(|length| *length < EXTRA)?;
            let signs = [(record.signs.at_home, AT_HOME), (record.signs.extra, EXTRA)];
            Some(signs.iter().filter(|(is_so, _)| *is_so).fold(length | KNOWN, |all, (_, bit)| all | bit))
        });
        pieces.next()?.extend(length.ok_or(ErrorKind::InvalidData)?.to_le_bytes());
    }
    for record in (0..dir.listing.len()).filter_map(record) {
        pieces.next()?.extend(record.meta);
    }
    Ok(())
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

/// Reads the bytes of a file about `key`; `None` for anything that [`encode`] does not write. Metadata are
/// left where they are.
pub(super) fn decode(bytes: Vec<u8>, key: &Digest) -> Option<Memory> {
    let mut rest = Reader(bytes.strip_prefix(MAGIC)?);
    if rest.u32()? != VERSION {
        return None;
    }
    let (summed, sum) = rest.0.split_last_chunk()?;
    if u32::from_le_bytes(*sum) != crc32fast::hash(summed) {
        return None;
    }
    rest.0 = summed;
    if rest.text()? != PROGRAM.as_bytes() || rest.digest()? != *key {
        return None;
    }
    let newest = rest.moment()?;
    let mut dirs = Lookup::new();
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
        let skills = skills(&mut rest, bytes.len() - SUM, &listing)?;
        dirs.insert(path, SeenDir { stat, device, listing: Arc::new(listing), skills, changed: false });
    }
    let is_all = rest.0.is_empty();
    is_all.then(|| Memory { dirs, bytes: Arc::new(bytes), newest: Some(newest), changed: false, kept: None })
}

/// Reads what is known of the skills in `listing`; `rest` is the end of a file of `size` bytes without its sum.
fn skills(rest: &mut Reader<'_>, size: usize, listing: &Listing) -> Option<Vec<Option<Known>>> {
    let behind = |rest: &Reader<'_>| size - rest.0.len();
    let mut stats = vec![0; listing.len()];
    for at in listing.tour() {
        stats[*at as usize] = behind(rest);
        rest.take(STAT)?;
    }
    let mut lengths = Reader(rest.take(stats.len().checked_mul(4)?)?);
    let start = behind(rest);
    let mut at = start;
    let mut skills = Vec::with_capacity(stats.len());
    for stat in stats {
        let flagged = lengths.u32()?;
        let is_known = flagged & KNOWN != 0;
        if !is_known && flagged != 0 {
            return None;
        }
        let end = at.checked_add(usize::try_from(flagged & (EXTRA - 1)).ok()?)?;
        let signs = Signs { at_home: flagged & AT_HOME != 0, extra: flagged & EXTRA != 0 };
        let place = || Place::new(stat, at..end, signs);
        skills.push(if is_known { Some(Known::Written(place()?)) } else { None });
        at = end;
    }
    rest.take(at - start)?;
    Some(skills)
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
