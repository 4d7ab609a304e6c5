//! An open store, to read or write many trees.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{MOST_OBJECT, Store, below, object};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Base, DirLock, Looked};
use crate::interrupt::{self, Rest};
use crate::tree::{FileSet, Held, MOST, ReadError};

/// An open store, to read or write many trees. Nothing is removed from it while this value exists.
#[derive(Debug)]
pub struct Session {
    store: Store,
    base: Base,
    /// The directory in which objects are written before they are moved into place; `None` for readers.
    stage: Option<tempfile::TempDir>,
    stage_name: String,
    next: AtomicUsize,
    lock: Option<Arc<DirLock>>,
    /// Makes sure that the stage is removed if the user interrupts the program.
    _rest: Option<Rest>,
}

impl Session {
    /// Opens `store`, on which `lock` is held; new objects are written to `stage` first.
    pub(super) fn new(
        store: &Store,
        stage: Option<tempfile::TempDir>,
        lock: Option<Arc<DirLock>>,
    ) -> Result<Self> {
        let name = stage.as_ref().and_then(|stage| stage.path().file_name());
        let clear = stage.as_ref().map(|stage| stage.path().to_owned());
        Ok(Self {
            store: store.clone(),
            base: Base::open(&store.root)?,
            stage_name: name.unwrap_or_default().to_string_lossy().into_owned(),
            stage,
            next: AtomicUsize::new(0),
            lock,
            _rest: clear.map(|stage| interrupt::on_stop(move || fs::clear_away(&stage))),
        })
    }

    /// Returns the directory in which objects are written before they are moved into place.
    pub(super) fn stage(&self) -> &Path {
        self.stage.as_ref().map_or(&self.store.root, tempfile::TempDir::path)
    }

    /// Writes `held` into the store and returns its digest. The object is written to the stage and moved into place in
    /// one step; an intact object that already exists stays.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written; nothing is left behind.
    pub fn put(&self, held: &Held) -> Result<Digest> {
        let digest = held.digest();
        let place = below(&digest);
        let mut there = Vec::new();
        if let Ok(Looked::Read) = self.base.read_into(place.as_ref(), MOST_OBJECT, &mut there)
            && object::is_same(&there, held)
        {
            self.base.touch(place.as_ref());
            return Ok(digest);
        }
        let fresh = self.fresh();
        let (header, contents) = object::parts(held);
        let written = self.base.write_new(&fresh, std::iter::once(&header[..]).chain(contents));
        written.map_err(Error::from).and_then(|()| self.settle(&fresh, &place)).inspect_err(|_| {
            // The first error is the one to report.
            let _ = fs::remove_tree(&self.store.root.join(&fresh));
        })?;
        Ok(digest)
    }

    /// Writes `set`, which is too large to hold in memory, into the store and returns its digest.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written or the content cannot be read; nothing is left behind.
    pub fn put_large(&self, set: &FileSet) -> Result<Digest> {
        let fresh = self.fresh();
        let path = self.store.root.join(&fresh);
        let written = fs::write_file(&path, |file| object::write(set, file).map_err(Error::from));
        let digest = written.and_then(|digest| {
            if self.store.is_whole(&digest) {
                fs::touch(&self.store.path(&digest));
                fs::remove_tree(&path).map_err(Error::from)?;
            } else {
                self.settle(&fresh, &below(&digest))?;
            }
            Ok(digest)
        });
        digest.inspect_err(|_| {
            // The first error is the one to report.
            let _ = fs::remove_tree(&path);
        })
    }

    /// Returns an unused name in the stage.
    fn fresh(&self) -> String {
        format!("{}/{}", self.stage_name, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Moves a newly written object into place, over a damaged object, a link, or the same object from a faster
    /// process.
    fn settle(&self, fresh: &str, place: &str) -> Result<()> {
        use std::io::ErrorKind as Io;
        let moved = self.base.rename(fresh, place).or_else(|error| {
            let path = self.store.root.join(place);
            match error.source.kind() {
                Io::NotFound => path.parent().map_or(Ok(()), fs::create_dir_all)?,
                Io::IsADirectory | Io::DirectoryNotEmpty | Io::NotADirectory => fs::remove_tree(&path)?,
                _ => return Err(error),
            }
            self.base.rename(fresh, place)
        });
        Ok(moved?)
    }

    /// Returns the tree with `digest`, with checked bytes; `None` if it is not in the store, or is too large to hold in
    /// memory.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or is a different tree.
    pub fn take(&self, digest: &Digest) -> Result<Option<Held>> {
        let place = below(digest);
        let mut bytes = Vec::new();
        match self.base.read_into(place.as_ref(), MOST_OBJECT, &mut bytes)? {
            Looked::Read if bytes.len() as u64 <= MOST => {
                self.base.touch(place.as_ref());
                Ok(Some(object::read(bytes, digest).map_err(ReadError::from)?))
            }
            _ => Ok(None),
        }
    }

    /// Works like [`Store::get`].
    pub fn get(&self, digest: &Digest) -> Result<Option<FileSet>> {
        self.store.get(digest)
    }

    /// Returns the files of `held`, which was put or taken here, without their bytes, which are read again on demand.
    pub fn stored(&self, held: &Held) -> FileSet {
        let set = object::stored(held, self.store.path(&held.digest()));
        match &self.lock {
            Some(lock) => set.guarded(Arc::clone(lock) as _),
            None => set,
        }
    }
}
