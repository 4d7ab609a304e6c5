//! The stat cache: the digest of each tree of a scope, with the metadata of all its files and directories at
//! the time of reading. As long as the metadata is unchanged, the tree need not be read again.
//!
//! It works like git's index, and solves the same race in the same way: the clock for file times stands still
//! for some milliseconds, so a file that was changed about when it was read may change once more without a
//! trace. Such recent entries are not cached.
//!
//! A cache that cannot be read or written is treated as missing, which is not a failure. Code that is about
//! to discard what a user may have written does not consult it: `docs/design/install.md` lists that code.

mod bytes;
mod format;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use self::format::{Content, IndexEntry};
use super::on_disk::Inside;
use super::trees::{OnDiskTree, Trees};
use crate::digest::Digest;
use crate::fs::{self, Base, Kind, Moment};
use crate::settings::Settings;
use crate::store::downloads::INDEXES;
use crate::tree::leftovers::directories;

/// The largest index that is read or written, in bytes: some hundred thousand files.
const MAX_FILE: u64 = 64 << 20;

/// The index of one scope. Clones share the index; dropping the last one writes it, if it changed.
#[derive(Debug, Clone, Default)]
pub struct Index {
    shared: Option<Arc<Shared>>,
    trees: Arc<Trees>,
}

#[derive(Debug)]
struct Shared {
    file: PathBuf,
    root: PathBuf,
    /// `None` until it is first used.
    state: Mutex<Option<State>>,
}

#[derive(Debug)]
struct State {
    content: Content,
    changed: bool,
}

impl Index {
    /// Returns the index for what is below `root` and locked in `lockfile`, stored under the name `kind`.
    /// Reads nothing yet. Caches nothing if there is no place for it.
    pub fn new(settings: &Settings, root: &Path, kind: &str, lockfile: &Path) -> Self {
        let place = || {
            let root = fs::real_path(root).ok()??;
            let key = [kind.as_bytes(), b"\0", root.as_os_str().as_encoded_bytes()].concat();
            let file = settings.dirs.cache.as_ref()?.join(INDEXES).join(Digest::of(&key).hex());
            Some(Arc::new(Shared { file, root, state: Mutex::new(None) }))
        };
        Self { shared: place(), trees: Arc::new(Trees::new(settings, lockfile)) }
    }

    /// Returns an index that caches nothing and has the same lockfile.
    #[must_use]
    pub fn forgetful(&self) -> Self {
        Self { shared: None, trees: Arc::clone(&self.trees) }
    }

    /// Returns the reader for trees that are not cached.
    pub fn trees(&self) -> &Trees {
        &self.trees
    }

    /// Returns the digest of the skill in directory `path`, or `None` if it cannot be read as one. Reads it
    /// only if anything in it has changed since it was last read.
    pub fn digest_of(&self, path: &Path) -> Option<Digest> {
        let base = path.parent().and_then(|parent| Base::open(parent).ok());
        match (base, path.file_name().and_then(|name| name.to_str())) {
            (Some(base), Some(name)) => self.inside(&base, name).digest,
            _ => self.trees.digest(path),
        }
    }

    /// Returns the leftovers of tools in the directory `path`, whose name is that of the skill. Searches it
    /// only if anything in it has changed since it was last read.
    pub fn leftovers(&self, path: &Path) -> Vec<String> {
        let base = path.parent().and_then(|parent| Base::open(parent).ok());
        let name = path.file_name().and_then(|name| name.to_str());
        let known = base.zip(name).and_then(|(base, name)| {
            let key = base.path().join(name);
            self.with(Moment::now(), |state| {
                let entry = state.content.trees.get(key.as_os_str().as_encoded_bytes())?;
                is_same(entry, &base, name).then(|| entry.leftovers())
            })?
        });
        known.unwrap_or_else(|| self.trees.leftovers(path))
    }

    /// Works like [`Index::digest_of`], for the whole content of the skill `name` in the directory `base`.
    pub fn inside(&self, base: &Base, name: &str) -> Inside {
        self.inside_at(base, name, Moment::now())
    }

    /// Calls `work` with the cached state. Returns `None` if nothing is ever cached.
    fn with<T>(&self, now: Moment, work: impl FnOnce(&mut State) -> T) -> Option<T> {
        let shared = self.shared.as_ref()?;
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        Some(work(state.get_or_insert_with(|| shared.load(now))))
    }

    fn inside_at(&self, base: &Base, name: &str, now: Moment) -> Inside {
        let path = base.path().join(name);
        let Some(shared) = &self.shared else { return self.trees.inside(&path) };
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state.get_or_insert_with(|| shared.load(now));
        let key = path.as_os_str().as_encoded_bytes();
        if let Some(entry) = state.content.trees.get(key)
            && is_same(entry, base, name)
        {
            return Inside { digest: Some(entry.digest), repository: entry.has_repository() };
        }
        // Taken before reading the bytes: the next check notices a change while they are read.
        let seen = fs::stats_but(&path, directories()).ok();
        let read = self.trees.read(&path).ok();
        let found = match &read {
            Some(read) => Inside { digest: Some(read.digest), repository: read.repository },
            None => self.trees.inside(&path),
        };
        // Which leftovers belong to the tree depends on what is locked.
        let is_certain =
            |read: &OnDiskTree| read.leftovers.is_empty() || self.trees.is_locked(&path, &read.digest);
        let seen = seen.filter(|_| read.is_some_and(|read| !read.has_own && is_certain(&read)));
        let seen = seen.filter(|seen| seen.iter().all(|(_, stat)| stat.is_settled(now)));
        let entry = found.digest.zip(seen).and_then(|(digest, seen)| IndexEntry::new(digest, &seen));
        match entry {
            Some(entry) => {
                state.content.newest = state.content.newest.max(now);
                state.content.trees.insert(key.to_owned(), entry);
                state.changed = true;
            }
            None => state.changed |= state.content.trees.remove(key).is_some(),
        }
        found
    }
}

/// Reports whether the metadata of the tree `name` in `base` is unchanged. Creating, removing or renaming an
/// entry changes the time of its directory, so its names need not be read.
fn is_same(entry: &IndexEntry, base: &Base, name: &str) -> bool {
    let mut path = name.as_bytes().to_vec();
    entry.nodes().all(|(below, seen)| {
        path.truncate(name.len());
        if !below.is_empty() {
            path.push(b'/');
            path.extend(below);
        }
        base.stat(&path) == Some(seen)
    })
}

impl Shared {
    fn load(&self, now: Moment) -> State {
        let root = self.root.as_os_str().as_encoded_bytes();
        let content = fs::read_capped(&self.file, MAX_FILE).ok().flatten();
        let content = content.and_then(Content::decode).filter(|content| {
            // The clock was set back: new files may get the times that old ones had.
            content.root == root && content.newest <= now
        });
        let empty = || Content {
            newest: Moment { seconds: 0, nanoseconds: 0 },
            root: root.to_owned(),
            trees: BTreeMap::new(),
        };
        State { content: content.unwrap_or_else(empty), changed: false }
    }
}

impl Drop for Shared {
    /// Writes what changed. If that fails, the next run reads the trees again.
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(State { content, changed: true }) = state else { return };
        content.trees.retain(|path, _| {
            let path = std::str::from_utf8(path).map(Path::new);
            path.is_ok_and(|path| matches!(fs::kind(path), Ok(Some(Kind::Directory))))
        });
        if let Some(bytes) = content.encode().filter(|bytes| bytes.len() as u64 <= MAX_FILE) {
            let _ = fs::write_small(&self.file, &bytes);
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
