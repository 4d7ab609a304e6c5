//! Traversal of the files below a directory.

use std::collections::{BTreeMap, btree_map};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::list::{Met, met};
use super::tree::{OnDisk, with_path};
use super::{Base, Kind, PathContext, PathError, kind};
use crate::refusal::Refusal;
use crate::skill::find::is_skill_file;
use crate::tree::{NOT_UTF_8, Node, ReadError, Rights, Tree, TreeEntry};
use crate::workers;

/// How a directory is read.
#[derive(Debug, Clone, Copy)]
pub struct Walk<'a> {
    /// Names of directories that are not entered.
    pub skip: &'a [&'a str],
    /// The number of directory levels to search for a skill. Everything below a directory with a `SKILL.md`
    /// is read.
    pub depth: usize,
    /// The largest number of entries.
    pub entries: u64,
}

impl Walk<'_> {
    /// Reads all of one skill's directory.
    pub const ALL: Self = Walk { skip: &[], depth: usize::MAX, entries: 200_000 };
}

/// Reads the names, kinds and sizes of everything in directory `root`. Does not follow links. The content is
/// read on request.
///
/// # Errors
///
/// Fails if a directory cannot be read, a name is not UTF-8, or there are too many entries.
pub fn scan(root: &Path, walk: Walk<'_>) -> Result<Tree, ReadError> {
    scan_places(root, &[""], walk)
}

/// Works like [`scan`], but reads only some directories below `root`; the entries keep their path below
/// `root`. Skips anything that is not a directory, and targets of links.
pub fn scan_places(root: &Path, places: &[&str], walk: Walk<'_>) -> Result<Tree, ReadError> {
    let base = Base::open(root).map_err(|error| with_path(PathError { action: "read", ..error }))?;
    let mut found = WalkedEntry {
        base,
        entries: BTreeMap::new(),
        paths: Vec::new(),
        rights: Vec::new(),
        repository: false,
        skipped: Vec::new(),
        walk,
    };
    for place in places {
        if place.is_empty() {
            found.all(Dir::top(String::new(), walk)).map_err(flatten)?;
        } else if is_plain(root, place).map_err(with_path)? {
            found.all(Dir::top(format!("{place}/"), walk)).map_err(flatten)?;
        }
    }
    let WalkedEntry { base, entries, paths, rights, repository, skipped, .. } = found;
    // Of one skill there may be thousands: they do not keep their directories open.
    let base = (walk.depth != usize::MAX).then_some(base);
    let content = OnDisk::new(root.to_owned(), base, paths, rights);
    Ok(Tree::new(entries, Arc::new(content)).with_repository(repository).with_skipped(skipped))
}

