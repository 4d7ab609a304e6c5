//! Zip archives.
//!
//! A zip archive stores everything twice: in front of each entry and in the directory at the end. Readers
//! trust one or the other, so both are read here and must agree. Section numbers refer to APPNOTE.TXT 6.3.10.

mod central;
mod content;
mod eocd;
mod extra;
mod local;

use std::sync::Arc;

use super::Parts;
use super::names::{self, Item};
use crate::fs::SharedFile;
use crate::refusal::Limits;
use crate::tree::ReadError;
use central::CentralRecord;

/// Reads the structure of the archive in `file`.
pub(super) fn open(file: Arc<SharedFile>, limits: &Limits) -> Result<Parts, ReadError> {
    let directory = eocd::find(&file)?;
    let mut records = central::read(&file, &directory, limits)?;
    // Writers may list entries in any order; only their bytes must have no gaps.
    records.sort_by_key(|record| record.offset);
    let places = local::locate(&file, &records, directory.offset)?;
    let items = records.iter().enumerate();
    let item = |(id, record): (usize, &CentralRecord)| Item {
        name: names::below_root(&record.name).to_owned(),
        node: record.node,
        id,
    };
    let items = items.map(item).collect();
    Ok(Parts {
        entries: names::assemble(items)?,
        content: Arc::new(content::ZipContent::new(file, places)),
        comment: Some(directory.comment),
    })
}
