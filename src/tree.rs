//! Trees from outside, and the files of one skill in them.
//!
//! A [`Tree`] is what a source delivers: a whole repository, archive or directory, with names that
//! are harmless to look at but not yet fit to be written. A [`FileSet`] is one skill of it: only
//! regular files, every path a [`SafePath`], no two names alike, within the limits. Lint, digest,
//! store and install see nothing but file sets.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use crate::digest::{Digest, HashingWriter, tree_digest};
use crate::path::{SafePath, collision_key};
use crate::refusal::{Limits, Refusal};

mod held;

pub use held::{Held, MOST};

/// The bytes behind the entries of a tree.
pub trait Content: Send + Sync {
    /// Writes the whole content of entry `id` to `sink`. For a symbolic link that is its target.
    ///
    /// # Errors
    ///
    /// [`ReadError::Refused`] where the bytes are not what the tree declared (checksum, size);
    /// [`ReadError::Io`] where they could not be read or written.
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError>;

    /// Adds the content of the file `id` to `buffer`, no more than `limit` bytes of it, and returns how many
    /// bytes it has: as far as they were counted, where these are more.
    ///
    /// # Errors
    ///
    /// As [`Content::copy_to`].
    fn append_to(&self, id: usize, limit: u64, buffer: &mut Vec<u8>) -> Result<u64, ReadError> {
        append_by_copy(|sink| self.copy_to(id, sink), limit, buffer)
    }
}

/// What [`Content::append_to`] does, with what `copy` writes.
///
/// # Errors
///
/// As `copy`.
pub fn append_by_copy(
    copy: impl FnOnce(&mut dyn Write) -> Result<(), ReadError>,
    limit: u64,
    buffer: &mut Vec<u8>,
) -> Result<u64, ReadError> {
    let mut sink = Counted { buffer, limit, count: 0 };
    copy(&mut sink)?;
    Ok(sink.count)
}

/// A buffer that takes no more than so many bytes and counts the others.
struct Counted<'a> {
    buffer: &'a mut Vec<u8>,
    limit: u64,
    count: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit.saturating_sub(self.count);
        let fit = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.buffer.extend_from_slice(&bytes[..fit]);
        self.count += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why content could not be delivered.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes are not what was declared.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The machine could not read or write.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What an entry of a [`Tree`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File {
        /// Whether any executable bit is set.
        executable: bool,
        /// Bytes, as declared.
        size: u64,
    },
    /// A symbolic link; its target is its content.
    Symlink,
    /// Anything else that has a name; the kind with its article, `a named pipe`.
    Special(&'static str),
}

/// One entry of a [`Tree`].
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// What it is.
    pub node: Node,
    /// The handle by which [`Content`] knows it.
    pub id: usize,
}

/// Files by path, as a source delivers them. Directories are implied by the paths below them.
#[derive(Clone)]
pub struct Tree {
    entries: BTreeMap<String, Entry>,
    content: Arc<dyn Content>,
}

impl Tree {
    /// Returns a tree of `entries`, whose keys are `/`-separated relative paths without empty, `.`
    /// or `..` components.
    pub fn new(entries: BTreeMap<String, Entry>, content: Arc<dyn Content>) -> Self {
        Self { entries, content }
    }

