//! Files of a registry that are written before they get their place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::derive::{Change, Derived, Plan};
use super::error::damaged;
use super::objects::log_is_full;
use super::resume::resume;
use super::staging::{Batch, StagedFile};
use super::{History, LogEntry, Objects as _, RegistryDir, files};
use crate::advice::{Opt, Verb, message};
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
    /// Whether archives got their places before all others.
    has_placed: bool,
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
        Ok(Self {
            dir,
            count: 0,
            changed: BTreeSet::new(),
            has_placed: false,
            is_decided: false,
            _lock: lock,
        })
    }

    fn note(&mut self, path: &str) {
        self.changed.insert(path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned());
    }

    /// Returns the registry.
    pub(super) fn registry(&self) -> &'a RegistryDir {
        self.dir
    }

    /// Writes a file beside its place `to`, and creates the directories above that.
    pub(super) fn write(&mut self, to: String, bytes: &[u8]) -> Result<StagedFile> {
        ensure_parent(self.dir, &to)?;
        self.count += 1;
        let file = StagedFile { number: self.count, to };
        self.dir.base.write_new(&waiting(&file), [bytes])?;
        Ok(file)
    }

    /// Gives an archive its place now, where it waits for the record that names it.
    pub(super) fn place(&mut self, archive: &StagedFile) -> Result<()> {
        self.has_placed = true;
        self.replace(archive)
    }

    /// Gives what `batch` has its place, and then what is derived from the skills `touched`, as `plan` says. With the entry of
    /// the log the change is decided: if this fails afterwards, the next writer goes on.
    pub(super) fn carry_out(
        &mut self,
        batch: &Batch,
        touched: &BTreeMap<SkillName, History>,
        plan: Plan,
    ) -> Result<Derived> {
        let Plan { changes, skills, versions, left_out } = plan;
        let mut derived = Derived { skills, versions, left_out, ..Derived::default() };
        if !changes.is_empty() || !batch.truth.is_empty() {
            let log = batch.log_entry().map(|entry| self.write_log(&entry)).transpose()?;
            let changes =
                changes.into_iter().map(|change| self.prepare(change)).collect::<Result<Vec<_>>>()?;
            let marked = self.mark(touched)?;
            if let Err(error) = self.publish(batch, log.as_ref()) {
                if self.is_decided {
                    return Err(self.unfinished(error));
                }
                self.unmark(marked);
                return Err(error);
            }
            self.derive(changes, &mut derived).map_err(|error| self.unfinished(error))?;
        }
        self.unmark(touched.keys());
        Ok(derived)
    }

    /// Writes the next entry of the log.
    fn write_log(&mut self, entry: &LogEntry) -> Result<StagedFile> {
        let number = self.dir.log_length()?.checked_add(1).ok_or_else(log_is_full)?;
        self.write(files::log(number), &entry.to_bytes())
    }

    /// Writes a derived file beside its place. One that is to be removed has no bytes.
    fn prepare(&mut self, Change { path, bytes }: Change) -> Result<(String, Option<StagedFile>)> {
        let file = bytes.map(|bytes| self.write(path.clone(), &bytes)).transpose()?;
        Ok((path, file))
    }

    /// Marks skills that are not marked yet, so that they are derived again should this process be killed. Returns them.
    fn mark<'n>(&mut self, touched: &'n BTreeMap<SkillName, History>) -> Result<Vec<&'n SkillName>> {
        let before = self.dir.pending()?;
        let new: Vec<_> = touched.keys().filter(|name| !before.contains(*name)).collect();
        let mut names = new.iter();
        let marked = names.try_for_each(|name| self.dir.base.write_new(&files::pending(name), [&b""[..]]));
        if let Err(error) = marked.map_err(Error::from).and_then(|()| self.sync()) {
            self.unmark(new);
            return Err(error);
        }
        Ok(new)
    }

    /// Removes the marks of skills. A mark that stays harms nothing: the next writer derives the same again.
    fn unmark<'n>(&self, names: impl IntoIterator<Item = &'n SkillName>) {
        for name in names {
            let _ = fs::remove_tree(&self.dir.path_of(&files::pending(name)));
        }
    }

    /// Returns `error` as the reason why files are behind what the log announces.
    fn unfinished(&self, error: Error) -> Error {
        let index = Verb::Registry.call().word("index").option(Opt::Registry, self.dir.path().display());
        error
            .context("the registry was changed, but not all of its files")
            .hint(message!(index, " completes it"))
    }

    /// Gives archives, the entry of the log, records and events their places, in this order.
    fn publish(&mut self, batch: &Batch, log: Option<&StagedFile>) -> Result<()> {
        for archive in &batch.archives {
            self.replace(archive)?;
        }
        if self.has_placed || !batch.archives.is_empty() {
            self.sync()?;
        }
        if let Some(log) = log {
            self.create(log)?;
            self.is_decided = true;
        }
        for file in &batch.truth {
            self.create(file)?;
        }
        if !batch.truth.is_empty() {
            self.sync()?;
        }
        self.is_decided = false;
        Ok(())
    }

    /// Gives derived files their places, and removes those that are not derived any more.
    fn derive(&mut self, changes: Vec<(String, Option<StagedFile>)>, derived: &mut Derived) -> Result<()> {
        for (path, file) in changes {
            if let Some(file) = file {
                self.replace(&file)?;
                derived.written.push(path);
            } else {
                fs::remove_tree(&self.dir.path_of(&path))?;
                self.note(&path);
                derived.removed.push(path);
            }
        }
        self.sync()
    }

    /// Moves `file` to its place, where nothing may be: this process alone writes.
    fn create(&mut self, file: &StagedFile) -> Result<()> {
        fs::move_new(&self.dir.path_of(&waiting(file)), &self.dir.path_of(&file.to))?;
        self.note(&file.to);
        Ok(())
    }

    /// Moves `file` to its place, in which there may be one.
    fn replace(&mut self, file: &StagedFile) -> Result<()> {
        self.dir.base.rename(&waiting(file), &file.to)?;
        self.note(&file.to);
        Ok(())
    }

    /// Makes everything that has a place outlast a power failure.
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
}

/// Returns where the file with this number waits.
fn waiting(file: &StagedFile) -> String {
    format!("{}/{PREFIX}{}", files::PENDING, file.number)
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

/// Returns the names of staged files of all writers.
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
