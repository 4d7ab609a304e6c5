//! Merging three versions of a skill into one: the changes of its user and the changes of its author.
//!
//! Both started from the same files, the base. For each file, a change on only one side is taken; if both changed a
//! text, its lines are merged, with conflict markers only where both changed the same lines. No byte that the user
//! wrote is lost: any file that cannot keep its name and content is kept beside the result, and reported. A renamed
//! file counts as one deleted and one added.
//!
//! ```
//! use std::sync::Arc;
//!
//! use skillpm_format::merge::{Labels, Outcome, Versions, merge};
//! use skillpm_format::path::SafePath;
//! use skillpm_format::refusal::Limits;
//! use skillpm_format::tree::{FileEntry, FileSet, Memory};
//!
//! let skill = |text: &str| {
//!     let path = SafePath::new("SKILL.md").expect("a safe path");
//!     let entry = FileEntry::new(path, false, text.len() as u64, 0);
//!     let content = Arc::new(Memory(vec![text.as_bytes().to_vec()]));
//!     FileSet::new(vec![entry], content, &Limits::default()).expect("within the limits")
//! };
//! let versions = Versions {
//!     base: &skill("one\ntwo\nthree\n"),
//!     ours: &skill("one, edited\ntwo\nthree\n"),
//!     theirs: &skill("one\ntwo\nthree, updated\n"),
//! };
//! let merged = merge(&versions, &Labels::default(), &Limits::default())?;
//! assert_eq!(merged.files[0].outcome, Outcome::Merged);
//! let text = merged.set.read(&merged.set.files()[0])?;
//! assert_eq!(text, b"one, edited\ntwo\nthree, updated\n");
//! # Ok::<(), skillpm_format::tree::ReadError>(())
//! ```

mod file;
mod lines;
mod names;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::SafePath;
use crate::refusal::Limits;
use crate::tree::{Content, FileEntry, FileSet, ReadError, Rights};

use file::{Bytes, Item, Side};
use names::Names;

/// The versions to merge.
#[derive(Debug, Clone, Copy)]
pub struct Versions<'a> {
    /// The common base of both sides: the files as installed.
    pub base: &'a FileSet,
    /// The user's version.
    pub ours: &'a FileSet,
    /// The author's new version.
    pub theirs: &'a FileSet,
}

/// The names of the sides in conflict markers.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    /// The user's side, after `<<<<<<<`.
    pub ours: &'a str,
    /// The new version, after `>>>>>>>`: `github:acme/skills at 1a2b3c4`.
    pub theirs: &'a str,
}

impl Default for Labels<'_> {
    fn default() -> Self {
        Self { ours: "your edits", theirs: "the new version" }
    }
}

/// The side whose file is taken if both sides conflict. The names are the identifiers in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prefer {
    /// The user's side.
    Ours,
    /// The new version.
    Theirs,
}

/// The result of a merge.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The files. The user's content is held in memory, so that later changes to the installed files cannot affect it;
    /// the rest is read from the new version.
    pub set: FileSet,
    /// The outcome for each path in any of the versions, sorted.
    pub files: Vec<MergedFile>,
}

/// The outcome for one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFile {
    /// The path, as in the versions.
    pub path: SafePath,
    /// The outcome.
    pub outcome: Outcome,
    /// Where the user's original file is kept, if it could not stay under its own name.
    pub kept: Option<SafePath>,
}

/// The outcome for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Neither side changed it.
    Unchanged,
    /// Only the user changed, added or deleted it.
    Ours,
    /// Only the new version changed, added or deleted it.
    Theirs,
    /// Both made the same change.
    Same,
    /// Both changed it, and both changes are in it.
    Merged,
    /// The user has to look at it.
    Conflict(Conflict),
    /// It would be a conflict, but was decided as a whole for the preferred side: the file of that side is there, or no
    /// file if that side has none.
    Decided(Conflict, Prefer),
}

/// The reason why the user has to look at a path. The names are the identifiers in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Conflict {
    /// Both changed the same lines: the file has conflict markers.
    Lines,
    /// Both changed it and it is not text, or too long: the file of the new version is there.
    Binary,
    /// The user deleted it and the new version changed it: the file of the new version is there.
    DeletedHere,
    /// The new version deleted it and the user changed it: the user's file is there.
    DeletedThere,
    /// The new version has a directory where the user has a file, or a file where the user has a directory, or a name
    /// that is the same on some file systems: the file of the new version is there.
    Name,
}

impl Merged {
    /// Returns the paths that the user has to look at.
    pub fn conflicts(&self) -> impl Iterator<Item = &MergedFile> {
        self.files.iter().filter(|file| matches!(file.outcome, Outcome::Conflict(_)))
    }
}

