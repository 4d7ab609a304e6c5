//! Reading an object database: commits, trees, blobs and references.
//!
//! libgit2 runs no program, for any configuration of a repository, and ignores replaced objects and filters: the bytes are
//! those that the commit's id stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{ErrorCode, ObjectType, Odb, Oid, Repository, RepositoryInitOptions};

use super::names::{named_commit, tip};
use super::{OpenRepository, WantedRevision};
use crate::error::{Error, Result};
use crate::path::{PathError, SafePath};
use crate::refusal::{ABSENT_DIRECTORY, ABSENT_FILE, Limits, NOT_FETCHED, Refusal};
use crate::spec::Identity;
use crate::tree::{Content, NOT_UTF_8, Node, ReadError, SUBMODULE, Tree, TreeEntry};

/// The largest depth of a tree, in directories. The limit for a path in a skill is less than half of this.
const MAX_DEPTH: usize = 128;
/// The longest path that is read, in bytes.
const MAX_PATH: usize = 4096;
/// The number of files outside skills up to which they are fetched too: most repositories have no more.
const FEW: usize = 500;

/// A repository whose objects can be read.
pub(super) struct Objects {
    repository: Repository,
}

/// Why a commit cannot be listed.
#[derive(Debug)]
pub(super) enum ListError {
    /// An object is missing or damaged.
    Incomplete(git2::Error),
    /// The tree is not acceptable for any source.
    Refused(Refusal),
}

impl From<git2::Error> for ListError {
    fn from(error: git2::Error) -> Self {
        Self::Incomplete(error)
    }
}

impl From<Refusal> for ListError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The objects that a prefix of an id matches.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FoundObject {
    None,
    One(Oid),
    Many,
}

/// The files of a commit, by path.
pub(super) struct Listing {
    files: BTreeMap<String, Listed>,
    time: i64,
}

struct Listed {
    id: Oid,
    kind: Kind,
    /// The size in bytes, if the content is available.
    size: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File { executable: bool },
    Symlink,
    Special(&'static str),
}

impl Objects {
    /// Opens the repository whose own files are in `git_dir`. Its owner does not matter: nothing in it is
    /// run.
    pub(super) fn open(git_dir: &Path) -> Result<Self, git2::Error> {
        Ok(Self { repository: Repository::open_bare(git_dir)? })
    }

    /// Creates an empty bare repository at `git_dir`, without the user's templates.
    pub(super) fn init(git_dir: &Path) -> Result<Self, git2::Error> {
        let mut options = RepositoryInitOptions::new();
        options.bare(true).external_template(false).mkpath(true);
        Ok(Self { repository: Repository::init_opts(git_dir, &options)? })
    }

    /// Returns the commit that reference `name` leads to, also through annotated tags.
    pub(super) fn commit_at(&self, name: &str) -> Option<Oid> {
        let reference = self.repository.find_reference(name).ok()?;
        Some(reference.peel_to_commit().ok()?.id())
    }

    /// Returns the newest commit of the default branch, or `None` if there is no such branch.
    pub(super) fn head(&self) -> Result<Option<Oid>, git2::Error> {
        let absent =
            |error: git2::Error| if error.code() == ErrorCode::NotFound { Ok(None) } else { Err(error) };
        match self.repository.find_reference("HEAD").and_then(|head| head.resolve()) {
            Ok(head) => head.peel_to_commit().map(|commit| Some(commit.id())),
            Err(error) => absent(error),
        }
    }

    /// Reports whether a reference `name` exists, with any target.
    pub(super) fn has_reference(&self, name: &str) -> bool {
        self.repository.find_reference(name).is_ok()
    }

    /// Stores commit `id` under the name `name`.
    pub(super) fn keep(&self, name: &str, id: Oid) -> Result<(), git2::Error> {
        self.repository.reference(name, id, true, "skillpm").map(drop)
    }

    /// Reports whether commit `id` is available.
    pub(super) fn has_commit(&self, id: Oid) -> bool {
        self.repository.find_commit(id).is_ok()
    }

    /// Returns the names of all references.
    pub(super) fn references(&self) -> Vec<String> {
        let Ok(references) = self.repository.references() else { return Vec::new() };
        let names = references.flatten().filter_map(|r| r.name().map(ToOwned::to_owned).ok());
        names.collect()
    }

