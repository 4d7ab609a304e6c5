//! What unit tests share.

#![expect(clippy::disallowed_methods, reason = "the pages lie outside of every room of the program")]

mod schema;
mod schemas;

use std::path::Path;
use std::sync::Arc;

use crate::env::Env;
use crate::path::SafePath;
use crate::refusal::Limits;
use crate::tree::{FileEntry, FileSet, Memory};

pub(crate) use schema::Schema;

/// Checks that the generated part of page `docs/reference/<page>` is `expected`.
///
/// The part lies between two comments of the page; the first starts with `<!-- generated`, the second
/// with `<!-- end of the generated`. With `SKILLPM_BLESS=1` the page is written anew instead.
pub(crate) fn check_reference(page: &str, expected: &str) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    if !docs.is_dir() {
        println!("skipped: the published package carries no docs/");
        return;
    }
    let path = docs.join(page);
    let text = std::fs::read_to_string(&path).expect(page);
    let (before, rest) = text.split_once("<!-- generated").expect("a comment where the part begins");
    let (comment, rest) = rest.split_once("-->\n").expect("the end of that comment");
    let (found, after) = rest.split_once("<!-- end of the generated").expect("a comment where it ends");
    let expected = format!("\n{expected}\n");
    if found == expected {
        return;
    }
    let bless = Env::from_process().expect("a working directory").flag("SKILLPM_BLESS");
    assert!(
        bless,
        "docs/reference/{page} differs from what the program says; \
         `SKILLPM_BLESS=1 cargo test --lib reference_page` writes it anew"
    );
    let new = format!("{before}<!-- generated{comment}-->\n{expected}<!-- end of the generated{after}");
    std::fs::write(&path, new).expect(page);
}

/// Says that a test is skipped, since this machine lacks the program `name`.
///
/// # Panics
///
/// On a build machine, where the variable `CI` is set: `make test-tools` has installed every program there, and a
/// test that did not run must not look like one that passed.
pub(crate) fn skip_without(name: &str) {
    let env = Env::from_process().expect("a working directory");
    let is_build_machine = env.get("CI").is_some_and(|value| !matches!(value, "0" | "false"));
    assert!(
        !is_build_machine,
        "`{name}` was not found, and with `CI` set no test is skipped: `make test-tools` installs it"
    );
    println!("skipped: `{name}` was not found; `make test-tools` installs it");
}

/// A file for [`file_set`]: its name, with a `*` behind it where it is executable, and its content.
pub(crate) type File<'a> = (&'a str, &'a [u8]);

/// A skill of `files`.
pub(crate) fn file_set(files: &[File<'_>]) -> FileSet {
    let entry = |(id, (name, content)): (usize, &File<'_>)| {
        let path = SafePath::new(name.trim_end_matches('*')).expect(name);
        FileEntry::new(path, name.ends_with('*'), content.len() as u64, id)
    };
    let content = files.iter().map(|(_, content)| content.to_vec()).collect();
    let entries = files.iter().enumerate().map(entry).collect();
    FileSet::new(entries, Arc::new(Memory(content)), &Limits::default()).expect("a set of files")
}

/// Calls `look` with the text of each real skill, where `SKILLPM_TESTDATA` names a directory of them.
pub(crate) fn real_skills(mut look: impl FnMut(&str)) {
    let env = Env::from_process().expect("a working directory");
    let Some(data) = env.get("SKILLPM_TESTDATA") else {
        println!("skipped: SKILLPM_TESTDATA is not set");
        return;
    };
    let root = Path::new(data).join("skills");
    let list = std::fs::read_to_string(root.join("expected.jsonl")).expect("the list of skills");
    let mut count = 0;
    for line in list.lines() {
        let skill: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let part = |key: &str| skill[key].as_str().expect(key).to_owned();
        let bytes = std::fs::read(root.join(part("id")).join(part("file"))).expect("a skill");
        look(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count > 0, "there is no skill in {}", root.display());
}
