//! Lists the files of a skill beside its `SKILL.md` for lint rules.

use std::path::{Path, PathBuf};

use crate::archive;
use crate::fs::{self, Kind, Walk};
use crate::lint::{SkillFile, SkillFileKind};
use crate::skill::find::is_skill_file;
use crate::skill::skipped::{SKIPPED, is_skipped};
use crate::tree::keys::{FoundKey, keys};
use crate::tree::{FileEntry, FileSet, Node, ReadError};

/// The maximum number of entries that are listed. No skill has more, and listing them would take too long.
const MAX_FILES: u64 = 10_000;
/// The size in bytes of the largest Markdown file whose text rules get.
const MAX_MARKDOWN: u64 = 256 << 10;
/// The maximum number of bytes of Markdown that rules get of one skill.
const MAX_MARKDOWN_IN_ALL: u64 = 4 << 20;
/// The maximum number of bytes read from a script; rules need only the first two.
const SCRIPT_PIECE: u64 = 1 << 20;

/// The size in bytes of the largest file that is searched for keys.
const MAX_SEARCHED: u64 = 16 << 20;

/// The maximum number of bytes read from an archive.
const ARCHIVE_PIECE: usize = 1 << 20;

/// Whether rules get the content of files as well as their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Files are opened if a rule may need their content.
    Read,
    /// Only names are listed.
    Unread,
}

/// Returns the files and links below the skill's directory `dir`, sorted by path, without its `SKILL.md`; `None` if the
/// directory cannot be read or has more entries than any skill.
///
/// With [`Contents::Read`], all files are searched for keys. Rules get no more of them than they need: the first bytes of
/// scripts below `scripts/`, and the text of Markdown files if one of them can link to another or name a script.
pub fn of_skill(dir: &Path, contents: Contents) -> Option<Vec<SkillFile>> {
    let read = contents == Contents::Read;
    let walk = Walk { skip: SKIPPED, entries: MAX_FILES, ..Walk::ALL };
    let tree = fs::scan(dir, walk).ok()?;
    let beside = || tree.entries().filter(|(path, _)| is_beside(path));
    let mut budget = if read { budget(beside().map(|(path, _)| path)) } else { 0 };
    let files = beside().filter_map(|(path, entry)| {
        let kind = match entry.node {
            Node::File { executable, size } => SkillFileKind::File {
                // Other systems have no such bit, and rules must not report what is unknown.
                executable: executable || !cfg!(unix),
                shebang: read && is_script(path) && has_shebang(&dir.join(path)),
                markdown: markdown_text(&dir.join(path), path, size, &mut budget),
                locked: read && is_archive(path) && has_lock(&dir.join(path)),
                keys: if read { keys_in(&dir.join(path), size) } else { Vec::new() },
            },
            Node::Symlink => SkillFileKind::Link,
            Node::Special(_) => return None,
        };
        Some(SkillFile { path: path.to_owned(), kind })
    });
    Some(files.collect())
}

/// Returns the paths in the skill's directory `dir` whose stamps change when the result of [`of_skill`] does: the
/// directories, the links, and with [`Contents::Read`] the files that are opened.
pub fn watched(dir: &Path, contents: Contents) -> Vec<PathBuf> {
    let (mut found, mut count) = (Vec::new(), 0);
    let mut dirs = vec![PathBuf::new()];
    while let Some(below) = dirs.pop() {
        let entries = fs::entries(&dir.join(&below)).unwrap_or_default();
        found.push(dir.join(&below));
        count += entries.len() as u64;
        if count > MAX_FILES {
            break;
        }
        for (name, kind) in entries {
            let path = below.join(&name);
            match kind {
                Kind::Directory if !is_skipped(&name) => dirs.push(path),
                Kind::Symlink => found.push(dir.join(path)),
                Kind::File if contents == Contents::Read => found.push(dir.join(path)),
                _ => {}
            }
        }
    }
    found
}

