//! The content of zip entries.

use std::io::{self, Write};
use std::sync::Arc;

use super::super::bytes::Part;
use super::super::inflate::{InflateError, copy, inflate};
use super::central::{CentralRecord, DEFLATED};
use crate::fs::SharedFile;
use crate::refusal::Refusal;
use crate::tree::{Content, ReadError};

/// The place of one entry's content, and what the content must be.
pub(super) struct EntryContent {
    data: u64,
    packed: u64,
    size: u64,
    crc: u32,
    deflated: bool,
    /// The offset of the name in the file. Only errors need the name.
    name_at: u64,
    name_len: u16,
}

impl EntryContent {
    pub(super) fn new(record: &CentralRecord, data: u64, name_at: u64) -> Self {
        Self {
            data,
            packed: record.packed,
            size: record.size,
            crc: record.crc,
            deflated: record.method == DEFLATED,
            name_at,
            name_len: u16::try_from(record.name.len()).unwrap_or(u16::MAX),
        }
    }
}

/// The contents of a zip archive, sorted by position.
pub(super) struct ZipContent {
    file: Arc<SharedFile>,
    places: Vec<EntryContent>,
}

impl ZipContent {
    pub(super) fn new(file: Arc<SharedFile>, places: Vec<EntryContent>) -> Self {
        Self { file, places }
    }

    fn name(&self, place: &EntryContent) -> String {
        let mut name = vec![0; usize::from(place.name_len)];
        match self.file.read_exact_at(&mut name, place.name_at) {
            Ok(()) => String::from_utf8_lossy(&name).into_owned(),
            Err(_) => "an entry".to_owned(),
        }
    }

    fn refused(&self, place: &EntryContent, error: InflateError) -> ReadError {
        let name = || self.name(place);
        ReadError::Refused(match error {
            InflateError::Io(error) => return error.into(),
            InflateError::Damaged | InflateError::Incomplete | InflateError::Trailing => {
                Refusal::BadData(name())
            }
            InflateError::TooLong => {
                Refusal::SizeMismatch { name: name(), declared: place.size, actual: place.size + 1 }
            }
        })
    }
}

impl Content for ZipContent {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        let place = self.places.get(id).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        self.unpack(place, sink)
    }
}

impl ZipContent {
    /// Writes the content at `place` to `sink`, inflated and checked.
    fn unpack(&self, place: &EntryContent, sink: &mut dyn Write) -> Result<(), ReadError> {
        let mut part = Part { file: &self.file, offset: place.data, left: place.packed };
        let mut crc = crc32fast::Hasher::new();
        let mut check_and_write = |bytes: &[u8]| {
            crc.update(bytes);
            sink.write_all(bytes)
        };
        let actual = if place.deflated {
            inflate(&mut part, place.packed, place.size, &mut check_and_write)
                .map_err(|error| self.refused(place, error))?
        } else {
            copy(&mut part, place.packed, &mut check_and_write)?;
            place.packed
        };
        if actual != place.size {
            let name = self.name(place);
            return Err(Refusal::SizeMismatch { name, declared: place.size, actual }.into());
        }
        if crc.finalize() != place.crc {
            return Err(Refusal::BadChecksum(self.name(place)).into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::shared;
    use super::*;
    use crate::archive::open_zip;
    use crate::refusal::Limits;
    use skillpm_testing::archive::{deflated, zip};

    #[test]
    fn a_skill_is_the_same_however_often_it_is_read() {
        let damaged = deflated("b/SKILL.md", "other").both(4 + 10, [0; 4]);
        let archive = zip(&[deflated("a/SKILL.md", "text"), damaged]);
        let tree = open_zip(shared(&archive), &Limits::default()).expect("a whole structure").tree;
        for _ in 0..3 {
            assert_eq!(tree.read("a/SKILL.md", 9).expect("reads"), b"text");
            assert!(matches!(tree.read("b/SKILL.md", 9), Err(ReadError::Refused(Refusal::BadChecksum(_)))));
        }
    }
}
