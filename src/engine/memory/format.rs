//! The bytes of a memory in a file.
//!
//! ```text
//! "skillpm skills\n"  version  crc32 of all that follows
//! version of skillpm: another one may read skills otherwise
//! digest of policy and sources
//! moment of the newest entry
//! count of directories, for each: path, its device, what it was if it was old enough, count of names
//!     for each name: itself and its kind
//!     the places of the names, in the order in which they are looked at
//!     for each of these: what the file of the skill was that is known there, or zeros
//!     for each name: how many bytes of metadata there are of that skill, with [`KNOWN`] and [`AT_HOME`]
//!     these metadata ([`super::record`]), each behind the ones before
//! ```
//!
//! Numbers are little-endian, texts have their length before them. Whatever is not exactly so, is no memory: it
//! costs some reading, and nothing else. A skill with deviations is not written: those are told with
//! places in its file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::record::Place;
use super::{Known, Memory, SeenDir};
use crate::digest::Digest;
use crate::engine::Lookup;
use crate::fs::{Kind, Listing};
use crate::install::index::bytes::{Reader, STAT, put_moment, put_option, put_stat, put_text};

const MAGIC: &[u8] = b"skillpm skills\n";
/// Raised with any change of the format.
const VERSION: u32 = 2;
/// That a skill is known, beside the length of its metadata.
const KNOWN: u32 = 1 << 31;
/// That it has the name of its directory.
const AT_HOME: u32 = 1 << 30;
/// What a skill takes besides its metadata, about.
const NAME: usize = 88;
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// The bytes of the file; `None` for what no file can hold.
pub(super) fn encode(memory: &Memory, key: &Digest) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size(memory));
    for part in [MAGIC, &VERSION.to_le_bytes(), &[0; 4]] {
        bytes.extend(part);
    }
    let head = bytes.len();
    put_text(&mut bytes, PROGRAM.as_bytes())?;
    bytes.extend(key.as_bytes());
    put_moment(&mut bytes, memory.newest?);
    let mut dirs: Vec<_> = memory.dirs.iter().collect();
    dirs.sort_unstable_by_key(|(path, _)| *path);
    bytes.extend(u32::try_from(dirs.len()).ok()?.to_le_bytes());
    for (path, dir) in dirs {
        put_text(&mut bytes, path.to_str()?.as_bytes())?;
        bytes.extend(dir.device.to_le_bytes());
        put_option(&mut bytes, dir.stat.as_ref(), |bytes, stat| {
            put_stat(bytes, stat);
            Some(())
        })?;
        bytes.extend(u32::try_from(dir.listing.len()).ok()?.to_le_bytes());
        for (name, kind) in dir.listing.iter() {
            put_text(&mut bytes, name.as_bytes())?;
            bytes.push(kind_byte(kind));
        }
        let tour = dir.listing.tour();
        for at in tour {
            bytes.extend(at.to_le_bytes());
        }
        // What has no record is read again.
        let record = |at: usize| dir.skills.get(at)?.as_ref()?.record(&memory.bytes);
        for at in tour {
            bytes.extend(record(*at as usize).map_or(&[0; STAT][..], |record| record.stat));
        }
        for at in 0..dir.listing.len() {
            let length = record(at).map_or(Some(0), |record| {
                let length = u32::try_from(record.meta.len()).ok().filter(|length| *length < AT_HOME)?;
                Some(length | KNOWN | if record.at_home { AT_HOME } else { 0 })
            });
            bytes.extend(length?.to_le_bytes());
        }
        for record in (0..dir.listing.len()).filter_map(record) {
            bytes.extend(record.meta);
        }
    }
    let sum = crc32fast::hash(&bytes[head..]).to_le_bytes();
    bytes[head - 4..head].copy_from_slice(&sum);
    Some(bytes)
}

/// About how many bytes it will be.
fn size(memory: &Memory) -> usize {
    let skills = memory.dirs.values().flat_map(|dir| dir.skills.iter().flatten());
    let bytes = skills.map(|known| known.record(&memory.bytes).map_or(0, |record| record.meta.len()) + NAME);
    bytes.sum::<usize>() + NAME
}

/// Reads the bytes of a file about `key`; `None` for anything that [`encode`] does not write. Metadata are
/// left where they are.
pub(super) fn decode(bytes: Vec<u8>, key: &Digest) -> Option<Memory> {
    let mut rest = Reader(bytes.strip_prefix(MAGIC)?);
    if rest.u32()? != VERSION || rest.u32()? != crc32fast::hash(rest.0) {
        return None;
    }
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
        let skills = skills(&mut rest, bytes.len(), &listing)?;
        dirs.insert(path, SeenDir { stat, device, listing: Arc::new(listing), skills, changed: false });
    }
    let is_all = rest.0.is_empty();
    is_all.then(|| Memory { dirs, bytes: Arc::new(bytes), newest: Some(newest), changed: false, kept: None })
}

/// Reads what is known of the skills in `listing`; `rest` is the end of a file of `size` bytes.
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
        let end = at.checked_add(usize::try_from(flagged & !(KNOWN | AT_HOME)).ok()?)?;
        let place = || Place::new(stat, at..end, flagged & AT_HOME != 0);
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