/// Works like [`of_skill`] for a skill that is not yet in a directory.
///
/// # Errors
///
/// Fails for a file that cannot be read.
pub fn of_set(set: &FileSet) -> Result<Vec<SkillFile>, ReadError> {
    let in_skipped = |path: &str| path.split('/').rev().skip(1).any(|part| SKIPPED.contains(&part));
    let beside = || {
        let entries = set.files().iter().map(|file| (file.path.as_str(), file));
        entries.filter(|(path, _)| is_beside(path) && !in_skipped(path))
    };
    let mut budget = budget(beside().map(|(path, _)| path));
    let mut files = Vec::new();
    for (path, file) in beside() {
        let bytes = set.read(file)?;
        let shebang = is_script(path) && bytes.starts_with(b"#!");
        let locked = is_archive(path) && archive::needs_password(start(&bytes));
        let keys = if file.size <= MAX_SEARCHED { keys(&bytes) } else { Vec::new() };
        let wanted = is_wanted(path, file.size, &mut budget);
        let markdown = if wanted { String::from_utf8(bytes).ok() } else { None };
        let kind = SkillFileKind::File {
            executable: file.executable || !cfg!(unix),
            shebang,
            markdown,
            locked,
            keys,
        };
        files.push(SkillFile { path: path.to_owned(), kind });
    }
    Ok(files)
}

/// Returns the names of a skill's files and which of them are archives with a password; only archives are opened.
pub(crate) fn names_of(set: &FileSet) -> Result<Vec<SkillFile>, ReadError> {
    let beside = set.files().iter().filter(|file| is_beside(file.path.as_str()));
    let one = |file: &FileEntry| {
        let path = file.path.as_str();
        let locked = is_archive(path) && archive::needs_password(start(&set.read(file)?));
        let kind = SkillFileKind::File {
            executable: file.executable,
            shebang: false,
            markdown: None,
            locked,
            keys: Vec::new(),
        };
        Ok(SkillFile { path: path.to_owned(), kind })
    };
    beside.map(one).collect()
}

fn is_beside(path: &str) -> bool {
    !is_skill_file(path)
}

/// Returns how many bytes of Markdown are read of a skill with the files `paths`: 0 if no rule needs any.
fn budget<'a>(paths: impl Iterator<Item = &'a str>) -> u64 {
    let (mut markdown, mut scripts) = (0, 0);
    for path in paths {
        markdown += usize::from(is_markdown(path));
        scripts += usize::from(is_script(path));
    }
    if markdown > 1 || scripts > 0 { MAX_MARKDOWN_IN_ALL } else { 0 }
}

/// Reports whether the Markdown of the file is read, and if so subtracts its size from `budget`.
fn is_wanted(path: &str, size: u64, budget: &mut u64) -> bool {
    if !is_markdown(path) || size > MAX_MARKDOWN || size > *budget {
        return false;
    }
    *budget -= size;
    true
}

