//! Maintains the store: lists and checks its content, and removes what is not needed.

use std::path::{Path, PathBuf};

use super::kept::KEPT;
use super::old::OldStore;
use super::{READ, STAGE_PREFIX, Store, is_whole, object};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock};
use crate::workers::{self, FEW};

/// An exclusive lock on the store: no other process writes to it or reads from it while this value exists.
#[derive(Debug)]
pub struct StoreLock {
    store: Store,
    _lock: DirLock,
}

/// A copy that a user edited. Nothing ever removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTree {
    /// The path.
    pub path: PathBuf,
    /// The digest when it was stored.
    pub digest: Digest,
}

impl KeptTree {
    /// Reports whether its files still have that digest.
    pub fn is_whole(&self) -> bool {
        is_whole(&self.path, &self.digest)
    }
}

impl Store {
    /// Returns the directory of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the digests of all trees, sorted. Entries whose names are not those of trees are ignored.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn objects(&self) -> Result<Vec<Digest>> {
        digests(&self.root)
    }

    /// Reports whether the tree with `digest` is here and matches it.
    pub fn is_whole(&self, digest: &Digest) -> bool {
        object::is_whole(&self.path(digest), digest)
    }

    /// Returns those of `digests` whose trees are missing or damaged, in order.
    pub fn damaged(&self, digests: Vec<Digest>) -> Vec<Digest> {
        let is_whole = workers::map(&digests, FEW, || (), |(), digest| self.is_whole(digest));
        let is_whole: Vec<bool> = is_whole.collect();
        digests.into_iter().zip(is_whole).filter(|(_, whole)| !whole).map(|(digest, _)| digest).collect()
    }

    /// Returns the copies that a user edited, sorted by digest; also those in an older store.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn kept(&self) -> Result<Vec<KeptTree>> {
        let dir = self.root.join(KEPT);
        let mut kept = self.old().kept()?;
        for name in fs::list_dir(&dir)? {
            if let Some(digest) = name.get(..64).and_then(Digest::from_hex) {
                kept.push(KeptTree { path: dir.join(name), digest });
            }
        }
        kept.sort_by(|a, b| (a.digest, &a.path).cmp(&(b.digest, &b.path)));
        Ok(kept)
    }

    /// Returns the store of an older version, which may not be there.
    pub fn old(&self) -> OldStore {
        OldStore::beside(&self.root)
    }

    /// Returns the stages that killed writers left; none while another process may be writing.
    pub fn dead_stages(&self) -> Vec<PathBuf> {
        let Some(_alone) = DirLock::try_acquire(&self.root) else { return Vec::new() };
        self.stages()
    }

    fn stages(&self) -> Vec<PathBuf> {
        let names = fs::list_dir(&self.root).unwrap_or_default();
        names.iter().filter(|name| name.starts_with(STAGE_PREFIX)).map(|name| self.root.join(name)).collect()
    }

    /// Waits until no other process writes to the store or reads from it, and locks it exclusively; `None` if there is
    /// no store. `on_wait` is called once if it has to wait.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, or this process itself reads from it.
    pub fn lock(&self, on_wait: impl Fn()) -> Result<Option<StoreLock>> {
        if fs::kind(&self.root)?.is_none() {
            return Ok(None);
        }
        let read = READ.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if read.get(&self.root).is_some_and(|lock| lock.strong_count() > 0) {
            return Err(Error::io(format!("`{}` is being read", self.root.display())));
        }
        drop(read);
        let lock = DirLock::acquire(&self.root, on_wait)?;
        Ok(Some(StoreLock { store: self.clone(), _lock: lock }))
    }
}

impl StoreLock {
    /// Removes the tree with `digest`.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be removed.
    pub fn take(&self, digest: &Digest) -> Result<()> {
        let place = self.store.path(digest);
        fs::remove_tree(&place)?;
        if let Some(parent) = place.parent() {
            fs::remove_dir_if_empty(parent);
        }
        Ok(())
    }

    /// Returns the stages that killed writers left.
    pub fn stages(&self) -> Vec<PathBuf> {
        self.store.stages()
    }
}

/// Returns the digests of the trees in the store at `root`, sorted.
pub(super) fn digests(root: &Path) -> Result<Vec<Digest>> {
    let all = root.join("sha256");
    let mut digests = Vec::new();
    for start in fs::list_dir(&all)? {
        for rest in fs::list_dir(&all.join(&start))? {
            digests.extend(Digest::from_hex(&format!("{start}{rest}")).filter(|_| start.len() == 2));
        }
    }
    digests.sort_unstable();
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use super::super::tests::set;
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages files")]
    fn damage_is_seen_and_what_is_taken_is_gone() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        assert!(store.lock(|| ()).expect("no store").is_none());
        assert!(fs::kind(&store.root).expect("looks").is_none(), "looking makes nothing");
        let (one, two) = (store.put(&set("one")).expect("writes"), store.put(&set("two")).expect("writes"));
        fs::create_dir(&store.root.join("sha256/other")).expect("creates");
        let mut both = vec![one, two];
        both.sort_unstable();
        assert_eq!(store.objects().expect("lists"), both);
        assert!(store.is_whole(&one) && store.is_whole(&two));
        std::fs::write(store.path(&one), "other").expect("writes");
        assert!(!store.is_whole(&one));
        let lock = store.lock(|| panic!("the lock is free")).expect("locks").expect("a store");
        lock.take(&one).expect("removes");
        assert_eq!(store.objects().expect("lists"), [two]);
        assert!(lock.stages().is_empty());
    }

    /// A user's files stay in place for the user to examine, and changes that the user makes there are not overwritten.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test works in a kept copy")]
    fn a_kept_copy_is_a_directory_that_nothing_replaces() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        let kept = store.keep(&set("mine"), None).expect("writes");
        assert_eq!(std::fs::read(kept.join("SKILL.md")).expect("reads"), b"mine");
        assert_eq!(store.keep(&set("mine"), None).expect("writes"), kept, "it already exists");
        let digest = set("mine").digest().expect("reads");
        assert!(store.objects().expect("lists").is_empty());
        assert_eq!(store.get(&digest).expect("reads").expect("is there").digest().expect("reads"), digest);
        std::fs::write(kept.join("SKILL.md"), "more work").expect("writes");
        let again = store.keep(&set("mine"), None).expect("writes");
        assert_ne!(again, kept);
        assert_eq!(std::fs::read(kept.join("SKILL.md")).expect("reads"), b"more work");
        let all = store.kept().expect("lists");
        let whole: Vec<_> = all.iter().map(|kept| (kept.path.clone(), kept.is_whole())).collect();
        assert_eq!(whole, [(kept, false), (again, true)]);
    }

    #[test]
    fn nothing_is_taken_from_under_a_reader() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        let digest = store.put(&set("one")).expect("writes");
        let read = store.get(&digest).expect("reads").expect("is there");
        let again = store.get(&digest).expect("reads").expect("is there");
        drop(again);
        assert!(DirLock::try_acquire(&store.root).is_none(), "other processes wait");
        assert!(store.lock(|| ()).is_err(), "this one would wait for itself");
        assert_eq!(read.digest().expect("reads"), digest);
        drop(read);
        assert!(store.lock(|| panic!("the lock is free")).expect("locks").is_some());
    }

    #[test]
    fn stages_are_dead_once_nobody_writes() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().to_owned() };
        fs::create_dir(&dir.path().join("stage-left")).expect("creates");
        let living = DirLock::shared(dir.path()).expect("locks");
        assert!(store.dead_stages().is_empty());
        drop(living);
        assert_eq!(store.dead_stages(), [dir.path().join("stage-left")]);
    }
}
