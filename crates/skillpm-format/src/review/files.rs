//! The reportable contents of a single file.

use super::texts::{self, Text};
use super::{Item, Kind};
use crate::digest::Digest;
use crate::lint::{SCRIPT_ENDINGS, ending};
use crate::tree::FileEntry;

/// Extensions of scripts and programs, in addition to those that a system runs by their first line.
const MORE_ENDINGS: &[&str] = &[
    "ts",
    "mts",
    "cts",
    "tsx",
    "jsx",
    "ps1",
    "psm1",
    "bat",
    "cmd",
    "vbs",
    "php",
    "lua",
    "r",
    "jl",
    "tcl",
    "awk",
    "scpt",
    "applescript",
    "exe",
    "dll",
    "so",
    "dylib",
    "jar",
    "wasm",
    "pyc",
    "pyz",
    "whl",
    "app",
    "msi",
    "deb",
    "rpm",
    "dmg",
    "ksh",
    "nu",
    "groovy",
    "go",
    "rs",
    "swift",
];

/// Extensions of archives: their contents are not examined.
const ARCHIVES: &[&str] = &["zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "iso", "cab"];

/// The first bytes of programs: ELF, Windows, macOS (four variants), `WebAssembly`.
const PROGRAMS: &[&[u8]] = &[
    b"\x7fELF",
    b"MZ",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\0asm",
];

/// Names of files that agents read as their own settings or instructions, in any directory.
const SETTINGS: &[&str] = &[
    ".mcp.json",
    "mcp.json",
    "hooks.json",
    "settings.json",
    "settings.local.json",
    "agents.md",
    "claude.md",
    "gemini.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    "plugin.json",
];

/// Names of directories that contain such files.
const SETTINGS_DIRS: &[&str] = &[".claude", ".cursor", ".codex", ".gemini", ".vscode"];

/// Returns everything in `file` that could be reported.
pub(super) fn items(file: &FileEntry, bytes: &[u8]) -> Vec<Item> {
    let path = file.path.as_str();
    let mut items = Vec::new();
    // Bytes that are not strictly text may still be text to a reader.
    let is_exact = memchr::memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok();
    let text = (is_exact || texts::is_document(path)).then(|| String::from_utf8_lossy(bytes));
    let text = text.as_deref();
    // Identified by its name and content; not new if it existed before.
    let whole = |kind, text: String, needs| Item {
        kind,
        key: format!("{path}\0{}", Digest::of(bytes)),
        needs,
        quiet: false,
        line: None,
        text,
    };
    let there = || vec![path.to_owned()];
    if file.executable {
        let key = path.to_owned();
        let text = "can be executed".to_owned();
        items.push(Item { kind: Kind::Executable, key, needs: Vec::new(), quiet: false, line: None, text });
    }
    if is_settings(path) {
        items.push(whole(Kind::AgentSettings, start(text), Vec::new()));
    }
    let is_script = is_script(file, bytes);
    if is_script {
        // A reviewer cannot compare a program with the one before it.
        items.push(if text.is_none() || is_program(bytes) {
            whole(Kind::Script, "a program or other binary file".to_owned(), Vec::new())
        } else {
            whole(Kind::Script, start(text), there())
        });
    }
    if let Some(text) = text {
        texts::items(&Text::new(path, text, is_script), &mut items);
    }
    if !is_exact && !is_script {
        // A different picture is not news; but an archive may contain anything, and a text file may pose as binary to
        // avoid being read.
        let is_archive = ARCHIVES.contains(&&*ending(path).to_ascii_lowercase());
        let (told, needs) = match text {
            Some(_) => ("a text with invalid bytes", Vec::new()),
            None if is_archive => ("an archive", Vec::new()),
            None => ("not text", vec![String::new()]),
        };
        items.push(whole(Kind::Binary, told.to_owned(), needs));
    }
    items
}

/// Reports whether agents treat the file at `path` as their own settings or instructions.
pub(super) fn is_settings(path: &str) -> bool {
    let is_one_of = |part: &str, names: &[&str]| names.iter().any(|name| part.eq_ignore_ascii_case(name));
    path.rsplit('/').next().is_some_and(|name| is_one_of(name, SETTINGS))
        || path.split('/').any(|part| is_one_of(part, SETTINGS_DIRS))
}

fn is_script(file: &FileEntry, bytes: &[u8]) -> bool {
    let path = file.path.as_str();
    let ending = ending(file.path.file_name()).to_ascii_lowercase();
    let is_document =
        matches!(&*ending, "md" | "markdown" | "txt" | "rst" | "json" | "yaml" | "yml" | "toml");
    file.executable
        || (path.starts_with("scripts/") && !is_document)
        || SCRIPT_ENDINGS.contains(&&*ending)
        || MORE_ENDINGS.contains(&&*ending)
        || bytes.starts_with(b"#!")
        || is_program(bytes)
}

fn is_program(bytes: &[u8]) -> bool {
    PROGRAMS.iter().any(|start| bytes.starts_with(start))
}

/// Returns the first meaningful line of `text`.
fn start(text: Option<&str>) -> String {
    let lines = text.unwrap_or_default().lines();
    lines.map(str::trim).find(|line| !line.is_empty()).unwrap_or("an empty file").to_owned()
}