    /// All entries, sorted by path.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), *entry))
    }

    /// The entry at `path`, if there is one.
    pub fn get(&self, path: &str) -> Option<Entry> {
        self.entries.get(path).copied()
    }

    /// The entries below directory `dir` (`""` is the root) with their paths relative to it.
    pub fn below<'a>(&'a self, dir: &'a str) -> impl Iterator<Item = (&'a str, Entry)> {
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let skip = prefix.len();
        self.entries
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(move |(path, entry)| (&path[skip..], *entry))
    }

    /// Reads the file at `path`, at most `limit` bytes of it.
    ///
    /// # Errors
    ///
    /// As [`Content::copy_to`]; [`Refusal::TooLarge`] for a file of more than `limit` bytes;
    /// `NotFound` where there is no regular file.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        match self.get(path) {
            Some(Entry { node: Node::File { size, .. }, id }) => {
                if size > limit {
                    return Err(Refusal::TooLarge { size, limit }.into());
                }
                let mut bytes = Vec::new();
                let actual = self.content.append_to(id, limit, &mut bytes)?;
                if actual > limit {
                    return Err(Refusal::TooLarge { size: actual, limit }.into());
                }
                Ok(bytes)
            }
            _ => Err(io::Error::new(io::ErrorKind::NotFound, format!("`{path}` is no regular file")).into()),
        }
    }

    /// Writes the content of `entry` to `sink`; for a symbolic link that is its target.
    ///
    /// # Errors
    ///
    /// As [`Content::copy_to`].
    pub fn copy_to(&self, entry: Entry, sink: &mut dyn Write) -> Result<(), ReadError> {
        self.content.copy_to(entry.id, sink)
    }

    /// Returns this tree without its one top directory, if everything lies in one: archives of
    /// repositories wrap their content in `owner-repo-commit/`.
    #[must_use]
    pub fn without_wrapper(self) -> Self {
        let Some(top) =
            self.entries.keys().next().and_then(|path| path.split_once('/')).map(|(top, _)| top.to_owned())
        else {
            return self;
        };
        let prefix = format!("{top}/");
        if !self.entries.keys().all(|path| path.starts_with(&prefix)) {
            return self;
        }
        let entries =
            self.entries.iter().map(|(path, entry)| (path[prefix.len()..].to_owned(), *entry)).collect();
        Self { entries, content: self.content }
    }

    /// Returns this tree below a top directory `top`.
    #[must_use]
    pub fn within(self, top: &str) -> Self {
        let entries =
            self.entries.into_iter().map(|(path, entry)| (format!("{top}/{path}"), entry)).collect();
        Self { entries, content: self.content }
    }

    /// Returns this tree without the entries whose path `is_out` names.
    #[must_use]
    pub fn without(mut self, is_out: impl Fn(&str) -> bool) -> Self {
        self.entries.retain(|path, _| !is_out(path));
        self
    }

    /// Returns the files of the skill in directory `dir` (`""` is the root).
    ///
    /// A symbolic link to a regular file of the same skill becomes a copy of that file.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] for names, types and sizes that no skill may have.
    pub fn skill(&self, dir: &str, limits: &Limits) -> Result<FileSet, ReadError> {
        let mut files = Vec::new();
        for (path, entry) in self.below(dir) {
            let safe =
                SafePath::new(path).map_err(|reason| Refusal::Name { name: path.to_owned(), reason })?;
            let entry = match entry.node {
                Node::File { .. } => entry,
                Node::Symlink if path == "SKILL.md" => {
                    return Err(Refusal::SkillSymlink(path.to_owned()).into());
                }
                Node::Symlink => self.follow(dir, path, entry)?,
                Node::Special(kind) => {
                    return Err(Refusal::SpecialFile { name: path.to_owned(), kind }.into());
                }
            };
            if let Node::File { executable, size } = entry.node {
                files.push(FileEntry { path: safe, executable, size, id: entry.id });
            }
        }
        Ok(FileSet::new(files, Arc::clone(&self.content), limits)?)
    }

    /// The regular file of the same skill that the link at `path` names. One step only: a link to
    /// a link is refused, as are links through directories.
    fn follow(&self, dir: &str, path: &str, link: Entry) -> Result<Entry, ReadError> {
        let refused = || ReadError::from(Refusal::Symlink(path.to_owned()));
        let mut target = Capped { bytes: Vec::new(), limit: 1024 };
        self.content.copy_to(link.id, &mut target).map_err(|_| refused())?;
        let target = String::from_utf8(target.bytes).map_err(|_| refused())?;
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        if target.starts_with('/') {
            return Err(refused());
        }
        for part in target.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(refused)?;
                }
                part => parts.push(part),
            }
        }
        let inside = parts.join("/");
        let full = if dir.is_empty() { inside } else { format!("{dir}/{inside}") };
        match self.get(&full) {
            Some(entry) if matches!(entry.node, Node::File { .. }) => Ok(entry),
            _ => Err(refused()),
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.entries).finish()
    }
}

