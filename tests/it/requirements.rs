//! What is required, and which tests prove it (`tests/requirements.toml`, `docs/reference/requirements.md`).
//!
//! Sources are read as text: a test in Rust names the lines that it proves in its doc comment, one in Python
//! in its mark `req`, one in R in the comment before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;

/// The systems whose lines need a test in Rust, save those of the Python package.
const IN_RUST: [&str; 2] = ["S0", "S1"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    system: Vec<System>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct System {
    id: String,
    title: String,
    lines: Vec<Line>,
}

/// One requirement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    text: String,
    /// Whether a test in Python is enough.
    #[serde(default)]
    python: bool,
    /// The script that measures what no test holds.
    measured: Option<String>,
    /// What is there in place of a test.
    shipped: Option<String>,
    note: Option<String>,
}

/// A test that says that it proves something.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Test {
    /// Below the root of the repository, `/`-separated.
    file: String,
    function: String,
    /// What was written: ids, and a range where somebody was too lazy to spell it out.
    ids: Vec<String>,
}

impl Test {
    fn is_rust(&self) -> bool {
        Path::new(&self.file).extension().is_some_and(|ending| ending == "rs")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn list() -> List {
    let text = std::fs::read_to_string(root().join("tests/requirements.toml")).expect("the list");
    toml::from_str(&text).expect("the list is right")
}

/// The ids in `text`, and ranges of them.
fn ids(text: &str) -> Vec<String> {
    let id = r"(?:S[0-4]-[A-Z0-9]+(?:[.-][A-Z0-9]+)*|\bC[0-9]{1,2}\b)";
    let regex = Regex::new(&format!(r"{id}(?:(?: to | ?- ?| ?– ?|\.\.){id})?")).expect("right");
    regex.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

/// The tests of `text`, which is Rust: what stands between a doc comment and `fn` is attributes.
fn in_rust(file: &str, text: &str) -> Vec<Test> {
    let (mut tests, mut doc, mut attributes) = (Vec::new(), String::new(), String::new());
    let mut open = false;
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("///") {
            doc.push_str(comment);
        } else if open || line.starts_with("#[") {
            attributes.push_str(line);
            open = !line.ends_with(']');
        } else {
            let function = line.trim_start_matches("pub ").strip_prefix("fn ");
            if let Some(function) = function
                && attributes.contains("#[test]")
                && !attributes.contains("#[ignore")
            {
                let end = function.find(['(', '<']).unwrap_or(function.len());
                tests.push(Test {
                    file: file.to_owned(),
                    function: function[..end].to_owned(),
                    ids: ids(&doc),
                });
            }
            (doc, attributes) = (String::new(), String::new());
        }
    }
    tests
}

/// The tests of `text`, which is Python.
fn in_python(file: &str, text: &str) -> Vec<Test> {
    let regex = Regex::new(r"(?m)^@pytest\.mark\.req\(((?s:.*?))\)$|^(?:async )?def (\w+)").expect("right");
    let quoted = Regex::new(r#""([^"]*)""#).expect("right");
    let (mut tests, mut marked) = (Vec::new(), Vec::new());
    for found in regex.captures_iter(text) {
        if let Some(mark) = found.get(1) {
            marked.extend(quoted.captures_iter(mark.as_str()).map(|id| id[1].to_owned()));
        } else if found[2].starts_with("test_") {
            let ids = std::mem::take(&mut marked);
            tests.push(Test { file: file.to_owned(), function: found[2].to_owned(), ids });
        }
    }
    assert!(marked.is_empty(), "{file}: a mark without a test: {marked:?}");
    tests
}

/// The tests of `text`, which is R. Code is not named in the page as code again.
fn in_r(file: &str, text: &str) -> Vec<Test> {
    let (mut tests, mut comment) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(more) = line.strip_prefix('#') {
            comment.push_str(more);
            continue;
        }
        let name = line.strip_prefix("test_that(\"").and_then(|rest| rest.split('"').next());
        if let Some(name) = name {
            let function = name.replace('`', "");
            tests.push(Test { file: file.to_owned(), function, ids: ids(&comment) });
        }
        comment.clear();
    }
    tests
}

fn files(dir: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
}

/// All tests that name a line, sorted.
fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (dir, ending) in [
        ("src", "rs"),
        ("crates", "rs"),
        ("tests/it", "rs"),
        ("tests/slow", "rs"),
        ("python/tests", "py"),
        ("r/tests", "R"),
    ] {
        let mut paths = Vec::new();
        files(&root().join(dir), ending, &mut paths);
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("a source");
            let file = path.strip_prefix(root()).expect("below").to_string_lossy().replace('\\', "/");
            tests.extend(match ending {
                "rs" => in_rust(&file, &text),
                "py" => in_python(&file, &text),
                _ => in_r(&file, &text),
            });
        }
    }
    // The examples at the end of this file are none.
    tests.retain(|test| !test.ids.is_empty() && !test.file.ends_with("/requirements.rs"));
    tests.sort();
    tests
}

