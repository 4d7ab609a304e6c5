//! Readers of archives that may be hostile, and writers of packages.
//!
//! Two programs that read one archive must never see different files in it: otherwise a scanner sees one
//! skill and an agent gets another. So these readers are strict: every byte of an archive belongs to exactly
//! one entry or header, everything that is stored twice must agree, no name occurs twice, and anything
//! ambiguous is refused with a [`Refusal`].
//!
//! Opening reads only the structure. Content is read, inflated and checked on request, in small pieces, from
//! any number of threads. Names are only made harmless here (no `..`, no control characters); [`Tree::skill`]
//! checks what a *skill* may contain, so that a repository with an odd file elsewhere can still be read.

mod bytes;
mod gzip;
mod inflate;
mod kind;
mod names;
mod password;
mod tar;
mod write;
mod write_tar;
mod zip;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fs::SharedFile;
use crate::refusal::{Limits, Refusal};
use crate::tree::{Content, Memory, Node, ReadError, Tree, TreeEntry};
use kind::Kind;
use names::Item;
pub use password::needs_password;
pub use write::{write_zip, write_zip_to};
pub use write_tar::write_tar_gz;

/// An open archive.
#[derive(Debug, Clone)]
pub struct Archive {
    /// The entries. Directories are implied by the files below them.
    pub tree: Tree,
    /// The comment of a zip archive, or the one in the global header of a tar archive, if it is
    /// UTF-8 without NUL. `git archive` and GitHub write the commit there.
    pub comment: Option<String>,
}

/// The result of a reader, before it becomes an [`Archive`].
struct Parts {
    entries: BTreeMap<String, TreeEntry>,
    content: Arc<dyn Content>,
    comment: Option<Vec<u8>>,
}

impl From<Parts> for Archive {
    fn from(parts: Parts) -> Self {
        let comment = parts
            .comment
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .filter(|text| !text.is_empty() && !text.contains('\0'));
        Self { tree: Tree::new(parts.entries, parts.content), comment }
    }
}

/// Opens the archive in `file`, whose kind is determined by its first bytes: zip, tar, or tar in gzip.
///
/// # Errors
///
/// Fails with [`Refusal::NotAnArchive`] for all other kinds, and with the errors of [`open_zip`], [`open_tar`] and
/// [`open_tar_gz`].
pub fn open(file: Arc<SharedFile>, limits: &Limits) -> Result<Archive, ReadError> {
    let head = kind::head(&file)?;
    match kind::of(&head) {
        Some(Kind::Zip) => open_zip(file, limits),
        Some(Kind::Gzip) => open_tar_gz(&file, limits),
        Some(Kind::Tar) => open_tar(file, limits),
        None => Err(kind::refusal("a zip, tar or tar.gz archive", &head).into()),
    }
}

/// Opens a zip archive.
///
/// The rules are those of the ZIP specification (APPNOTE.TXT 6.3.10) without the parts that let two readers
/// differ: one end record at the very end, adjacent entries from the first byte to the directory, both
/// headers of an entry alike, only stored and deflated content.
///
/// # Errors
///
/// Fails with a [`Refusal`] for each broken rule, or with an input error.
pub fn open_zip(file: Arc<SharedFile>, limits: &Limits) -> Result<Archive, ReadError> {
    check_size(&file, limits)?;
    zip::open(file, limits).map(Archive::from)
}

/// Opens a tar archive in the format of POSIX.1-2001 (`pax`, and `ustar` below it).
///
/// # Errors
///
/// Fails with a [`Refusal`] for each broken rule, or with an input error.
pub fn open_tar(file: Arc<SharedFile>, limits: &Limits) -> Result<Archive, ReadError> {
    check_size(&file, limits)?;
    tar::open(file, limits, "a tar archive").map(Archive::from)
}

/// Opens a tar archive in one gzip member (RFC 1952).
///
/// The archive is inflated once, to the end, into an unnamed temporary file.
///
/// # Errors
///
/// Fails as [`open_tar`] does; with [`Refusal::BadData`], [`Refusal::BadChecksum`] and
/// [`Refusal::StrayBytes`] for the gzip stream; and with [`Refusal::TooLarge`] and [`Refusal::Ratio`] for a
/// stream that grows too much.
pub fn open_tar_gz(file: &SharedFile, limits: &Limits) -> Result<Archive, ReadError> {
    check_size(file, limits)?;
    let unpacked = gzip::unpack(file, limits)?;
    tar::open(Arc::new(unpacked), limits, "a tar archive in a gzip file").map(Archive::from)
}

/// Returns the tree of files that were delivered one by one, each with its name. No file is executable.
///
/// # Errors
///
/// Fails as an archive with these names would.
pub fn of_files(files: Vec<(String, Vec<u8>)>) -> Result<Tree, Refusal> {
    let (mut items, mut contents) = (Vec::with_capacity(files.len()), Vec::with_capacity(files.len()));
    for (id, (name, bytes)) in files.into_iter().enumerate() {
        names::check(&name, false)?;
        let node = Node::File { executable: false, size: bytes.len() as u64 };
        items.push(Item { name: names::below_root(&name).to_owned(), node: Some(node), id });
        contents.push(bytes);
    }
    Ok(Tree::new(names::assemble(items)?, Arc::new(Memory(contents))))
}

/// Refuses an archive file that is larger than `limits` allows.
fn check_size(file: &SharedFile, limits: &Limits) -> Result<(), Refusal> {
    if file.len() > limits.archive_bytes {
        return Err(Refusal::ArchiveTooLarge(limits.archive_bytes));
    }
    Ok(())
}
