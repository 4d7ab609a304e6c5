//! What is remembered of one skill, as bytes: what its file was, and its metadata.
//!
//! They are the same in memory and in a file ([`super::format`]), so that what was found need not be put into
//! other words to be kept, and what was kept need not be read to be told. The two parts stand apart: whether
//! thousands of files are as they were is seen without touching a text.

use std::ops::Range;

use crate::fs::FileStat;
use crate::install::index::bytes::{Reader, put_list, put_option, put_stat, put_text};
use crate::skill::{SkillMeta, Texts};

/// Where the two parts of a record stand in some [`super::records::Records`].
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(super) stat: u32,
    pub(super) meta: Range<u32>,
    signs: Signs,
}

/// What is asked of each of thousands of skills: their metadata lie all over memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs {
    /// Whether the skill has the name of its directory, which is left out then.
    pub(crate) at_home: bool,
    /// Whether it has fields that the specification does not have.
    pub(crate) extra: bool,
}

impl Place {
    /// Of what the file was, at `stat`, and metadata in `meta`; `None` for what is further behind than a record
    /// can be.
    pub(super) fn new(stat: usize, meta: Range<u32>, signs: Signs) -> Option<Self> {
        Some(Self { stat: u32::try_from(stat).ok()?, meta, signs })
    }

    /// What the skill is without its metadata.
    pub(crate) fn signs(&self) -> Signs {
        self.signs
    }
}

/// A record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    /// What the file was.
    pub(super) stat: &'a [u8],
    /// The metadata.
    pub(super) meta: &'a [u8],
    pub(super) signs: Signs,
}

/// Adds the record of a skill in `directory` that says these `texts` and whose file was `stat`; `None`, and nothing
/// is added, for what no record can hold.
pub(crate) fn put(bytes: &mut Vec<u8>, stat: &FileStat, texts: &Texts<'_>, directory: &str) -> Option<Place> {
    let start = bytes.len();
    put_stat(bytes, stat);
    let meta = bytes.len();
    let signs = Signs { at_home: texts.name == directory, extra: !texts.extra.is_empty() };
    let place = put_meta(bytes, texts, signs).and_then(|()| {
        let at = |at: usize| u32::try_from(at).ok();
        Place::new(start, at(meta)?..at(bytes.len())?, signs)
    });
    if place.is_none() {
        bytes.truncate(start);
    }
    place
}

fn put_meta(bytes: &mut Vec<u8>, texts: &Texts<'_>, signs: Signs) -> Option<()> {
    let text = |bytes: &mut Vec<u8>, text: &str| put_text(bytes, text.as_bytes());
    if !signs.at_home {
        text(bytes, texts.name)?;
    }
    text(bytes, texts.description)?;
    for value in [texts.version, texts.license, texts.compatibility] {
        put_option(bytes, value, text)?;
    }
    for list in [&texts.tags, &texts.dependencies, &texts.allowed_tools] {
        put_list(bytes, list, |bytes, item| text(bytes, item))?;
    }
    for map in [&texts.metadata, &texts.extra] {
        text(bytes, map)?;
    }
    Some(())
}

impl<'a> Record<'a> {
    /// What the skill in `directory` calls itself.
    pub(crate) fn name(&self, directory: &'a str) -> &'a str {
        if self.signs.at_home { directory } else { Reader(self.meta).str().unwrap_or_default() }
    }

    /// Its description.
    pub(crate) fn description(&self) -> &'a str {
        let mut rest = Reader(self.meta);
        if !self.signs.at_home && rest.text().is_none() {
            return "";
        }
        rest.str().unwrap_or_default()
    }

    /// All of the metadata of the skill in `directory`. Where they are not what [`put`] writes, although the
    /// checksum of their file is right, there are the name and the description only: whoever made that file could
    /// have said anything.
    pub(crate) fn meta(&self, directory: &str) -> SkillMeta {
        let mut rest = Reader(self.meta);
        let name = if self.signs.at_home { Some(directory.to_owned()) } else { rest.string() };
        let all = name.and_then(|name| read(name, &mut rest).filter(|_| rest.0.is_empty()));
        all.unwrap_or_else(|| SkillMeta {
            name: self.name(directory).to_owned(),
            description: self.description().to_owned(),
            ..SkillMeta::default()
        })
    }
}

fn read(name: String, rest: &mut Reader<'_>) -> Option<SkillMeta> {
    let description = rest.string()?;
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
