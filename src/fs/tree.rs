//! Trees on disk: read as a [`Tree`], written from a [`FileSet`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::list::{Met, met};
use super::quick::append_at;
use super::{Base, Kind, Looked, PathContext, PathError, kind};
use crate::digest::{Digest, HashingWriter, tree_digest};
use crate::refusal::Refusal;
use crate::tree::{Content, Entry, FileSet, Node, ReadError, Tree, append_by_copy};

/// How a directory is read.
#[derive(Debug, Clone, Copy)]
pub struct Walk<'a> {
    /// Names of directories that are not entered.
    pub skip: &'a [&'a str],
    /// How many directories deep to look for a skill; below a directory with a `SKILL.md`
    /// everything is read.
    pub depth: usize,
    /// How many entries there may be.
    pub entries: u64,
}

impl Walk<'_> {
    /// Reads all of one skill's directory.
    pub const ALL: Self = Walk { skip: &[], depth: usize::MAX, entries: 200_000 };
}

/// Reads the names, kinds and sizes of everything in directory `root`; links are not followed.
/// The content is read when it is asked for.
///
/// # Errors
///
/// Where a directory cannot be read, a name is not UTF-8, or there are too many entries.
pub fn scan(root: &Path, walk: Walk<'_>) -> Result<Tree, ReadError> {
    scan_places(root, &[""], walk)
}

/// [`scan`] of some directories below `root` only, whose entries keep their path below `root`. What is
/// no directory is passed over, and so is what a link leads to.
///
/// # Errors
///
/// As [`scan`].
pub fn scan_places(root: &Path, places: &[&str], walk: Walk<'_>) -> Result<Tree, ReadError> {
    let base = Base::open(root).map_err(|error| with_path(PathError { action: "read", ..error }))?;
    let mut found = Found { base, entries: BTreeMap::new(), paths: Vec::new(), walk };
    for place in places {
        if place.is_empty() {
            found.directory("", walk.depth).map_err(flatten)?;
        } else if is_plain(root, place).map_err(with_path)? {
            found.directory(&format!("{place}/"), walk.depth).map_err(flatten)?;
        }
    }
    let Found { base, entries, paths, .. } = found;
    // Of one skill there may be thousands: they do not keep their directories open.
    let base = (walk.depth != usize::MAX).then_some(base);
    Ok(Tree::new(entries, Arc::new(OnDisk { root: root.to_owned(), base, paths })))
}

/// Whether `place` is a directory below `root`, with no link on the way to it.
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

/// Returns the tree of these files: for each its path in the tree, and where it lies on disk. Links are
/// not followed.
///
/// # Errors
///
/// Where one is not there or cannot be looked at.
pub fn gather(files: BTreeMap<String, PathBuf>) -> Result<Tree, ReadError> {
    let mut entries = BTreeMap::new();
    let mut paths = Vec::with_capacity(files.len());
    for (path, at) in files {
        let metadata = fs::symlink_metadata(&at).at("look at", &at).map_err(with_path)?;
        let met = met(metadata.file_type(), || Ok(metadata)).at("look at", &at).map_err(with_path)?;
        if let Some(node) = node(&path, met) {
            entries.insert(path, Entry { node, id: paths.len() });
            paths.push(at);
        }
    }
    Ok(Tree::new(entries, Arc::new(OnDisk { root: PathBuf::new(), base: None, paths })))
}

/// [`scan`] of all of `root`.
///
/// # Errors
///
/// As [`scan`].
pub fn tree_of(root: &Path) -> Result<Tree, ReadError> {
    scan(root, Walk::ALL)
}

/// The error of a walk, before it is known whether its path matters.
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

struct Found<'a> {
    base: Base,
    entries: BTreeMap<String, Entry>,
    paths: Vec<PathBuf>,
    walk: Walk<'a>,
}

