//! The house: who may know whom, and which resource has which owner (`docs/design/layout.md`).
//!
//! That values and rules know nothing of the machine, and the machine nothing of front ends, is held by the compiler: they are
//! crates. This test holds the order inside of them. Sources are read as text. Comments and code that is only compiled for
//! tests do not count.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The storeys from below to above. A module may know its own storey and those below.
const STOREYS: &[(&str, &[&str])] = &[
    (
        "values",
        &[
            "advice",
            "codes",
            "credentials",
            "digest",
            "document",
            "interop",
            "lockfile",
            "manifest",
            "name",
            "path",
            "profile",
            "refusal",
            "requirement",
            "scope_kind",
            "serialized",
            "sides",
            "skill",
            "spec",
            "text",
            "tokens",
            "tree",
            "version",
        ],
    ),
    ("rules", &["admission", "lint", "merge", "ranking", "resolve", "review"]),
    // What every room above stands on.
    (
        "ground",
        &["agents", "context", "env", "error", "interrupt", "processes", "reporter", "settings", "workers"],
    ),
    // The machine, in its order: a room may know those above it in this list.
    ("files", &["fs"]),
    ("carriers", &["archive", "git", "http", "template", "trust"]),
    // What agents list is told by the files alone.
    ("listings", &["agents/listing", "agents/sessions"]),
    ("store", &["store"]),
    // Its values are pure; the room as a whole reads and writes the files of a registry.
    ("registries", &["registry"]),
    ("sources", &["source"]),
    ("scope", &["scope"]),
    // What is newer than what is installed.
    ("updates", &["updates"]),
    ("library", &["engine"]),
    ("run", &["engine/run", "engine/tools"]),
    ("prerequisites", &["engine/prerequisites"]),
    // What verbs share: how skills come, how a scope changes, which skills a path means.
    ("fetch", &["fetch"]),
    ("change", &["change", "paths"]),
    // The skills of some places, for front ends and verbs: found by name, opened, permitted to run.
    ("session", &["session"]),
    // The verbs, and what they advise to do next.
    ("verbs", &["ops", "hints"]),
    // The tools by which agents use skills, for the front ends that have agents.
    ("toolkit", &["toolkit"]),
    ("front ends", &["cli", "mcp"]),
];

/// Storeys whose rooms do not know each other either.
const APART: &[&str] = &["carriers", "front ends"];

/// Imports upwards that are wanted, or not untied yet: who, whom, why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("error", "fs", "`error.rs` is the one place where errors of the machine become those of a verb"),
    ("scope", "engine", "what agents see is told by the library's finder"),
    ("engine", "engine/tools", "the library hands out the tools of its skills"),
];

/// Texts that may only stand in some files of a crate that could use them anywhere. A name that ends in `/` is a directory.
/// What `std` offers is in `clippy.toml`, and a library of one crate alone is in its `Cargo.toml`.
const OWNERS: &[(&str, &[&str])] = &[
    ("git2::", &["git/"]),
    ("landlock::", &["engine/run/sandbox.rs"]),
    ("rusqlite::", &["agents/sessions/opencode.rs"]),
    ("seccompiler::", &["engine/run/filter.rs"]),
    ("io::stdout", &["cli/printer.rs"]),
    // `env.rs` asks whether it is a terminal; questions and bars are drawn by their own crates.
    ("io::stderr", &["cli/printer.rs", "cli/prompt.rs", "env.rs"]),
    ("indicatif::", &["cli/progress.rs"]),
    ("reqwest::", &["http/"]),
    ("hyper::", &["http/"]),
    ("rustls::", &["http/"]),
    ("tokio::", &["http/"]),
    ("tower::", &["http/"]),
];

/// Types whose variants are rows of a table, and the files that may tell them apart: the two halves of the table. To add a
/// row is to add a file for each half, and one line to each of these.
const TABLES: &[(&str, &[&str])] = &[
    ("Origin::", &["spec/origin.rs", "source/mod.rs"]),
    // A marketplace names npm packages, and skillpm says how to install them.
    ("Ecosystem::", &["spec/package.rs", "source/package/mod.rs", "source/marketplace.rs"]),
];

/// Texts below the front ends that may name the command: where, and why.
const COMMANDS: &[(&str, &str)] = &[
    (
        "engine/catalog/block.rs",
        "the first line of a catalog in a file tells people what keeps it up to date",
    ),
    ("lockfile.rs", "the heading of the file tells people what restores the skills"),
];

