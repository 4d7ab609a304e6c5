//! What the files of a skill require: its frontmatter, the settings for Codex, and its scripts.

use std::collections::BTreeSet;
use std::path::Path;

use crate::document::{Document, LineIndex, Position};
use crate::engine::load::SKILL_FILE;
use crate::engine::run::{program_of, programs};
use crate::engine::tools::python_imports;
use crate::fs::{self, Walk};
use crate::skill::MAX_SKILL_FILE;
use crate::skill::prerequisites::{
    Prerequisite, PrerequisiteKind, declared, declared_for_openai, javascript, python,
};
use crate::skill::skipped::SKIPPED;
use crate::tree::Node;

/// The file of a skill with settings for Codex.
const OPENAI_FILE: &str = "agents/openai.yaml";
/// The maximum number of entries in a skill's directory; no skill has more.
const MAX_ENTRIES: u64 = 10_000;
/// The maximum number of scripts of a skill that are read.
const MAX_SCRIPTS: usize = 200;
/// The maximum size in bytes of a script that is read.
const MAX_SCRIPT: u64 = 256 << 10;
/// Directories whose scripts nobody runs as they are.
const NO_SCRIPTS: [&str; 10] = [
    "assets",
    "references",
    "examples",
    "templates",
    "tests",
    "test",
    "__tests__",
    "evals",
    "fixtures",
    "site-packages",
];
/// Endings of files that are no scripts without a first line that says so.
const NO_ENDINGS: [&str; 12] =
    ["md", "txt", "json", "yaml", "yml", "toml", "html", "css", "svg", "png", "xml", "csv"];

/// Returns what the skill in `dir` requires, in the order of its files, each thing once. What cannot be read requires
/// nothing.
pub(crate) fn of_directory(dir: &Path) -> Vec<Prerequisite> {
    let mut all = of_frontmatter(dir);
    let Ok(tree) = fs::scan(dir, Walk { skip: SKIPPED, entries: MAX_ENTRIES, ..Walk::ALL }) else {
        return each_once(all);
    };
    let files = || {
        tree.entries()
            .filter(|(_, entry)| matches!(entry.node, Node::File { size, .. } if size <= MAX_SCRIPT))
    };
    let read = |path: &str| fs::read_prefix(&dir.join(path), MAX_SCRIPT + 1, |_| false).ok().flatten();
    if tree.get(OPENAI_FILE).is_some()
        && let Some(text) = read(OPENAI_FILE).and_then(|bytes| String::from_utf8(bytes).ok())
    {
        all.extend(declared_for_openai(&text, OPENAI_FILE));
    }
    let own = own_modules(tree.entries().map(|(path, _)| path));
    for (path, _) in files().filter(|(path, _)| may_be_script(path)).take(MAX_SCRIPTS) {
        let of = |bytes: Vec<u8>| of_file((path, &bytes), &programs(path, &bytes), &own);
        all.extend(read(path).map(of).unwrap_or_default());
    }
    each_once(all)
}

/// Returns what the script at `path` with the content `bytes` requires, of the skill in `dir` with all these `paths`: what
/// it imports, and those of the skill's programs and variables that it mentions.
pub(crate) fn of_script<'a>(
    dir: &Path,
    (path, bytes): (&str, &[u8]),
    paths: impl Iterator<Item = &'a str>,
) -> Vec<Prerequisite> {
    let text = String::from_utf8_lossy(bytes);
    let words: BTreeSet<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && !"._+-".contains(c)).collect();
    let is_meant = |one: &Prerequisite| match one.kind {
        PrerequisiteKind::Program | PrerequisiteKind::Variable => {
            one.any_of.iter().any(|name| words.contains(name.as_str()))
        }
        PrerequisiteKind::System => true,
        _ => false,
    };
    let mut all = of_frontmatter(dir);
    all.retain(is_meant);
    let mut programs = programs(path, bytes);
    // A program that brings packages along is not what starts it here.
    if let (Some(first), Ok(Some(name))) = (programs.first_mut(), program_of(path, bytes))
        && !first.starts_with(name)
    {
        *first = name;
    }
    all.extend(of_file((path, bytes), &programs, &own_modules(paths)));
    each_once(all)
}

