//! What the tests of all crates share: the pages and schemas of the repository, real skills, programs that may be missing.

#![expect(clippy::disallowed_methods, reason = "tests read the repository itself")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "this is for tests alone, which fail by panics"
)]
#![expect(clippy::return_self_not_must_use, reason = "what is built in a test is used there")]
#![expect(clippy::missing_panics_doc, reason = "every function here panics where a test is to fail")]

pub mod archive;
mod closed_port;
pub mod issuer;
mod schema;
pub mod server;
pub mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use closed_port::ClosedPort;
pub use schema::Schema;
pub use tools::skip_without;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether the variable `name` is set to something other than `0` and `false`.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
}

/// Checks that the generated part of page `docs/reference/<page>` is `expected`.
///
/// The part lies between two comments of the page; the first starts with `<!-- generated`, the second
/// with `<!-- end of the generated`. With `SKILLPM_BLESS=1` the page is written anew instead.
pub fn check_reference(page: &str, expected: &str) {
    check_reference_part(page, "", expected);
}

/// Works like [`check_reference`] for a page with several such parts: the first comment of this one names `source`.
pub fn check_reference_part(page: &str, source: &str, expected: &str) {
    let path = root().join("docs/reference").join(page);
    let text = std::fs::read_to_string(&path).expect(page);
    let is_start = |at: &usize| text[*at..].lines().next().is_some_and(|line| line.contains(source));
    let mut starts = text.match_indices("<!-- generated").map(|(at, _)| at);
    let start = starts.find(is_start).expect("a comment where the part begins");
    let (before, rest) = (&text[..start], &text[start + "<!-- generated".len()..]);
    let (comment, rest) = rest.split_once("-->\n").expect("the end of that comment");
    let (found, after) = rest.split_once("<!-- end of the generated").expect("a comment where it ends");
    let expected = format!("\n{expected}\n");
    if found == expected {
        return;
    }
    assert!(
        is_set("SKILLPM_BLESS"),
        "docs/reference/{page} differs from what the program says; \
         `SKILLPM_BLESS=1 cargo test --workspace --lib reference_page` writes it anew"
    );
    let new = format!("{before}<!-- generated{comment}-->\n{expected}<!-- end of the generated{after}");
    std::fs::write(&path, new).expect(page);
}

/// Checks that the directory `docs/reference/<dir>` has exactly these pages, by name without `.md`.
///
/// With `SKILLPM_BLESS=1` the directory is written anew instead.
pub fn check_pages(dir: &str, pages: &BTreeMap<String, String>) {
    let path = root().join("docs/reference").join(dir);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&path).into_iter().flatten() {
        let file = entry.expect("an entry").path();
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        found.insert(name, std::fs::read_to_string(&file).expect(dir));
    }
    let names = pages.keys().chain(found.keys()).collect::<BTreeSet<_>>();
    let differ: Vec<_> = names.into_iter().filter(|name| pages.get(*name) != found.get(*name)).collect();
    if differ.is_empty() {
        return;
    }
    assert!(
        is_set("SKILLPM_BLESS"),
        "docs/reference/{dir} differs from what the program says in {differ:?}; \
         `SKILLPM_BLESS=1 cargo test --workspace --lib reference_page` writes it anew"
    );
    std::fs::create_dir_all(&path).expect(dir);
    for name in differ {
        let file = path.join(format!("{name}.md"));
        match pages.get(name) {
            Some(text) => std::fs::write(&file, text).expect(name),
            None => std::fs::remove_file(&file).expect(name),
        }
    }
}

/// Calls `look` with the text of each real skill, where `SKILLPM_TESTDATA` names a directory of them.
pub fn real_skills(mut look: impl FnMut(&str)) {
    let Some(data) = std::env::var_os("SKILLPM_TESTDATA") else {
        println!("skipped: SKILLPM_TESTDATA is not set");
        return;
    };
    let root = Path::new(&data).join("skills");
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