    /// Finds the commit whose id begins with `digits`.
    pub(super) fn by_digits(&self, digits: &str) -> Result<FoundObject, git2::Error> {
        let odb = self.repository.odb()?;
        let mut ids = Vec::new();
        odb.foreach(|id| {
            if id.to_string().starts_with(digits) {
                ids.push(*id);
            }
            true
        })?;
        ids.retain(|id| odb.read_header(*id).is_ok_and(|(_, kind)| kind == ObjectType::Commit));
        ids.sort_unstable();
        ids.dedup();
        Ok(match ids[..] {
            [] => FoundObject::None,
            [one] => FoundObject::One(one),
            _ => FoundObject::Many,
        })
    }

    /// Lists the files of commit `id`, with the sizes of those that are available. Fails if a directory is
    /// missing.
    pub(super) fn list(&self, id: Oid, limits: &Limits) -> Result<Listing, ListError> {
        self.list_with(id, limits, false)
    }

    /// Lists the files of commit `id` like [`Self::list`]. With `gaps`, a missing directory is an entry like a
    /// missing file: only a skill that has it cannot be read.
    fn list_with(&self, id: Oid, limits: &Limits, gaps: bool) -> Result<Listing, ListError> {
        let commit = self.repository.find_commit(id)?;
        let mut walk =
            Walk { objects: self, files: BTreeMap::new(), count: 0, limit: limits.archive_entries, gaps };
        walk.directory(commit.tree_id(), "", 0)?;
        let odb = self.repository.odb()?;
        let mut files = walk.files;
        let mut total: u64 = 0;
        for file in files.values_mut().filter(|file| !matches!(file.kind, Kind::Special(_))) {
            match odb.read_header(file.id) {
                Ok((size, ObjectType::Blob)) => file.size = Some(size as u64),
                Ok(_) => return Err(git2::Error::from_str("a file is not a blob").into()),
                Err(error) if error.code() == ErrorCode::NotFound => {}
                Err(error) => return Err(error.into()),
            }
            total = total.saturating_add(file.size.unwrap_or(0));
        }
        if total > limits.archive_content {
            return Err(Refusal::TooLarge { size: total, limit: limits.archive_content }.into());
        }
        Ok(Listing { files, time: commit.time().seconds() })
    }

    /// Returns the id of directory `path` (empty is the root) in commit `id`.
    pub(super) fn tree_at(&self, id: Oid, path: &str) -> Identity {
        let find = || -> Result<Option<Oid>, git2::Error> {
            let mut at = self.repository.find_commit(id)?.tree_id();
            for part in path.split('/').filter(|part| !part.is_empty()) {
                let tree = self.repository.find_tree(at)?;
                match tree.get_name(part) {
                    Some(entry) if entry.filemode_raw() & 0o170_000 == 0o040_000 => at = entry.id(),
                    _ => return Ok(None),
                }
            }
            Ok(Some(at))
        };
        match find() {
            Ok(Some(id)) => Identity::Id(id.to_string()),
            Ok(None) => Identity::Absent,
            // A part of it is missing.
            Err(_) => Identity::Unknown,
        }
    }

    /// Returns where the objects are.
    fn directory(&self) -> PathBuf {
        self.repository.commondir().join("objects")
    }
}

/// The state of listing a tree.
struct Walk<'a> {
    objects: &'a Objects,
    files: BTreeMap<String, Listed>,
    count: u64,
    limit: u64,
    /// Whether a missing directory is an entry.
    gaps: bool,
}

