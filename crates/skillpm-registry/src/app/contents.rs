//! What is inside archives, for protocols that do not serve them as they are.

use std::sync::Arc;

use axum::body::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use skillpm_core::archive::write_tar_gz;
use skillpm_core::interop::clawhub;
use skillpm_core::tree::{FileSet, ReadError};
use tokio::sync::Semaphore;

use super::{App, KEPT_FILE};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::registry::{Artifact, Record, files, files_in};

/// The number of archives that are unpacked at the same time.
const AT_ONCE: usize = 4;
/// The bytes of contents that are kept in memory.
const KEPT_BYTES: u64 = 32 << 20;

/// What is known of the files in an archive. It depends on nothing but the archive.
#[derive(Debug)]
pub(crate) struct Contents {
    /// The files, sorted by path.
    pub(crate) files: Vec<ContainedFile>,
    /// The files as `tar.gz`, below a directory with the skill's name.
    pub(crate) layer: Artifact,
    /// What the client of ClawHub identifies them by; `None` if it depends on the client's language.
    pub(crate) fingerprint: Option<Digest>,
}

/// A file in an archive.
#[derive(Debug)]
pub(crate) struct ContainedFile {
    /// The path below the skill's directory.
    pub(crate) path: String,
    /// The size in bytes.
    pub(crate) size: u64,
    /// The digest.
    pub(crate) digest: Digest,
}

/// The contents that were read lately, by the digest of the archive.
#[derive(Debug)]
pub(super) struct Unpacked {
    kept: Cache<Digest, Arc<Contents>, BytesOf>,
    slots: Semaphore,
}

#[derive(Debug, Clone)]
struct BytesOf;

impl Weighter<Digest, Arc<Contents>> for BytesOf {
    fn weight(&self, _: &Digest, value: &Arc<Contents>) -> u64 {
        let paths: usize = value.files.iter().map(|file| file.path.len() + size_of::<ContainedFile>()).sum();
        paths as u64 + 256
    }
}

impl Default for Unpacked {
    fn default() -> Self {
        let kept = Cache::with_weighter(10_000, KEPT_BYTES, BytesOf);
        Self { kept, slots: Semaphore::new(AT_ONCE) }
    }
}

impl App {
    /// Returns what is known of the files of a version.
    ///
    /// # Errors
    ///
    /// Fails if the store does not answer, or no longer has the archive as it was published.
    pub(crate) async fn contents(&self, record: &Record) -> Result<Arc<Contents>> {
        let archive = record.artifact.digest;
        if let Some(contents) = self.unpacked.kept.get(&archive) {
            return Ok(contents);
        }
        let name = record.name.to_string();
        let (contents, layer) = self.unpack(record, move |set| look(set, &name)).await?;
        let contents = Arc::new(contents);
        self.unpacked.kept.insert(archive, Arc::clone(&contents));
        self.keep(layer_key(&archive), &layer);
        Ok(contents)
    }

    /// Returns the files of a version as `tar.gz`, below a directory with the skill's name.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::contents`].
    pub(crate) async fn layer(&self, record: &Record) -> Result<Bytes> {
        let key = layer_key(&record.artifact.digest);
        if let Some(layer) = self.kept.get(&key) {
            return Ok(layer);
        }
        let name = record.name.to_string();
        let layer: Bytes = self.unpack(record, move |set| write_tar_gz(set, &name)).await?.into();
        self.keep(key, &layer);
        Ok(layer)
    }

    /// Returns the file at `path` of a version; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::contents`].
    pub(crate) async fn contained(&self, record: &Record, path: &str) -> Result<Option<Bytes>> {
        let path = path.to_owned();
        let read = move |set: &FileSet| set.get(&path).map(|file| set.read(file)).transpose();
        Ok(self.unpack(record, read).await?.map(Bytes::from))
    }

    fn keep(&self, key: String, bytes: &Bytes) {
        if bytes.len() as u64 <= KEPT_FILE {
            self.kept.insert(key, bytes.clone());
        }
    }

    /// Unpacks the archive of a version and returns what `read` makes of its files.
    async fn unpack<T: Send + 'static>(
        &self,
        record: &Record,
        read: impl FnOnce(&FileSet) -> std::result::Result<T, ReadError> + Send + 'static,
    ) -> Result<T> {
        let _slot = self.unpacked.slots.acquire().await;
        let path = files::artifact(&record.artifact.digest);
        let Some(bytes) = self.constant(&path).await? else {
            return Err(Error::io(format!("the store no longer has `{path}`")));
        };
        let unpacking = tokio::task::spawn_blocking(move || read(&files_in(&bytes)?).map_err(Error::from));
        unpacking.await.map_err(|error| Error::io("a thread of the server ended early").because(error))?
    }
}

fn layer_key(archive: &Digest) -> String {
    format!("layer/{}", archive.hex())
}

/// Reads all files, and returns what is known of them and the layer.
fn look(set: &FileSet, name: &str) -> std::result::Result<(Contents, Bytes), ReadError> {
    let mut files = Vec::with_capacity(set.files().len());
    let mut text = Vec::new();
    for file in set.files() {
        let bytes = set.read(file)?;
        let (path, digest) = (file.path.as_str(), Digest::of(&bytes));
        if clawhub::covers(path, &bytes) {
            text.push((path, digest));
        }
        files.push(ContainedFile { path: path.to_owned(), size: file.size, digest });
    }
    let fingerprint = clawhub::fingerprint(text).ok();
    let bytes = Bytes::from(write_tar_gz(set, name)?);
    let layer = Artifact { digest: Digest::of(&bytes), size: bytes.len() as u64 };
    Ok((Contents { files, layer, fingerprint }, bytes))
}