impl Found<'_> {
    /// `prefix` is the path of the directory with a slash behind it; empty for the root.
    fn directory(&mut self, prefix: &str, depth: usize) -> Result<(), WalkError> {
        let below = prefix.trim_end_matches('/');
        let children = self.base.children(Path::new(below)).map_err(|(name, source)| match name {
            Some(name) => {
                PathError { action: "look at", path: self.base.path().join(below).join(name), source }
            }
            None => PathError { action: "read", path: self.base.path().join(below), source },
        })?;
        let is_skill = children
            .iter()
            .any(|(name, _)| name.to_str().is_some_and(|n| n.eq_ignore_ascii_case("SKILL.md")));
        let depth = if is_skill { usize::MAX } else { depth };
        for (name, met) in children {
            let Some(name) = name.to_str() else {
                return Err(WalkError::Refused(Refusal::NameEncoding(format!(
                    "{prefix}{}",
                    name.to_string_lossy()
                ))));
            };
            if met == Met::Directory {
                // The history of a repository is never a part of a skill.
                if depth > 0 && name != ".git" && !self.walk.skip.contains(&name) {
                    self.directory(&format!("{prefix}{name}/"), depth.saturating_sub(1))?;
                }
            } else {
                self.leaf(format!("{prefix}{name}"), met)?;
            }
        }
        Ok(())
    }

    fn leaf(&mut self, path: String, met: Met) -> Result<(), WalkError> {
        let Some(node) = node(&path, met) else { return Ok(()) };
        self.paths.push(path.clone().into());
        self.entries.insert(path, Entry { node, id: self.paths.len() - 1 });
        let count = self.paths.len() as u64;
        if count > self.walk.entries {
            return Err(WalkError::Refused(Refusal::TooManyEntries { count, limit: self.walk.entries }));
        }
        Ok(())
    }
}

/// What `met` is in a tree; `None` for what is no part of one.
fn node(path: &str, met: Met) -> Option<Node> {
    match met {
        // In a submodule or a second work tree, `.git` is a file.
        _ if path == ".git" || path.ends_with("/.git") => None,
        Met::Directory => None,
        Met::Symlink => Some(Node::Symlink),
        Met::File { executable, size } => Some(Node::File { executable, size }),
        Met::Special(kind) => Some(Node::Special(kind)),
    }
}

/// Files below a directory.
struct OnDisk {
    root: PathBuf,
    /// The same, open.
    base: Option<Base>,
    paths: Vec<PathBuf>,
}

impl Content for OnDisk {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        let path = self.root.join(&self.paths[id]);
        // The path may have become a pipe or a link since it was looked at.
        let metadata = fs::symlink_metadata(&path).at("read", &path).map_err(with_path)?;
        if metadata.is_symlink() {
            let target = fs::read_link(&path).at("read", &path).map_err(with_path)?;
            sink.write_all(target.to_string_lossy().as_bytes())?;
            return Ok(());
        }
        if !metadata.is_file() {
            return Err(no_longer_a_file(path));
        }
        let mut file = open_no_follow(&path).at("read", &path).map_err(with_path)?;
        io::copy(&mut file, sink)?;
        Ok(())
    }

    fn append_to(&self, id: usize, limit: u64, buffer: &mut Vec<u8>) -> Result<u64, ReadError> {
        let start = buffer.len();
        let path = &self.paths[id];
        let looked = match &self.base {
            Some(base) => base.append(path, limit, buffer),
            None => append_at(&self.root.join(path), limit, buffer),
        };
        match looked.map_err(with_path)? {
            Looked::Read => Ok((buffer.len() - start) as u64),
            // It grew, or became something else: how that is told is known in one place.
            Looked::Other | Looked::Absent => {
                buffer.truncate(start);
                append_by_copy(|sink| self.copy_to(id, sink), limit, buffer)
            }
        }
    }
}

fn no_longer_a_file(path: PathBuf) -> ReadError {
    let source = io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file any more");
    with_path(PathError { action: "read", path, source })
}

pub(super) fn with_path(error: PathError) -> ReadError {
    io::Error::new(error.source.kind(), error).into()
}

/// Opens `path` for reading, but no link; a pipe does not block.
pub(super) fn open_no_follow(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options
            .custom_flags((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed());
    }
    options.open(path)
}

