//! The content-addressed store: every skill that was ever fetched, by its tree digest.
//!
//! ```text
//! store-v2/sha256/ab/cdef...    one file for each tree, see [`object`]
//! store-v2/stage-.../           files that are being written; garbage once the writer has ended
//! store-v2/kept/<digest>/       a copy that a user edited, as files and directories that people can examine
//! store-v2/kept-notes/<digest>.json  which skill that is, when it was kept and why, see [`Note`]
//! store-v2/kept-whole/<id>/     what was kept as it was, with everything in it, see [`KeptWhole`]
//! store-v2/merged/<digest>      an empty file that says that agents got copies of this kept tree
//! ```
//!
//! The modification time of an object says when it was last used. Writers and readers share a lock on the store;
//! [`Store::lock`] locks it exclusively, so nothing is removed while another process reads it.
//!
//! The version in the name increases with every change to this layout. In an older store, only the copies that a user
//! edited are examined, see `old`.

pub mod downloads;
mod kept;
mod maintenance;
mod notes;
mod object;
mod old;
mod session;
mod whole;

pub use maintenance::{KeptTree, StoreLock};
pub use notes::{Note, Why};
pub use old::OldStore;
pub use session::Session;
pub use whole::KeptWhole;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock, Kind};
use crate::refusal::Limits;
use crate::settings::Settings;
use crate::tree::{FileSet, MOST};

const STAGE_PREFIX: &str = "stage-";
const KEPT_WHOLE: &str = "kept-whole";
/// The maximum size in bytes of an object that is read into memory: a tree and a header.
const MOST_OBJECT: u64 = MOST + (1 << 20);

/// The stores that this process reads, with one lock for each, however many trees are read.
static READ: Mutex<BTreeMap<PathBuf, Weak<DirLock>>> = Mutex::new(BTreeMap::new());

/// The store of one user.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Returns the store that the settings name. The disk is not accessed.
    ///
    /// # Errors
    ///
    /// Fails if there is no home directory to keep it in.
    pub fn new(settings: &Settings) -> Result<Self> {
        Ok(Self { root: settings.store_dir()? })
    }

    /// Returns the path of the file that holds the tree with `digest`, which may not exist.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        self.root.join(below(digest))
    }

    /// Reports whether the tree with `digest` was fetched and is here. Copies that users edited do not count, and no
    /// content is read.
    pub fn has(&self, digest: &Digest) -> bool {
        matches!(fs::kind(&self.path(digest)), Ok(Some(Kind::File)))
    }

    /// Reports whether the file of the tree with `digest` can be opened or does not exist.
    pub fn is_readable(&self, digest: &Digest) -> bool {
        fs::SharedFile::open_plain(&self.path(digest)).is_ok()
    }

    /// Returns the tree with `digest`; `None` if it is not in the store. Its names and sizes are checked, but not its
    /// bytes: code that writes them somewhere must compare the digest of what it wrote.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or is a different tree.
    pub fn get(&self, digest: &Digest) -> Result<Option<FileSet>> {
        let path = self.path(digest);
        let reading = match fs::kind(&path)? {
            Some(Kind::File) => self.reading(),
            _ => return self.get_kept(digest),
        };
        fs::touch(&path);
        let Some(set) = object::open(&path, digest)? else { return Ok(None) };
        Ok(Some(match reading {
            Some(lock) => set.guarded(lock),
            None => set,
        }))
    }

    /// Returns the lock that the readers of this process share; `None` if it cannot be taken.
    fn reading(&self) -> Option<Arc<DirLock>> {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = read.get(&self.root).and_then(Weak::upgrade) {
            return Some(lock);
        }
        let lock = Arc::new(DirLock::shared(&self.root).ok()?);
        read.retain(|_, lock| lock.strong_count() > 0);
        read.insert(self.root.clone(), Arc::downgrade(&lock));
        Some(lock)
    }

    /// Opens the store to read many trees; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be opened.
    pub fn reader(&self) -> Result<Option<Session>> {
        if fs::kind(&self.root)?.is_none() {
            return Ok(None);
        }
        Session::new(self, None, self.reading()).map(Some)
    }

    /// Opens the store to write and read many trees. Creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn writer(&self) -> Result<Session> {
        self.sweep();
        // The directory is created even if the system has no locks.
        let lock = DirLock::shared(&self.root)?;
        let lock = self.reading().unwrap_or_else(|| Arc::new(lock));
        let stage = fs::temp_dir_in(&self.root, STAGE_PREFIX)?;
        Session::new(self, Some(stage), Some(lock))
    }

    /// Writes `set` into the store and returns its digest.
    pub fn put(&self, set: &FileSet) -> Result<Digest> {
        let session = self.writer()?;
        match set.hold()? {
            Some(held) => session.put(&held),
            None => session.put_large(set),
        }
    }

    /// Removes the stages of writers that were killed. Live writers share the lock, so it can be taken exclusively only
    /// if there are none.
    fn sweep(&self) {
        let Some(_alone) = DirLock::try_acquire(&self.root) else { return };
        for name in fs::list_dir(&self.root).unwrap_or_default() {
            if name.starts_with(STAGE_PREFIX) {
                // A stage that cannot be removed now is harmless garbage.
                let _ = fs::remove_tree(&self.root.join(name));
            }
        }
    }

    /// Removes the tree with `digest`, whose bytes turned out to differ.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be removed.
    pub fn discard(&self, digest: &Digest) -> Result<()> {
        Ok(fs::remove_tree(&self.path(digest))?)
    }
}

/// Returns the path of the object of `digest` below the store.
fn below(digest: &Digest) -> String {
    let hex = digest.hex();
    format!("sha256/{}/{}", &hex[..2], &hex[2..])
}

/// Reads the files of the skill in directory `path`.
///
/// # Errors
///
/// Fails if it cannot be read, or has files that no skill may have.
pub fn read(path: &Path) -> Result<FileSet> {
    Ok(fs::tree_of(path)?.skill("", &Limits::default())?)
}

/// Reports whether the directory `place` holds the tree with `digest`.
fn is_whole(place: &Path, digest: &Digest) -> bool {
    read(place).is_ok_and(|set| set.digest().is_ok_and(|found| found == *digest))
}

/// Returns the error for bytes that differ from the locked ones.
pub fn mismatch(what: &str, expected: &Digest, found: &Digest) -> Error {
    Error::integrity(format!("{what} is not what was locked: expected {expected}, found {found}"))
}

#[cfg(test)]
pub(super) mod tests;