fn is_script(path: &str) -> bool {
    path.starts_with("scripts/")
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

/// Reports whether the file is examined for a password, judging by its name.
fn is_archive(path: &str) -> bool {
    let ending = Path::new(path).extension().unwrap_or_default();
    ["zip", "jar", "whl", "rar", "7z"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Returns the part of an archive that is examined.
fn start(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(ARCHIVE_PIECE)]
}

fn has_lock(at: &Path) -> bool {
    let read = fs::read_prefix(at, 2 * ARCHIVE_PIECE as u64, |bytes| bytes.len() >= ARCHIVE_PIECE);
    read.is_ok_and(|bytes| bytes.is_some_and(|bytes| archive::needs_password(start(&bytes))))
}

fn keys_in(at: &Path, size: u64) -> Vec<FoundKey> {
    if size > MAX_SEARCHED {
        return Vec::new();
    }
    let read = fs::read_prefix(at, MAX_SEARCHED, |_| false);
    read.ok().flatten().map(|bytes| keys(&bytes)).unwrap_or_default()
}

fn has_shebang(at: &Path) -> bool {
    let read = fs::read_prefix(at, SCRIPT_PIECE, |bytes| bytes.len() >= 2);
    read.is_ok_and(|bytes| bytes.is_some_and(|bytes| bytes.starts_with(b"#!")))
}

fn markdown_text(at: &Path, path: &str, size: u64, budget: &mut u64) -> Option<String> {
    if !is_wanted(path, size, budget) {
        return None;
    }
    let bytes = fs::read_prefix(at, MAX_MARKDOWN, |_| false).ok()??;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    fn file(executable: bool, shebang: bool, markdown: Option<&str>) -> SkillFileKind {
        let markdown = markdown.map(str::to_owned);
        SkillFileKind::File { executable, shebang, markdown, locked: false, keys: Vec::new() }
    }

    #[test]
    fn names_first_bytes_and_markdown() {
        let world = World::new();
        world.skill("pdf", "pdf");
        world.write("pdf/scripts/a.sh", "#!/bin/sh\n");
        world.write("pdf/scripts/empty", "");
        world.write("pdf/references/a.md", "# A\n");
        world.write("pdf/assets/b.sh", "#!/bin/sh\n");
        world.write("pdf/big.MD", &"x".repeat(300 << 10));
        world.write("pdf/node_modules/x/y.md", "no");
        let dir = world.project().join("pdf");
        let found: Vec<_> = of_skill(&dir, Contents::Read)
            .expect("a directory")
            .into_iter()
            .map(|file| (file.path, file.kind))
            .collect();
        // Files are written without the bit; on systems without one, it counts as set.
        let bit = !cfg!(unix);
        let expected = [
            ("assets/b.sh", file(bit, false, None)),
            ("big.MD", file(bit, false, None)),
            ("references/a.md", file(bit, false, Some("# A\n"))),
            ("scripts/a.sh", file(bit, true, None)),
            ("scripts/empty", file(bit, false, None)),
        ];
        assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    }

    /// `create` checks a skill before it is written, and gets the files that `validate` finds afterwards.
    #[test]
    fn a_set_tells_what_its_directory_will() {
        let world = World::new();
        world.skill("pdf", "pdf");
        for (path, text) in [
            ("scripts/a.sh", "#!/bin/sh\n"),
            ("scripts/b", ""),
            ("assets/b.sh", "#!/bin/sh\n"),
            ("references/a.md", "# A\n"),
            ("node_modules/x/y.md", "no"),
            ("target", "a file"),
        ] {
            world.write(&format!("pdf/{path}"), text);
        }
        world.write("pdf/big.MD", &"x".repeat(300 << 10));
        let key = "npm_q7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQo";
        world.write("pdf/data/x.json", &format!("{{\n  \"key\": \"{key}\"\n}}"));
        let dir = world.project().join("pdf");
        let set = fs::tree_of(&dir).expect("reads");
        let set = set.skill("", &crate::refusal::Limits::default()).expect("a skill");
        let sorted = |mut files: Vec<SkillFile>| {
            files.sort_by(|a, b| a.path.cmp(&b.path));
            files
        };
        let found = of_skill(&dir, Contents::Read).expect("a directory");
        let has_key =
            |file: &&SkillFile| matches!(&file.kind, SkillFileKind::File { keys, .. } if !keys.is_empty());
        let with_keys: Vec<_> = found.iter().filter(has_key).map(|file| &file.path).collect();
        assert_eq!(with_keys, ["data/x.json"]);
        assert_eq!(sorted(of_set(&set).expect("reads")), sorted(found));
    }

    /// A single Markdown file cannot link to another, so rules do not get its text.
    #[test]
    fn what_no_rule_asks_for_is_not_passed_on() {
        let world = World::new();
        world.skill("pdf", "pdf");
        world.write("pdf/a.md", "# A\n");
        let files = of_skill(&world.project().join("pdf"), Contents::Read).expect("a directory");
        assert_eq!(files[0].kind, file(!cfg!(unix), false, None));
    }

    #[test]
    fn names_alone_open_nothing() {
        let world = World::new();
        world.write("pdf/scripts/a.sh", "#!/bin/sh\n");
        world.write("pdf/a.md", "# A\n");
        world.write("pdf/b.md", "# B\n");
        let files = of_skill(&world.project().join("pdf"), Contents::Unread).expect("a directory");
        assert_eq!(files.len(), 3);
        assert!(files.iter().all(|found| found.kind == file(!cfg!(unix), false, None)));
    }

    #[test]
    fn nothing_is_said_of_what_cannot_be_read() {
        let world = World::new();
        assert_eq!(of_skill(&world.project().join("nowhere"), Contents::Read), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_told_and_not_followed() {
        let world = World::new();
        world.skill("pdf", "pdf");
        world.write("secret.md", "key");
        world.link("../../secret.md", "pdf/scripts.md");
        let files = of_skill(&world.project().join("pdf"), Contents::Read).expect("a directory");
        assert_eq!(files, [SkillFile { path: "scripts.md".into(), kind: SkillFileKind::Link }]);
    }
}
