//! What is remembered of one skill, as bytes: what its file was, how long its metadata are, and these.
//!
//! They are the same in memory and in a file ([`super::format`]), so that what was found need not be put into
//! other words to be kept, and what was kept need not be read to be told.

use crate::fs::FileStat;
use crate::install::index::bytes::{Reader, STAT, put_list, put_option, put_stat, put_text};
use crate::skill::SkillMeta;

/// Adds the record of a skill with `meta` whose file was `stat`; `None`, and nothing is added, for what no
/// record can hold.
pub(crate) fn put(bytes: &mut Vec<u8>, stat: &FileStat, meta: &SkillMeta) -> Option<()> {
    let start = bytes.len();
    let put = put_all(bytes, stat, meta);
    if put.is_none() {
        bytes.truncate(start);
    }
    put
}

fn put_all(bytes: &mut Vec<u8>, stat: &FileStat, meta: &SkillMeta) -> Option<()> {
    put_stat(bytes, stat);
    let length = bytes.len();
    bytes.extend([0; 4]);
    put_meta(bytes, meta)?;
    let count = u32::try_from(bytes.len() - length - 4).ok()?.to_le_bytes();
    bytes[length..length + 4].copy_from_slice(&count);
    Some(())
}

fn put_meta(bytes: &mut Vec<u8>, meta: &SkillMeta) -> Option<()> {
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

/// Takes a record off `rest`; `None` where there is none.
pub(super) fn take<'a>(rest: &mut Reader<'a>) -> Option<&'a [u8]> {
    let all = rest.0;
    rest.stat(0)?;
    let length = usize::try_from(rest.u32()?).ok()?;
    rest.take(length)?;
    Some(&all[..all.len() - rest.0.len()])
}

/// What the file was, on file system `device`.
pub(crate) fn stat(record: &[u8], device: u64) -> Option<FileStat> {
    Reader(record).stat(device)
}

/// Where the metadata start.
fn texts(record: &[u8]) -> Option<Reader<'_>> {
    Some(Reader(record.get(STAT + 4..)?))
}

/// What the skill calls itself.
pub(crate) fn name(record: &[u8]) -> &str {
    texts(record).and_then(|mut rest| rest.str()).unwrap_or_default()
}

/// Its description.
pub(crate) fn description(record: &[u8]) -> &str {
    let text = texts(record).and_then(|mut rest| {
        rest.text()?;
        rest.str()
    });
    text.unwrap_or_default()
}

/// Whether it has fields that the specification does not have. They stand last.
pub(crate) fn has_extra(record: &[u8]) -> bool {
    !record.ends_with(&[0, 0])
}

/// All of the metadata. Where they are not what [`put`] writes, although the checksum of their file is right,
/// there are the name and the description only: whoever made that file could have said anything.
pub(crate) fn meta(record: &[u8]) -> SkillMeta {
    let all = texts(record).and_then(|mut rest| read(&mut rest).filter(|_| rest.0.is_empty()));
    all.unwrap_or_else(|| SkillMeta {
        name: name(record).to_owned(),
        description: description(record).to_owned(),
        ..SkillMeta::default()
    })
}

fn read(rest: &mut Reader<'_>) -> Option<SkillMeta> {
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
    Some(SkillMeta {
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
    })
}
