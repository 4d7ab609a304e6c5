//! The bytes of a memory in a file.
//!
//! ```text
//! "skillpm skills\n"  version  crc32 of all that follows
//! version of skillpm: another one may read skills otherwise
//! digest of policy and sources
//! moment of the newest entry
//! count of directories, for each: path, its device, what it was if it was old enough, count of names
//!     for each name: itself, its kind, and the record of a skill that is known ([`record`])
//! ```
//!
//! Numbers are little-endian, texts have their length before them. Whatever is not exactly so, is no memory: it
//! costs some reading, and nothing else. A skill with deviations is not written: those are told with
//! places in its file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Known, Memory, SeenDir, record};
use crate::digest::Digest;
use crate::engine::Lookup;
use crate::fs::{Kind, Listing};
use crate::install::index::bytes::{Reader, put_moment, put_option, put_stat, put_text};

const MAGIC: &[u8] = b"skillpm skills\n";
/// Raised with any change of the format.
const VERSION: u32 = 1;
/// What a skill takes besides its record, about.
const NAME: usize = 40;
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
        for ((name, kind), known) in dir.listing.iter().zip(&dir.skills) {
            put_text(&mut bytes, name.as_bytes())?;
            bytes.push(kind_byte(kind));
            // What has no record is read again.
            put_option(
                &mut bytes,
                known.as_ref().and_then(|known| known.record(&memory.bytes)),
                |bytes, record| {
                    bytes.extend(record);
                    Some(())
                },
            )?;
        }
    }
    let sum = crc32fast::hash(&bytes[head..]).to_le_bytes();
    bytes[head - 4..head].copy_from_slice(&sum);
    Some(bytes)
}

/// About how many bytes it will be.
fn size(memory: &Memory) -> usize {
    let skills = memory.dirs.values().flat_map(|dir| dir.skills.iter().flatten());
    let bytes = skills.map(|known| known.record(&memory.bytes).map_or(0, <[u8]>::len) + NAME);
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
        let (mut listing, mut skills) = (Listing::default(), Vec::new());
        for _ in 0..rest.u32()? {
            let name = std::str::from_utf8(rest.text()?).ok()?;
            let kind = byte_kind(rest.take(1)?)?;
            // A name leads to a file: it is one component.
            if matches!(name, "" | "." | "..") || name.contains(['/', '\0']) || !listing.push(name, kind) {
                return None;
            }
            let record = rest.option(|rest| {
                let start = bytes.len() - rest.0.len();
                record::take(rest)?;
                Some(u32::try_from(start).ok()?..u32::try_from(bytes.len() - rest.0.len()).ok()?)
            });
            skills.push(record.ok()?.map(Known::Written));
        }
        dirs.insert(
            path,
            SeenDir { stat, device, listing: Arc::new(listing), skills, changed: false, fresh: false },
        );
    }
    let is_all = rest.0.is_empty();
    is_all.then(|| Memory { dirs, bytes: Arc::new(bytes), newest: Some(newest), changed: false, kept: None })
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
