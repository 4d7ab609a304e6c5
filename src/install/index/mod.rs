//! The stat cache: the digest of each tree of a scope, with what the file system told of all its files and
//! directories when it was read. While that is the same, the tree need not be read again.
//!
//! It is git's index, with git's race handled in git's way: the times of files are those of a clock that
//! stands still for some milliseconds, so a file that was changed at about the time when it was read may
//! be changed once more without a trace. What is that young is not remembered.
//!
//! A cache that cannot be read or written is none, and no failure. Who is about to throw away what a user
//! may have written does not ask it: `docs/design/install.md` says who does.

pub(crate) mod bytes;
mod format;
pub mod order;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use self::format::{Content, Entry};
use self::order::{Order, SeenDir};
use super::state::digest_of;
use crate::digest::Digest;
use crate::fs::{self, Base, FileStat, Kind, Moment};
use crate::settings::Settings;
use crate::store::downloads::INDEXES;

/// The largest index that is read or written, in bytes: some hundred thousand files.
const MAX_FILE: u64 = 64 << 20;

/// How much older than the reading a time must be: no clock of a kernel stands still for longer.
const TICK: u32 = 100_000_000;
/// The same where times are whole seconds, of which some file systems only have the even ones.
const COARSE: i64 = 2;

/// The index of one scope. Clones are the same index; the last one that goes writes it, if it changed.
#[derive(Debug, Clone, Default)]
pub struct Index {
    shared: Option<Arc<Shared>>,
}

#[derive(Debug)]
struct Shared {
    file: PathBuf,
    root: PathBuf,
    /// `None` until it is asked.
    state: Mutex<Option<State>>,
}

#[derive(Debug)]
struct State {
    content: Content,
    changed: bool,
}

impl Index {
    /// The index for what is below `root`, kept under the name `kind`. Nothing is read yet. It remembers
    /// nothing where there is no place for it.
    pub fn new(settings: &Settings, root: &Path, kind: &str) -> Self {
        let place = || {
            let root = fs::real_path(root).ok()??;
            let key = [kind.as_bytes(), b"\0", root.as_os_str().as_encoded_bytes()].concat();
            let file = settings.dirs.cache.as_ref()?.join(INDEXES).join(Digest::of(&key).hex());
            Some(Arc::new(Shared { file, root, state: Mutex::new(None) }))
        };
        Self { shared: place() }
    }

    /// The digest of the skill in directory `path`, or `None` where it cannot be read as one. It is read
    /// if anything of it changed since it was read last.
    pub fn digest_of(&self, path: &Path) -> Option<Digest> {
        let base = path.parent().and_then(|parent| Base::open(parent).ok());
        match (base, path.file_name().and_then(|name| name.to_str())) {
            (Some(base), Some(name)) => self.digest_in(&base, name),
            _ => digest_of(path),
        }
    }

    /// As [`Index::digest_of`], of the skill `name` in the directory `base`.
    pub fn digest_in(&self, base: &Base, name: &str) -> Option<Digest> {
        self.digest_at(base, name, Moment::now())
    }

    /// What was seen when the scope was found in order, if that was remembered.
    pub fn order(&self) -> Option<Order> {
        self.with(Moment::now(), |state| state.content.order.clone())?
    }

    /// Remembers that the scope was found in order, as far as all that `order` tells of was seen no
    /// earlier than `since` and is old enough to be remembered.
    pub fn remember(&self, order: Order, since: Moment) {
        let is_old = |dir: &SeenDir| dir.there.as_ref().is_none_or(|(_, stat)| is_settled(stat, since));
        self.with(since, |state| {
            let is_known = |dir: &SeenDir| {
                dir.trees.iter().all(|(name, digest)| {
                    let path = Path::new(&dir.path).join(name);
                    let entry = state.content.trees.get(path.as_os_str().as_encoded_bytes());
                    entry.is_some_and(|entry| entry.digest == *digest)
                })
            };
            if order.dirs.iter().all(|dir| is_old(dir) && is_known(dir))
                && state.content.order.as_ref() != Some(&order)
            {
                state.content.newest = state.content.newest.max(since);
                state.content.order = Some(order);
                state.changed = true;
            }
        });
    }