fn of_frontmatter(dir: &Path) -> Vec<Prerequisite> {
    let file = fs::read_prefix(&dir.join(SKILL_FILE), MAX_SKILL_FILE, |_| false).ok().flatten();
    file.map(|bytes| declared(&Document::from_bytes(bytes), SKILL_FILE)).unwrap_or_default()
}

/// Reports whether the file at `path` may be a script that the skill's text has run.
fn may_be_script(path: &str) -> bool {
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_test = stem.starts_with("test_")
        || stem == "conftest"
        || ["_test", ".test", ".spec"].iter().any(|end| stem.ends_with(end));
    !is_test
        && !NO_ENDINGS.contains(&ending)
        && !dirs.split('/').any(|dir| NO_SCRIPTS.contains(&dir))
        // Other directories have data of all kinds.
        && (!ending.is_empty() || dirs.split('/').any(|dir| ["scripts", "bin"].contains(&dir)))
}

/// Returns the names under which a skill with these files can import parts of itself.
fn own_modules<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut own = BTreeSet::new();
    for path in paths {
        let mut parts = path.split('/').rev();
        own.extend(parts.next().and_then(|name| name.split_once('.')).map(|(stem, _)| stem));
        own.extend(parts);
    }
    own
}

/// Returns what the script at `path` with the content `bytes` requires, which one of `programs` runs.
fn of_file((path, bytes): (&str, &[u8]), programs: &[&str], own: &BTreeSet<&str>) -> Vec<Prerequisite> {
    let mut found = Vec::new();
    let Some(program) = programs.first().copied() else { return found };
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let key = if bytes.starts_with(b"#!") { "#!".to_owned() } else { format!(".{ending}") };
    let top = Position { line: 1, column: 1 };
    let started = Prerequisite::new(PrerequisiteKind::Program, programs.iter().copied(), (&key, path, top));
    // Such scripts are for Windows, beside others that do the same elsewhere.
    found.extend(started.map(|started| started.optional(key == ".ps1")));
    let Ok(text) = std::str::from_utf8(bytes) else { return found };
    let lines = LineIndex::new(text);
    let mut add = |kind, name, at, optional| {
        let new = Prerequisite::new(kind, [name], ("import", path, lines.position(at)));
        found.extend(new.map(|new| new.optional(optional)));
    };
    if ending == "py" || program.starts_with("python") {
        if let Some(inline) = python::inline(text, path) {
            // `uv` and the like bring the packages themselves.
            let brought = !program.starts_with("python");
            found.extend(inline.into_iter().map(|one| {
                let optional = one.optional || brought;
                one.optional(optional)
            }));
        } else {
            let foreign = |module: &str| !python::is_standard(module) && !own.contains(module);
            for one in python_imports(text).iter().filter(|one| foreign(one.module)) {
                add(PrerequisiteKind::PythonModule, one.module, one.at, one.optional);
            }
        }
    } else if ["js", "mjs", "cjs"].contains(&ending) || program.starts_with("node") {
        for one in javascript::imports(text) {
            add(PrerequisiteKind::NodePackage, one.package, one.at, one.optional);
        }
    }
    found
}

/// Leaves out what was stated before. What one file needs and another may do without is needed.
fn each_once(all: Vec<Prerequisite>) -> Vec<Prerequisite> {
    let mut once: Vec<Prerequisite> = Vec::new();
    for one in all {
        let is_same = |known: &&mut Prerequisite| {
            let is_of_version = one.version.is_none() || known.version == one.version;
            known.kind == one.kind && known.any_of == one.any_of && is_of_version
        };
        match once.iter_mut().find(is_same) {
            Some(known) if known.optional && !one.optional => *known = one,
            Some(_) => {}
            None => once.push(one),
        }
    }
    once
}
