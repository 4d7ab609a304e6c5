//! Trees from outside, and the files of one skill in them.
//!
//! A [`Tree`] is what a source delivers: a whole repository, archive or directory, with names that are safe to look at
//! but not yet safe to write to disk. A [`FileSet`] is one skill in it: regular files only, every path a [`SafePath`],
//! no two names alike, within the limits. Lint, digest, store and install only work with file sets.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use crate::path::SafePath;
use crate::refusal::{Limits, Refusal};

mod content;
mod held;
pub mod ignore;
pub mod keys;
pub mod leftovers;
mod rights;
pub mod secrets;
mod set;

pub use content::{Content, Memory, ReadError, append_by_copy};
pub use held::{Held, MOST};
pub use rights::Rights;
pub use set::{FileEntry, FileSet};

/// The kind of a [`Tree`] entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File {
        /// Whether any executable bit is set.
        executable: bool,
        /// The declared size in bytes.
        size: u64,
    },
    /// A symbolic link; its target is its content.
    Symlink,
    /// Anything else that has a name; the kind with its article, `a named pipe`.
    Special(&'static str),
}

/// The kind of a [`Node::Special`] whose name is not UTF-8. A tree lists it under its displayed name.
pub const NOT_UTF_8: &str = "an entry whose name is not UTF-8";

/// The kind of a [`Node::Special`] that stands for the files of another repository.
pub const SUBMODULE: &str = "a submodule";

/// One entry of a [`Tree`].
#[derive(Debug, Clone, Copy)]
pub struct TreeEntry {
    /// The kind of entry.
    pub node: Node,
    /// The handle that identifies it in [`Content`].
    pub id: usize,
}

/// Files by path, as a source delivers them. Directories are implied by the paths below them.
#[derive(Clone)]
pub struct Tree {
    entries: Arc<BTreeMap<String, TreeEntry>>,
    content: Arc<dyn Content>,
    repository: bool,
    /// Directories that were not entered.
    skipped: Vec<String>,
}

impl Tree {
    /// Returns a tree of `entries`, whose keys are `/`-separated relative paths without empty, `.`
    /// or `..` components.
    pub fn new(entries: BTreeMap<String, TreeEntry>, content: Arc<dyn Content>) -> Self {
        Self { entries: Arc::new(entries), content, repository: false, skipped: Vec::new() }
    }

    /// Sets whether the directory that this was read from contains a repository: a `.git`, which is never an entry.
    #[must_use]
    pub fn with_repository(self, repository: bool) -> Self {
        Self { repository, ..self }
    }

    /// Sets the directories that were not entered and whose files are not entries.
    #[must_use]
    pub fn with_skipped(self, skipped: Vec<String>) -> Self {
        Self { skipped, ..self }
    }

    /// Reports whether it contains a repository that has no entry.
    pub fn has_repository(&self) -> bool {
        self.repository
    }

    /// Returns the directories that were not entered, in no particular order.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Returns all entries, sorted by path.
    pub fn entries(&self) -> impl Iterator<Item = (&str, TreeEntry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), *entry))
    }

    /// Returns the entry at `path`, if there is one.
    pub fn get(&self, path: &str) -> Option<TreeEntry> {
        self.entries.get(path).copied()
    }

    /// Returns the entries below directory `dir` (`""` is the root) with their paths relative to it.
    pub fn below<'a>(&'a self, dir: &'a str) -> impl Iterator<Item = (&'a str, TreeEntry)> {
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let skip = prefix.len();
        self.entries
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(move |(path, entry)| (&path[skip..], *entry))
    }

    /// Returns the path of the submodule that is at `path` or has that name.
    pub fn submodule(&self, path: &str) -> Option<&str> {
        let is_meant = |at: &str| at == path || at.rsplit('/').next() == Some(path);
        let found = self.entries().find(|(at, entry)| entry.node == Node::Special(SUBMODULE) && is_meant(at));
        found.map(|(at, _)| at)
    }

    /// Reads the file at `path`, at most `limit` bytes of it.
    ///
    /// # Errors
    ///
    /// Fails like [`Content::copy_to`], with [`Refusal::TooLarge`] for a file of more than `limit` bytes, or with
    /// `NotFound` if there is no regular file.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        match self.get(path) {
            Some(TreeEntry { node: Node::File { size, .. }, id }) => {
                if size > limit {
                    return Err(Refusal::TooLarge { size, limit }.into());
                }
                let mut bytes = Vec::new();
                if self.content.append_to(id, size, &mut bytes)? != size {
                    // It changed after it was listed.
                    bytes.clear();
                    let actual = self.content.append_to(id, limit, &mut bytes)?;
                    if actual > limit {
                        return Err(Refusal::TooLarge { size: actual, limit }.into());
                    }
                }
                Ok(bytes)
            }
            _ => {
                Err(io::Error::new(io::ErrorKind::NotFound, format!("`{path}` is not a regular file")).into())
            }
        }
    }

    /// Writes the content of `entry` to `sink`; for a symbolic link that is its target.
    pub fn copy_to(&self, entry: TreeEntry, sink: &mut dyn Write) -> Result<(), ReadError> {
        self.content.copy_to(entry.id, sink)
    }

    /// Returns this tree without its top directory, if everything is in a single one: archives of repositories wrap
    /// their content in `owner-repo-commit/`.
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
        Self { entries: Arc::new(entries), ..self }
    }

    /// Returns this tree below a top directory `top`.
    #[must_use]
    pub fn within(self, top: &str) -> Self {
        let entries = self.entries.iter().map(|(path, entry)| (format!("{top}/{path}"), *entry)).collect();
        Self { entries: Arc::new(entries), ..self }
    }

    /// Returns this tree without the entries whose path `is_out` selects.
    #[must_use]
    pub fn without(mut self, is_out: impl Fn(&str) -> bool) -> Self {
        Arc::make_mut(&mut self.entries).retain(|path, _| !is_out(path));
        self
    }

    /// Returns the files of the skill in directory `dir` (`""` is the root).
    ///
    /// A symbolic link to a regular file of the same skill becomes a copy of that file.
    ///
    /// # Errors
    ///
    /// Fails with a [`Refusal`] for names, types and sizes that no skill may have.
    pub fn skill(&self, dir: &str, limits: &Limits) -> Result<FileSet, ReadError> {
        let mut files = Vec::new();
        for (path, entry) in self.below(dir).filter(|(path, _)| !leftovers::is_pending(path)) {
            let safe =
                SafePath::new(path).map_err(|reason| Refusal::Name { name: path.to_owned(), reason })?;
            let entry = match entry.node {
                Node::File { .. } => entry,
                Node::Symlink if path == "SKILL.md" => {
                    return Err(Refusal::SkillSymlink(path.to_owned()).into());
                }
                Node::Symlink => self.follow(dir, path, entry)?,
                Node::Special(kind) => return Err(Refusal::special(path.to_owned(), kind).into()),
            };
            if let Node::File { executable, size } = entry.node {
                files.push(FileEntry { path: safe, executable, size, id: entry.id });
            }
        }
        Ok(FileSet::new(files, Arc::clone(&self.content), limits)?)
    }

    /// Returns the regular file of the same skill that the link at `path` points to. Follows one step only: a link to a
    /// link is refused, as are links through directories.
    fn follow(&self, dir: &str, path: &str, link: TreeEntry) -> Result<TreeEntry, ReadError> {
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
        f.debug_map().entries(&*self.entries).finish()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

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
