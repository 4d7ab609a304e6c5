//! The files of one skill: a [`FileSet`] contains nothing that must not be written to disk.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use super::{Content, ReadError, Rights};
use crate::digest::{Digest, HashingWriter, tree_digest};
use crate::path::{SafePath, collision_key};
use crate::refusal::{Limits, Refusal};

/// One file of a [`FileSet`].
#[derive(Debug, Clone)]
pub struct FileEntry {
    /// The path below the skill's directory.
    pub path: SafePath,
    /// Whether it gets mode 0755; the others get 0644. [`FileSet::rights`] may withhold some of that.
    pub executable: bool,
    /// The size in bytes.
    pub size: u64,
    pub(super) id: usize,
}

impl FileEntry {
    /// Returns an entry whose content is identified by `id`.
    pub fn new(path: SafePath, executable: bool, size: u64, id: usize) -> Self {
        Self { path, executable, size, id }
    }
}

/// The files of one skill, sorted by path: safe names, regular files, no duplicates.
#[derive(Clone)]
pub struct FileSet {
    pub(super) files: Vec<FileEntry>,
    pub(super) content: Arc<dyn Content>,
}

impl FileSet {
    /// Returns a set of `files`.
    ///
    /// # Errors
    ///
    /// Fails on names that occur twice, collide, or are both file and directory, and on more files or bytes
    /// than `limits` allow.
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

    /// Returns the same files with their content from elsewhere, under the same ids.
    #[must_use]
    pub fn from(&self, content: Arc<dyn Content>) -> Self {
        Self { files: self.files.clone(), content }
    }

    /// Returns the files, sorted by the bytes of their paths.
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// Returns the file at `path`, if there is one.
    pub fn get(&self, path: &str) -> Option<&FileEntry> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| &self.files[at])
    }

    /// Writes the content of `file` to `sink`.
    pub fn copy_to(&self, file: &FileEntry, sink: &mut dyn Write) -> Result<(), ReadError> {
        self.content.copy_to(file.id, sink)
    }

    /// Returns the maximum permissions of `file`, wherever it is written.
    pub fn rights(&self, file: &FileEntry) -> Rights {
        self.content.rights(file.id)
    }

    /// Reads the content of `file` into memory.
    pub fn read(&self, file: &FileEntry) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        self.copy_to(file, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the content of `file` and returns its digest.
    pub fn digest_of(&self, file: &FileEntry) -> Result<Digest, ReadError> {
        let mut hasher = HashingWriter::new(io::sink());
        self.copy_to(file, &mut hasher)?;
        Ok(hasher.finish().0)
    }

    /// Reads all content and returns the tree digest.
    pub fn digest(&self) -> Result<Digest, ReadError> {
        let mut lines = Vec::with_capacity(self.files.len());
        for file in &self.files {
            lines.push((&file.path, file.executable, self.digest_of(file)?));
        }
        Ok(tree_digest(lines))
    }
}

/// Content that is available for as long as a guard is held.
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

    fn rights(&self, id: usize) -> Rights {
        self.content.rights(id)
    }
}

impl fmt::Debug for FileSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.files).finish()
    }
}

/// Refuses two paths that would be the same on some file system, directories included.
fn check_names(files: &[FileEntry]) -> Result<(), Refusal> {
    // Key of every file and directory -> its spelling, and whether it is a file.
    let mut seen: BTreeMap<Cow<'_, str>, (&str, bool)> = BTreeMap::new();
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