    /// Whether the directory is as it was seen, and so are the trees in it that matter.
    pub fn is_as_seen(&self, seen: &SeenDir) -> bool {
        let Ok(real) = fs::real_path(Path::new(&seen.path)) else { return false };
        let (Some(real), Some((was, stat))) = (&real, &seen.there) else {
            return real.is_none() && seen.there.is_none();
        };
        let Some(base) = Base::open(Path::new(&seen.path)).ok().filter(|_| real == Path::new(was)) else {
            return false;
        };
        let same = |state: &mut State| {
            seen.trees.iter().all(|(name, digest)| {
                let path = base.path().join(name);
                let entry = state.content.trees.get(path.as_os_str().as_encoded_bytes());
                entry.is_some_and(|entry| entry.digest == *digest && is_same(entry, &base, name))
            })
        };
        base.stat(b".") == Some(*stat) && self.with(Moment::now(), same).unwrap_or(false)
    }

    /// Calls `work` with what is remembered; `None` where nothing ever is.
    fn with<T>(&self, now: Moment, work: impl FnOnce(&mut State) -> T) -> Option<T> {
        let shared = self.shared.as_ref()?;
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        Some(work(state.get_or_insert_with(|| shared.load(now))))
    }

    fn digest_at(&self, base: &Base, name: &str, now: Moment) -> Option<Digest> {
        let path = base.path().join(name);
        let Some(shared) = &self.shared else { return digest_of(&path) };
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state.get_or_insert_with(|| shared.load(now));
        let key = path.as_os_str().as_encoded_bytes();
        if let Some(entry) = state.content.trees.get(key)
            && is_same(entry, base, name)
        {
            return Some(entry.digest);
        }
        // Before the bytes: what changes while they are read is seen by the next one who looks.
        let seen = fs::stats(&path).ok();
        let digest = digest_of(&path);
        let seen = seen.filter(|seen| seen.iter().all(|(_, stat)| is_settled(stat, now)));
        let entry = digest.zip(seen).and_then(|(digest, seen)| Entry::new(digest, &seen));
        match entry {
            Some(entry) => {
                state.content.newest = state.content.newest.max(now);
                state.content.trees.insert(key.to_owned(), entry);
                state.changed = true;
            }
            None => state.changed |= state.content.trees.remove(key).is_some(),
        }
        digest
    }
}

/// Whether all that was seen of the tree `name` in `base` is as it was. A directory in which something
/// was made, removed or renamed has another time, so its names need not be read.
fn is_same(entry: &Entry, base: &Base, name: &str) -> bool {
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

/// Whether what `stat` was read of at `read` cannot have changed since without another time.
fn is_settled(stat: &FileStat, read: Moment) -> bool {
    [stat.modified, stat.changed].into_iter().all(|time| {
        let seconds = if time.nanoseconds == 0 { COARSE } else { 0 };
        let nanoseconds = time.nanoseconds + TICK;
        let then = Moment {
            seconds: time
                .seconds
                .saturating_add(seconds)
                .saturating_add((nanoseconds / 1_000_000_000).into()),
            nanoseconds: nanoseconds % 1_000_000_000,
        };
        then < read
    })
}

impl Shared {
    fn load(&self, now: Moment) -> State {
        let root = self.root.as_os_str().as_encoded_bytes();
        let content = fs::read_capped(&self.file, MAX_FILE).ok().flatten();
        let content = content.and_then(|bytes| Content::decode(&bytes)).filter(|content| {
            // The clock was set back: new files may get the times that old ones had.
            content.root == root && content.newest <= now
        });
        let empty = || Content {
            newest: Moment { seconds: 0, nanoseconds: 0 },
            root: root.to_owned(),
            trees: BTreeMap::new(),
            order: None,
        };
        State { content: content.unwrap_or_else(empty), changed: false }
    }
}

impl Drop for Shared {
    /// Writes what changed. Without it, the next run reads the trees again.
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

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "the tests change files behind the back of the index")]
mod tests {
    use std::fs as disk;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// The times of everything that the tests write are long gone then.
    const LATER: Moment = Moment { seconds: 1 << 40, nanoseconds: 0 };

    struct Place {
        dir: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let place = Self { dir: tempfile::tempdir().expect("a directory") };
            disk::create_dir_all(place.tree("a/references/deep")).expect("creates");
            disk::write(place.tree("a/SKILL.md"), "one").expect("writes");
            disk::write(place.tree("a/references/deep/x.md"), "two").expect("writes");
            place
        }

        fn tree(&self, path: &str) -> PathBuf {
            self.dir.path().join("skills").join(path)
        }

