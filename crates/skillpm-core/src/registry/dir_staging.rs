//! Files of a registry that are written before they get their place.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::damaged;
use super::objects::log_is_full;
use super::resume::resume;
use super::staging::{StagedFile, Staging};
use super::{Artifact, LogEntry, Objects as _, RegistryDir, files};
use crate::error::{Error, Result};
use crate::fs::{self, FileLock, Kind};
use crate::name::SkillName;

/// The start of the names of files that have no place yet. No skill's name has a dot.
pub(super) const PREFIX: &str = "new.";

/// The stage of a directory, whose lock it holds: files in the directory of pending ones, which get their places by renames.
/// Those without a place are removed when this is dropped; after a kill, by the next writer.
#[derive(Debug)]
pub(super) struct DirStaging<'a> {
    dir: &'a RegistryDir,
    count: usize,
    /// The directories in which files got places.
    changed: BTreeSet<String>,
    /// Whether files without a place wait for the next writer, because the log announces them.
    is_decided: bool,
    // Released last.
    _lock: FileLock,
}

impl<'a> DirStaging<'a> {
    /// Waits until no other process changes the registry `dir`; calls `on_wait` if one does. Returns an empty stage. What
    /// a killed writer left there gets its place if the log announces it, and is removed otherwise.
    pub(super) fn new(dir: &'a RegistryDir, on_wait: impl Fn()) -> Result<Self> {
        let lock = FileLock::acquire(&dir.path_of(files::LOCK), on_wait)?;
        ensure_dir(dir, files::PENDING)?;
        resume(dir)?;
        for entry in leftovers(dir)? {
            fs::remove_tree(&dir.path_of(&format!("{}/{entry}", files::PENDING)))?;
        }
        Ok(Self { dir, count: 0, changed: BTreeSet::new(), is_decided: false, _lock: lock })
    }

    fn note(&mut self, path: &str) {
        self.changed.insert(path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned());
    }
}

/// Returns where the file with this number waits.
fn waiting(file: &StagedFile) -> String {
    format!("{}/{PREFIX}{}", files::PENDING, file.number)
}

impl Staging for DirStaging<'_> {
    /// Writes it beside its place, and creates the directories above that.
    fn write(&mut self, to: String, bytes: &[u8]) -> Result<StagedFile> {
        ensure_parent(self.dir, &to)?;
        self.count += 1;
        let file = StagedFile { number: self.count, to };
        self.dir.base.write_new(&waiting(&file), [bytes])?;
        Ok(file)
    }

    fn write_log(&mut self, entry: &LogEntry) -> Result<StagedFile> {
        let number = self.dir.log_length()?.checked_add(1).ok_or_else(log_is_full)?;
        self.write(files::log(number), &entry.to_bytes())
    }

    fn has_archive(&self, artifact: &Artifact) -> bool {
        self.dir.archive(artifact).is_some()
    }

    fn pending(&self) -> Result<Vec<SkillName>> {
        self.dir.pending()
    }

    fn mark(&mut self, names: &[SkillName]) -> Result<()> {
        let marked =
            names.iter().try_for_each(|name| self.dir.base.write_new(&files::pending(name), [&b""[..]]));
        marked.map_err(Error::from).and_then(|()| self.sync())
    }

    fn unmark(&self, name: &SkillName) {
        let _ = fs::remove_tree(&self.dir.path_of(&files::pending(name)));
    }

    fn announce(
        &mut self,
        archives: &[StagedFile],
        log: Option<&StagedFile>,
        has_placed: bool,
    ) -> Result<()> {
        for archive in archives {
            self.replace(archive)?;
        }
        if has_placed || !archives.is_empty() {
            self.sync()?;
        }
        if let Some(log) = log {
            self.create(log)?;
            self.is_decided = true;
        }
        Ok(())
    }

    /// Moves `file` to its place, where nothing may be: this process alone writes.
    fn create(&mut self, file: &StagedFile) -> Result<bool> {
        fs::move_new(&self.dir.path_of(&waiting(file)), &self.dir.path_of(&file.to))?;
        self.note(&file.to);
        Ok(true)
    }

    fn replace(&mut self, file: &StagedFile) -> Result<()> {
        self.dir.base.rename(&waiting(file), &file.to)?;
        self.note(&file.to);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        fs::remove_tree(&self.dir.path_of(path))?;
        self.note(path);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        // On Linux this is one call for the whole file system; elsewhere it is for the files of the stage.
        fs::sync_filesystem(&self.dir.path_of(files::PENDING))?;
        for dir in std::mem::take(&mut self.changed) {
            if cfg!(not(target_os = "linux")) {
                fs::sync_dir(&self.dir.path_of(&dir))?;
            }
        }
        Ok(())
    }

    fn is_decided(&self) -> bool {
        self.is_decided
    }

    fn finish(&mut self) {
        self.is_decided = false;
    }
}

impl Drop for DirStaging<'_> {
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
