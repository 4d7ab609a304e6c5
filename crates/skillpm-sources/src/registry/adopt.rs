//! Versions that another registry published, in this one.

use std::sync::Arc;

use super::staging::Staging;
use super::verify::examine_content;
use super::{Artifact, Objects as _, ReadFiles as _, Record, RegistryDir, Writer, files, package};
use crate::codes;
use crate::error::{Error, Result};
use crate::fs::SharedFile;
use crate::refusal::Limits;

/// The limits of a bundle, an archive of a whole registry. Each file in it has the limits of its kind.
pub const BUNDLE_LIMITS: Limits = Limits {
    archive_bytes: 1 << 40,
    archive_entries: 10_000_000,
    archive_content: 1 << 40,
    ratio: 200,
    skill_files: 10_000_000,
    skill_bytes: 1 << 40,
};

impl RegistryDir {
    /// Reports whether the archive is there with the right size. Its bytes are not read.
    pub fn has_archive(&self, artifact: &Artifact) -> bool {
        matches!(self.head(&files::artifact(&artifact.digest)), Ok(Some(size)) if size == artifact.size)
    }

    /// Returns the archive, if it is there with the right bytes.
    pub fn archive(&self, artifact: &Artifact) -> Option<Arc<SharedFile>> {
        let file = self.base.open(&files::artifact(&artifact.digest), artifact.size).ok().flatten()?;
        let is_it = file.len() == artifact.size
            && package::digest_of(&file).is_ok_and(|digest| digest == artifact.digest);
        is_it.then_some(file)
    }
}

/// Checks that the skill in the archive `file` is the one that `record` describes.
///
/// # Errors
///
/// Fails if it is not, or is not a skill at all.
pub fn check_archive(file: &Arc<SharedFile>, record: &Record) -> Result<()> {
    examine_content(file, record).map_err(|message| {
        Error::integrity(format!("the archive of `{}` {}: {message}", record.name, record.version))
            .coded(codes::REGISTRY_MISMATCH)
    })
}

impl Writer<'_> {
    /// Puts an archive with the right bytes in its place, where it waits for the record that names it. There it stays,
    /// also if nothing is committed.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read or written.
    pub fn place(&mut self, artifact: &Artifact, file: &SharedFile) -> Result<()> {
        let bytes = file
            .read_all()
            .map_err(|error| Error::io("an archive that was fetched cannot be read").because(error))?;
        let staged = self.stage.write(files::artifact(&artifact.digest), &bytes)?;
        match &mut self.stage {
            Staging::Directory(dir) => dir.place(&staged)?,
            Staging::Bucket(_) => self.batch.archives.push(staged),
        }
        Ok(())
    }

    /// Stages a record as another registry has it, in its own `bytes`, which may have fields of later versions. The
    /// archive must be in its place.
    ///
    /// # Errors
    ///
    /// Fails if there is another record of the version, and if the file cannot be written.
    pub fn adopt(&mut self, record: &Record, bytes: &[u8]) -> Result<()> {
        if self.ledger.adopt(record)? {
            self.stage_record(record, bytes)?;
        }
        Ok(())
    }
}
