//! File sets in memory with known digests.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use super::{Content, FileEntry, FileSet, ReadError};
use crate::digest::{Digest, tree_digest};
use crate::refusal::{Limits, Refusal};

/// The maximum number of bytes of a file set held in memory: several threads hold one each, and nearly all real skills
/// are smaller.
pub const MOST: u64 = 1 << 20;

/// A file set whose bytes are in memory, and the digest of exactly these bytes: they were read once, and need not be
/// hashed again however often they are written.
#[derive(Debug, Clone)]
pub struct Held {
    set: FileSet,
    bytes: Arc<Bytes>,
    contents: Vec<Digest>,
    digest: Digest,
}

/// Files one after the other, possibly after other bytes.
struct Bytes {
    all: Vec<u8>,
    files: Vec<Range<usize>>,
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.all.len())
    }
}

impl Content for Bytes {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        let bytes = self.files.get(id).and_then(|file| self.all.get(file.clone()));
        Ok(sink.write_all(bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?)?)
    }
}

impl FileSet {
    /// Reads and hashes everything. Returns `None` if it has more than [`MOST`] bytes.
    ///
    /// # Errors
    ///
    /// Fails like [`Content::copy_to`], and on content whose size differs from the declared size.
    pub fn hold(&self) -> Result<Option<Held>, ReadError> {
        let size: u64 = self.files.iter().map(|file| file.size).sum();
        if size > MOST {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        let mut files = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let start = all.len();
            let actual = self.content.append_to(file.id, file.size, &mut all)?;
            if actual != file.size {
                let name = file.path.to_string();
                return Err(Refusal::SizeMismatch { name, declared: file.size, actual }.into());
            }
            files.push(start..all.len());
        }
        let renumbered = self.files.iter().enumerate().map(|(id, file)| FileEntry { id, ..file.clone() });
        Ok(Some(Held::of(renumbered.collect(), Bytes { all, files })))
    }
}

impl Held {
    /// Returns the content of `all` from `start` on: `files` in this order, whose ids are their indices. Hashes their
    /// bytes.
    ///
    /// # Errors
    ///
    /// Fails like [`FileSet::new`], and on too few or too many bytes.
    pub fn new(files: Vec<FileEntry>, all: Vec<u8>, start: usize) -> Result<Self, Refusal> {
        let mut at = start;
        let mut places = Vec::with_capacity(files.len());
        for file in &files {
            let end = usize::try_from(file.size).ok().and_then(|size| at.checked_add(size));
            let end = end.filter(|end| *end <= all.len()).ok_or(Refusal::Truncated("a tree"))?;
            places.push(at..end);
            at = end;
        }
        if at != all.len() {
            return Err(Refusal::StrayBytes("after the last file"));
        }
        let bytes = Bytes { all, files: places };
        let checked = FileSet::new(files, Arc::new(super::Memory::default()), &Limits::default())?;
        Ok(Self::of(checked.files, bytes))
    }

    fn of(files: Vec<FileEntry>, bytes: Bytes) -> Self {
        let hash = |file: &FileEntry| Digest::of(&bytes.all[bytes.files[file.id].clone()]);
        let contents: Vec<Digest> = files.iter().map(hash).collect();
        let lines = files.iter().zip(&contents);
        let digest = tree_digest(lines.map(|(file, content)| (&file.path, file.executable, *content)));
        let bytes = Arc::new(bytes);
        Self { set: FileSet { files, content: Arc::clone(&bytes) as _ }, bytes, contents, digest }
    }

    /// Returns the digest of the tree.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the files.
    pub fn set(&self) -> &FileSet {
        &self.set
    }

    /// Returns each file with the digest of its content, and its bytes.
    pub fn files(&self) -> impl Iterator<Item = (&FileEntry, Digest, &[u8])> + Clone {
        let files = self.set.files.iter().zip(&self.contents);
        files.map(|(file, digest)| (file, *digest, &self.bytes.all[self.bytes.files[file.id].clone()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::SafePath;
    use crate::tree::Memory;

    fn entry(path: &str, size: u64, id: usize) -> FileEntry {
        FileEntry::new(SafePath::new(path).expect("safe"), false, size, id)
    }

    #[test]
    fn what_is_held_is_what_was_read() {
        let content = Arc::new(Memory(vec![b"two".to_vec(), b"one".to_vec()]));
        let files = vec![entry("b", 3, 0), entry("a", 3, 1)];
        let set = FileSet::new(files, content, &Limits::default()).expect("valid");
        let held = set.hold().expect("reads").expect("small");
        assert_eq!(held.digest(), set.digest().expect("reads"));
        assert_eq!(held.set().digest().expect("reads"), held.digest());
        let files: Vec<_> =
            held.files().map(|(file, digest, bytes)| (file.path.as_str(), digest, bytes)).collect();
        let expected: [(&str, &[u8]); 2] = [("a", b"one"), ("b", b"two")];
        assert_eq!(files, expected.map(|(path, bytes)| (path, Digest::of(bytes), bytes)));
    }

    #[test]
    fn a_size_that_is_not_the_declared_one_is_refused() {
        for size in [2, 4] {
            let content = Arc::new(Memory(vec![b"one".to_vec()]));
            let set = FileSet::new(vec![entry("a", size, 0)], content, &Limits::default()).expect("valid");
            assert!(matches!(set.hold(), Err(ReadError::Refused(Refusal::SizeMismatch { actual: 3, .. }))));
        }
    }

    #[test]
    fn what_is_large_is_not_held() {
        let set =
            FileSet::new(vec![entry("a", MOST + 1, 0)], Arc::new(Memory::default()), &Limits::default());
        assert!(set.expect("valid").hold().expect("reads nothing").is_none());
    }

    #[test]
    fn bytes_are_neither_too_few_nor_too_many() {
        let held = |bytes: &[u8]| Held::new(vec![entry("a", 2, 0), entry("b", 1, 1)], bytes.to_vec(), 1);
        let whole = held(b"xaab").expect("fits");
        assert_eq!(whole.set().read(whole.set().get("b").expect("there")).expect("reads"), b"b");
        assert!(held(b"xaa").is_err() && held(b"xaabb").is_err() && held(b"").is_err());
    }
}