        fn index(&self) -> Index {
            let file = self.dir.path().join("cache/index");
            let shared = Shared { file, root: self.dir.path().to_owned(), state: Mutex::new(None) };
            Index { shared: Some(Arc::new(shared)) }
        }

        fn base(&self) -> Base {
            Base::open(&self.tree("")).expect("opens")
        }
    }

    impl Index {
        /// How many trees are remembered.
        fn count(&self) -> usize {
            let state = self.shared.as_ref().expect("a place").state.lock().expect("whole");
            state.as_ref().map_or(0, |state| state.content.trees.len())
        }
    }

    /// Issue 5: whatever changes a tree is seen, also where size and time of the file are as before.
    #[test]
    fn every_change_is_seen() {
        let same_times = |path: &Path, change: &dyn Fn()| {
            let before = disk::metadata(path).expect("is there").modified().expect("a time");
            change();
            let file = disk::File::options().append(true).open(path).expect("opens");
            file.set_modified(before).expect("sets the time");
        };
        type Change = (&'static str, &'static dyn Fn(&Place, &dyn Fn(&Path, &dyn Fn())));
        let changes: [Change; 9] = [
            ("an edit", &|place, _| disk::write(place.tree("a/SKILL.md"), "longer").expect("writes")),
            ("an edit of the same size with the old time", &|place, same_times| {
                let file = place.tree("a/SKILL.md");
                same_times(&file, &|| disk::write(&file, "eno").expect("writes"));
            }),
            ("another file with the same size and time", &|place, same_times| {
                let (file, new) = (place.tree("a/SKILL.md"), place.tree("new"));
                same_times(&file, &|| {
                    disk::write(&new, "eno").expect("writes");
                    disk::rename(&new, &file).expect("renames");
                });
            }),
            ("a file in a deep directory", &|place, _| {
                disk::write(place.tree("a/references/deep/y.md"), "").expect("writes");
            }),
            ("a file that is gone", &|place, _| {
                disk::remove_file(place.tree("a/references/deep/x.md")).expect("removes");
            }),
            ("another name", &|place, _| {
                let deep = place.tree("a/references/deep");
                disk::rename(deep.join("x.md"), deep.join("z.md")).expect("renames");
            }),
            ("another mode", &|place, _| {
                let mode = disk::Permissions::from_mode(0o755);
                disk::set_permissions(place.tree("a/SKILL.md"), mode).expect("chmod");
            }),
            ("a link in place of a file", &|place, _| {
                disk::rename(place.tree("a/references/deep/x.md"), place.tree("a/other.md"))
                    .expect("renames");
                symlink("../../SKILL.md", place.tree("a/references/deep/x.md")).expect("links");
            }),
            ("another tree in its place", &|place, same_times| {
                let new = place.tree("new");
                disk::create_dir_all(new.join("references/deep")).expect("creates");
                disk::write(new.join("SKILL.md"), "eno").expect("writes");
                disk::write(new.join("references/deep/x.md"), "two").expect("writes");
                same_times(&place.tree("a/SKILL.md"), &|| {
                    disk::rename(place.tree("a"), place.tree("old")).expect("renames");
                    disk::rename(&new, place.tree("a")).expect("renames");
                });
            }),
        ];
        for (what, change) in changes {
            let place = Place::new();
            let index = place.index();
            let before = index.digest_at(&place.base(), "a", LATER).expect(what);
            assert_eq!(index.count(), 1, "{what}");
            assert_eq!(index.digest_at(&place.base(), "a", LATER), Some(before), "{what}");
            change(&place, &same_times);
            let after = index.digest_at(&place.base(), "a", LATER);
            assert_eq!(after, digest_of(&place.tree("a")), "{what}");
            assert_ne!(after, Some(before), "{what}");
        }
    }

    /// Issue 5, git's race: what was changed about when it was read may change again within one tick.
    #[test]
    fn what_is_young_is_not_remembered() {
        let place = Place::new();
        let index = place.index();
        let file = place.tree("a/SKILL.md");
        for round in 0..50 {
            disk::write(&file, format!("{round:03}")).expect("writes");
            let digest = index.digest_in(&place.base(), "a");
            assert_eq!(digest, digest_of(&place.tree("a")));
            assert_eq!(index.count(), 0, "it was written a moment ago");
        }
        assert!(index.digest_at(&place.base(), "a", LATER).is_some());
        assert_eq!(index.count(), 1);
        // A time to come is that of a clock that went wrong.
        let opened = disk::File::options().append(true).open(&file).expect("opens");
        opened.set_modified(std::time::SystemTime::now() + std::time::Duration::from_hours(1)).expect("sets");
        assert!(index.digest_in(&place.base(), "a").is_some());
        assert_eq!(index.count(), 0);
    }

    #[test]
    fn a_time_is_old_when_no_clock_could_give_it_again() {
        let at = |seconds, nanoseconds| Moment { seconds, nanoseconds };
        let settled = |modified, changed, read| {
            is_settled(&FileStat { device: 1, inode: 1, mode: 1, size: 1, modified, changed }, read)
        };
        assert!(settled(at(5, 1), at(5, 1), at(5, TICK + 2)));
        assert!(!settled(at(5, 1), at(5, 1), at(5, TICK + 1)));
        assert!(!settled(at(5, 1), at(5, 2), at(5, TICK + 2)), "both times count");
        assert!(settled(at(5, 999_999_999), at(5, 1), at(6, TICK)));
        assert!(!settled(at(5, 999_999_999), at(5, 1), at(6, TICK - 1)));
        // Times of whole seconds come from a coarser clock.
        assert!(!settled(at(5, 0), at(5, 1), at(7, TICK)));
        assert!(settled(at(5, 0), at(5, 1), at(7, TICK + 1)));
        assert!(!settled(at(9, 1), at(5, 1), at(8, 1)), "the clock was set back");
        assert!(!settled(at(i64::MAX, 0), at(5, 1), at(8, 1)));
    }

    #[test]
    fn it_is_kept_and_a_clock_that_was_set_back_makes_it_void() {
        let place = Place::new();
        let index = place.index();
        let digest = index.digest_at(&place.base(), "a", LATER);
        assert_eq!(index.digest_of(&place.tree("gone")), None);
        drop(index.clone());
        assert!(!place.dir.path().join("cache").exists(), "others still use it");
        drop(index);
        let again = place.index();
        assert_eq!(again.digest_at(&place.base(), "gone", LATER), None);
        assert_eq!(again.count(), 1);
        assert_eq!(again.digest_at(&place.base(), "a", LATER), digest);
        let earlier = place.index();
        assert_eq!(earlier.digest_at(&place.base(), "gone", Moment::now()), None);
        assert_eq!(earlier.count(), 0);
    }

    /// A tree that went is forgotten with the next change, and that of another root is none of ours.
    #[test]
    fn what_is_gone_is_forgotten() {
        let place = Place::new();
        disk::create_dir(place.tree("b")).expect("creates");
        disk::write(place.tree("b/SKILL.md"), "").expect("writes");
        let index = place.index();
        assert!(
            ["a", "b"].map(|name| index.digest_at(&place.base(), name, LATER)).iter().all(Option::is_some)
        );
        drop(index);
        disk::remove_dir_all(place.tree("a")).expect("removes");
        disk::write(place.tree("b/SKILL.md"), "new").expect("writes");
        let index = place.index();
        assert!(index.digest_at(&place.base(), "b", LATER).is_some());
        drop(index);
        let index = place.index();
        index.digest_at(&place.base(), "gone", LATER);
        assert_eq!(index.count(), 1);
        let file = place.dir.path().join("cache/index");
        let other = Shared { file, root: "/elsewhere".into(), state: Mutex::new(None) };
        assert_eq!(other.load(LATER).content.trees.len(), 0);
    }

    /// What is wrong with the cache is no failure of a command.
    #[test]
    fn a_cache_that_cannot_be_used_is_none() {
        let obstacles: [(&str, fn(&Path)); 3] = [
            ("a directory", |file| disk::create_dir_all(file).expect("creates")),
            ("a file in the way", |file| disk::write(file.parent().expect("one"), "").expect("writes")),
            ("noise", |file| {
                disk::create_dir(file.parent().expect("one")).expect("creates");
                disk::write(file, "skillpm index\n\u{1}\0\0\0").expect("writes");
            }),
        ];
        for (what, obstacle) in obstacles {
            let place = Place::new();
            let digest = digest_of(&place.tree("a"));
            obstacle(&place.dir.path().join("cache/index"));
            let index = place.index();
            assert_eq!(index.digest_at(&place.base(), "a", LATER), digest, "{what}");
            drop(index);
            let index = place.index();
            assert_eq!(index.digest_at(&place.base(), "gone", LATER), None);
            assert_eq!(index.count(), usize::from(what == "noise"), "{what}");
        }
        assert!(Index::default().digest_of(&Place::new().tree("a")).is_some());
    }
}
