//! How a change gets into a registry: staged, announced, and then made so.

use std::thread;

use super::{Artifact, Bucket, LogEntry};
use crate::codes;
use crate::error::{Error, Result};
use crate::name::SkillName;

/// A file that has no place yet: its number on the stage, and its place.
#[derive(Debug)]
pub(super) struct StagedFile {
    pub(super) number: usize,
    pub(super) to: String,
}

/// What a change is written to. The order is that of [`super::Writer`]; a directory and a bucket differ in what a step takes.
pub(super) trait Staging: std::fmt::Debug + Send {
    /// Writes a file that is to be at `to`.
    fn write(&mut self, to: String, bytes: &[u8]) -> Result<StagedFile>;

    /// Writes the next entry of the log.
    fn write_log(&mut self, entry: &LogEntry) -> Result<StagedFile>;

    /// Reports whether the archive is in its place and need not be written.
    fn has_archive(&self, artifact: &Artifact) -> bool;

    /// Returns the skills that a killed writer left, whose derived files may be behind.
    fn pending(&self) -> Result<Vec<SkillName>>;

    /// Marks skills that are not marked yet, so that they are derived again should this process be killed.
    fn mark(&mut self, names: &[SkillName]) -> Result<()>;

    /// Removes the mark of a skill. A mark that stays harms nothing: the next writer derives the same again.
    fn unmark(&self, name: &SkillName);

    /// Gives archives and then the entry of the log their places. With the entry the change is decided. `has_placed` says
    /// whether other archives got their places before.
    fn announce(&mut self, archives: &[StagedFile], log: Option<&StagedFile>, has_placed: bool)
    -> Result<()>;

    /// Gives a record or an event its place. Returns whether it has it: in a bucket, another writer may have been faster.
    fn create(&mut self, file: &StagedFile) -> Result<bool>;

    /// Gives a file its place, in which there may be one.
    fn replace(&mut self, file: &StagedFile) -> Result<()>;

    /// Removes a derived file.
    fn remove(&mut self, path: &str) -> Result<()>;

    /// Makes everything that has a place outlast a power failure.
    fn sync(&mut self) -> Result<()>;

    /// Reports whether the next writer makes so what this one has announced and not made so.
    fn is_decided(&self) -> bool;

    /// Says that everything that was announced is so.
    fn finish(&mut self);
}

/// The stage of a bucket: memory. An object is created where it is to be, at once and whole. What this writer leaves
/// unfinished, no other finishes: whoever published it is told, and tries again.
#[derive(Debug)]
pub(super) struct BucketStaging<'a> {
    bucket: &'a dyn Bucket,
    files: Vec<Vec<u8>>,
}

impl<'a> BucketStaging<'a> {
    pub(super) fn new(bucket: &'a dyn Bucket) -> Self {
        Self { bucket, files: Vec::new() }
    }

    fn place_archives(&self, archives: &[StagedFile]) -> Result<()> {
        for archive in archives {
            if !self.bucket.create(&archive.to, &self.files[archive.number])? {
                let message = "the archive in the store has other bytes than its digest says";
                return Err(Error::integrity(message).coded(codes::REGISTRY_MISMATCH));
            }
        }
        Ok(())
    }
}

impl Staging for BucketStaging<'_> {
    fn write(&mut self, to: String, bytes: &[u8]) -> Result<StagedFile> {
        self.files.push(bytes.to_vec());
        Ok(StagedFile { number: self.files.len() - 1, to })
    }

    fn write_log(&mut self, entry: &LogEntry) -> Result<StagedFile> {
        // Its number shows when it is appended.
        self.write(String::new(), &entry.to_bytes())
    }

    fn has_archive(&self, _: &Artifact) -> bool {
        // To create it costs no more than to ask.
        false
    }

    fn pending(&self) -> Result<Vec<SkillName>> {
        Ok(Vec::new())
    }

    fn mark(&mut self, _: &[SkillName]) -> Result<()> {
        Ok(())
    }

    fn unmark(&self, _: &SkillName) {}

    /// Both at once: neither says that something was published, and the store is far away.
    fn announce(&mut self, archives: &[StagedFile], log: Option<&StagedFile>, _: bool) -> Result<()> {
        let this = &*self;
        thread::scope(|scope| {
            let placed = scope.spawn(|| this.place_archives(archives));
            let announced = match log {
                Some(log) => this.bucket.log_end().append(this.bucket, &this.files[log.number]),
                None => Ok(()),
            };
            let placed = placed.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            announced.and(placed)
        })
    }

    fn create(&mut self, file: &StagedFile) -> Result<bool> {
        self.bucket.create(&file.to, &self.files[file.number])
    }

    fn replace(&mut self, file: &StagedFile) -> Result<()> {
        self.place_archives(std::slice::from_ref(file))
    }

    fn remove(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn is_decided(&self) -> bool {
        false
    }

    fn finish(&mut self) {}
}
