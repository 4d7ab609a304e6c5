//! Which changes the index notices.

#![expect(clippy::disallowed_methods, reason = "the tests change files behind the back of the index")]

use std::fs as disk;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::scope::trees::Trees;

/// A time long after everything that the tests write.
const LATER: Moment = Moment { seconds: 1 << 40, nanoseconds: 0 };

/// A change, by name and function. Its last argument calls a function on a file and then restores the file's
/// old time.
type Change = (&'static str, &'static dyn Fn(&IndexedDir, &dyn Fn(&Path, &dyn Fn())));
/// An obstacle to the index, by name and the function that creates it.
type Obstacle = (&'static str, fn(&Path));

struct IndexedDir {
    dir: tempfile::TempDir,
}

impl IndexedDir {
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
        Index { shared: Some(Arc::new(shared)), trees: Arc::default() }
    }

    fn base(&self) -> Base {
        Base::open(&self.tree("")).expect("opens")
    }
}

impl Index {
    /// Returns the number of cached trees.
    fn count(&self) -> usize {
        let state = self.shared.as_ref().expect("a place").state.lock().expect("whole");
        state.as_ref().map_or(0, |state| state.content.trees.len())
    }
}

/// Issue 5: any change of a tree is noticed, even if size and time of the file are as before.
#[test]
fn every_change_is_seen() {
    let same_times = |path: &Path, change: &dyn Fn()| {
        let before = disk::metadata(path).expect("is there").modified().expect("a time");
        change();
        let file = disk::File::options().append(true).open(path).expect("opens");
        file.set_modified(before).expect("sets the time");
    };
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
        ("a link instead of a file", &|place, _| {
            disk::rename(place.tree("a/references/deep/x.md"), place.tree("a/other.md")).expect("renames");
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
        let place = IndexedDir::new();
        let index = place.index();
        let before = index.inside_at(&place.base(), "a", LATER).digest.expect(what);
        assert_eq!(index.count(), 1, "{what}");
        assert_eq!(index.inside_at(&place.base(), "a", LATER).digest, Some(before), "{what}");
        change(&place, &same_times);
        let after = index.inside_at(&place.base(), "a", LATER).digest;
        assert_eq!(after, Trees::default().digest(&place.tree("a")), "{what}");
        assert_ne!(after, Some(before), "{what}");
    }
}

/// Issue 5, git's race: a file that was changed about when it was read may change again within one tick.
#[test]
fn what_is_young_is_not_remembered() {
    let place = IndexedDir::new();
    let index = place.index();
    let file = place.tree("a/SKILL.md");
    for round in 0..50 {
        disk::write(&file, format!("{round:03}")).expect("writes");
        let digest = index.inside(&place.base(), "a").digest;
        assert_eq!(digest, Trees::default().digest(&place.tree("a")));
        assert_eq!(index.count(), 0, "it was written a moment ago");
    }
    assert!(index.inside_at(&place.base(), "a", LATER).digest.is_some());
    assert_eq!(index.count(), 1);
    // A time in the future comes from a clock that was wrong.
    let opened = disk::File::options().append(true).open(&file).expect("opens");
    opened.set_modified(std::time::SystemTime::now() + std::time::Duration::from_hours(1)).expect("sets");
    assert!(index.inside(&place.base(), "a").digest.is_some());
    assert_eq!(index.count(), 0);
}

#[test]
fn it_is_kept_and_a_clock_that_was_set_back_makes_it_void() {
    let place = IndexedDir::new();
    let index = place.index();
    let digest = index.inside_at(&place.base(), "a", LATER).digest;
    assert_eq!(index.digest_of(&place.tree("gone")), None);
    drop(index.clone());
    assert!(!place.dir.path().join("cache").exists(), "others still use it");
    drop(index);
    let again = place.index();
    assert_eq!(again.inside_at(&place.base(), "gone", LATER).digest, None);
    assert_eq!(again.count(), 1);
    assert_eq!(again.inside_at(&place.base(), "a", LATER).digest, digest);
    let earlier = place.index();
    assert_eq!(earlier.inside_at(&place.base(), "gone", Moment::now()).digest, None);
    assert_eq!(earlier.count(), 0);
}

/// A removed tree is forgotten with the next change, and a tree of another root does not count.
#[test]
fn what_is_gone_is_forgotten() {
    let place = IndexedDir::new();
    disk::create_dir(place.tree("b")).expect("creates");
    disk::write(place.tree("b/SKILL.md"), "").expect("writes");
    let index = place.index();
    assert!(
        ["a", "b"].map(|name| index.inside_at(&place.base(), name, LATER).digest).iter().all(Option::is_some)
    );
    drop(index);
    disk::remove_dir_all(place.tree("a")).expect("removes");
    disk::write(place.tree("b/SKILL.md"), "new").expect("writes");
    let index = place.index();
    assert!(index.inside_at(&place.base(), "b", LATER).digest.is_some());
    drop(index);
    let index = place.index();
    index.inside_at(&place.base(), "gone", LATER);
    assert_eq!(index.count(), 1);
    let file = place.dir.path().join("cache/index");
    let other = Shared { file, root: "/elsewhere".into(), state: Mutex::new(None) };
    assert_eq!(other.load(LATER).content.trees.len(), 0);
}

/// A problem with the cache is not a failure of the command.
#[test]
fn a_cache_that_cannot_be_used_is_none() {
    let obstacles: [Obstacle; 3] = [
        ("a directory", |file| disk::create_dir_all(file).expect("creates")),
        ("a file in the way", |file| disk::write(file.parent().expect("one"), "").expect("writes")),
        ("noise", |file| {
            disk::create_dir(file.parent().expect("one")).expect("creates");
            disk::write(file, "skillpm index\n\u{1}\0\0\0").expect("writes");
        }),
    ];
    for (what, obstacle) in obstacles {
        let place = IndexedDir::new();
        let digest = Trees::default().digest(&place.tree("a"));
        obstacle(&place.dir.path().join("cache/index"));
        let index = place.index();
        assert_eq!(index.inside_at(&place.base(), "a", LATER).digest, digest, "{what}");
        drop(index);
        let index = place.index();
        assert_eq!(index.inside_at(&place.base(), "gone", LATER).digest, None);
        assert_eq!(index.count(), usize::from(what == "noise"), "{what}");
    }
    assert!(Index::default().digest_of(&IndexedDir::new().tree("a")).is_some());
}
