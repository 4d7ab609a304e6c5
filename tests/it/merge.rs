//! Merged texts beside those of `git merge-file`.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use skillpm_format::merge::{Conflict, Labels, Outcome, Versions, merge};
use skillpm_format::path::SafePath;
use skillpm_format::refusal::Limits;
use skillpm_format::tree::{FileEntry, FileSet, Memory};

use crate::support::{Numbers, program, testdata};

const LABELS: Labels<'static> = Labels { ours: "your edits", theirs: "github:acme/skills at 1a2b3c4" };

fn skill(text: &str) -> FileSet {
    let path = SafePath::new("SKILL.md").expect("safe");
    let entry = FileEntry::new(path, false, text.len() as u64, 0);
    let content = Arc::new(Memory(vec![text.as_bytes().to_vec()]));
    FileSet::new(vec![entry], content, &Limits::default()).expect("a set")
}

/// What `merge` makes of the texts, and whether they conflict.
fn merged(base: &str, ours: &str, theirs: &str) -> (String, bool) {
    let [base, ours, theirs] = [base, ours, theirs].map(skill);
    let versions = Versions { base: &base, ours: &ours, theirs: &theirs };
    let merged = merge(&versions, &LABELS, &Limits::default()).expect("a merge");
    let file = merged.set.get("SKILL.md").expect("there");
    let text = String::from_utf8(merged.set.read(file).expect("reads")).expect("text");
    (text, merged.files[0].outcome == Outcome::Conflict(Conflict::Lines))
}

/// What `git merge-file` makes of them.
fn by_git(dir: &Path, base: &str, ours: &str, theirs: &str) -> (String, bool) {
    for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        std::fs::write(dir.join(name), text).expect("written");
    }
    let labels = ["-L", LABELS.ours, "-L", "base", "-L", LABELS.theirs];
    let files = ["ours", "base", "theirs"];
    let mut git = Command::new("git");
    let output = git.current_dir(dir).args(["merge-file", "-p"]).args(labels).args(files).output();
    let output = output.expect("starts");
    // The status is the number of conflicts.
    let code = output.status.code().expect("a status");
    assert!(code < 128, "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).expect("text"), code != 0)
}

/// A directory for the files, where git is there.
fn git() -> Option<tempfile::TempDir> {
    program("git")?;
    Some(tempfile::tempdir().expect("a directory"))
}

/// A text of `count` lines out of `kinds` different ones.
fn text(numbers: &mut Numbers, count: usize, kinds: usize) -> Vec<String> {
    (0..count).map(|_| format!("line {}\n", numbers.below(kinds))).collect()
}

/// `lines` with some changes: `kinds` as in `text`.
fn edited(numbers: &mut Numbers, lines: &[String], changes: usize, kinds: usize) -> String {
    let mut lines = lines.to_vec();
    for _ in 0..changes {
        let at = numbers.below(lines.len() + 1);
        let end = (at + numbers.below(3)).min(lines.len());
        let count = numbers.below(3);
        let new = text(numbers, count, kinds);
        lines.splice(at..end, new);
    }
    let text = lines.concat();
    // Now and then the last line has no end.
    if numbers.below(8) == 0 { text.trim_end_matches('\n').to_owned() } else { text }
}

/// How many merges were compared, and how many of them were as in git.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    all: usize,
    conflicts: usize,
    /// Both conflict, or none does.
    alike: usize,
    /// The same text.
    same: usize,
}

impl Counts {
    fn compare(&mut self, dir: &Path, base: &str, ours: &str, theirs: &str) {
        let (own, by_git) = (merged(base, ours, theirs), by_git(dir, base, ours, theirs));
        self.all += 1;
        self.conflicts += usize::from(by_git.1);
        self.alike += usize::from(own.1 == by_git.1);
        self.same += usize::from(own == by_git);
    }
}

/// Compares merges of random texts with lines out of `kinds`.
fn compare(dir: &Path, kinds: usize, finish: fn(&str) -> String) -> Counts {
    let mut numbers = Numbers(kinds as u64);
    let mut counts = Counts::default();
    for _ in 0..300 {
        let length = 1 + numbers.below(40);
        let lines = text(&mut numbers, length, kinds);
        let [ours, theirs] = [(); 2].map(|()| {
            let changes = 1 + numbers.below(4);
            finish(&edited(&mut numbers, &lines, changes, kinds))
        });
        counts.compare(dir, &finish(&lines.concat()), &ours, &theirs);
    }
    println!("lines out of {kinds}: {counts:?}");
    counts
}

/// Where few lines are alike, as in real texts, the results are git's to the byte.
#[test]
fn texts_merge_as_in_git() {
    let Some(dir) = git() else { return };
    for finish in [|text: &str| text.to_owned(), |text: &str| text.replace('\n', "\r\n")] {
        let counts = compare(dir.path(), 100_000, finish);
        assert_eq!((counts.alike, counts.same), (counts.all, counts.all));
        assert!(counts.conflicts > 100, "{counts:?}");
    }
}

/// Where many lines are alike there are several ways to see what changed, and git may see another.
#[test]
fn texts_of_few_different_lines_merge_nearly_as_in_git() {
    let Some(dir) = git() else { return };
    for (kinds, same) in [(12, 270), (4, 240)] {
        let counts = compare(dir.path(), kinds, str::to_owned);
        assert!(counts.same > same && counts.alike > 285, "{counts:?}");
    }
}

/// Real skills, with edits on both sides.
#[test]
fn real_skills_merge_as_in_git() {
    let (Some(testdata), Some(dir)) = (testdata::dir(), git()) else { return };
    let mut numbers = Numbers(7);
    let mut counts = Counts::default();
    for expected in testdata::expected(&testdata) {
        let path = testdata.join("skills").join(expected.repo.replace('/', "+")).join(&expected.path);
        let Ok(base) = std::fs::read_to_string(path) else { continue };
        let lines: Vec<String> = base.split_inclusive('\n').map(str::to_owned).collect();
        let [ours, theirs] = [(); 2].map(|()| edited(&mut numbers, &lines, 6, 100_000));
        counts.compare(dir.path(), &base, &ours, &theirs);
    }
    println!("real skills: {counts:?}");
    assert!(counts.all > 200 && counts.conflicts > 10, "{counts:?}");
    assert!(counts.alike * 100 >= counts.all * 99 && counts.same * 100 >= counts.all * 95, "{counts:?}");
}
