//! The bytes that records stand in: in memory, or in the file of a memory ([`super::format`]).
//!
//! Of a file only what its head says is there from the start, which is all that tells whether skills are as they
//! were. The metadata are most of the file. They are read where somebody asks, in pieces with a checksum each:
//! whoever tells all skills one after the other needs one piece at a time ([`Window`]), and whoever asks for names
//! needs none.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::record::{Place, Record};
use crate::fs::{FileStat, SharedFile};
use crate::install::index::bytes::{Reader, STAT};

/// How many bytes a checksum has.
pub(super) const SUM: u32 = u32::BITS / 8;

/// Bytes with records.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// What files were; the metadata, too, unless they stand in a file.
    bytes: Vec<u8>,
    metas: Option<Metas>,
}

/// Metadata in a file.
#[derive(Debug)]
struct Metas {
    file: SharedFile,
    pieces: Vec<Piece>,
}

/// Some metadata that follow each other, with their checksum behind them.
#[derive(Debug)]
struct Piece {
    /// Where they are in the file.
    at: Range<u32>,
    /// They, once somebody asked for some that stay; `None` where they are not what was written.
    kept: OnceLock<Option<Vec<u8>>>,
}

/// The piece of a file that was looked into last.
#[derive(Debug, Default)]
pub(crate) struct Window {
    records: Option<Arc<Records>>,
    at: Range<u32>,
    bytes: Vec<u8>,
}

impl Records {
    /// Records whose parts are all in `bytes`.
    pub(crate) fn in_memory(bytes: Vec<u8>) -> Self {
        Self { bytes, metas: None }
    }

    /// Records of which `head` says what the files were. The metadata are in those `pieces` of `file`.
    pub(super) fn in_file(head: Vec<u8>, file: SharedFile, pieces: Vec<Range<u32>>) -> Self {
        let pieces = pieces.into_iter().map(|at| Piece { at, kept: OnceLock::new() }).collect();
        Self { bytes: head, metas: Some(Metas { file, pieces }) }
    }

    /// What the file of the skill at `place` was, which is on file system `device`.
    pub(crate) fn stat(&self, place: &Place, device: u64) -> Option<FileStat> {
        Reader(self.stat_bytes(place)?).stat(device)
    }

    fn stat_bytes(&self, place: &Place) -> Option<&[u8]> {
        self.bytes.get(place.stat as usize..)?.get(..STAT)
    }

    /// The record at `place`; `None` where it cannot be read, or is not what was written.
    pub(crate) fn record(&self, place: &Place) -> Option<Record<'_>> {
        let (bytes, start) = match &self.metas {
            None => (&self.bytes, 0),
            Some(metas) => {
                let piece = metas.piece(&place.meta)?;
                let kept = piece.kept.get_or_init(|| {
                    let mut bytes = Vec::new();
                    metas.read(piece, &mut bytes).map(|()| bytes)
                });
                (kept.as_ref()?, piece.at.start)
            }
        };
        self.record_of(place, bytes, start)
    }

    /// As [`Self::record`], but what is read to find it stays in `window` only.
    pub(crate) fn record_in<'a>(
        self: &'a Arc<Self>,
        place: &Place,
        window: &'a mut Window,
    ) -> Option<Record<'a>> {
        let Some(metas) = &self.metas else { return self.record(place) };
        let is_open = window.records.as_ref().is_some_and(|records| Arc::ptr_eq(records, self));
        if !is_open || !holds(&window.at, &place.meta) {
            let piece = metas.piece(&place.meta)?;
            window.records = None;
            metas.read(piece, &mut window.bytes)?;
            window.records = Some(Arc::clone(self));
            window.at = piece.at.clone();
        }
        self.record_of(place, &window.bytes, window.at.start)
    }

    /// The record at `place`, whose metadata are in `bytes`, which begin at `start`.
    fn record_of<'a>(&'a self, place: &Place, bytes: &'a [u8], start: u32) -> Option<Record<'a>> {
        let at = |at: u32| Some(at.checked_sub(start)? as usize);
        let meta = bytes.get(at(place.meta.start)?..at(place.meta.end)?)?;
        Some(Record { stat: self.stat_bytes(place)?, meta, signs: place.signs() })
    }
}

impl Metas {
    fn piece(&self, meta: &Range<u32>) -> Option<&Piece> {
        let at = self.pieces.partition_point(|piece| piece.at.end < meta.end);
        self.pieces.get(at).filter(|piece| holds(&piece.at, meta))
    }

    /// Reads `piece` into `bytes`, whose old content goes.
    fn read(&self, piece: &Piece, bytes: &mut Vec<u8>) -> Option<()> {
        bytes.resize(piece.at.len() + SUM as usize, 0);
        self.file.read_exact_at(bytes, piece.at.start.into()).ok()?;
        let (summed, sum) = bytes.split_last_chunk()?;
        let is_right = u32::from_le_bytes(*sum) == crc32fast::hash(summed);
        bytes.truncate(piece.at.len());
        is_right.then_some(())
    }
}

/// Whether all of `inner` lies in `outer`.
fn holds(outer: &Range<u32>, inner: &Range<u32>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
