//! The content of tar members.

use std::io::{self, Write};
use std::sync::Arc;

use super::super::bytes::Part;
use super::super::inflate::copy;
use crate::fs::SharedFile;
use crate::tree::{Content, ReadError};

/// The place of one member's content.
pub(super) enum MemberContent {
    /// In the file.
    Data { offset: u64, len: u64 },
    /// The target of a link, taken from its header.
    Link(Vec<u8>),
}

/// The contents of a tar archive, in the order of the archive.
pub(super) struct TarContent {
    file: Arc<SharedFile>,
    places: Vec<MemberContent>,
}

impl TarContent {
    pub(super) fn new(file: Arc<SharedFile>, places: Vec<MemberContent>) -> Self {
        Self { file, places }
    }
}

impl Content for TarContent {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        match self.places.get(id).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))? {
            MemberContent::Data { offset, len } => {
                let mut part = Part { file: &self.file, offset: *offset, left: *len };
                copy(&mut part, *len, &mut |bytes| sink.write_all(bytes))?;
            }
            MemberContent::Link(target) => sink.write_all(target)?,
        }
        Ok(())
    }
}
