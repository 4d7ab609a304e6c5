//! Lists the files of a skill beside its `SKILL.md` for lint rules.

use std::path::{Path, PathBuf};

use crate::archive;
use crate::fs::{self, Kind, Walk};
use crate::lint::{FileFacts, SkillFile, SkillFileKind, has_wanted_text};
use crate::skill::find::is_skill_file;
use crate::skill::skipped::{SKIPPED, is_skipped};
use crate::tree::keys::keys;
use crate::tree::{FileEntry, FileSet, Node, ReadError};

/// The maximum number of entries that are listed. No skill has more, and listing them would take too long.
const MAX_FILES: u64 = 10_000;
/// The size in bytes of the largest file whose text rules get.
const MAX_TEXT: u64 = 256 << 10;
/// The maximum number of bytes of Markdown, and of other texts, that rules get of one skill.
const MAX_TEXT_IN_ALL: u64 = 4 << 20;
/// The size in bytes of the largest file that is searched for keys.
const MAX_SEARCHED: u64 = 16 << 20;
/// The number of bytes that are read of a larger one: an archive says at its start whether it has a password.
const START: usize = 1 << 20;

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
/// With [`Contents::Read`], each file is read once.
pub fn of_skill(dir: &Path, contents: Contents) -> Option<Vec<SkillFile>> {
    let walk = Walk { skip: SKIPPED, entries: MAX_FILES, ..Walk::ALL };
    let tree = fs::scan(dir, walk).ok()?;
    let mut left = [MAX_TEXT_IN_ALL; 2];
    let files = tree.entries().filter(|(path, _)| is_beside(path)).filter_map(|(path, entry)| {
        let kind = match entry.node {
            Node::File { executable, size } => SkillFileKind::File(match contents {
                Contents::Read => facts(path, size, executable, content(&dir.join(path), size), &mut left),
                Contents::Unread => unread(size, executable),
            }),
            Node::Symlink => SkillFileKind::Link,
            Node::Special(_) => return None,
        };
        Some(SkillFile { path: path.to_owned(), kind })
    });
    let mut files: Vec<SkillFile> = files.collect();
    files.extend(tree.skipped().iter().filter(|path| is_build(path)).map(|path| unlisted(path)));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Some(files)
}

fn unlisted(path: &str) -> SkillFile {
    SkillFile { path: path.to_owned(), kind: SkillFileKind::Unlisted }
}

/// Reports whether a directory that is not entered is one that a build makes, and that `pack` does not leave out.
fn is_build(path: &str) -> bool {
    path.rsplit('/').next() == Some("target")
}

/// Reads a file of `size` bytes, or its start if it is large. What cannot be read is empty: rules say nothing of it.
fn content(at: &Path, size: u64) -> Vec<u8> {
    let read = if size > MAX_SEARCHED {
        fs::read_prefix(at, 2 * START as u64, |bytes| bytes.len() >= START)
    } else {
        fs::read_prefix(at, MAX_SEARCHED, |_| false)
    };
    read.ok().flatten().unwrap_or_default()
}

/// Returns what is known of a file that is not read.
fn unread(size: u64, executable: bool) -> FileFacts {
    // Other systems have no such bit, and rules must not report what is unknown.
    FileFacts { executable: executable || !cfg!(unix), size, ..FileFacts::default() }
}

