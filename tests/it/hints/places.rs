//! The places in the source that make hints, and those that no situation reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The sources whose hints are printed.
const SOURCES: [&str; 3] = ["src", "crates/skillpm-core/src", "crates/skillpm-format/src"];

/// The rooms whose messages are hints.
const HINTS: [&str; 2] = ["crates/skillpm-core/src/ops/hints", "crates/skillpm-core/src/ops/list/hints.rs"];

/// How many lines after its beginning a place may tell where it is.
const REACH: usize = 12;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The lines that make hints, by file.
fn places() -> BTreeMap<String, BTreeSet<usize>> {
    let mut paths = Vec::new();
    for dir in SOURCES {
        files(&root().join(dir), &mut paths);
    }
    let mut places = BTreeMap::new();
    for path in paths {
        let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        let all = HINTS.iter().any(|room| name.starts_with(room));
        let text = std::fs::read_to_string(&path).expect("a source");
        // Tests stand at the end.
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let makes = |line: &str| {
            let line = line.trim_start();
            let is_call = line.contains(".hint(") && !line.contains("printer.hint(&outcome");
            !line.starts_with("//") && (is_call || all && line.contains("message!("))
        };
        let lines: BTreeSet<_> =
            code.lines().enumerate().filter(|(_, line)| makes(line)).map(|(at, _)| at + 1).collect();
        if !lines.is_empty() {
            places.insert(name, lines);
        }
    }
    places
}

/// Compares the places that made hints with all there are.
pub(super) fn check(reached: &BTreeSet<String>) {
    let mut left = places();
    for site in reached {
        let (file, line) = site.rsplit_once(':').expect("a file and a line");
        let line: usize = line.parse().expect("a number");
        let Some(lines) = left.get_mut(file) else { continue };
        let begin = lines.range(line.saturating_sub(REACH)..=line).next_back().copied();
        if let Some(begin) = begin {
            lines.remove(&begin);
        }
    }
    left.retain(|_, lines| !lines.is_empty());
    let file = root().join("tests/it/hints/not_yet.tsv");
    let known: BTreeMap<String, usize> = std::fs::read_to_string(&file)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, count)| (name.to_owned(), count.parse().expect("a number")))
        .collect();
    let now: BTreeMap<_, _> = left.iter().map(|(name, lines)| (name.clone(), lines.len())).collect();
    let is_new = |(name, count): &(&String, &usize)| known.get(*name).copied().unwrap_or(0) < **count;
    let new: Vec<_> =
        now.iter().filter(is_new).map(|(name, _)| format!("{name}: {:?}", left[name])).collect();
    assert!(
        new.is_empty(),
        "no situation in `hints/situations` prints a hint of these lines:\n{}",
        new.join("\n")
    );
    if now != known {
        let rows: Vec<_> = now.iter().map(|(name, count)| format!("{name}\t{count}")).collect();
        assert!(
            std::env::var_os("SKILLPM_BLESS").is_some(),
            "more hints are run than `hints/not_yet.tsv` says: run this test with SKILLPM_BLESS=1"
        );
        std::fs::write(file, rows.join("\n") + "\n").expect("a file");
    }
}
