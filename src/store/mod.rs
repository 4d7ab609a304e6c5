//! The content-addressed store: every skill that was ever fetched, by its tree digest.
//!
//! ```text
//! store-v2/sha256/ab/cdef...    one file for each tree, see [`object`]
//! store-v2/stage-.../           what is being written; rubbish once its writer is gone
//! store-v2/kept/<digest>/       a copy that a user edited: files and directories, for people to look into
//! ```
//!
//! The time of an object says when it was used last. Whoever writes or reads one shares a lock on the
//! store; [`Store::lock`] has it alone, so that nothing is taken away from under a reader.
//!
//! The version in the name rises with any change of this layout. Of an older store only the copies that
//! a user edited are looked at, see `old`.

mod care;
pub mod downloads;
mod object;
mod old;

pub use care::{Kept, StoreLock};
pub use old::OldStore;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Base, DirLock, Kind, Looked};
use crate::refusal::Limits;
use crate::settings::Settings;
use crate::tree::{FileSet, Held, MOST, ReadError};

const STAGE_PREFIX: &str = "stage-";
const KEPT: &str = "kept";
/// The most bytes of an object that is read into memory: a tree that is held, and a header.
const MOST_OBJECT: u64 = MOST + (1 << 20);

/// The stores whose trees this process reads. One lock for each, however many trees there are.
static READ: Mutex<BTreeMap<PathBuf, Weak<DirLock>>> = Mutex::new(BTreeMap::new());

/// The store of one user.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// The store while many trees are read or written: nothing is taken away from it meanwhile.
#[derive(Debug)]
pub struct Session {
    store: Store,
    base: Base,
    /// Where objects are written, to be moved to their place; none for readers.
    stage: Option<tempfile::TempDir>,
    stage_name: String,
    next: AtomicUsize,
    lock: Option<Arc<DirLock>>,
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

