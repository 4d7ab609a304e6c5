//! Looking after the store: what lies in it, whether it is whole, and what may go.

use std::path::{Path, PathBuf};

use super::{KEPT, READ, STAGE_PREFIX, Store, is_whole};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock, Kind};

/// The store, which no other process writes to or reads from while this value lives.
#[derive(Debug)]
pub struct StoreLock {
    store: Store,
    _lock: DirLock,
}

impl Store {
    /// The directory of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The digests of all trees, sorted. What has another name than a tree can have is passed over.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
    pub fn objects(&self) -> Result<Vec<Digest>> {
        let all = self.root.join("sha256");
        let mut digests = Vec::new();
        for start in fs::list_dir(&all)? {
            for rest in fs::list_dir(&all.join(&start))? {
                let digest = format!("sha256:{start}{rest}").parse();
                digests
                    .extend(digest.ok().filter(|digest| self.path(digest) == all.join(&start).join(&rest)));
            }
        }
        digests.sort_unstable();
        Ok(digests)
    }

    /// Whether the tree with `digest` is here and has it.
    pub fn is_whole(&self, digest: &Digest) -> bool {
        let place = self.path(digest);
        matches!(fs::kind(&place), Ok(Some(Kind::Directory))) && is_whole(&place, digest)
    }

    /// Whether the tree with `digest` is a copy that a user edited.
    pub fn is_kept(&self, digest: &Digest) -> bool {
        !matches!(fs::kind(&self.mark(digest)), Ok(None))
    }

    /// What killed writers left; nothing while somebody may be writing.
    pub fn dead_stages(&self) -> Vec<PathBuf> {
        let Some(_alone) = DirLock::try_acquire(&self.root) else { return Vec::new() };
        self.stages()
    }

    fn stages(&self) -> Vec<PathBuf> {
        let names = fs::list_dir(&self.root).unwrap_or_default();
        names.iter().filter(|name| name.starts_with(STAGE_PREFIX)).map(|name| self.root.join(name)).collect()
    }

    /// Waits until nobody writes to the store or reads from it, and has it alone; `None` where there is
    /// no store. `on_wait` is called once if somebody does.
    ///
    /// # Errors
    ///
    /// Where the store cannot be opened, or this process itself reads from it.
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
    /// Takes the tree with `digest` away, at once for whoever looks for it. A process that is killed
    /// meanwhile leaves a stage, which the next one removes.
    ///
    /// # Errors
    ///
    /// Where it cannot be removed.
    pub fn take(&self, digest: &Digest) -> Result<()> {
        let place = self.store.path(digest);
        let stage = fs::temp_dir_in(&self.store.root, STAGE_PREFIX)?;
        fs::move_new(&place, &stage.path().join("tree"))?;
        fs::remove_tree(stage.path())?;
        if let Some(parent) = place.parent() {
            fs::remove_dir_if_empty(parent);
        }
        fs::remove_if_there(&self.store.mark(digest))?;
        fs::remove_dir_if_empty(&self.store.root.join(KEPT));
        Ok(())
    }

    /// What killed writers left.
    pub fn stages(&self) -> Vec<PathBuf> {
        self.store.stages()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::set;
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages files")]
    fn damage_is_seen_and_what_is_taken_is_gone() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v1") };
        assert!(store.lock(|| ()).expect("no store").is_none());
        assert!(fs::kind(&store.root).expect("looks").is_none(), "looking makes nothing");
        let (one, two) = (store.put(&set("one")).expect("writes"), store.keep(&set("two")).expect("writes"));
        fs::create_dir(&store.root.join("sha256/other")).expect("creates");
        let mut both = vec![one, two];
        both.sort_unstable();
        assert_eq!(store.objects().expect("lists"), both);
        assert!(store.is_whole(&one) && store.is_whole(&two));
        assert_eq!((store.is_kept(&one), store.is_kept(&two)), (false, true));
        std::fs::write(store.path(&one).join("SKILL.md"), "other").expect("writes");
        assert!(!store.is_whole(&one));
        let lock = store.lock(|| panic!("nobody has it")).expect("locks").expect("a store");
        lock.take(&one).expect("removes");
        assert_eq!(store.objects().expect("lists"), [two]);
        assert!(lock.stages().is_empty());
        lock.take(&two).expect("removes");
        assert!(!store.is_kept(&two));
    }

    #[test]
    fn nothing_is_taken_from_under_a_reader() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v1") };
        let digest = store.put(&set("one")).expect("writes");
        let read = store.get(&digest).expect("reads").expect("is there");
        let again = store.get(&digest).expect("reads").expect("is there");
        drop(again);
        assert!(DirLock::try_acquire(&store.root).is_none(), "other processes wait");
        assert!(store.lock(|| ()).is_err(), "this one would wait for itself");
        assert_eq!(read.digest().expect("reads"), digest);
        drop(read);
        assert!(store.lock(|| panic!("nobody has it")).expect("locks").is_some());
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
