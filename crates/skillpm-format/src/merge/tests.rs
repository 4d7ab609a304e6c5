//! Merges of whole skills: what is taken, what is kept, and that nothing is lost.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::refusal::Refusal;
use crate::testing::{File, file_set as set};

fn merged(base: &FileSet, ours: &FileSet, theirs: &FileSet) -> Merged {
    let labels = Labels { ours: "your edits", theirs: "github:acme/skills at 1a2b3c4" };
    merge(&Versions { base, ours, theirs }, &labels, &Limits::default()).expect("a merge")
}

/// Returns the files in the form for `set`.
fn files(set: &FileSet) -> Vec<(String, Vec<u8>)> {
    let name = |file: &FileEntry| format!("{}{}", file.path, if file.executable { "*" } else { "" });
    set.files().iter().map(|file| (name(file), set.read(file).expect("reads"))).collect()
}

fn owned(files: &[File<'_>]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect()
}

/// Merges, compares the files, and returns the report on each path that has changed.
#[track_caller]
fn check(base: &[File<'_>], ours: &[File<'_>], theirs: &[File<'_>], wanted: &[File<'_>]) -> Vec<String> {
    let merged = merged(&set(base), &set(ours), &set(theirs));
    assert_eq!(files(&merged.set), owned(wanted));
    let told = merged.files.iter().filter(|file| file.outcome != Outcome::Unchanged);
    let kept = |file: &MergedFile| file.kept.as_ref().map_or(String::new(), |kept| format!(" -> {kept}"));
    told.map(|file| format!("{} {:?}{}", file.path, file.outcome, kept(file))).collect()
}

const OLD: &[u8] = b"1\n2\n3\n";
const OURS: &[u8] = b"one\n2\n3\n";
const THEIRS: &[u8] = b"1\n2\nthree\n";

#[test]
fn what_one_side_changed_is_taken() {
    let told = check(
        &[("SKILL.md", OLD), ("both", OLD), ("gone", OLD), ("here", OLD), ("lost", OLD), ("there", OLD)],
        &[("SKILL.md", OLD), ("both", OURS), ("here", OURS), ("lost", OLD), ("new", b"x"), ("there", OLD)],
        &[
            ("SKILL.md", OLD),
            ("added", b"y"),
            ("both", THEIRS),
            ("gone", OLD),
            ("here", OLD),
            ("there", THEIRS),
        ],
        &[
            ("SKILL.md", OLD),
            ("added", b"y"),
            ("both", b"one\n2\nthree\n"),
            ("here", OURS),
            ("new", b"x"),
            ("there", THEIRS),
        ],
    );
    assert_eq!(
        told,
        ["added Theirs", "both Merged", "gone Ours", "here Ours", "lost Theirs", "new Ours", "there Theirs"]
    );
}

#[test]
fn the_same_on_both_sides_is_no_conflict() {
    let told = check(
        &[("a", OLD), ("b", OLD)],
        &[("a", OURS), ("c", b"new")],
        &[("a", OURS), ("c", b"new")],
        &[("a", OURS), ("c", b"new")],
    );
    assert_eq!(told, ["a Same", "b Same", "c Same"]);
}

#[test]
fn a_conflict_has_markers_and_the_whole_file_beside_it() {
    let told = check(
        &[("SKILL.md", b"a\nb\n")],
        &[("SKILL.md*", b"a\nmine\n")],
        &[("SKILL.md", b"a\nnew\n")],
        &[
            (
                "SKILL.md*",
                b"a\n<<<<<<< your edits\nmine\n=======\nnew\n>>>>>>> github:acme/skills at 1a2b3c4\n",
            ),
            ("SKILL.md.mine*", b"a\nmine\n"),
        ],
    );
    assert_eq!(told, ["SKILL.md Conflict(Lines) -> SKILL.md.mine"]);
    // Both added a file that did not exist before.
    let told = check(
        &[],
        &[("a", b"x\ny\n")],
        &[("a", b"x\nz\n")],
        &[
            ("a", b"x\n<<<<<<< your edits\ny\n=======\nz\n>>>>>>> github:acme/skills at 1a2b3c4\n"),
            ("a.mine", b"x\ny\n"),
        ],
    );
    assert_eq!(told, ["a Conflict(Lines) -> a.mine"]);
}

/// Issue 5, `--ours` and `--theirs`: a path in conflict gets the whole file of one side; changes on only one
/// side are taken as usual.
#[test]
fn a_side_that_is_preferred_decides_conflicts_alone() {
    let base =
        set(&[("SKILL.md", b"a\nb\n"), ("both", OLD), ("here", b"x"), ("pic", b"\0"), ("there", b"x")]);
    let ours = set(&[
        ("SKILL.md*", b"a\nmine\n"),
        ("both", OURS),
        ("n/file", b"mine"),
        ("new", b"y"),
        ("pic", b"\0mine"),
        ("there", b"mine"),
    ]);
    let theirs = set(&[
        ("SKILL.md", b"a\nnew\n"),
        ("both", THEIRS),
        ("here", b"new"),
        ("n", b"new"),
        ("pic", b"\0new"),
    ]);
    let versions = Versions { base: &base, ours: &ours, theirs: &theirs };
    let decided = |prefer| {
        let merged = merge_for(&versions, &Labels::default(), &Limits::default(), Some(prefer));
        let merged = merged.expect("a merge");
        assert_eq!(merged.conflicts().count(), 0);
        let told = merged.files.iter().filter(|file| matches!(file.outcome, Outcome::Decided(..)));
        let told: Vec<_> = told.map(|file| format!("{} {:?}", file.path, file.outcome)).collect();
        (files(&merged.set), told)
    };
    let both = ("both", &b"one\n2\nthree\n"[..]);
    let (there, told) = decided(Prefer::Ours);
    let wanted: [File<'_>; 6] = [
        ("SKILL.md*", b"a\nmine\n"),
        both,
        ("n/file", b"mine"),
        ("new", b"y"),
        ("pic", b"\0mine"),
        ("there", b"mine"),
    ];
    assert_eq!(there, owned(&wanted));
    assert_eq!(
        told,
        [
            "SKILL.md Decided(Lines, Ours)",
            "here Decided(DeletedHere, Ours)",
            "n Decided(Name, Ours)",
            "pic Decided(Binary, Ours)",
            "there Decided(DeletedThere, Ours)"
        ]
    );
    let (there, told) = decided(Prefer::Theirs);
    let wanted: [File<'_>; 6] =
        [("SKILL.md", b"a\nnew\n"), both, ("here", b"new"), ("n", b"new"), ("new", b"y"), ("pic", b"\0new")];
    assert_eq!(there, owned(&wanted));
    assert_eq!((told.len(), &*told[2]), (5, "n/file Decided(Name, Theirs)"));
}

#[test]
fn what_is_no_text_gets_no_markers() {
    let large = vec![b'x'; usize::try_from(file::MAX_TEXT).expect("fits") + 1];
    let lines = b"\n".repeat(file::MAX_LINES + 1);
    for old in [b"\0old".as_slice(), b"\xff\xfe", b"text", &large, &lines] {
        let told = check(
            &[("a.png", old)],
            &[("a.png", b"mine\0")],
            &[("a.png", b"new\0")],
            &[("a.png", b"new\0"), ("a.png.mine", b"mine\0")],
        );
        assert_eq!(told, ["a.png Conflict(Binary) -> a.png.mine"]);
    }
    for old in [&large, &lines] {
        let new: [File<'_>; 2] = [("a", b"new"), ("a.mine", b"mine")];
        let told = check(&[("a", old)], &[("a", b"mine")], &[("a", b"new")], &new);
        assert_eq!(told, ["a Conflict(Binary) -> a.mine"]);
    }
}

#[test]
fn a_file_that_one_deleted_and_one_changed_stays() {
    let told =
        check(&[("a", OLD), ("b", OLD)], &[("a", OURS)], &[("b", THEIRS)], &[("a", OURS), ("b", THEIRS)]);
    assert_eq!(told, ["a Conflict(DeletedThere)", "b Conflict(DeletedHere)"]);
    // A change of the executable bit is a change.
    let told = check(&[("a", OLD)], &[("a*", OLD)], &[], &[("a*", OLD)]);
    assert_eq!(told, ["a Conflict(DeletedThere)"]);
}

#[test]
fn executable_bits_are_merged_by_themselves() {
    for (base, ours, theirs, wanted, told) in [
        (("a", OLD), ("a*", OLD), ("a", THEIRS), ("a*", THEIRS), "a Merged"),
        (("a*", OLD), ("a*", OURS), ("a", OLD), ("a", OURS), "a Merged"),
        (("a", OLD), ("a*", OLD), ("a", OLD), ("a*", OLD), "a Ours"),
        (("a", OLD), ("a", OLD), ("a*", OLD), ("a*", OLD), "a Theirs"),
        (("a*", OLD), ("a", OURS), ("a*", THEIRS), ("a", b"one\n2\nthree\n"), "a Merged"),
    ] {
        assert_eq!(check(&[base], &[ours], &[theirs], &[wanted]), [told], "{wanted:?}");
    }
    // New on both sides: executable, because it is on one of them.
    assert_eq!(check(&[], &[("a*", OLD)], &[("a", OLD)], &[("a*", OLD)]), ["a Merged"]);
}

#[test]
fn files_and_directories_that_meet_are_kept_apart() {
    let told = check(
        &[],
        &[("a", b"mine"), ("d/x", b"1"), ("d/y/z", b"2")],
        &[("a/b", b"new"), ("d", b"new")],
        &[("a.mine", b"mine"), ("a/b", b"new"), ("d", b"new"), ("d.mine/x", b"1"), ("d.mine/y/z", b"2")],
    );
    assert_eq!(
        told,
        [
            "a Conflict(Name) -> a.mine",
            "a/b Theirs",
            "d Theirs",
            "d/x Conflict(Name) -> d.mine/x",
            "d/y/z Conflict(Name) -> d.mine/y/z",
        ]
    );
}

/// THREATS, zn22: names that are equal on some file systems are never in one directory.
#[test]
fn names_that_some_file_systems_take_for_one_are_kept_apart() {
    let told = check(
        &[("Readme.md", OLD)],
        &[("Readme.md", OURS), ("Refs/mine.md", b"x"), ("ﬁle", b"y")],
        &[("FILE", b"new"), ("README.md", OLD), ("refs/a.md", b"z")],
        &[
            ("FILE", b"new"),
            ("README.md", OLD),
            ("Readme.md.mine", OURS),
            ("Refs.mine/mine.md", b"x"),
            ("refs/a.md", b"z"),
            ("ﬁle.mine", b"y"),
        ],
    );
    assert_eq!(
        told,
        [
            "FILE Theirs",
            "README.md Theirs",
            "Readme.md Conflict(Name) -> Readme.md.mine",
            "Refs/mine.md Conflict(Name) -> Refs.mine/mine.md",
            "refs/a.md Theirs",
            "ﬁle Conflict(Name) -> ﬁle.mine",
        ]
    );
}

#[test]
fn a_kept_file_takes_no_name_that_is_taken_and_is_kept_once() {
    // The name is taken by the user, by the new version in another spelling, and as a directory.
    for (ours, theirs) in [
        ([("a", b"mine\0".as_slice()), ("a.mine", b"older")], [("a", b"new\0".as_slice()), ("z", b"")]),
        ([("a", b"mine\0"), ("z", b"")], [("a", b"new\0"), ("A.MINE", b"")]),
        ([("a", b"mine\0"), ("z", b"")], [("a", b"new\0"), ("a.mine/x", b"")]),
    ] {
        let merged = merged(&set(&[]), &set(&ours), &set(&theirs));
        assert_eq!(
            merged.files.iter().find_map(|file| file.kept.clone()).expect("kept").as_str(),
            "a.mine-2"
        );
        assert_eq!(merged.conflicts().count(), 1);
    }
    // The same edits meet the next version: kept files are still kept.
    let told = check(
        &[("a", b"\0")],
        &[("a", b"mine\0"), ("a.mine", b"mine\0")],
        &[("a", b"new\0")],
        &[("a", b"new\0"), ("a.mine", b"mine\0")],
    );
    assert_eq!(told, ["a Conflict(Binary) -> a.mine", "a.mine Ours"]);
}

#[test]
fn limits_hold_for_the_result() {
    let (base, ours, theirs) = (set(&[("a", b"1\0")]), set(&[("a", b"2\0")]), set(&[("a", b"3\0")]));
    let versions = Versions { base: &base, ours: &ours, theirs: &theirs };
    let limits = Limits { skill_files: 1, ..Limits::default() };
    match merge(&versions, &Labels::default(), &limits) {
        Err(ReadError::Refused(refusal)) => {
            assert_eq!(refusal, Refusal::TooManyEntries { count: 2, limit: 1 });
        }
        other => panic!("{other:?}"),
    }
    let limits = Limits { skill_bytes: 3, ..Limits::default() };
    merge(&versions, &Labels::default(), &limits).expect_err("too many bytes");
}

/// The user's content stays as it was read, also if the installed files change afterwards.
#[test]
fn the_users_bytes_are_held_in_memory() {
    struct Once(std::sync::Mutex<Vec<Vec<u8>>>);
    impl Content for Once {
        fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
            let bytes = std::mem::take(&mut self.0.lock().expect("not poisoned")[id]);
            Ok(sink.write_all(&bytes)?)
        }
    }
    let entries = ["a", "b"].iter().enumerate().map(|(id, name)| {
        let size = if id == 0 { OURS.len() } else { OLD.len() } as u64;
        FileEntry::new(SafePath::new(name).expect("safe"), false, size, id)
    });
    let content = Arc::new(Once(std::sync::Mutex::new(vec![OURS.to_vec(), OLD.to_vec()])));
    let ours = FileSet::new(entries.collect(), content, &Limits::default()).expect("a set");
    let old = set(&[("a", OLD), ("b", OLD)]);
    let merged = merged(&old, &ours, &set(&[("a", OLD), ("b", OLD), ("c", b"new")]));
    assert_eq!(files(&merged.set), owned(&[("a", OURS), ("b", OLD), ("c", b"new")]));
}

/// Content that only its owner may read.
struct Closed(Vec<Vec<u8>>);

impl Content for Closed {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        Ok(sink.write_all(&self.0[id])?)
    }

    fn rights(&self, _id: usize) -> Rights {
        Rights::of_mode(0o600)
    }
}

#[test]
fn what_the_user_keeps_to_himself_stays_so() {
    let mine: [(&str, &[u8]); 4] =
        [(".env", b"mine"), ("merged", b"1\n2\n3\n4 mine\n"), ("pic", b"\0mine"), ("same", OLD)];
    let entries = mine.iter().enumerate().map(|(id, (name, bytes))| {
        FileEntry::new(SafePath::new(name).expect("safe"), false, bytes.len() as u64, id)
    });
    let content = Arc::new(Closed(mine.iter().map(|(_, bytes)| bytes.to_vec()).collect()));
    let ours = FileSet::new(entries.collect(), content, &Limits::default()).expect("a set");
    let base = set(&[("merged", b"1\n2\n3\n4\n"), ("pic", b"\0"), ("same", OLD)]);
    let theirs = set(&[("merged", b"1 new\n2\n3\n4\n"), ("new", b"x"), ("pic", b"\0new"), ("same", OLD)]);
    let merged = merged(&base, &ours, &theirs);
    let modes: Vec<_> = merged
        .set
        .files()
        .iter()
        .map(|file| (file.path.as_str(), merged.set.rights(file).mode(file.executable)))
        .collect();
    let closed = [(".env", 0o600), ("merged", 0o600), ("new", 0o644), ("pic", 0o600), ("pic.mine", 0o600)];
    assert_eq!(modes, [&closed[..], &[("same", 0o600)]].concat());
}

/// Few names and few lines, so that the versions often collide.
fn any_files() -> impl Strategy<Value = FileSet> {
    let names = ["SKILL.md", "a", "A", "a/b", "a.mine", "b", "b/c", "B/d", "a.mine/x", "é"];
    let name = prop::sample::select(names.to_vec());
    let content = prop_oneof![
        "((a|b|c|d|e)(\r\n|\n|\n|\n)){0,6}[abc]?".prop_map(String::into_bytes),
        prop::sample::select(vec![b"\0".to_vec(), b"\xff".to_vec(), b"\0x".to_vec()]),
    ];
    prop::collection::vec((name, any::<bool>(), content), 0..6).prop_map(|files| {
        // Colliding names are left out: no version has them.
        let mut names = Names::default();
        let mut chosen = Vec::new();
        for (name, executable, content) in files {
            if names.take(&SafePath::new(name).expect("safe")).is_ok() {
                chosen.push((format!("{name}{}", if executable { "*" } else { "" }), content));
            }
        }
        let chosen: Vec<File<'_>> = chosen.iter().map(|(name, content)| (&**name, &**content)).collect();
        set(&chosen)
    })
}

proptest! {
    #[test]
    fn one_side_alone_wins(base in any_files(), side in any_files()) {
        for merged in [merged(&base, &base, &side), merged(&base, &side, &base), merged(&base, &side, &side)] {
            prop_assert_eq!(merged.conflicts().count(), 0);
            prop_assert_eq!(merged.files.iter().filter(|file| file.kept.is_some()).count(), 0);
            prop_assert_eq!(files(&merged.set), files(&side));
        }
    }

    /// Every line of the user that the base does not have is in the file or kept whole; deleted and discarded
    /// content is reported.
    #[test]
    fn nothing_that_the_user_wrote_is_lost(base in any_files(), ours in any_files(), theirs in any_files()) {
        let merged = merged(&base, &ours, &theirs);
        let read = |set: &FileSet, path: &str| set.get(path).map(|file| set.read(file).expect("reads"));
        let paths: BTreeSet<_> = merged.files.iter().map(|file| file.path.as_str()).collect();
        for file in &merged.files {
            let path = file.path.as_str();
            let Some(mine) = read(&ours, path) else { continue };
            let old = read(&base, path);
            if let Some(kept) = &file.kept {
                prop_assert_eq!(read(&merged.set, kept.as_str()), Some(mine));
                prop_assert!(matches!(file.outcome, Outcome::Conflict(_)));
                prop_assert!(read(&theirs, kept.as_str()).is_none());
            } else if old.as_ref() != Some(&mine) {
                let now = read(&merged.set, path).expect("there");
                let lines = |bytes: &[u8]| -> BTreeSet<String> {
                    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
                };
                let old = lines(&old.unwrap_or_default());
                for line in lines(&mine).difference(&old) {
                    prop_assert!(lines(&now).contains(line), "{} lost {:?}", path, line);
                }
            }
        }
        // Every line of the result comes from a version.
        for file in merged.set.files() {
            let path = file.path.as_str();
            prop_assert!(paths.contains(path) || merged.files.iter().any(|f| f.kept.as_ref() == Some(&file.path)));
        }
    }
}
