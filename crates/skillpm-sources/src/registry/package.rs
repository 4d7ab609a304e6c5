//! A skill in the archive that a registry keeps.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use super::error::not_publishable;
use super::{Artifact, Facts, Provenance};
use crate::archive;
use crate::codes;
use crate::digest::{Digest, HashingWriter};
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, SharedFile};
use crate::refusal::{Limits, Refusal};
use crate::skill::{self, MAX_SKILL_FILE, SKILL_FILE};
use crate::text::visible;
use crate::tree::FileSet;

/// The number of bytes that are read at a time.
const PIECE: usize = 128 << 10;

/// A skill in an archive, read and checked in the same way as at its installation.
#[derive(Debug, Clone)]
pub struct Package {
    /// The facts about the skill.
    pub facts: Facts,
    /// The digest of its tree of files.
    pub digest: Digest,
    /// The archive.
    pub artifact: Artifact,
    /// The bytes of the archive.
    pub bytes: Vec<u8>,
    /// The provenance, if the publisher states it.
    pub provenance: Option<Provenance>,
}

/// The contents of an archive.
pub(super) struct Unpacked {
    pub(super) set: FileSet,
    pub(super) document: Document,
    pub(super) digest: Digest,
}

impl Package {
    /// Reads the package in the file at `path`.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::new`] does, and if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let Some(bytes) = fs::read_capped(path, Limits::default().archive_bytes)? else {
            return Err(Error::usage(format!("`{}` does not exist", path.display())));
        };
        Self::new(bytes).map_err(|error| error.context(format!("`{}` cannot be published", path.display())))
    }

    /// Returns the package with these bytes.
    ///
    /// # Errors
    ///
    /// Fails if they are not a zip archive with the files of one skill, without a directory around them, and for a name
    /// or version that no registry takes.
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        let unpacked = unpack(&shared(&bytes)?)?;
        let facts = unpacked.facts()?;
        let artifact = Artifact { digest: Digest::of(&bytes), size: bytes.len() as u64 };
        Ok(Self { facts, digest: unpacked.digest, artifact, bytes, provenance: None })
    }

    /// Returns the files and the `SKILL.md` of the package.
    pub fn files(&self) -> Result<(FileSet, Document)> {
        let Unpacked { set, document, .. } = unpack(&shared(&self.bytes)?)?;
        Ok((set, document))
    }
}

impl Unpacked {
    /// Returns what the skill says about itself.
    pub(super) fn facts(&self) -> Result<Facts> {
        let loaded = skill::load(&self.document)
            .map_err(|error| refused(format!("its `{SKILL_FILE}` cannot be used: {error}")))?;
        Facts::of(&loaded.meta).map_err(|error| not_publishable(&error))
    }
}

/// Returns the `SKILL.md` among the files of a package.
///
/// # Errors
///
/// Fails if it is missing, or cannot be read.
pub fn document_of(set: &FileSet) -> Result<Document> {
    let Some(entry) = set.get(SKILL_FILE) else {
        return Err(refused(format!("the archive has no `{SKILL_FILE}` at its top")));
    };
    if entry.size > MAX_SKILL_FILE {
        return Err(Refusal::TooLarge { size: entry.size, limit: MAX_SKILL_FILE }.into());
    }
    Ok(Document::from_bytes(set.read(entry)?))
}

/// Returns the files of the skill in the archive with these bytes, read as an installation reads them.
///
/// # Errors
///
/// Fails if the bytes are not an archive with the files of one skill.
pub fn files_in(bytes: &[u8]) -> Result<FileSet> {
    Ok(unpack(&shared(bytes)?)?.set)
}

/// Checks that every system can store the files of a skill that is to be published.
///
/// # Errors
///
/// Fails for a name that Windows does not have.
pub fn check_portable(set: &FileSet) -> Result<()> {
    let Some(file) = set.files().iter().find(|file| file.path.is_unportable()) else { return Ok(()) };
    Err(refused(format!(
        "the skill cannot be published: Windows cannot store a file called `{}`",
        visible(file.path.as_str())
    ))
    .coded(codes::UNPORTABLE_NAME)
    .hint("rename the file"))
}

/// Returns an open file with these bytes, as the reader of archives takes it.
pub fn shared(bytes: &[u8]) -> Result<Arc<SharedFile>> {
    let mut file = fs::anonymous_temp_file()?;
    let written = file.write_all(bytes).and_then(|()| SharedFile::from_file(file));
    written.map(Arc::new).map_err(|error| Error::io("failed to write a temporary file").because(error))
}

/// Returns the digest of the bytes of `file`.
pub fn digest_of(file: &SharedFile) -> io::Result<Digest> {
    let mut hasher = HashingWriter::new(io::sink());
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    while at < file.len() {
        let left = usize::try_from(file.len() - at).map_or(PIECE, |left| left.min(PIECE));
        file.read_exact_at(&mut piece[..left], at)?;
        hasher.write_all(&piece[..left])?;
        at += left as u64;
    }
    Ok(hasher.finish().0)
}

/// Reads the archive in `file` as an installation does.
pub(super) fn unpack(file: &Arc<SharedFile>) -> Result<Unpacked> {
    let limits = Limits::default();
    let tree = archive::open_zip(Arc::clone(file), &limits)?.tree;
    let set = tree.skill("", &limits)?;
    if set.get(SKILL_FILE).is_none() && tree.without_wrapper().get(SKILL_FILE).is_some() {
        let message =
            format!("the archive has no `{SKILL_FILE}` at its top: it is in a directory of the archive");
        return Err(refused(message));
    }
    let document = document_of(&set)?;
    let digest = set.digest()?;
    Ok(Unpacked { set, document, digest })
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Findings, message).coded(codes::RELEASE_REFUSED)
}