    /// Where the tree with `digest` lies, or would lie: a file.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        self.root.join(below(digest))
    }

    /// Returns the tree with `digest`, if it is here. Its names and sizes are checked, its bytes are not
    /// yet: whoever writes them somewhere compares the digest of what was written.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is not that tree.
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

    /// The tree with `digest`, if a user's copy happens to be that.
    fn get_kept(&self, digest: &Digest) -> Result<Option<FileSet>> {
        let path = self.kept_path(digest);
        match fs::kind(&path)? {
            Some(Kind::Directory) => read(&path).map(Some),
            _ => Ok(None),
        }
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

    /// Opens the store to read many trees; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened.
    pub fn reader(&self) -> Result<Option<Session>> {
        if fs::kind(&self.root)?.is_none() {
            return Ok(None);
        }
        let lock = self.reading();
        Ok(Some(Session {
            store: self.clone(),
            base: Base::open(&self.root)?,
            stage: None,
            stage_name: String::new(),
            next: AtomicUsize::new(0),
            lock,
        }))
    }

    /// Opens the store to write many trees, and to read them. It is created where there is none.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn writer(&self) -> Result<Session> {
        self.sweep();
        // Also where the system has no locks, the directory is made.
        let lock = DirLock::shared(&self.root)?;
        let lock = self.reading().unwrap_or_else(|| Arc::new(lock));
        let stage = fs::temp_dir_in(&self.root, STAGE_PREFIX)?;
        let stage_name = stage.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Session {
            store: self.clone(),
            base: Base::open(&self.root)?,
            stage: Some(stage),
            stage_name,
            next: AtomicUsize::new(0),
            lock: Some(lock),
        })
    }

    /// Writes `set` into the store and returns its digest.
    ///
    /// # Errors
    ///
    /// As [`Session::put`].
    pub fn put(&self, set: &FileSet) -> Result<Digest> {
        let session = self.writer()?;
        match set.hold()? {
            Some(held) => session.put(&held),
            None => session.put_large(set),
        }
    }

    /// Keeps `set`, a copy that a user edited, and returns where. Nothing takes it away again.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written or the content cannot be delivered; nothing is left behind.
    pub fn keep(&self, set: &FileSet) -> Result<PathBuf> {
        let session = self.writer()?;
        let stage = session.stage.as_ref().map_or(self.root.as_path(), tempfile::TempDir::path);
        let fresh = stage.join(KEPT);
        let digest = fs::materialize(set, &fresh)?;
        let place = self.kept_path(&digest);
        fs::create_dir_all(&self.root.join(KEPT))?;
        for other in self.places_for(&digest) {
            match fs::kind(&other)? {
                None => {
                    fs::move_new(&fresh, &other)?;
                    // What is fetched can be fetched again; this may soon be the only copy.
                    fs::sync_filesystem(&self.root)?;
                    return Ok(other);
                }
                Some(Kind::Directory) if is_whole(&other, &digest) => return Ok(other),
                // Somebody worked in it: that is a user's copy as well.
                Some(_) => {}
            }
        }
        Err(Error::io(format!("`{}` and all places like it are taken", place.display())))
    }

    /// Where a copy with `digest` may be kept, the usual place first.
    fn places_for(&self, digest: &Digest) -> impl Iterator<Item = PathBuf> {
        let place = self.kept_path(digest);
        let other = place.clone();
        std::iter::once(place).chain((2..100).map(move |number| {
            let mut name = other.clone().into_os_string();
            name.push(format!("-{number}"));
            name.into()
        }))
    }

    /// Where a copy of a user with `digest` is kept.
    fn kept_path(&self, digest: &Digest) -> PathBuf {
        self.root.join(KEPT).join(digest.hex())
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

impl Session {
    /// Writes `held` into the store and returns its digest. It is written beside its place and moved there
    /// whole; an undamaged one that is there stays.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written; nothing is left behind.
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
            // The first error is the one to tell.
            let _ = fs::remove_tree(&self.store.root.join(&fresh));
        })?;
        Ok(digest)
    }

    /// Writes `set`, which is too large to be held, into the store and returns its digest.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written or the content cannot be delivered; nothing is left behind.
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
            // The first error is the one to tell.
            let _ = fs::remove_tree(&path);
        })
    }

    /// A name in the stage that was not used yet.
    fn fresh(&self) -> String {
        format!("{}/{}", self.stage_name, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Moves what was just written to its place: over a damaged object, a link, or the same one of a process
    /// that was faster.
    fn settle(&self, fresh: &str, place: &str) -> Result<()> {
        use std::io::ErrorKind as Io;
        let path = self.store.root.join(place);
        let moved = self.base.rename(fresh, place).or_else(|error| {
            match error.source.kind() {
                Io::NotFound => path.parent().map_or(Ok(()), fs::create_dir_all)?,
                Io::IsADirectory | Io::DirectoryNotEmpty | Io::NotADirectory => fs::remove_tree(&path)?,
                _ => return Err(error),
            }
            self.base.rename(fresh, place)
        });
        Ok(moved?)
    }

    /// Returns the tree with `digest`, whose bytes were checked; `None` where it is not here, or is too large
    /// to be held.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is not that tree.
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

    /// As [`Store::get`].
    ///
    /// # Errors
    ///
    /// As [`Store::get`].
    pub fn get(&self, digest: &Digest) -> Result<Option<FileSet>> {
        self.store.get(digest)
    }

    /// The files of `held`, which was put or taken here, without their bytes: these are read again.
    pub fn stored(&self, held: &Held) -> FileSet {
        let set = object::stored(held, &self.store.path(&held.digest()));
        match &self.lock {
            Some(lock) => set.guarded(Arc::clone(lock) as _),
            None => set,
        }
    }
}

/// Where the object of `digest` lies below the store.
fn below(digest: &Digest) -> String {
    let hex = digest.hex();
    format!("sha256/{}/{}", &hex[..2], &hex[2..])
}

/// Reads the files of the skill in directory `path`.
///
/// # Errors
///
/// Where it cannot be read, or holds what no skill may have.
pub fn read(path: &Path) -> Result<FileSet> {
    Ok(fs::tree_of(path)?.skill("", &Limits::default())?)
}

/// Whether the directory `place` holds the tree with `digest`.
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
        let store = Store { root: dir.path().join("store-v2") };
        let digest = store.put(&set("x")).expect("writes");
        assert_eq!(store.put(&set("x")).expect("again"), digest);
        assert_eq!(store.get(&digest).expect("reads").expect("is there").digest().expect("reads"), digest);
        assert!(store.get(&Digest::of(b"other")).expect("reads").is_none());
        assert_eq!(fs::list_dir(&store.root).expect("lists"), ["sha256"], "no stage is left");
        store.discard(&digest).expect("removes");
        assert!(store.get(&digest).expect("reads").is_none());
    }

    /// THREATS: for every kind of damage, nothing is read, and what is put is there afterwards.
    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages files")]
    fn a_damaged_object_is_replaced() {
        use std::fs as disk;
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        let digest = store.put(&set("x")).expect("writes");
        let place = store.path(&digest);
        let whole = disk::read(&place).expect("reads");
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let remove = || disk::remove_file(&place).expect("removes");
        let damages: [(&str, &dyn Fn()); 8] = [
            ("another content", &|| disk::write(&place, flipped(whole.len() - 1)).expect("writes")),
            ("another header", &|| disk::write(&place, flipped(30)).expect("writes")),
            ("cut off", &|| disk::write(&place, &whole[..whole.len() - 1]).expect("writes")),
            ("empty", &|| disk::write(&place, "").expect("writes")),
            ("a byte too many", &|| disk::write(&place, [&whole[..], b"x"].concat()).expect("writes")),
            ("missing", &|| remove()),
            ("a directory in its place", &|| {
                remove();
                disk::create_dir_all(place.join("sub")).expect("creates");
            }),
            ("a link in its place", &|| {
                remove();
                disk::write(dir.path().join("elsewhere"), &whole).expect("writes");
                std::os::unix::fs::symlink(dir.path().join("elsewhere"), &place).expect("links");
            }),
        ];
        for (what, damage) in damages {
            damage();
            assert!(!store.is_whole(&digest), "{what}");
            let reader = store.reader().expect(what).expect(what);
            assert!(!matches!(reader.take(&digest), Ok(Some(_))), "{what}");
            drop(reader);
            assert_eq!(store.put(&set("x")).expect(what), digest, "{what}");
            let there = store.get(&digest).expect(what).expect(what);
            assert_eq!(there.digest().expect(what), digest, "{what}");
            assert_eq!(disk::read(&place).expect(what), whole, "{what}");
            assert_eq!(fs::list_dir(&store.root).expect("lists"), ["sha256"], "{what}");
        }
    }

    #[test]
    fn what_is_too_large_to_be_held_is_put_all_the_same() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        let large = set(&"x".repeat(usize::try_from(MOST).expect("fits") + 1));
        for _ in 0..2 {
            let digest = store.put(&large).expect("writes");
            assert!(
                store.reader().expect("opens").expect("is there").take(&digest).expect("reads").is_none()
            );
            let there = store.get(&digest).expect("reads").expect("is there");
            assert_eq!((there.digest().expect("reads"), large.digest().expect("reads")), (digest, digest));
            assert_eq!(fs::list_dir(&store.root).expect("lists"), ["sha256"], "no stage is left");
        }
    }

    #[test]
    fn what_is_read_from_a_session_is_what_was_put() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        assert!(store.reader().expect("nothing").is_none());
        let held = set("x").hold().expect("reads").expect("small");
        let digest = store.writer().expect("opens").put(&held).expect("writes");
        let session = store.reader().expect("opens").expect("is there");
        let taken = session.take(&digest).expect("reads").expect("is there");
        assert_eq!((taken.digest(), session.stored(&taken).digest().expect("reads")), (digest, digest));
        assert!(session.take(&Digest::of(b"other")).expect("reads").is_none());
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
        let store = Store { root: dir.path().join("store-v2") };
        let node = Node::File { executable: false, size: 99 };
        let entries = BTreeMap::from([("SKILL.md".to_owned(), Entry { node, id: 0 })]);
        let lying = Tree::new(entries, Arc::new(Memory(vec![b"short".to_vec()])));
        assert!(store.put(&lying.skill("", &Limits::default()).expect("names are fine")).is_err());
        assert!(fs::list_dir(&store.root).expect("lists").is_empty());
    }
}