/// Returns what rules know of the file at `path` with the content `bytes`, or this start of it. `left` is how many bytes
/// of texts they may still get.
fn facts(path: &str, size: u64, executable: bool, bytes: Vec<u8>, left: &mut [u64; 2]) -> FileFacts {
    // Markdown has its own part: no other file takes it away.
    let left = &mut left[usize::from(is_markdown(path))];
    let is_wanted = has_wanted_text(path) && size <= MAX_TEXT.min(*left);
    let start = &bytes[..bytes.len().min(START)];
    let shebang = bytes.starts_with(b"#!");
    let locked = is_archive(path) && archive::needs_password(start);
    let keys = if size <= MAX_SEARCHED { keys(&bytes) } else { Vec::new() };
    if is_wanted {
        *left -= size;
    }
    let text = is_wanted.then(|| String::from_utf8(bytes).ok()).flatten();
    FileFacts { shebang, locked, keys, text, ..unread(size, executable) }
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
    let mut left = [MAX_TEXT_IN_ALL; 2];
    let mut files: Vec<SkillFile> = Vec::new();
    for file in set.files().iter().filter(|file| is_beside(file.path.as_str())) {
        let path = file.path.as_str();
        match skipped_in(path) {
            None => {
                let facts = facts(path, file.size, file.executable, set.read(file)?, &mut left);
                files.push(SkillFile { path: path.to_owned(), kind: SkillFileKind::File(facts) });
            }
            Some(dir) if is_build(dir) && !files.iter().any(|file| file.path == dir) => {
                files.push(unlisted(dir));
            }
            Some(_) => {}
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the directory on the way to `path` that no search enters.
fn skipped_in(path: &str) -> Option<&str> {
    let dirs = path.match_indices('/').map(|(end, _)| &path[..end]);
    dirs.into_iter().find(|dir| SKIPPED.iter().any(|name| dir.rsplit('/').next() == Some(name)))
}

/// Returns the names of a skill's files and which of them are archives with a password; only archives are opened.
pub(crate) fn names_of(set: &FileSet) -> Result<Vec<SkillFile>, ReadError> {
    let beside = set.files().iter().filter(|file| is_beside(file.path.as_str()));
    let one = |file: &FileEntry| {
        let path = file.path.as_str();
        let start = if is_archive(path) { set.read(file)? } else { Vec::new() };
        let locked = archive::needs_password(&start[..start.len().min(START)]);
        let facts = FileFacts { locked, ..unread(file.size, file.executable) };
        Ok(SkillFile { path: path.to_owned(), kind: SkillFileKind::File(facts) })
    };
    beside.map(one).collect()
}

fn is_beside(path: &str) -> bool {
    !is_skill_file(path)
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

/// Reports whether the file is examined for a password, judging by its name.
fn is_archive(path: &str) -> bool {
    let ending = Path::new(path).extension().unwrap_or_default();
    ["zip", "jar", "whl", "rar", "7z"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    fn file(size: u64, shebang: bool, text: Option<&str>) -> SkillFileKind {
        // Files are written without the bit; on systems without one, it counts as set.
        let text = text.map(str::to_owned);
        SkillFileKind::File(FileFacts { shebang, text, ..unread(size, false) })
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
        let expected = [
            ("assets/b.sh", file(10, true, Some("#!/bin/sh\n"))),
            ("big.MD", file(300 << 10, false, None)),
            ("references/a.md", file(4, false, Some("# A\n"))),
            ("scripts/a.sh", file(10, true, Some("#!/bin/sh\n"))),
            ("scripts/empty", file(0, false, None)),
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
            |file: &&SkillFile| matches!(&file.kind, SkillFileKind::File(facts) if !facts.keys.is_empty());
        let with_keys: Vec<_> = found.iter().filter(has_key).map(|file| &file.path).collect();
        assert_eq!(with_keys, ["data/x.json"]);
        assert_eq!(sorted(of_set(&set).expect("reads")), sorted(found));
    }

    #[test]
    fn names_alone_open_nothing() {
        let world = World::new();
        world.write("pdf/scripts/a.sh", "#!/bin/sh\n");
        world.write("pdf/a.md", "# A\n");
        world.write("pdf/b.md", "# B\n");
        let files = of_skill(&world.project().join("pdf"), Contents::Unread).expect("a directory");
        assert_eq!(files.len(), 3);
        assert!(
            files
                .iter()
                .all(|found| matches!(&found.kind, SkillFileKind::File(facts) if facts.text.is_none()))
        );
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