/// The tests of each line.
fn proofs(tests: &[Test]) -> BTreeMap<&str, Vec<&Test>> {
    let mut proofs: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for test in tests {
        for id in &test.ids {
            proofs.entry(id.as_str()).or_default().push(test);
        }
    }
    proofs
}

#[test]
fn every_line_is_proved_measured_or_accounted_for() {
    let tests = tests();
    let proofs = proofs(&tests);
    let mut missing = Vec::new();
    for system in list().system {
        let in_rust = IN_RUST.contains(&system.id.as_str());
        for line in system.lines {
            let tests = proofs.get(line.id.as_str()).map_or(&[][..], Vec::as_slice);
            if line.measured.is_some() || line.shipped.is_some() {
                continue;
            }
            if tests.is_empty() {
                missing.push(format!("{}: no test", line.id));
            } else if in_rust && !line.python && !tests.iter().any(|test| test.is_rust()) {
                missing.push(format!("{}: no test in Rust", line.id));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn tests_name_lines_that_there_are() {
    let tests = tests();
    let list = list();
    let known: BTreeSet<_> =
        list.system.iter().flat_map(|system| &system.lines).map(|line| &line.id).collect();
    let unknown: Vec<_> = tests
        .iter()
        .flat_map(|test| test.ids.iter().map(move |id| (test, id)))
        .filter(|(_, id)| !known.contains(id))
        .map(|(test, id)| format!("{}: {}: `{id}` (a range is spelled out)", test.file, test.function))
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn the_list_is_in_order() {
    let mut seen = BTreeSet::new();
    for system in list().system {
        for line in system.lines {
            assert!(line.id.starts_with(&system.id) && ids(&line.id) == [line.id.as_str()], "{}", line.id);
            assert!(!line.text.is_empty() && !line.text.contains('|'), "{}", line.id);
            assert!(line.measured.is_none() || line.shipped.is_none(), "{}: one of both", line.id);
            if let Some(script) = &line.measured {
                let text = std::fs::read_to_string(root().join(script)).expect(script);
                assert!(text.contains(&format!("\"{}\"", line.id)), "{script} does not measure {}", line.id);
            }
            assert!(seen.insert(line.id.clone()), "{} appears twice", line.id);
        }
    }
}

/// What proves a line, and what else is to be said of it.
fn cell(line: &Line, tests: &[&Test]) -> String {
    let mut by_file: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for test in tests {
        by_file.entry(&test.file).or_default().push(format!("`{}`", test.function));
    }
    let mut parts: Vec<_> =
        by_file.iter().map(|(file, functions)| format!("[{file}]: {}", functions.join(", "))).collect();
    parts.extend(line.measured.iter().map(|script| format!("measured by [{script}]")));
    parts.extend(line.shipped.iter().map(|shipped| format!("*no test:* {shipped}")));
    parts.extend(line.note.iter().map(|note| format!("*note:* {note}")));
    parts.join("<br>")
}

fn page(tests: &[Test]) -> String {
    let proofs = proofs(tests);
    let mut page = String::new();
    let mut files: BTreeSet<_> = tests.iter().map(|test| test.file.clone()).collect();
    for system in list().system {
        files.extend(system.lines.iter().filter_map(|line| line.measured.clone()));
        let rows: Vec<_> = system
            .lines
            .iter()
            .map(|line| {
                let tests = proofs.get(line.id.as_str()).map_or(&[][..], Vec::as_slice);
                format!("| {} | {} | {} |\n", line.id, line.text, cell(line, tests))
            })
            .collect();
        let with = |wanted: fn(&Line) -> bool| system.lines.iter().filter(|line| wanted(line)).count();
        let (measured, shipped) = (with(|line| line.measured.is_some()), with(|line| line.shipped.is_some()));
        write!(
            page,
            "## {}\n\n{} lines: {} with tests, {measured} measured, {shipped} without a test.\n\n\
             | line | what is required | proved by |\n|---|---|---|\n{}\n",
            system.title,
            rows.len(),
            rows.len() - measured - shipped,
            rows.concat()
        )
        .expect("a text takes all");
    }
    for file in files {
        writeln!(page, "[{file}]: ../../{file}").expect("a text takes all");
    }
    page.push('\n');
    page
}

#[test]
fn reference_page() {
    let tests = tests();
    let path = root().join("docs/reference/requirements.md");
    let text = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once("<!-- generated").expect("a comment where the part begins");
    let (comment, rest) = rest.split_once("-->\n").expect("the end of that comment");
    let (found, after) = rest.split_once("<!-- end of the generated").expect("a comment where it ends");
    let expected = format!("\n{}", page(&tests));
    if found == expected {
        return;
    }
    assert!(
        std::env::var_os("SKILLPM_BLESS").is_some_and(|value| value == "1"),
        "docs/reference/requirements.md differs from what the tests say; \
         `SKILLPM_BLESS=1 cargo test --test it reference_page` writes it anew"
    );
    let new = format!("{before}<!-- generated{comment}-->\n{expected}<!-- end of the generated{after}");
    std::fs::write(&path, new).expect("writes");
}

#[test]
fn what_counts_as_a_test() {
    let text = "\
/// S0-E1, conflict C14: it is a test (S1-FR-202.1).
#[expect(
    clippy::x,
    reason = \"[S0-E2]\"
)]
#[test]
fn one() {}

/// S0-E3: only a function.
fn two() {}

/// S0-E4
#[test]
#[ignore = \"slow\"]
fn three() {}

/// S0-US3.1 to S0-US3.4.
#[test]
fn four(a in \"x\") {}

// S0-E5
#[test]
fn five() {}
";
    let test = |function: &str, ids: &[&str]| Test {
        file: "a.rs".into(),
        function: function.into(),
        ids: ids.iter().map(|id| (*id).to_owned()).collect(),
    };
    assert_eq!(
        in_rust("a.rs", text),
        [
            test("one", &["S0-E1", "C14", "S1-FR-202.1"]),
            test("four", &["S0-US3.1 to S0-US3.4"]),
            test("five", &[]),
        ]
    );
    let text = "\
@pytest.mark.req(\"S0-E1\", \"S0-K1\")
@pytest.mark.req(
    *(\"S2-T3\", \"S2-T9\"),
)
@pytest.mark.skipif(True)
async def test_one() -> None:
    def inner() -> None: ...

def helper(): ...

def test_two(): ...
";
    let found = in_python("a.rs", text);
    assert_eq!(found, [test("test_one", &["S0-E1", "S0-K1", "S2-T3", "S2-T9"]), test("test_two", &[])]);
    let text = "\
# S0-E1, C14: it is a test.
# S0-E2
test_that(\"a `one` is\", {
  # S0-E3
})

# S0-E4

test_that(\"two\", {})
";
    assert_eq!(in_r("a.rs", text), [test("a one is", &["S0-E1", "C14", "S0-E2"]), test("two", &[])]);
}