/// Merges the versions of one skill.
///
/// # Errors
///
/// Fails if a version cannot be read, like [`FileSet::read`], or with a [`Refusal`](crate::refusal::Refusal) if the
/// result has more files or bytes than `limits` allow.
pub fn merge(versions: &Versions<'_>, labels: &Labels<'_>, limits: &Limits) -> Result<Merged, ReadError> {
    merge_for(versions, labels, limits, None)
}

/// Merges like [`merge`]. With `prefer`, no path needs attention: for a path in conflict the whole file of that side is
/// taken, and changes on only one side elsewhere are taken as usual. The file of the other side is not kept beside it.
pub fn merge_for(
    versions: &Versions<'_>,
    labels: &Labels<'_>,
    limits: &Limits,
    prefer: Option<Prefer>,
) -> Result<Merged, ReadError> {
    let sets = [versions.base, versions.ours, versions.theirs];
    let paths: BTreeSet<&SafePath> = sets.iter().flat_map(|set| set.files()).map(|file| &file.path).collect();
    let mut result = Merging::default();
    // Names that only the user has yield to those of the new version, whose files refer to each other; if the user's
    // side is preferred, it is the other way round.
    let (mut first, mut second, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    for (number, path) in paths.into_iter().enumerate() {
        let [base, ours, theirs] = sets.map(|set| set.get(path.as_str()).map(|file| Side::new(set, file)));
        let leads = if prefer == Some(Prefer::Ours) { ours.is_some() } else { theirs.is_some() };
        let items = if leads { &mut first } else { &mut second };
        let merged = file::merge(base, ours, theirs, labels, prefer)?;
        items.extend(merged.item.map(|item| (number, item)));
        beside.extend(merged.kept.map(|item| (number, path.as_str().len(), item)));
        result.files.push(MergedFile { path: path.clone(), outcome: merged.outcome, kept: None });
    }
    for (number, item) in first.into_iter().chain(second) {
        let path = result.files[number].path.clone();
        match (result.names.take(&path), prefer) {
            (Ok(()), _) => drop(result.items.insert(path, item)),
            (Err(_), Some(side)) => {
                result.files[number].outcome = Outcome::Decided(Conflict::Name, side);
            }
            (Err(at), None) => {
                result.files[number].outcome = Outcome::Conflict(Conflict::Name);
                beside.push((number, at, item));
            }
        }
    }
    for (number, at, item) in beside {
        result.keep(number, at, item, versions.theirs);
    }
    result.finish(versions.theirs, limits)
}

/// The result under construction.
#[derive(Default)]
struct Merging<'a> {
    names: Names,
    items: BTreeMap<SafePath, Item<'a>>,
    files: Vec<MergedFile>,
}

impl<'a> Merging<'a> {
    /// Keeps `item` beside the path `number`, whose first `at` bytes are a name that is taken. A file kept by an
    /// earlier merge is kept only once. The name of a file in `theirs` is not available, even if the user has deleted
    /// that file: it would stand for two files.
    fn keep(&mut self, number: usize, at: usize, mut item: Item<'a>, theirs: &FileSet) {
        let path = self.files[number].path.clone();
        let free = |path: &SafePath| theirs.get(path.as_str()).is_none();
        for path in names::beside(&path, at).filter(free) {
            let same = self.items.get(&path).filter(|there| there.is(&item)).map(|there| there.rights);
            if same.is_some() || self.names.take(&path).is_ok() {
                item.rights = item.rights.and(same.unwrap_or_default());
                self.files[number].kept = Some(path.clone());
                self.items.insert(path, item);
                return;
            }
        }
    }

    fn finish(self, theirs: &FileSet, limits: &Limits) -> Result<Merged, ReadError> {
        let (mut entries, mut bytes, mut rights) = (Vec::new(), Vec::new(), Vec::new());
        for (path, item) in self.items {
            entries.push(FileEntry::new(path, item.executable, item.bytes.size(), bytes.len()));
            rights.push(item.rights);
            bytes.push(match item.bytes {
                Bytes::Theirs(entry) => Held::Theirs(entry.clone()),
                Bytes::Memory(bytes) => Held::Memory(bytes),
            });
        }
        let content = Arc::new(Contents { theirs: theirs.clone(), bytes, rights });
        Ok(Merged { set: FileSet::new(entries, content, limits)?, files: self.files })
    }
}

/// The content of the result.
struct Contents {
    theirs: FileSet,
    bytes: Vec<Held>,
    rights: Vec<Rights>,
}

/// The content of one file.
enum Held {
    Theirs(FileEntry),
    Memory(Vec<u8>),
}

impl Content for Contents {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        match &self.bytes[id] {
            Held::Theirs(entry) => self.theirs.copy_to(entry, sink),
            Held::Memory(bytes) => Ok(sink.write_all(bytes)?),
        }
    }

    fn rights(&self, id: usize) -> Rights {
        self.rights.get(id).copied().unwrap_or_default()
    }
}