/// Writes `set` into the new directory `dest` and returns the tree digest of what was written.
///
/// Files get mode 0644 or 0755, less the umask; nothing that is there is opened or replaced.
///
/// # Errors
///
/// Where `dest` is there already, a file cannot be written, or the content cannot be delivered.
/// What was written until then stays: the caller removes the directory.
pub fn materialize(set: &FileSet, dest: &Path) -> Result<Digest, ReadError> {
    fs::create_dir(dest).at("create", dest).map_err(with_path)?;
    let mut made: BTreeSet<&str> = BTreeSet::new();
    let mut lines = Vec::with_capacity(set.files().len());
    for file in set.files() {
        for dir in file.path.ancestors() {
            if made.insert(dir) {
                let dir = dest.join(dir);
                fs::create_dir(&dir).at("create", &dir).map_err(with_path)?;
            }
        }
        let path = dest.join(file.path.to_path_buf());
        let target = create_new(&path, file.executable).at("create", &path).map_err(with_path)?;
        let mut writer = HashingWriter::new(target);
        set.copy_to(file, &mut writer).map_err(|error| match error {
            // A bare error of the system comes from the file that is written: readers name theirs.
            ReadError::Io(source) if source.get_ref().is_none() => {
                with_path(PathError { action: "write", path: path.clone(), source })
            }
            other => other,
        })?;
        let (digest, written) = writer.finish();
        if written != file.size {
            let name = file.path.to_string();
            return Err(Refusal::SizeMismatch { name, declared: file.size, actual: written }.into());
        }
        lines.push((&file.path, file.executable, digest));
    }
    Ok(tree_digest(lines))
}

fn create_new(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if executable { 0o755 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}

/// Makes everything written so far to the file system of `dir` outlast a loss of power.
///
/// One call for a whole transaction costs far less than a sync of each file.
///
/// # Errors
///
/// Where the system reports that data was lost.
pub fn sync_filesystem(dir: &Path) -> Result<(), PathError> {
    #[cfg(target_os = "linux")]
    {
        let directory = File::open(dir).at("sync", dir)?;
        rustix::fs::syncfs(&directory).map_err(io::Error::from).at("sync", dir)?;
    }
    #[cfg(not(target_os = "linux"))]
    for entry in fs::read_dir(dir).at("sync", dir)? {
        let path = entry.at("sync", dir)?.path();
        if path.is_dir() {
            sync_filesystem(&path)?;
        } else {
            File::open(&path).and_then(|file| file.sync_all()).at("sync", &path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Limits;

    #[cfg(unix)]
    #[test]
    fn what_is_written_is_read_back_with_the_same_digest() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let source = dir.path().join("source");
        fs::create_dir_all(source.join("scripts")).expect("creates");
        fs::create_dir_all(source.join(".git")).expect("creates");
        fs::write(source.join("SKILL.md"), "x").expect("writes");
        fs::write(source.join(".git/config"), "x").expect("writes");
        fs::write(source.join("scripts/run.sh"), "y").expect("writes");
        fs::set_permissions(source.join("scripts/run.sh"), fs::Permissions::from_mode(0o4777))
            .expect("chmod");
        let set = tree_of(&source).expect("reads").skill("", &Limits::default()).expect("a skill");
        let copy = dir.path().join("copy");
        let digest = materialize(&set, &copy).expect("writes");
        assert_eq!(digest, set.digest().expect("reads"));
        let again = tree_of(&copy).expect("reads").skill("", &Limits::default()).expect("a skill");
        assert_eq!(again.digest().expect("reads"), digest);
        let mode = fs::metadata(copy.join("scripts/run.sh")).expect("there").permissions().mode();
        assert_eq!(mode & 0o7777 & !0o022, 0o755, "set-id bits do not travel");
        assert!(!copy.join(".git").exists());
        assert!(materialize(&set, &copy).is_err(), "nothing that is there is written to");
    }

    /// d03-fifo: opening a named pipe would hang.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_by_its_kind() {
        let dir = tempfile::tempdir().expect("a directory");
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        fs::write(dir.path().join("SKILL.md"), "x").expect("writes");
        match tree_of(dir.path()).expect("lists").skill("", &Limits::default()) {
            Err(ReadError::Refused(Refusal::SpecialFile { kind, .. })) => assert_eq!(kind, "a named pipe"),
            other => panic!("{other:?}"),
        }
    }

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
}
