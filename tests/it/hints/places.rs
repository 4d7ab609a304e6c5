//! The places in the source that make hints with commands or options, and those that no situation reaches.
//!
//! A hint of plain words has nothing to type: `architecture.rs` sees to it that texts name no commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The sources whose hints are printed.
const SOURCES: [&str; 4] =
    ["src", "crates/skillpm-core/src", "crates/skillpm-sources/src", "crates/skillpm-format/src"];

/// The rooms whose messages are hints.
const HINTS: [&str; 2] = ["crates/skillpm-core/src/hints", "crates/skillpm-core/src/scope/merges.rs"];

/// What commands and options in messages are made of.
const VALUES: [&str; 4] = ["Verb::", "Opt::", "Call", "message!"];

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

/// `code` without what is in its texts and comments; lines stay.
fn bare(code: &str) -> String {
    let mut bare = String::new();
    let mut rest = code;
    while let Some(next) = rest.chars().next() {
        let (shown, skipped) = match next {
            '/' if rest.starts_with("//") => ("", rest.find('\n').unwrap_or(rest.len())),
            '"' => ("\"\"", 1 + text_length(&rest[1..])),
            // These are no texts: `'"'`.
            '\'' if rest.starts_with("'\"'") => ("' '", 3),
            _ => (&rest[..next.len_utf8()], next.len_utf8()),
        };
        bare.push_str(shown);
        bare.extend(rest[..skipped].matches('\n').filter(|_| shown == "\"\""));
        rest = &rest[skipped..];
    }
    bare
}

/// How long the text is that `rest` starts with, its closing quote included.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().find(|(_, next)| {
        let ends = *next == '"' && !escaped;
        escaped = *next == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// What stands in the parentheses that are open before `rest`.
fn inside(rest: &str) -> &str {
    let mut open = 1;
    let end = rest.find(|next| {
        open += i32::from(matches!(next, '(' | '[' | '{')) - i32::from(matches!(next, ')' | ']' | '}'));
        open == 0
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// Where `file` makes the `hint` that is given at `at`, if it is no text and made here. All branches of an expression are of
/// one type.
fn made_at(hint: &str, file: &str, at: usize) -> Option<usize> {
    let hint = hint.trim().trim_start_matches('&');
    if let Some(pieces) = hint.strip_prefix("message!(").and_then(|rest| rest.strip_suffix(')')) {
        return (!is_words(pieces)).then_some(at);
    }
    let is_word = |next: char| next.is_alphanumeric() || next == '_';
    let name = hint.strip_prefix("self.").unwrap_or(hint);
    let name = &name[..name.find(|next| !is_word(next)).unwrap_or(name.len())];
    let rest = &hint[hint.find(name).unwrap_or(0) + name.len()..];
    let is_call = rest.starts_with('(');
    if rest.starts_with("::") && name.starts_with(|first: char| first.is_lowercase()) {
        return None;
    }
    if VALUES.iter().any(|value| hint.contains(value)) {
        return Some(at);
    }
    let begin =
        if is_call { file.find(&format!("fn {name}(")) } else { file[..at].rfind(&format!("let {name} = ")) };
    if let Some(begin) = begin {
        let rest_of = &file[begin..];
        let value = match rest_of.split_once('{') {
            Some((_, body)) if is_call => inside(body),
            _ => rest_of.split(";\n").next().unwrap_or_default(),
        };
        return VALUES.iter().any(|of| value.contains(of)).then_some(begin);
    }
    None
}

/// Whether the `pieces` of a message are words only.
fn is_words(pieces: &str) -> bool {
    let mut rest = pieces.trim();
    while let Some(text) = rest.strip_prefix("format_args!(") {
        rest = text[inside(text).len()..].trim_start_matches([')', ',']).trim_start();
    }
    rest.replace("\"\"", "").chars().all(|next| next.is_whitespace() || next == ',')
}

/// The lines of `code` that make hints with values; `all` of its messages are hints, or only what `hint` is called with.
fn lines(code: &str, all: bool) -> BTreeSet<usize> {
    let code = bare(code);
    let line = |at: usize| code[..at].matches('\n').count() + 1;
    let calls = |call: &'static str| {
        code.match_indices(call).map(|(at, call)| (at, inside(&code[at + call.len()..])))
    };
    let called = calls(".hint(").filter_map(|(at, hint)| made_at(hint, &code, at));
    let made = calls("message!(").filter(|(_, pieces)| all && !is_words(pieces)).map(|(at, _)| at);
    called.chain(made).map(line).collect()
}

/// The lines that make hints with values, by file.
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
        let found = lines(text.split("#[cfg(test)]\nmod ").next().unwrap_or_default(), all);
        if !found.is_empty() {
            places.insert(name, found);
        }
    }
    places
}

#[test]
fn plain_words_are_no_places() {
    let code = r#"
        a.hint("free some space: \"now\" (");
        a.hint(format!("set `{x}`"));
        a.hint(if b { "this" } else { "that" });
        a.hint(self.how("x"));
        a.hint(message!(
            "run ",
            Verb::List
        )); // not .hint(x)
        let hint = Verb::List;
        a.hint(hint);
        let hint = format!("no");
        a.hint(hint);
        other.hint(given);
        a.hint(message!(format_args!("do {x}"), "!"));
        fn how(&self, x: &str) -> String { }
        let told = message!("x", call);
    "#;
    assert_eq!(lines(code, false).into_iter().collect::<Vec<_>>(), [6, 10]);
    assert_eq!(lines(code, true).into_iter().collect::<Vec<_>>(), [6, 10, 17]);
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
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let known: BTreeMap<&str, (usize, &str)> = text.lines().filter_map(row).collect();
    let now: BTreeMap<_, _> = left.iter().map(|(name, lines)| (name.as_str(), lines.len())).collect();
    let known_of = |name: &str| known.get(name).copied().unwrap_or_default();
    let is_new = |(name, count): &(&&str, &usize)| known_of(name).0 < **count;
    let new: Vec<_> =
        now.iter().filter(is_new).map(|(name, _)| format!("{name}: {:?}", left[*name])).collect();
    assert!(
        new.is_empty(),
        "no situation in `hints/situations` prints a hint of these lines:\n{}",
        new.join("\n")
    );
    if now != known.iter().map(|(name, (count, _))| (*name, *count)).collect() {
        let rows: Vec<_> =
            now.iter().map(|(name, count)| format!("{name}\t{count}\t{}", known_of(name).1)).collect();
        assert!(
            std::env::var_os("SKILLPM_BLESS").is_some(),
            "more hints are run than `hints/not_yet.tsv` says: run this test with SKILLPM_BLESS=1"
        );
        std::fs::write(file, rows.join("\n") + "\n").expect("a file");
    }
}

/// The name of a file, how many of its places no situation reaches, and why.
fn row(line: &str) -> Option<(&str, (usize, &str))> {
    let (name, rest) = line.split_once('\t')?;
    let (count, why) = rest.split_once('\t').expect("a reason");
    Some((name, (count.parse().expect("a number"), why)))
}