/// Files of the command line that may name commands in texts: where, and why. All else is made of a `Verb`.
const TYPED: &[(&str, &str)] = &[
    ("cli/words.rs", "the words for the program itself"),
    ("cli/commands/diff.rs", "the examples of a help page are constants"),
];

/// A source file: its path below `src`, and its code.
struct Source {
    path: String,
    code: String,
}

impl Source {
    /// The room that the file belongs to: `http` for `http/url.rs`, `engine/run` for `engine/run/mod.rs`.
    fn room(&self) -> &str {
        let inner = |room: &&str| self.path.strip_prefix(room).is_some_and(|rest| rest.starts_with('/'));
        if let Some(room) = rooms().filter(|room| room.contains('/')).find(inner) {
            return room;
        }
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// The rooms that the code names by `crate::`, and the inner rooms that it names by `super::`.
    fn known(&self) -> BTreeSet<&str> {
        let ends = |c: char| !c.is_alphanumeric() && c != '_';
        let mut known = BTreeSet::new();
        for (at, _) in self.code.match_indices("crate::") {
            let rest = &self.code[at + "crate::".len()..];
            if let Some(group) = rest.strip_prefix('{') {
                known.extend(members(group));
            } else {
                let name = |text: &'_ str| text[..text.find(ends).unwrap_or(text.len())].len();
                let first = &rest[..name(rest)];
                let inner = rest[first.len()..].strip_prefix("::").map_or("", |rest| &rest[..name(rest)]);
                known.insert(room_of(first, inner).unwrap_or(first));
            }
        }
        // As often as it takes from this module to the outer room.
        let module = self.path.strip_suffix("/mod.rs").unwrap_or(&self.path);
        let outer = "super::".repeat(module.matches('/').count());
        for (at, _) in self.code.match_indices(&outer).filter(|_| !outer.is_empty()) {
            let rest = &self.code[at + outer.len()..];
            let around = self.path.split('/').next().unwrap_or_default();
            known.extend(room_of(around, &rest[..rest.find(ends).unwrap_or(rest.len())]));
        }
        known.remove(self.room());
        known
    }
}

/// All rooms.
fn rooms() -> impl Iterator<Item = &'static str> {
    STOREYS.iter().flat_map(|(_, rooms)| rooms.iter().copied())
}

/// The inner room `inner` of the room `outer`, where there is such a one.
fn room_of(outer: &str, inner: &str) -> Option<&'static str> {
    rooms().find(|room| room.split_once('/') == Some((outer, inner)))
}