impl Walk<'_> {
    fn directory(&mut self, id: Oid, prefix: &str, depth: usize) -> Result<(), ListError> {
        let tree = match self.objects.repository.find_tree(id) {
            Err(error) if self.gaps && depth > 0 && error.code() == ErrorCode::NotFound => {
                let path = prefix.trim_end_matches('/').to_owned();
                self.files.insert(path, Listed { id, kind: Kind::Special(ABSENT_DIRECTORY), size: None });
                return Ok(());
            }
            tree => tree?,
        };
        let mut names = BTreeSet::new();
        for entry in &tree {
            self.count += 1;
            if self.count > self.limit {
                return Err(Refusal::TooManyEntries { count: self.count, limit: self.limit }.into());
            }
            let name = entry.name_bytes();
            let Ok(name) = std::str::from_utf8(name) else {
                // Only a directory that contains it cannot be a skill.
                let path = format!("{prefix}{}", String::from_utf8_lossy(name));
                self.files
                    .insert(path, Listed { id: entry.id(), kind: Kind::Special(NOT_UTF_8), size: None });
                continue;
            };
            let reason = match name {
                "" => Some(PathError::Empty),
                "." | ".." => Some(PathError::Dots),
                // Git never writes a name with a slash: it would lead elsewhere.
                name if name.contains('/') => Some(SafePath::new(name).err().unwrap_or(PathError::Dots)),
                name if prefix.len() + name.len() > MAX_PATH => {
                    Some(PathError::TooLong(prefix.len() + name.len()))
                }
                _ if depth > MAX_DEPTH => Some(PathError::TooDeep(depth)),
                _ => None,
            };
            let path = format!("{prefix}{name}");
            if let Some(reason) = reason {
                return Err(Refusal::Name { name: path, reason }.into());
            }
            if !names.insert(name.to_owned()) {
                return Err(Refusal::Duplicate(path).into());
            }
            let mode = entry.filemode_raw();
            let kind = match mode & 0o170_000 {
                0o040_000 => {
                    self.directory(entry.id(), &format!("{path}/"), depth + 1)?;
                    continue;
                }
                0o100_000 => Kind::File { executable: mode & 0o111 != 0 },
                0o120_000 => Kind::Symlink,
                0o160_000 => Kind::Special(SUBMODULE),
                _ => Kind::Special("an entry of an unknown kind"),
            };
            // The lossy form of a name that is not UTF-8 may equal the name of this file: neither hides the
            // other.
            self.files.entry(path).or_insert(Listed { id: entry.id(), kind, size: None });
        }
        Ok(())
    }
}

impl Listing {
    /// Returns the missing contents that may be read: those of skills and of the files that describe plugins,
    /// and all contents if only few others are left.
    pub(super) fn missing(&self) -> Vec<Oid> {
        let skills: BTreeSet<&str> = self.files.keys().filter_map(|path| directory_of_skill(path)).collect();
        let wanted = |path: &str| in_one_of(path, &skills) || describes(path);
        let blobs = || self.files.iter().filter(|(_, file)| !matches!(file.kind, Kind::Special(_)));
        let all = blobs().filter(|(path, _)| !wanted(path)).count() <= FEW;
        let missing = blobs().filter(|(path, file)| file.size.is_none() && (all || wanted(path)));
        let ids: BTreeSet<Oid> = missing.map(|(_, file)| file.id).collect();
        ids.into_iter().collect()
    }
}

/// Returns the directory of `path`, if the file makes it a skill or a template of one.
fn directory_of_skill(path: &str) -> Option<&str> {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let skill = ["SKILL.md", "SKILL.md.jinja"].iter().any(|known| name.eq_ignore_ascii_case(known));
    skill.then_some(dir)
}

/// Reports whether `path` is in one of `dirs` or below.
fn in_one_of(path: &str, dirs: &BTreeSet<&str>) -> bool {
    dirs.contains("") || path.match_indices('/').any(|(at, _)| dirs.contains(&path[..at]))
}

/// Reports whether the file at `path` may describe skills from outside of them: at the root, in a hidden
/// directory, or by its name.
fn describes(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.len() == path.len()
        || path.split('/').any(|part| part.starts_with('.'))
        || matches!(name, "plugin.json" | "marketplace.json")
}

/// The content of blobs, read from the object database on request.
struct Blobs {
    odb: Odb<'static>,
    ids: Vec<Oid>,
    /// The name of the repository for messages about damage.
    shown: String,
    /// Called on damage, so that the repository is fetched again the next time.
    damaged: Option<Damaged>,
}

/// The action for a damaged object.
pub(super) type Damaged = Box<dyn Fn() + Send + Sync>;

impl Content for Blobs {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        // libgit2 checks the id against the bytes here.
        let blob = self.odb.read(self.ids[id]).map_err(|error| {
            let what = match &self.damaged {
                Some(damaged) => {
                    damaged();
                    "the fetched copy was damaged and has been deleted; run the command again"
                }
                None => "`git fsck` there shows more",
            };
            io::Error::other(format!(
                "a file of `{}` cannot be read ({}): {what}",
                self.shown,
                error.message()
            ))
        })?;
        Ok(sink.write_all(blob.data())?)
    }
}

