//! The list of all hostile inputs, `docs/design/threats.md`, says what is so.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// Names of classes in a text, also where they are a part of a function's name.
fn names(text: &str) -> BTreeSet<String> {
    static PATTERN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(zc|zn|zl|zs|zb|tt|gg|d|ms|lk|h)(\d\d)\b").expect("a pattern"));
    PATTERN.find_iter(&text.replace('_', " ")).map(|found| found.as_str().to_owned()).collect()
}

/// The names in all sources below `dir` but this one.
fn named_below(dir: &Path, all: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            named_below(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("inventory.rs") {
            all.extend(names(&std::fs::read_to_string(&path).expect("a source")));
        }
    }
}

/// Each name in the list stands in the test that is named beside it, each name in a test is in the list,
/// and what waits is in no test.
#[test]
fn the_list_is_that_of_the_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/design/threats.md")).expect("the list");
    let (listed, rest) = text.split_once("## Not yet").expect("what waits");
    let waiting = rest.split_once("In h33").expect("a table").0;
    let test = Regex::new(r"`((?:it|src|crates)/[^`]+\.rs)` `(\w+)`").expect("a pattern");
    let mut known = BTreeSet::new();
    for row in listed.lines().filter(|line| line.starts_with("| ")).filter(|line| !line.starts_with("| -")) {
        let Some(name) = names(row.split('|').nth(1).expect("a cell")).pop_first() else { continue };
        assert!(test.is_match(row), "{name} has no test: {row}");
        for found in test.captures_iter(row) {
            let path = found[1].replacen("it/", "tests/it/", usize::from(found[1].starts_with("it/")));
            let source = std::fs::read_to_string(root.join(&path)).expect(&path);
            assert!(source.contains(&format!("fn {}(", &found[2])), "{name}: {row}");
            assert!(names(&source).contains(&name), "{name} is not named in {path}");
        }
        assert!(known.insert(name.clone()), "{name} appears twice");
    }
    assert!(known.len() > 100, "the list was read");
    let mut named = BTreeSet::new();
    named_below(&root.join("tests/it"), &mut named);
    for sources in ["src", "crates"] {
        named_below(&root.join(sources), &mut named);
    }
    assert_eq!(named, known, "the names in the tests, and those in the list");
    assert!(names(waiting).is_disjoint(&named), "what waits has no test");
    // The lessons, and where else the page points to.
    for found in test.captures_iter(rest) {
        let path = found[1].replacen("it/", "tests/it/", usize::from(found[1].starts_with("it/")));
        let source = std::fs::read_to_string(root.join(&path)).expect(&path);
        assert!(source.contains(&format!("fn {}(", &found[2])), "{path}: {}", &found[2]);
    }
}