/// A buffer that refuses to grow beyond a limit.
struct Capped {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Capped {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + buf.len() > self.limit {
            return Err(io::Error::other("too long"));
        }
        self.bytes.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One file of a [`FileSet`].
#[derive(Debug, Clone)]
pub struct FileEntry {
    /// Where it lies below the skill's directory.
    pub path: SafePath,
    /// Whether it gets mode 0755; the others get 0644.
    pub executable: bool,
    /// Bytes.
    pub size: u64,
    id: usize,
}

impl FileEntry {
    /// Returns an entry whose content `id` names.
    pub fn new(path: SafePath, executable: bool, size: u64, id: usize) -> Self {
        Self { path, executable, size, id }
    }
}

/// The files of one skill, sorted by path: safe names, regular files, nothing twice.
#[derive(Clone)]
pub struct FileSet {
    files: Vec<FileEntry>,
    content: Arc<dyn Content>,
}

impl FileSet {
    /// Returns a set of `files`.
    ///
    /// # Errors
    ///
    /// Names that are there twice, collide or are file and directory at once; too many files or
    /// bytes for `limits`.
    pub fn new(
        mut files: Vec<FileEntry>,
        content: Arc<dyn Content>,
        limits: &Limits,
    ) -> Result<Self, Refusal> {
        if files.len() as u64 > limits.skill_files {
            return Err(Refusal::TooManyEntries { count: files.len() as u64, limit: limits.skill_files });
        }
        let size = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        if size > limits.skill_bytes {
            return Err(Refusal::TooLarge { size, limit: limits.skill_bytes });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        check_names(&files)?;
        Ok(Self { files, content })
    }

    /// Returns the same set, which holds `guard` for as long as its content can be read.
    #[must_use]
    pub fn guarded(self, guard: Arc<dyn Any + Send + Sync>) -> Self {
        let content = Arc::new(Guarded { content: self.content, _guard: guard });
        Self { files: self.files, content }
    }

    /// Returns the same files with their content from elsewhere, by the same ids.
    #[must_use]
    pub fn from(&self, content: Arc<dyn Content>) -> Self {
        Self { files: self.files.clone(), content }
    }

    /// The files, sorted by the bytes of their paths.
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// The file at `path`, if there is one.
    pub fn get(&self, path: &str) -> Option<&FileEntry> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| &self.files[at])
    }

    /// Writes the content of `file` to `sink`.
    ///
    /// # Errors
    ///
    /// As [`Content::copy_to`].
    pub fn copy_to(&self, file: &FileEntry, sink: &mut dyn Write) -> Result<(), ReadError> {
        self.content.copy_to(file.id, sink)
    }

    /// Reads the content of `file` into memory.
    ///
    /// # Errors
    ///
    /// As [`Content::copy_to`].
    pub fn read(&self, file: &FileEntry) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        self.copy_to(file, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads everything and returns the tree digest.
    ///
    /// # Errors
    ///
    /// As [`Content::copy_to`].
    pub fn digest(&self) -> Result<Digest, ReadError> {
        let mut lines = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let mut hasher = HashingWriter::new(io::sink());
            self.copy_to(file, &mut hasher)?;
            lines.push((&file.path, file.executable, hasher.finish().0));
        }
        Ok(tree_digest(lines))
    }
}

/// Content that is there for as long as something is held.
struct Guarded {
    content: Arc<dyn Content>,
    _guard: Arc<dyn Any + Send + Sync>,
}

impl Content for Guarded {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        self.content.copy_to(id, sink)
    }

    fn append_to(&self, id: usize, limit: u64, buffer: &mut Vec<u8>) -> Result<u64, ReadError> {
        self.content.append_to(id, limit, buffer)
    }
}

impl fmt::Debug for FileSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.files).finish()
    }
}

/// Refuses two paths that would meet on some file system, directories included.
fn check_names(files: &[FileEntry]) -> Result<(), Refusal> {
    // Key of every file and directory -> its spelling, and whether it is a file.
    let mut seen: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    for file in files {
        let path = file.path.as_str();
        for (name, is_file) in file.path.ancestors().map(|dir| (dir, false)).chain([(path, true)]) {
            match seen.insert(collision_key(name), (name, is_file)) {
                None => {}
                Some((other, false)) if other == name && !is_file => {}
                Some((other, true)) if other == name && is_file => {
                    return Err(Refusal::Duplicate(name.to_owned()));
                }
                Some((other, _)) if other == name => return Err(Refusal::FileAndDirectory(name.to_owned())),
                Some((other, _)) => return Err(Refusal::Collision(other.to_owned(), name.to_owned())),
            }
        }
    }
    Ok(())
}

/// Content held in memory, for tests and for files made on the spot.
#[derive(Debug, Default)]
pub struct Memory(pub Vec<Vec<u8>>);