impl Objects {
    /// Returns the files of `listing` as a tree.
    pub(super) fn tree(
        &self,
        commit: Oid,
        listing: Listing,
        shown: &str,
        damaged: Option<Damaged>,
    ) -> Result<OpenRepository, git2::Error> {
        // A separate database: several threads may read it, unlike a repository.
        let odb = Odb::new()?;
        let directory = self.directory();
        let directory =
            directory.to_str().ok_or_else(|| git2::Error::from_str("a path that is not UTF-8"))?;
        odb.add_disk_alternate(directory)?;
        let mut ids = Vec::with_capacity(listing.files.len());
        let absent = match damaged {
            Some(_) => NOT_FETCHED,
            None => ABSENT_FILE,
        };
        let entry = |(path, file): (String, Listed)| {
            let node = match (file.kind, file.size) {
                (Kind::File { executable }, Some(size)) => Node::File { executable, size },
                (Kind::Symlink, Some(_)) => Node::Symlink,
                (Kind::Special(kind), _) => Node::Special(kind),
                (_, None) => Node::Special(absent),
            };
            ids.push(file.id);
            (path, TreeEntry { node, id: ids.len() - 1 })
        };
        let entries = listing.files.into_iter().map(entry).collect();
        let blobs = Blobs { odb, ids, shown: shown.to_owned(), damaged };
        let tree = Tree::new(entries, Arc::new(blobs));
        Ok(OpenRepository { tree, commit: commit.to_string(), time: listing.time })
    }
}

/// Opens the repository at `git_dir`. Returns `None` if only the program can read it.
pub(super) fn open_at(git_dir: &Path, shown: &str) -> Result<Option<Objects>> {
    match Objects::open(git_dir) {
        Ok(objects) => Ok(Some(objects)),
        Err(error) if error.message().contains("unsupported extension") => Ok(None),
        Err(error) if error.message().contains("object format") => Err(super::errors::sha256()),
        Err(error) => Err(Error::usage(format!("`{shown}` cannot be opened as a git repository"))
            .because(io::Error::other(error.message().to_owned()))),
    }
}

/// Implements [`super::open_local`].
pub(super) fn open_local(
    git_dir: &Path,
    shown: &str,
    at: WantedRevision<'_>,
    limits: &Limits,
) -> Result<Option<OpenRepository>> {
    let Some(objects) = open_at(git_dir, shown)? else { return Ok(None) };
    let commit = match at {
        WantedRevision::Commit(commit) => named_commit(&objects, commit, shown, true)?,
        WantedRevision::Reference(reference) => tip(&objects, reference, shown)?,
    };
    let broken = |error: &git2::Error| {
        Error::io(format!("`{shown}` lacks a part of commit `{commit}`"))
            .because(io::Error::other(error.message().to_owned()))
            .hint("`git fsck` there shows more; a partial clone has only some of the files")
    };
    let listing = objects.list_with(commit, limits, true).map_err(|error| match error {
        ListError::Incomplete(error) => broken(&error),
        ListError::Refused(refusal) => refused(shown, refusal),
    })?;
    // Some of the files may be missing: the error appears for the skills that have them.
    objects.tree(commit, listing, shown, None).map(Some).map_err(|error| broken(&error))
}

/// Returns the error for a tree that is not acceptable for any source.
pub(super) fn refused(shown: &str, refusal: Refusal) -> Error {
    Error::from(refusal).context(format!("`{shown}` is refused"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_read_is_wanted() {
        let skills = BTreeSet::from(["skills/a", "t"]);
        for (path, wanted) in [
            ("skills/a/x/y", true),
            ("skills/ab/x", false),
            ("README.md", true),
            ("src/main.rs", false),
            (".claude-plugin/marketplace.json", true),
            ("plugins/p/.claude-plugin/plugin.json", true),
            ("plugins/p/plugin.json", true),
        ] {
            assert_eq!(in_one_of(path, &skills) || describes(path), wanted, "{path}");
        }
        assert!(in_one_of("any/thing", &BTreeSet::from([""])), "a skill at the root is all of it");
        assert_eq!(directory_of_skill("a/b/skill.MD"), Some("a/b"));
        assert_eq!(directory_of_skill("SKILL.md"), Some(""));
        assert_eq!(directory_of_skill("a/SKILL.md.bak"), None);
    }
}