/// Reports whether `place` is a directory below `root`, with no link on the way to it.
fn is_plain(root: &Path, place: &str) -> Result<bool, PathError> {
    let mut at = root.to_owned();
    for part in place.split('/') {
        at.push(part);
        if kind(&at)? != Some(Kind::Directory) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the tree of these files, given as path in the tree and path on disk. Does not follow links.
///
/// # Errors
///
/// Fails if one does not exist or cannot be examined.
pub fn gather(files: BTreeMap<String, PathBuf>) -> Result<Tree, ReadError> {
    let mut entries = BTreeMap::new();
    let (mut paths, mut rights) = (Vec::with_capacity(files.len()), Vec::with_capacity(files.len()));
    for (path, at) in files {
        let metadata = fs::symlink_metadata(&at).at("look at", &at).map_err(with_path)?;
        let met = met(metadata.file_type(), || Ok(metadata)).at("look at", &at).map_err(with_path)?;
        if let Some(node) = node(&path, met) {
            entries.insert(path, TreeEntry { node, id: paths.len() });
            paths.push(at);
            rights.push(rights_of(met));
        }
    }
    Ok(Tree::new(entries, Arc::new(OnDisk::new(PathBuf::new(), None, paths, rights))))
}

/// Works like [`scan`], for all of `root`.
pub fn tree_of(root: &Path) -> Result<Tree, ReadError> {
    scan(root, Walk::ALL)
}

/// An error of a traversal, before it is known whether its path matters.
enum WalkError {
    Path(PathError),
    Refused(Refusal),
}

impl From<PathError> for WalkError {
    fn from(error: PathError) -> Self {
        Self::Path(error)
    }
}

fn flatten(error: WalkError) -> ReadError {
    match error {
        WalkError::Refused(refusal) => refusal.into(),
        WalkError::Path(error) => io::Error::new(error.source.kind(), error).into(),
    }
}

struct WalkedEntry<'a> {
    base: Base,
    entries: BTreeMap<String, TreeEntry>,
    paths: Vec<PathBuf>,
    /// The rights of each file, at most.
    rights: Vec<Rights>,
    /// Whether a `.git` was found.
    repository: bool,
    /// The directories that were not entered.
    skipped: Vec<String>,
    walk: Walk<'a>,
}

/// A directory to read.
struct Dir {
    /// The path with a trailing slash; empty for the root.
    prefix: String,
    /// The number of directory levels to search for a skill below it.
    depth: usize,
    /// The rights that the directories above it leave.
    rights: Rights,
}

impl Dir {
    fn top(prefix: String, walk: Walk<'_>) -> Self {
        Self { prefix, depth: walk.depth, rights: Rights::ALL }
    }
}

/// The entries of a directory.
#[derive(Default)]
struct Inside {
    /// The entries other than directories.
    leaves: Vec<(String, Met)>,
    /// The directories to read next.
    dirs: Vec<Dir>,
    /// The directories that are not read.
    skipped: Vec<String>,
    /// Whether one of the entries is `.git`.
    repository: bool,
}

type Read = Result<Inside, WalkError>;

impl WalkedEntry<'_> {
    /// Adds everything at and below `top`. Several threads read directories of equal depth, in batches so
    /// small that too many entries are noticed before they fill the memory.
    fn all(&mut self, top: Dir) -> Result<(), WalkError> {
        const AT_ONCE: usize = 4096;
        let mut level = vec![top];
        while !level.is_empty() {
            let mut next = Vec::new();
            for dirs in level.chunks(AT_ONCE) {
                let read: Vec<Read> =
                    workers::map(dirs, workers::PIECE, || (), |(), dir| self.read(dir)).collect();
                for read in read {
                    let Inside { leaves, dirs, skipped, repository } = read?;
                    self.repository |= repository;
                    self.skipped.extend(skipped);
                    next.extend(dirs);
                    leaves.into_iter().try_for_each(|(path, met)| self.leaf(path, met))?;
                }
            }
            level = next;
        }
        Ok(())
    }

    fn read(&self, dir: &Dir) -> Read {
        let Dir { prefix, depth, rights } = dir;
        let below = prefix.trim_end_matches('/');
        let Inside { mut leaves, mut dirs, mut skipped, mut repository } = Inside::default();
        let mut is_skill = false;
        let listed = self.base.children(Path::new(below), |name, met| {
            let Some(name) = name.to_str() else {
                // Only a directory that contains it cannot be a skill.
                leaves.push((format!("{prefix}{}", name.to_string_lossy()), Met::Special(NOT_UTF_8)));
                return;
            };
            is_skill |= is_skill_file(name);
            if name == ".git" {
                // The history of a repository is never a part of a skill. In a submodule or a second work
                // tree, `.git` is a file.
                repository = true;
            } else if met != Met::Directory {
                leaves.push(([prefix, name].concat(), met));
            } else if self.walk.skip.contains(&name) {
                skipped.push([prefix, name].concat());
            } else {
                let prefix = [prefix, name, "/"].concat();
                dirs.push(Dir { prefix, depth: depth.saturating_sub(1), rights: Rights::ALL });
            }
        });
        let own = listed.map_err(|(name, source)| match name {
            Some(name) => {
                PathError { action: "look at", path: self.base.path().join(below).join(name), source }
            }
            None => PathError { action: "read", path: self.base.path().join(below), source },
        })?;
        let rights = rights.of_file(own);
        for dir in &mut dirs {
            dir.rights = rights;
        }
        for (_, met) in &mut leaves {
            if let Met::File { rights: file, .. } = met {
                *file = rights.of_file(*file);
            }
        }
        if is_skill {
            for dir in &mut dirs {
                dir.depth = usize::MAX;
            }
        } else if *depth == 0 {
            dirs.clear();
        }
        Ok(Inside { leaves, dirs, skipped, repository })
    }

    fn leaf(&mut self, path: String, met: Met) -> Result<(), WalkError> {
        let Some(node) = node(&path, met) else { return Ok(()) };
        self.paths.push(path.clone().into());
        self.rights.push(rights_of(met));
        let entry = TreeEntry { node, id: self.paths.len() - 1 };
        match self.entries.entry(path) {
            btree_map::Entry::Vacant(place) => drop(place.insert(entry)),
            // The lossy form of a name that is not UTF-8 may equal the name of another file: neither hides
            // the other.
            btree_map::Entry::Occupied(mut place) => {
                if entry.node == Node::Special(NOT_UTF_8) {
                    place.insert(entry);
                }
            }
        }
        let count = self.paths.len() as u64;
        if count > self.walk.entries {
            return Err(WalkError::Refused(Refusal::TooManyEntries { count, limit: self.walk.entries }));
        }
        Ok(())
    }
}

