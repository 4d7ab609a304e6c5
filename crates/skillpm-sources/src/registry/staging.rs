//! How a change gets into a registry: staged, announced, and then made so.

use std::thread;

use super::dir_staging::DirStaging;
use super::{Bucket, LogChange, LogEntry, Timestamp};
use crate::codes;
use crate::error::{Error, Result};

/// A file that has no place yet: its number on the stage, and its place.
#[derive(Debug)]
pub(super) struct StagedFile {
    pub(super) number: usize,
    pub(super) to: String,
}

/// The staged part of a change.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) archives: Vec<StagedFile>,
    /// New records and events.
    pub(super) truth: Vec<StagedFile>,
    /// The entries for the log.
    pub(super) changes: Vec<LogChange>,
    /// The time of the newest of them.
    pub(super) time: Timestamp,
    /// The author of the change, if known.
    pub(super) by: Option<String>,
}

impl Batch {
    /// Returns the entry of the log; `None` if there is nothing to announce.
    pub(super) fn log_entry(&self) -> Option<LogEntry> {
        let entry = || LogEntry { time: self.time, by: self.by.clone(), changes: self.changes.clone() };
        (!self.changes.is_empty()).then(entry)
    }
}

/// The target of a change.
#[derive(Debug)]
pub(super) enum Staging<'a> {
    Directory(DirStaging<'a>),
    Bucket(BucketStaging<'a>),
}

impl Staging<'_> {
    /// Writes a file that is to be at `to`.
    pub(super) fn write(&mut self, to: String, bytes: &[u8]) -> Result<StagedFile> {
        match self {
            Self::Directory(dir) => dir.write(to, bytes),
            Self::Bucket(bucket) => {
                bucket.files.push(bytes.to_vec());
                Ok(StagedFile { number: bucket.files.len() - 1, to })
            }
        }
    }
}

/// The stage of a bucket: memory. An object is created in its final place, at once and whole. Other writers do not finish
/// the work of this one: its publisher gets an error, and tries again.
#[derive(Debug)]
pub(super) struct BucketStaging<'a> {
    bucket: &'a dyn Bucket,
    files: Vec<Vec<u8>>,
}

impl<'a> BucketStaging<'a> {
    pub(super) fn new(bucket: &'a dyn Bucket) -> Self {
        Self { bucket, files: Vec::new() }
    }

    /// Gives what `batch` has its place. Returns whether all of it has: another writer may have been faster.
    pub(super) fn publish(&self, batch: &Batch) -> Result<bool> {
        let entry = batch.log_entry().map(|entry| entry.to_bytes());
        let announce = || entry.map_or(Ok(()), |entry| self.bucket.log_end().append(self.bucket, &entry));
        // Both at once: neither says that something was published, and the store is far away.
        thread::scope(|scope| {
            let placed = scope.spawn(|| self.place(&batch.archives));
            let announced = announce();
            let placed = placed.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            announced.and(placed)
        })?;
        for file in &batch.truth {
            if !self.create(file)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn place(&self, archives: &[StagedFile]) -> Result<()> {
        for archive in archives {
            if !self.create(archive)? {
                let message = "the archive in the store has other bytes than its digest says";
                return Err(Error::integrity(message).coded(codes::REGISTRY_MISMATCH));
            }
        }
        Ok(())
    }

    fn create(&self, file: &StagedFile) -> Result<bool> {
        self.bucket.create(&file.to, &self.files[file.number])
    }
}
