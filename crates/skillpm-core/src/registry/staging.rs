//! Files of a registry that are written before they get their place.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::damaged;
use super::resume::resume;
use super::{RegistryDir, files};
use crate::error::Result;
use crate::fs::{self, Kind};

/// The start of the names of files that have no place yet. No skill's name has a dot.
pub(super) const PREFIX: &str = "new.";

/// Files in the directory of pending ones, which get their places by renames. Those without a place are removed when
/// this is dropped; after a kill, by the next writer.
#[derive(Debug)]
pub(super) struct Staging<'a> {
    dir: &'a RegistryDir,
    count: usize,
    /// The directories in which files got places.
    changed: BTreeSet<String>,
    /// Whether files without a place wait for the next writer, because the log announces them.
    is_decided: bool,
}

/// A file that has no place yet: the name that it has now, and its place.
#[derive(Debug)]
pub(super) struct StagedFile {
    now: String,
    pub(super) to: String,
}

impl<'a> Staging<'a> {
    /// Returns an empty stage in `dir`, whose lock the caller holds. What a killed writer left there gets its place if the
    /// log announces it, and is removed otherwise.
    pub(super) fn new(dir: &'a RegistryDir) -> Result<Self> {
        ensure_dir(dir, files::PENDING)?;
        resume(dir)?;
        for entry in leftovers(dir)? {
            fs::remove_tree(&dir.path_of(&format!("{}/{entry}", files::PENDING)))?;
        }
        Ok(Self { dir, count: 0, changed: BTreeSet::new(), is_decided: false })
    }

    /// Writes a file that is to be at `to`, and creates the directories above that place.
    pub(super) fn write(&mut self, to: String, bytes: &[u8]) -> Result<StagedFile> {
        ensure_parent(self.dir, &to)?;
        self.count += 1;
        let now = format!("{}/{PREFIX}{}", files::PENDING, self.count);
        self.dir.base.write_new(&now, [bytes])?;
        Ok(StagedFile { now, to })
    }

    /// Makes everything that was written and moved so far outlast a power failure.
    pub(super) fn sync(&mut self) -> Result<()> {
        // On Linux this is one call for the whole file system; elsewhere it is for the files of the stage.
        fs::sync_filesystem(&self.dir.path_of(files::PENDING))?;
        for dir in std::mem::take(&mut self.changed) {
            if cfg!(not(target_os = "linux")) {
                fs::sync_dir(&self.dir.path_of(&dir))?;
            }
        }
        Ok(())
    }

    /// Moves `file` to its place, where nothing may be.
    ///
    /// # Errors
    ///
    /// Fails with `AlreadyExists` if something is there.
    pub(super) fn create(&mut self, file: &StagedFile) -> Result<()> {
        fs::move_new(&self.dir.path_of(&file.now), &self.dir.path_of(&file.to))?;
        self.note(&file.to);
        Ok(())
    }

    /// Moves `file` to its place, replacing a file there.
    pub(super) fn replace(&mut self, file: &StagedFile) -> Result<()> {
        self.dir.base.rename(&file.now, &file.to)?;
        self.note(&file.to);
        Ok(())
    }

    /// Removes the file at `path`.
    pub(super) fn remove(&mut self, path: &str) -> Result<()> {
        fs::remove_tree(&self.dir.path_of(path))?;
        self.note(path);
        Ok(())
    }

    /// Reports whether files that have no place wait for the next writer.
    pub(super) fn is_decided(&self) -> bool {
        self.is_decided
    }

    /// Says whether files that have no place when this is dropped wait for the next writer.
    pub(super) fn decide(&mut self, is_decided: bool) {
        self.is_decided = is_decided;
    }

    fn note(&mut self, path: &str) {
        self.changed.insert(path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned());
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        if self.is_decided {
            return;
        }
        // Files that got places are no longer here; the next writer removes what cannot be removed now.
        for entry in leftovers(self.dir).unwrap_or_default() {
            let _ = fs::remove_tree(&self.dir.path_of(&format!("{}/{entry}", files::PENDING)));
        }
    }
}

/// Returns the names of staged files, whoever wrote them.
pub(super) fn leftovers(dir: &RegistryDir) -> Result<Vec<String>> {
    let mut entries = fs::list_dir(&dir.path_of(files::PENDING))?;
    entries.retain(|entry| entry.starts_with(PREFIX));
    Ok(entries)
}

/// Creates the directories above the file at `path`.
pub(super) fn ensure_parent(dir: &RegistryDir, path: &str) -> Result<()> {
    path.rsplit_once('/').map_or(Ok(()), |(parent, _)| ensure_dir(dir, parent))
}

/// Creates the directory at `below` and those above it. Links are refused: they could lead out of the registry.
fn ensure_dir(dir: &RegistryDir, below: &str) -> Result<()> {
    let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
    for end in ends {
        let part = &below[..end];
        match dir.base.kind(Path::new(part))? {
            Some(Kind::Directory) => {}
            Some(_) => return Err(damaged(part, &"it is not a directory")),
            None => fs::create_dir_all(&dir.path_of(part))?,
        }
    }
    Ok(())
}