impl Content for Memory {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        Ok(sink.write_all(&self.0[id])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of files (`name`), executables (`name*`) and links (`name@`).
    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut entries = BTreeMap::new();
        let mut bytes = Vec::new();
        for (id, (name, content)) in files.iter().enumerate() {
            let size = content.len() as u64;
            let (name, node) = match name.strip_suffix('@') {
                Some(name) => (name, Node::Symlink),
                None => (name.trim_end_matches('*'), Node::File { executable: name.ends_with('*'), size }),
            };
            entries.insert(name.to_owned(), Entry { node, id });
            bytes.push(content.as_bytes().to_vec());
        }
        Tree::new(entries, Arc::new(Memory(bytes)))
    }

    fn refusal(tree: &Tree, dir: &str) -> Refusal {
        match tree.skill(dir, &Limits::default()) {
            Err(ReadError::Refused(refusal)) => refusal,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    #[test]
    fn a_skill_is_what_lies_below_its_directory() {
        let tree = tree(&[
            ("r/a/SKILL.md", "x"),
            ("r/a/s/run.sh*", "y"),
            ("r/a-b/SKILL.md", "z"),
            ("r/up@", "../../x"),
        ]);
        let set = tree.clone().without_wrapper().skill("a", &Limits::default()).expect("a skill");
        let paths: Vec<_> = set.files().iter().map(|f| (f.path.as_str(), f.executable)).collect();
        assert_eq!(paths, [("SKILL.md", false), ("s/run.sh", true)]);
        assert_eq!(set.read(set.get("SKILL.md").expect("there")).expect("reads"), b"x");
    }

    #[test]
    fn names_that_meet_are_refused() {
        assert_eq!(
            refusal(&tree(&[("SKILL.md", ""), ("skill.md", "")]), ""),
            Refusal::Collision("SKILL.md".into(), "skill.md".into())
        );
        assert_eq!(
            refusal(&tree(&[("Refs/a", ""), ("refs/b", "")]), ""),
            Refusal::Collision("Refs".into(), "refs".into())
        );
        assert_eq!(refusal(&tree(&[("a", ""), ("a/b", "")]), ""), Refusal::FileAndDirectory("a".into()));
        assert!(matches!(refusal(&tree(&[("a\u{1b}", "")]), ""), Refusal::Name { .. }));
    }

    #[test]
    fn links_inside_the_skill_become_copies_and_all_others_are_refused() {
        let inside = tree(&[("s/SKILL.md", "x"), ("s/ref/a.md", "y"), ("s/b.md@", "ref/../ref/a.md")]);
        let set = inside.skill("s", &Limits::default()).expect("allowed");
        assert_eq!(set.read(set.get("b.md").expect("there")).expect("reads"), b"y");
        for target in ["/etc/passwd", "../other/x", "../../x", "ref", "missing", "loop", "c.md"] {
            let bad = tree(&[
                ("s/SKILL.md", "x"),
                ("s/ref/a", ""),
                ("other/x", ""),
                ("s/loop@", target),
                ("s/c.md@", "SKILL.md"),
            ]);
            assert_eq!(refusal(&bad, "s"), Refusal::Symlink("loop".into()), "{target}");
        }
        assert_eq!(
            refusal(&tree(&[("SKILL.md@", "a"), ("a", "")]), ""),
            Refusal::SkillSymlink("SKILL.md".into())
        );
    }

    #[test]
    fn limits_hold() {
        let tree = tree(&[("SKILL.md", "12345"), ("b", "12345")]);
        let limits = Limits { skill_files: 1, ..Limits::default() };
        assert!(matches!(
            tree.skill("", &limits),
            Err(ReadError::Refused(Refusal::TooManyEntries { count: 2, limit: 1 }))
        ));
        let limits = Limits { skill_bytes: 9, ..Limits::default() };
        assert!(matches!(
            tree.skill("", &limits),
            Err(ReadError::Refused(Refusal::TooLarge { size: 10, limit: 9 }))
        ));
    }

    #[test]
    fn the_digest_is_the_one_of_the_lines() {
        let set = tree(&[("SKILL.md", "# Skill\n"), ("scripts/run.sh*", "#!/bin/sh\n")])
            .skill("", &Limits::default())
            .expect("a skill");
        assert_eq!(
            set.digest().expect("reads").to_string(),
            "sha256:15977e9bba45ef57cab1685318c3209e5ec7e0934bd14545e7d4cdcd80660a9f"
        );
    }
}