/// Returns what `met` is in a tree, or `None` if it is not a part of one.
fn node(path: &str, met: Met) -> Option<Node> {
    match met {
        // In a submodule or a second work tree, `.git` is a file.
        _ if path == ".git" || path.ends_with("/.git") => None,
        Met::Directory => None,
        Met::Symlink => Some(Node::Symlink),
        Met::File { executable, size, .. } => Some(Node::File { executable, size }),
        Met::Special(kind) => Some(Node::Special(kind)),
    }
}

fn rights_of(met: Met) -> Rights {
    match met {
        Met::File { rights, .. } => rights,
        _ => Rights::ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_is_bounded_outside_of_skills_only() {
        let dir = tempfile::tempdir().expect("a directory");
        for path in ["a/b/SKILL.md", "a/b/c/d/e/f.md", "x/y/z/SKILL.md", "node_modules/p/SKILL.md"] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write(path, "").expect("writes");
        }
        let tree = scan(dir.path(), Walk { skip: &["node_modules"], depth: 2, entries: 100 }).expect("reads");
        let paths: Vec<_> = tree.entries().map(|(path, _)| path.to_owned()).collect();
        assert_eq!(paths, ["a/b/SKILL.md", "a/b/c/d/e/f.md"]);
        assert!(scan(dir.path(), Walk { entries: 1, ..Walk::ALL }).is_err());
    }

    /// Several threads read directories of equal depth.
    #[test]
    fn a_wide_directory_is_read_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        for number in 0..300 {
            let skill = dir.path().join(format!("skills/s-{number}"));
            fs::create_dir_all(skill.join("docs")).expect("creates");
            fs::write(skill.join("SKILL.md"), format!("skill {number}")).expect("writes");
            fs::write(skill.join("docs/a.md"), format!("text {number}")).expect("writes");
        }
        let tree = tree_of(dir.path()).expect("reads");
        assert_eq!(tree.entries().count(), 600);
        for number in 0..300 {
            for (file, text) in [("SKILL.md", "skill"), ("docs/a.md", "text")] {
                let read = tree.read(&format!("skills/s-{number}/{file}"), 99).expect("is there");
                assert_eq!(read, format!("{text} {number}").into_bytes());
            }
        }
        for entries in [299, 599] {
            let refused = scan(dir.path(), Walk { entries, ..Walk::ALL }).map(|_| ());
            assert!(matches!(refused, Err(ReadError::Refused(Refusal::TooManyEntries { count, limit }))
                    if count == entries + 1 && limit == entries));
        }
    }
}
