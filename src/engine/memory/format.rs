//! The bytes of a memory in a file.
//!
//! ```text
//! "skillpm skills\n"  version  crc32 of all that follows
//! version of skillpm: another one may read skills otherwise
//! digest of policy and sources
//! moment of the newest entry
//! count of directories, for each: path, its device, what it was if it was old enough, count of names
//!     for each name: itself, its kind, and of a skill that is known what its file was and its metadata
//! ```
//!
//! Numbers are little-endian, texts have their length before them. Whatever is not exactly so, is no memory: it
//! costs some reading, and nothing else. A skill with deviations is not written: those are told with
//! places in its file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Known, Memory, Metadata, SeenDir};
use crate::digest::Digest;
use crate::engine::Lookup;
use crate::engine::discover::Skill;
use crate::fs::{Kind, Listing};
use crate::install::index::bytes::{Reader, put_list, put_moment, put_option, put_stat, put_text};
use crate::skill::SkillMeta;

const MAGIC: &[u8] = b"skillpm skills\n";
/// Raised with any change of the format.
const VERSION: u32 = 1;
/// What a skill takes besides its texts, about.
const SKILL: usize = 128;
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
        let first = dir.skills.iter().flatten().map(|known| known.stat.device).next();
        let device = dir.stat.map(|stat| stat.device).or(first).unwrap_or_default();
        bytes.extend(device.to_le_bytes());
        put_option(&mut bytes, dir.stat.as_ref(), |bytes, stat| {
            put_stat(bytes, stat);
            Some(())
        })?;
        bytes.extend(u32::try_from(dir.listing.len()).ok()?.to_le_bytes());
        for ((name, kind), known) in dir.listing.iter().zip(&dir.skills) {
            put_text(&mut bytes, name.as_bytes())?;
            bytes.push(kind_byte(kind));
            put_skill(&mut bytes, memory, device, known.as_ref())?;
        }
    }
    let sum = crc32fast::hash(&bytes[head..]).to_le_bytes();
    bytes[head - 4..head].copy_from_slice(&sum);
    Some(bytes)
}

/// About how many bytes it will be.
fn size(memory: &Memory) -> usize {
    let skills = memory.dirs.values().flat_map(|dir| dir.skills.iter().flatten());
    let bytes = skills.map(|known| match &known.metadata {
        Metadata::Written(range) => range.len() + SKILL,
        Metadata::Read(skill) => skill.meta.name.len() + skill.meta.description.len() + 2 * SKILL,
    });
    bytes.sum::<usize>() + SKILL
}

fn put_skill(bytes: &mut Vec<u8>, memory: &Memory, device: u64, known: Option<&Known>) -> Option<()> {
    let known = known.filter(|known| known.stat.device == device && known.is_lasting());
    let start = bytes.len();
    let Some(Known { stat, metadata }) = known else {
        bytes.push(0);
        return Some(());
    };
    bytes.push(1);
    put_stat(bytes, stat);
    let length = bytes.len();
    bytes.extend([0; 4]);
    let written = match metadata {
        Metadata::Written(range) => {
            bytes.extend(memory.bytes.get(range.clone())?);
            Some(())
        }
        Metadata::Read(skill) => put_metadata(bytes, skill),
    };
    if written.is_none() {
        // What cannot be written is read again.
        bytes.truncate(start);
        bytes.push(0);
        return Some(());
    }
    let count = u32::try_from(bytes.len() - length - 4).ok()?.to_le_bytes();
    bytes[length..length + 4].copy_from_slice(&count);
    Some(())
}

fn put_metadata(bytes: &mut Vec<u8>, skill: &Skill) -> Option<()> {
    let meta = &skill.meta;
    let text = |bytes: &mut Vec<u8>, text: &String| put_text(bytes, text.as_bytes());
    text(bytes, &meta.name)?;
    text(bytes, &meta.description)?;
    for value in [&meta.version, &meta.license, &meta.compatibility] {
        put_option(bytes, value.as_ref(), text)?;
    }
    for list in [&meta.tags, &meta.dependencies, &meta.allowed_tools] {
        put_list(bytes, list, text)?;
    }
    for map in [&meta.metadata, &meta.extra] {
        let map = if map.is_empty() { String::new() } else { serde_json::to_string(map).ok()? };
        text(bytes, &map)?;
    }
    Some(())
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
            skills.push(if rest.flag()? {
                let stat = rest.stat(device)?;
                let length = usize::try_from(rest.u32()?).ok()?;
                let start = bytes.len() - rest.0.len();
                rest.take(length)?;
                Some(Known { stat, metadata: Metadata::Written(start..start + length) })
            } else {
                None
            });
        }
        dirs.insert(path, SeenDir { stat, listing: Arc::new(listing), skills, changed: false });
    }
    let is_all = rest.0.is_empty();
    is_all.then(|| Memory { dirs, bytes: Arc::new(bytes), newest: Some(newest), changed: false, kept: None })
}

/// The metadata in `bytes`, all of which they have to be.
pub(super) fn metadata(bytes: &[u8]) -> Option<SkillMeta> {
    let mut rest = Reader(bytes);
    let (name, description) = (rest.string()?, rest.string()?);
    let mut value = || rest.option(Reader::string).ok();
    let (version, license, compatibility) = (value()?, value()?, value()?);
    let mut list = || rest.list(Reader::string);
    let (tags, dependencies, allowed_tools) = (list()?, list()?, list()?);
    let mut map = || match rest.text()? {
        b"" => Some(serde_json::Map::new()),
        text => serde_json::from_slice(text).ok(),
    };
    let (metadata, extra) = (map()?, map()?);
    let meta = SkillMeta {
        name,
        description,
        version,
        tags,
        dependencies,
        license,
        compatibility,
        allowed_tools,
        metadata,
        extra,
    };
    rest.0.is_empty().then_some(meta)
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
