//! The content-addressed store: every skill that was ever fetched, by its tree digest.
//!
//! ```text
//! store-v1/sha256/ab/cdef.../   an unpacked, immutable tree
//! store-v1/stage-.../           a tree that is being written; rubbish once its writer is gone
//! store-v1/kept/<digest>        an empty file: this tree is a copy that a user edited
//! ```
//!
//! The time of a tree's directory says when it was used last. Whoever writes or reads a tree shares a
//! lock on the store; [`Store::lock`] has it alone, so that nothing is taken away from under a reader.
//!
//! The version in the name rises with any change of this layout; an older store is then left alone.

mod care;
pub mod downloads;

pub use care::StoreLock;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock, Kind};
use crate::refusal::Limits;
use crate::settings::Settings;
use crate::tree::FileSet;

const STAGE_PREFIX: &str = "stage-";
const KEPT: &str = "kept";

/// The stores whose trees this process reads. One lock for each, however many trees there are.
static READ: Mutex<BTreeMap<PathBuf, Weak<DirLock>>> = Mutex::new(BTreeMap::new());

/// The store of one user.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Returns the store that the settings name. Nothing is touched.
    ///
    /// # Errors
    ///
    /// Where there is no home directory to keep it in.
    pub fn new(settings: &Settings) -> Result<Self> {
        Ok(Self { root: settings.store_dir()? })
    }

    /// Where the tree with `digest` lies, or would lie.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        self.root.join("sha256").join(&hex[..2]).join(&hex[2..])
    }

    /// Returns the tree with `digest`, if it is here. Its bytes are not checked yet: whoever writes
    /// them somewhere compares the digest of what was written.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
    pub fn get(&self, digest: &Digest) -> Result<Option<FileSet>> {
        let path = self.path(digest);
        match fs::kind(&path)? {
            Some(Kind::Directory) => {}
            _ => return Ok(None),
        }
        let reading = self.reading();
        fs::touch(&path);
        let set = read(&path)?;
        Ok(Some(match reading {
            Some(lock) => set.guarded(lock),
            None => set,
        }))
    }

    /// The lock of this process's readers; `None` where there can be none.
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

    /// Writes `set` into the store and returns its digest.
    ///
    /// The tree is written beside its place and moved there whole. Another process that was faster
    /// has written the same bytes.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written or the content cannot be delivered; nothing is left behind.
    pub fn put(&self, set: &FileSet) -> Result<Digest> {
        self.sweep();
        let _writing = DirLock::shared(&self.root)?;
        let stage = fs::temp_dir_in(&self.root, STAGE_PREFIX)?;
        let fresh = stage.path().join("tree");
        let digest = fs::materialize(set, &fresh)?;
        self.settle(&fresh, &digest)?;
        Ok(digest)
    }

    /// Writes `set`, a copy that a user edited, into the store and returns its digest. Nothing takes it
    /// away again.
    ///
    /// # Errors
    ///
    /// As [`Store::put`].
    pub fn keep(&self, set: &FileSet) -> Result<Digest> {
        let digest = self.put(set)?;
        fs::mark(&self.mark(&digest))?;
        // What is fetched can be fetched again; this may soon be the only copy.
        fs::sync_filesystem(&self.root)?;
        Ok(digest)
    }

    fn mark(&self, digest: &Digest) -> PathBuf {
        self.root.join(KEPT).join(digest.hex())
    }

    /// Moves a tree that was just written to its place, unless an undamaged one is there.
    fn settle(&self, fresh: &Path, digest: &Digest) -> Result<()> {
        let place = self.path(digest);
        match fs::kind(&place)? {
            Some(Kind::Directory) if is_whole(&place, digest) => {
                fs::touch(&place);
                return Ok(());
            }
            // In exchange, so that a reader of the damaged one finds each of its files.
            Some(Kind::Directory) => return Ok(fs::exchange(fresh, &place)?),
            Some(_) => fs::remove_tree(&place)?,
            None => {}
        }
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        match fs::move_new(fresh, &place) {
            Err(error) if error.source.kind() != std::io::ErrorKind::AlreadyExists => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Removes the stages of writers that were killed. Living writers share the lock, so it can
    /// only be had whole when there are none.
    fn sweep(&self) {
        let Some(_alone) = DirLock::try_acquire(&self.root) else { return };
        for name in fs::list_dir(&self.root).unwrap_or_default() {
            if name.starts_with(STAGE_PREFIX) {
                // What cannot be removed now is rubbish that does no harm.
                let _ = fs::remove_tree(&self.root.join(name));
            }
        }
    }

    /// Removes the tree with `digest`, whose bytes were found to be other ones.
    ///
    /// # Errors
    ///
    /// Where it cannot be removed.
    pub fn discard(&self, digest: &Digest) -> Result<()> {
        Ok(fs::remove_tree(&self.path(digest))?)
    }
}

/// Reads the files of the skill in directory `path`.
///
/// # Errors
///
/// Where it cannot be read, or holds what no skill may have.
pub fn read(path: &Path) -> Result<FileSet> {
    Ok(fs::tree_of(path)?.skill("", &Limits::default())?)
}

fn is_whole(place: &Path, digest: &Digest) -> bool {
    read(place).is_ok_and(|set| set.digest().is_ok_and(|found| found == *digest))
}

/// The error for bytes that are not the ones that were locked.
pub fn mismatch(what: &str, expected: &Digest, found: &Digest) -> Error {
    Error::integrity(format!("{what} is not what was locked: {expected} was expected, {found} was found"))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::tree::{Entry, Memory, Node, Tree};

    pub(super) fn set(text: &str) -> FileSet {
        let node = Node::File { executable: false, size: text.len() as u64 };
        let entries = BTreeMap::from([("SKILL.md".to_owned(), Entry { node, id: 0 })]);
        Tree::new(entries, Arc::new(Memory(vec![text.as_bytes().to_vec()])))
            .skill("", &Limits::default())
            .expect("valid")
    }

    #[test]
    fn what_is_put_is_there_under_its_digest() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v1") };
        let digest = store.put(&set("x")).expect("writes");
        assert_eq!(store.put(&set("x")).expect("again"), digest);
        assert_eq!(store.get(&digest).expect("reads").expect("is there").digest().expect("reads"), digest);
        assert!(store.get(&Digest::of(b"other")).expect("reads").is_none());
        assert_eq!(fs::list_dir(&store.root).expect("lists"), ["sha256"], "no stage is left");
        store.discard(&digest).expect("removes");
        assert!(store.get(&digest).expect("reads").is_none());
    }

    /// THREATS: for every kind of damage, what is put is there afterwards.
    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages files")]
    fn a_damaged_object_is_replaced() {
        use std::fs as disk;
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v1") };
        let digest = store.put(&set("x")).expect("writes");
        let place = store.path(&digest);
        let file = place.join("SKILL.md");
        let damages: [(&str, &dyn Fn()); 7] = [
            ("other bytes", &|| disk::write(&file, "y").expect("writes")),
            ("cut off", &|| disk::write(&file, "").expect("writes")),
            ("a file is missing", &|| disk::remove_file(&file).expect("removes")),
            ("a file too many", &|| disk::write(place.join("more"), "").expect("writes")),
            ("a link inside", &|| std::os::unix::fs::symlink("/etc/passwd", place.join("l")).expect("links")),
            ("a file in its place", &|| {
                disk::remove_dir_all(&place).expect("removes");
                disk::write(&place, "x").expect("writes");
            }),
            ("a link in its place", &|| {
                disk::remove_dir_all(&place).expect("removes");
                std::os::unix::fs::symlink(dir.path(), &place).expect("links");
            }),
        ];
        for (what, damage) in damages {
            damage();
            assert_eq!(store.put(&set("x")).expect(what), digest, "{what}");
            let there = store.get(&digest).expect(what).expect(what);
            assert_eq!(there.digest().expect(what), digest, "{what}");
            assert_eq!(fs::list_dir(&store.root).expect("lists"), ["sha256"], "{what}");
        }
    }

    #[test]
    fn the_stage_of_a_killed_writer_is_swept_and_that_of_a_living_one_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().to_owned() };
        let left = dir.path().join("stage-left");
        fs::create_dir(&left).expect("creates");
        let living = DirLock::shared(dir.path()).expect("locks");
        store.put(&set("x")).expect("writes");
        assert!(fs::kind(&left).expect("looks").is_some());
        drop(living);
        store.put(&set("y")).expect("writes");
        assert!(fs::kind(&left).expect("looks").is_none());
    }

    #[test]
    fn content_that_cannot_be_delivered_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v1") };
        let node = Node::File { executable: false, size: 99 };
        let entries = BTreeMap::from([("SKILL.md".to_owned(), Entry { node, id: 0 })]);
        let lying = Tree::new(entries, Arc::new(Memory(vec![b"short".to_vec()])));
        assert!(store.put(&lying.skill("", &Limits::default()).expect("names are fine")).is_err());
        assert!(fs::list_dir(&store.root).expect("lists").is_empty());
    }
}
