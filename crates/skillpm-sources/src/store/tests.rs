//! Tests of the store as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::tree::{Memory, Node, Tree, TreeEntry};

pub(super) fn set(text: &str) -> FileSet {
    let node = Node::File { executable: false, size: text.len() as u64 };
    let entries = BTreeMap::from([("SKILL.md".to_owned(), TreeEntry { node, id: 0 })]);
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
        assert!(store.reader().expect("opens").expect("is there").take(&digest).expect("reads").is_none());
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
    let entries = BTreeMap::from([("SKILL.md".to_owned(), TreeEntry { node, id: 0 })]);
    let lying = Tree::new(entries, Arc::new(Memory(vec![b"short".to_vec()])));
    assert!(store.put(&lying.skill("", &Limits::default()).expect("names are fine")).is_err());
    assert!(fs::list_dir(&store.root).expect("lists").is_empty());
}