/// The first names in `a::b, c::{d, e}}`.
fn members(group: &str) -> Vec<&str> {
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                let name = group[start..at].trim();
                names.push(&name[..name.find(ends).unwrap_or(name.len())]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The directories of sources, each that of a crate: what one holds may know those after it.
const CRATES: [&str; 4] =
    ["src", "crates/skillpm-core/src", "crates/skillpm-sources/src", "crates/skillpm-format/src"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
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

/// All sources without comments and tests.
fn sources() -> Vec<Source> {
    sources_of(&CRATES)
}

/// The sources of these crates.
fn sources_of(crates: &[&str]) -> Vec<Source> {
    let mut paths = Vec::new();
    for sources in crates {
        files(&root().join(sources), &mut paths);
    }
    let texts: Vec<_> =
        paths.iter().map(|path| (path, std::fs::read_to_string(path).expect("a source"))).collect();
    let test_only: Vec<PathBuf> = texts.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    texts
        .into_iter()
        .filter(|(path, _)| !test_only.iter().any(|module| path.with_extension("").starts_with(module)))
        .map(|(path, text)| {
            let path = crates.iter().find_map(|sources| path.strip_prefix(root().join(sources)).ok());
            let path = path.expect("in a crate").to_string_lossy().replace('\\', "/");
            Source { path, code: code(&text) }
        })
        .collect()
}

/// Paths, without ending, of the modules that a file declares for tests only.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let is_parent = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| path.ends_with(name));
    let dir = if is_parent { path.parent().expect("a parent").to_owned() } else { path.with_extension("") };
    let mut modules = Vec::new();
    for (at, attribute) in text.match_indices("#[cfg(test)]\n") {
        let line = text[at + attribute.len()..].lines().next().unwrap_or_default();
        if let Some(name) = line.split("mod ").nth(1).and_then(|rest| rest.strip_suffix(';')) {
            modules.push(dir.join(name));
        }
    }
    modules
}

/// Leaves out comments, and everything from the first module of tests on: tests stand at the end.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut test = false;
    for line in text.lines() {
        let line = line.trim_start();
        if test && line.contains("mod ") && line.ends_with('{') {
            break;
        }
        test = line == "#[cfg(test)]";
        if !line.starts_with("//") {
            code.push_str(line.split(" // ").next().unwrap_or(line));
            code.push('\n');
        }
    }
    code
}

fn storey(room: &str) -> Option<usize> {
    STOREYS.iter().position(|(_, rooms)| rooms.contains(&room))
}

/// The types of `rmcp` change with its minor versions: one module knows them.
#[test]
fn only_the_protocol_of_mcp_knows_its_library() {
    let sources = sources_of(&["crates/skillpm-mcp/src"]);
    let knows = |source: &&Source| source.code.contains("rmcp::") || source.code.contains("tokio::");
    let who: Vec<_> = sources.iter().filter(knows).map(|source| source.path.as_str()).collect();
    assert!(!who.is_empty() && who.iter().all(|path| path.starts_with("protocol/")), "{who:?}");
}

#[test]
fn imports_run_downwards() {
    let mut wrong = Vec::new();
    for source in sources() {
        let room = source.room();
        if matches!(room, "lib" | "main") {
            continue;
        }
        let Some(own) = storey(room) else {
            wrong.push(format!("{} belongs to no storey: add `{room}` to STOREYS", source.path));
            continue;
        };
        for known in source.known() {
            let excepted = EXCEPTIONS.iter().any(|(who, whom, _)| (*who, *whom) == (room, known));
            let sideways = APART.contains(&STOREYS[own].0) && storey(known) == Some(own);
            match storey(known) {
                Some(other) if (other > own || sideways) && !excepted => {
                    wrong.push(format!(
                        "{} ({}) knows `{known}` ({})",
                        source.path, STOREYS[own].0, STOREYS[other].0
                    ));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "imports that run the wrong way:\n{}", wrong.join("\n"));
}

/// Verbs that only look, and those that change something. What both need has a room of its own.
const LOOKING: [&str; 12] = [
    "agents", "catalog", "diff", "invoke", "list", "outdated", "read", "search", "show", "tree", "verify",
    "why",
];
const CHANGING: [&str; 11] =
    ["bump", "create", "disable", "fix", "import", "install", "link", "publish", "remove", "undo", "update"];

#[test]
fn verbs_that_look_call_none_that_change() {
    let mut wrong = Vec::new();
    for source in sources_of(&["crates/skillpm-core/src/ops"]) {
        let verb = source.path.split(['/', '.']).next().unwrap_or_default();
        let calls = |change: &&&str| {
            let paths = [format!("super::{change}::"), format!("ops::{change}::")];
            paths.iter().any(|path| source.code.contains(path.as_str()))
        };
        if LOOKING.contains(&verb) {
            wrong.extend(
                CHANGING.iter().filter(calls).map(|change| format!("{} calls `{change}`", source.path)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of a registry's server from below to above. Each knows those before it.
const SERVER: [&str; 12] = [
    "error", "hints", "random", "config", "storage", "catalog", "access", "app", "pages", "log", "web",
    "command",
];

#[test]
fn imports_of_the_server_run_downwards() {
    let place = |room: &str| SERVER.iter().position(|known| *known == room);
    let mut wrong = Vec::new();
    for source in sources_of(&["crates/skillpm-registry/src"]) {
        if matches!(source.room(), "lib" | "main") {
            continue;
        }
        let Some(own) = place(source.room()) else {
            wrong.push(format!("{} belongs nowhere: add it to SERVER", source.path));
            continue;
        };
        let above = source.known().into_iter().filter(|known| place(known).is_some_and(|other| other > own));
        wrong.extend(above.map(|known| format!("{} knows `{known}`", source.path)));
    }
    assert!(wrong.is_empty(), "imports that run the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn exceptions_are_needed() {
    let sources = sources();
    for (who, whom, _) in EXCEPTIONS {
        let needed = sources.iter().any(|source| source.room() == *who && source.known().contains(whom));
        assert!(needed, "`{who}` no longer knows `{whom}`: remove the exception");
    }
}

/// Rooms in which no module imports what a module that imports it declares.
const TREES: &[&str] = &["change/", "fetch/", "ops/", "updates/"];

/// Whether `text`, right before a name, leaves that name a word of its own.
fn is_word_start(text: &str) -> bool {
    !text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The names that `code` takes from the module around it: `a` and `b` in `super::{a, b::c}`.
fn from_parent(code: &str) -> BTreeSet<&str> {
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    let mut names = BTreeSet::new();
    for (at, text) in code.match_indices("super::") {
        let rest = &code[at + text.len()..];
        match rest.strip_prefix('{') {
            _ if code[..at].ends_with("super::") => {}
            Some(group) => names.extend(members(group)),
            None => drop(names.insert(&rest[..rest.find(ends).unwrap_or(rest.len())])),
        }
    }
    names
}

/// Whether `code` itself declares `name`, and does not re-export it or have a file for it.
fn declares(code: &str, name: &str) -> bool {
    if code.lines().any(|line| line.ends_with(&format!("mod {name};"))) {
        return false;
    }
    code.lines().any(|line| {
        let line =
            line.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map_or(line, |(_, rest)| rest);
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = line.strip_prefix("const fn ").map_or(line, |_| &line["const ".len()..]);
        let Some((kind, rest)) = line.split_once(' ') else { return false };
        matches!(kind, "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static")
            && rest
                .strip_prefix(name)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// Whether `code` imports anything of its own module `child`, or re-exports it.
fn imports_child(code: &str, child: &str) -> bool {
    code.match_indices(&format!("{child}::")).any(|(at, _)| {
        let before = &code[..at];
        before.ends_with("self::") || is_word_start(before) && !before.ends_with("::")
    })
}

/// The module around the one in the file `path`, and the name that the latter has there.
fn parent<'a>(sources: &'a [Source], path: &'a str) -> Option<(&'a Source, &'a str)> {
    let module = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs"))?;
    let (around, name) = module.rsplit_once('/')?;
    let files = [format!("{around}/mod.rs"), format!("{around}.rs")];
    Some((sources.iter().find(|source| files.contains(&source.path))?, name))
}

/// What a module and its parts share has a file of its own, so that each can be read without the others.
#[test]
fn modules_and_their_parts_import_one_way() {
    let sources = sources();
    let mut wrong = Vec::new();
    for source in sources.iter().filter(|source| TREES.iter().any(|tree| source.path.starts_with(tree))) {
        let Some((parent, child)) = parent(&sources, &source.path) else { continue };
        if imports_child(&parent.code, child) {
            let names = from_parent(&source.code).into_iter().filter(|name| declares(&parent.code, name));
            wrong.extend(names.map(|name| format!("{}: `{name}` of {}", source.path, parent.path)));
        }
    }
    assert!(wrong.is_empty(), "move it to a file that both import:\n{}", wrong.join("\n"));
    let names = from_parent("use super::{a, b::c};\nuse super::super::d;\nsuper::e(super::f::G)");
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a", "b", "e", "f", "super"]);
    assert!(declares("pub(in crate::ops) fn a<T>()", "a") && declares("pub const fn a()", "a"));
    assert!(!declares("pub use self::b::a;\nmod a;\nfn ab()", "a"));
    assert!(imports_child("use self::a::B;", "a") && imports_child("a::b()", "a"));
    assert!(!imports_child("use crate::a::B;\nba::c()", "a"));
}

/// Whether a file is the one, or lies in the directory, that `place` names.
fn is_in(path: &str, place: &str) -> bool {
    if place.ends_with('/') { path.starts_with(place) } else { path == place }
}

#[test]
fn every_resource_has_one_owner() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (text, owners) in OWNERS {
            let owned = owners.iter().any(|owner| is_in(&source.path, owner));
            let word = |at: usize| !source.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !owned && source.code.match_indices(text).any(|(at, _)| word(at)) {
                wrong.push(format!("{}: `{text}`, which only {owners:?} may use", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "resources in foreign hands:\n{}", wrong.join("\n"));
}

#[test]
fn kinds_of_sources_are_told_apart_in_their_tables() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (table, files) in TABLES.iter().filter(|(_, files)| !files.contains(&source.path.as_str())) {
            // Functions of the type are for everybody, and so is a list of all.
            let is_variant = |at: usize| {
                let rest = &source.code[at + table.len()..];
                rest.starts_with(|c: char| c.is_ascii_uppercase()) && !rest.starts_with("ALL")
            };
            if source.code.match_indices(table).any(|(at, _)| is_variant(at)) {
                wrong.push(format!("{} names kinds by `{table}`, as only {files:?} may", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "what differs with the kind is a method of it:\n{}", wrong.join("\n"));
}

/// What `code` says in the words of the command line: `` `skillpm install` ``, `` `--force` ``.
fn commands(code: &str) -> impl Iterator<Item = &str> {
    let is_flag = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
    code.match_indices('`').map(|(at, _)| &code[at + 1..]).filter_map(move |rest| {
        let told = rest.starts_with("skillpm ") || rest.strip_prefix("--").is_some_and(is_flag);
        told.then(|| rest.split(['`', '\n']).next().unwrap_or_default())
    })
}

#[test]
fn only_front_ends_word_commands_and_flags() {
    let front_ends = STOREYS.len() - 1;
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| storey(source.room()).is_some_and(|at| at < front_ends)) {
        let told: Vec<_> = commands(&source.code).collect();
        match COMMANDS.iter().find(|(file, _)| *file == source.path) {
            Some((file, _)) => {
                assert!(!told.is_empty(), "`{file}` no longer names the command: remove the exception");
            }
            None => wrong.extend(told.iter().map(|text| format!("{}: `{text}`", source.path))),
        }
    }
    assert!(
        wrong.is_empty(),
        "name verbs and options by `Verb` and `Opt` in a `message!`:\n{}",
        wrong.join("\n")
    );
    let text = "\"run `skillpm install x`, `--force`, `-- x`, `git log --all`\"";
    assert_eq!(commands(text).collect::<Vec<_>>(), ["skillpm install x", "--force"]);
}

/// A hint that is a text runs as printed only by luck: nothing quotes what is in it, and no other front end can word it.
#[test]
fn the_command_line_names_commands_by_values() {
    let sources = sources_of(&["src"]);
    let names = |source: &&Source| source.code.contains("`skillpm ");
    let all: BTreeSet<_> = sources.iter().filter(names).map(|source| source.path.as_str()).collect();
    let allowed: BTreeSet<_> = TYPED.iter().map(|(file, _)| *file).collect();
    assert_eq!(all, allowed, "name commands by `Verb` and `Call` in a `message!`");
}

/// Codes that stand as texts in `code`: those of errors and of warnings.
fn codes(code: &str) -> impl Iterator<Item = &str> {
    ["Warning::new(", ".coded("].into_iter().flat_map(move |call| {
        let rest = code.match_indices(call).map(move |(at, _)| code[at + call.len()..].trim_start());
        rest.filter_map(|rest| rest.strip_prefix('"')?.split('"').next())
    })
}

/// `docs/reference/codes.md` is made of the constants, so that each code that is used is in it.
#[test]
fn every_code_is_a_constant_that_is_used_or_the_name_of_a_rule() {
    let mut sources = sources();
    sources.extend(sources_of(&[
        "crates/skillpm-mcp/src",
        "crates/skillpm-lsp/src",
        "crates/skillpm-registry/src",
    ]));
    let is_rule = |code: &str| skillpm_format::lint::RULES.iter().any(|rule| rule.id == code);
    let is_below = |source: &&Source| source.room() != "cli";
    let texts = sources.iter().filter(is_below).flat_map(|source| codes(&source.code));
    let wrong: Vec<_> = texts.filter(|code| !is_rule(code)).collect();
    assert!(wrong.is_empty(), "add a constant to `codes.rs`: {wrong:?}");
    let is_used = |constant: &str| {
        let name = format!("codes::{constant}");
        sources.iter().any(|source| {
            let ends = |at: usize| {
                !source.code[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            };
            source.code.match_indices(&name).any(|(at, _)| ends(at))
        })
    };
    let unused: Vec<_> =
        skillpm_format::codes::ALL.iter().map(|code| code.constant).filter(|name| !is_used(name)).collect();
    assert!(unused.is_empty(), "nothing has the codes {unused:?}");
    assert_eq!(codes("Warning::new(\n\"a\", x).coded(\"b\")").collect::<Vec<_>>(), ["a", "b"]);
}

/// The name of the type, the module or the public function that `line` declares.
fn declared(line: &str) -> Option<&str> {
    let (line, is_public) = match line.strip_prefix("pub") {
        Some(rest) => (rest.split_once(") ").map_or(rest, |(_, rest)| rest).trim_start(), true),
        None => (line, false),
    };
    let (kind, rest) = line.split_once(' ')?;
    let is_named = matches!(kind, "struct" | "enum" | "trait" | "type" | "mod") || kind == "fn" && is_public;
    is_named.then(|| &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())])
}

/// CONTRIBUTING has a word for each thing, and the code no other one.
#[test]
fn names_are_the_words_of_the_glossary() {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the page");
    let (_, table) = page.split_once("## Words").expect("the glossary");
    let (table, _) = table.split_once("\n## ").expect("another section");
    let rows: Vec<Vec<_>> = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| -") && !line.starts_with("| word"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 60, "{} words", rows.len());
    assert!(rows.is_sorted_by_key(|row| row[0].to_owned()), "the words are not sorted");
    let quoted = |cell: &'_ str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let sources = sources();
    let has = |path: &str| {
        let name = path.rsplit("::").next().unwrap_or(path);
        let ends = |text: &str, at: usize| !text[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let stands = |text: &str| {
            text.match_indices(name).any(|(at, _)| {
                let before = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                !before && ends(text, at + name.len())
            })
        };
        path.contains('/') && root().join(path).exists() || sources.iter().any(|source| stands(&source.code))
    };
    let missing: Vec<_> = rows.iter().flat_map(|row| quoted(row[2])).filter(|path| !has(path)).collect();
    assert!(missing.is_empty(), "the code no longer has {missing:?}");
    let mut banned: BTreeSet<String> = rows.iter().flat_map(|row| quoted(row[3])).collect();
    banned.extend(["Place", "Entry", "Found", "Said", "Known", "Report"].map(str::to_owned));
    let wrong: Vec<_> = sources
        .iter()
        .flat_map(|source| source.code.lines().filter_map(declared).map(move |name| (&source.path, name)))
        .filter(|(_, name)| banned.contains(*name))
        .collect();
    assert!(wrong.is_empty(), "the glossary has other words for {wrong:?}");
}

/// Whoever follows a page of the design into the code finds the file there.
#[test]
fn pages_name_files_that_exist() {
    let mut missing = Vec::new();
    for page in std::fs::read_dir(root().join("docs/design")).expect("the pages") {
        let page = page.expect("a page").path();
        let text = std::fs::read_to_string(&page).expect("text");
        let is_file = |token: &&str| {
            Path::new(token).extension().is_some_and(|ending| ending == "rs")
                && token.contains('/')
                && !token.contains(|c: char| c.is_uppercase() || c == ' ')
        };
        for name in text.split('`').skip(1).step_by(2).filter(is_file) {
            let others = [
                "",
                "tests",
                "crates/skillpm-mcp/src",
                "crates/skillpm-lsp/src",
                "crates/skillpm-registry/src",
            ];
            let mut places = CRATES.iter().chain(&others);
            if !places.any(|place| root().join(place).join(name).is_file()) {
                missing.push(format!("{}: {name}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "files that are not there: {missing:#?}");
}

#[test]
fn the_scan_sees_what_it_is_to_see() {
    let text = "//! crate::no\nuse crate::fs::Kind; // crate::no\nuse crate::{lint::{Rule, RULES}, spec};\n\
                fn x() { crate::text::visible(\"\") }\n#[cfg(test)]\npub(crate) mod tests {\n use crate::no;\n}\n";
    let source = Source { path: "http/url.rs".to_owned(), code: code(text) };
    assert_eq!(source.known().into_iter().collect::<Vec<_>>(), ["fs", "lint", "spec", "text"]);
    assert_eq!(source.room(), "http");
    let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub(crate) mod testing;\n";
    assert_eq!(
        test_modules(Path::new("src/lint/mod.rs"), text),
        [Path::new("src/lint/tests"), Path::new("src/lint/testing")]
    );
    assert_eq!(test_modules(Path::new("src/tree.rs"), text)[0], Path::new("src/tree/tests"));
    assert!(sources().len() > 50);
}

/// The crates that a build of `package` needs, each with its features; `None` where cargo has not downloaded them.
fn crates(package: &[&str]) -> Option<BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} [{f}]"])
        .args(package)
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
    output.status.success().then(|| lines.collect())
}

/// The program and the Python package share every crate: none is built a second time with other features. The server is
/// apart: what it needs, the others would carry along.
#[test]
fn every_crate_is_built_once() {
    let tests = crates(&[
        "--package",
        "skillpm",
        "--package",
        "skillpm-core",
        "--package",
        "skillpm-sources",
        "--package",
        "skillpm-format",
    ]);
    let python = crates(&["--package", "skillpm-python", "--edges", "normal,build"]);
    let all = crates(&["--workspace", "--exclude", "skillpm-registry"]);
    let (Some(tests), Some(python), Some(all)) = (tests, python, all) else {
        return eprintln!("skipped: not every crate of the workspace was downloaded");
    };
    let others: Vec<_> = tests.union(&python).filter(|line| !all.contains(*line)).collect();
    assert!(others.is_empty(), "with other features than in the workspace: {others:#?}");
}
