//! The contents of archives, for protocols that do not serve archives as they are.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use skillpm_format::interop::clawhub;
use skillpm_format::tree::FileSet;
use skillpm_sources::archive::write_tar_gz;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{App, MAX_CACHED_FILE};
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, Result, unusable};
use crate::registry::{Artifact, Record, files, files_in};
use crate::storage::blocking;

/// The number of archives that are unpacked at the same time.
const AT_ONCE: usize = 4;
/// The size of the cache of contents, in bytes.
const CACHE_BYTES: u64 = 32 << 20;
/// The bytes in memory of large files and layers in answers under way: enough for a few of the largest archives at the same
/// time. Clients that take them slowly must not take all memory.
const SENT_BYTES: usize = 128 << 20;

/// The digests of the parts that make a version an OCI artifact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    pub(crate) manifest: Digest,
    pub(crate) config: Digest,
    pub(crate) layer: Artifact,
}

/// Facts about the files in an archive. They depend on the archive alone.
#[derive(Debug)]
pub(crate) struct Contents {
    /// The files, sorted by path.
    pub(crate) files: Vec<ContainedFile>,
    /// The files as `tar.gz`, below a directory with the skill's name.
    pub(crate) layer: Artifact,
    /// The fingerprint by which ClawHub's client identifies the files; `None` if it depends on the client's language.
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

/// Recently unpacked contents.
#[derive(Debug)]
pub(super) struct Unpacked {
    /// The contents, by the digest of the archive.
    cached: Cache<Digest, Arc<Contents>, BytesOf>,
    slots: Arc<Semaphore>,
    sent: Sent,
}

/// Large bytes in answers under way. However many clients get the same, it is in memory once.
#[derive(Debug)]
struct Sent {
    room: Arc<Semaphore>,
    by_key: Mutex<BTreeMap<String, Weak<Held>>>,
}

/// Bytes that count against the limit until they are sent.
#[derive(Debug)]
struct Held {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

/// One who sends [`Held`] bytes.
struct Sender(Arc<Held>);

impl AsRef<[u8]> for Sender {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl Sent {
    fn new(room: usize) -> Self {
        Self { room: Arc::new(Semaphore::new(room)), by_key: Mutex::default() }
    }

    /// Returns the bytes with the key `key`, if a response is sending them.
    fn get(&self, key: &str) -> Option<Bytes> {
        let by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        by_key.get(key).and_then(Weak::upgrade).map(|held| Bytes::from_owner(Sender(held)))
    }

    /// Returns `bytes`, to be sent, and remembers them as `key`.
    fn add(&self, key: String, bytes: Bytes) -> Result<Bytes> {
        let full =
            || Error::io("too many large files are being sent").hint("try again when others have got theirs");
        let size = u32::try_from(bytes.len()).map_err(|_| full())?;
        let room = Arc::clone(&self.room).try_acquire_many_owned(size).map_err(|_| full())?;
        let held = Arc::new(Held { bytes, _room: room });
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        by_key.retain(|_, held| held.strong_count() > 0);
        by_key.insert(key, Arc::downgrade(&held));
        Ok(Bytes::from_owner(Sender(held)))
    }
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
        let cached = Cache::with_weighter(10_000, CACHE_BYTES, BytesOf);
        Self { cached, slots: Arc::new(Semaphore::new(AT_ONCE)), sent: Sent::new(SENT_BYTES) }
    }
}

impl App {
    /// Returns what is known of the files of a version. Fails if the store does not answer, or no longer has the archive as it
    /// was published.
    pub(crate) async fn contents(&self, record: &Record) -> Result<Arc<Contents>> {
        let archive = record.artifact.digest;
        if let Some(contents) = self.unpacked.cached.get(&archive) {
            return Ok(contents);
        }
        let slot = self.slots(1).await?;
        if let Some(contents) = self.unpacked.cached.get(&archive) {
            return Ok(contents);
        }
        let name = record.name.to_string();
        let (contents, layer) = self.unpack(record, slot, move |set| look(set, &name)).await?;
        let contents = Arc::new(contents);
        self.unpacked.cached.insert(archive, Arc::clone(&contents));
        self.cache(layer_key(&archive), &layer);
        Ok(contents)
    }

    /// Returns the files of a version as `tar.gz`, below a directory with the skill's name.
    pub(crate) async fn layer(&self, record: &Record) -> Result<Bytes> {
        let key = layer_key(&record.artifact.digest);
        let name = record.name.to_string();
        let layer = self.sent(record, key, move |set| Ok(Some(write_tar_gz(set, &name)?))).await?;
        layer.ok_or_else(|| missing(record))
    }

    /// Returns the file at `path` of a version; `None` if the version does not have it.
    pub(crate) async fn contained(&self, record: &Record, path: &str) -> Result<Option<Bytes>> {
        let key = format!("file/{}/{path}", record.artifact.digest.hex());
        let path = path.to_owned();
        self.sent(record, key, move |set| Ok(set.get(&path).map(|file| set.read(file)).transpose()?)).await
    }

    /// Returns what `read` makes of the files of a version, to be sent. It is remembered as `key`.
    async fn sent(
        &self,
        record: &Record,
        key: String,
        read: impl FnOnce(&FileSet) -> Result<Option<Vec<u8>>> + Send + 'static,
    ) -> Result<Option<Bytes>> {
        let known = || self.cached.get(&key).or_else(|| self.unpacked.sent.get(&key));
        if let Some(bytes) = known() {
            return Ok(Some(bytes));
        }
        let slot = self.slots(1).await?;
        // The previous holder of the slot may have made it.
        if let Some(bytes) = known() {
            return Ok(Some(bytes));
        }
        let Some(bytes) = self.unpack(record, slot, read).await?.map(Bytes::from) else { return Ok(None) };
        if bytes.len() as u64 > MAX_CACHED_FILE {
            return self.unpacked.sent.add(key, bytes).map(Some);
        }
        self.cache(key, &bytes);
        Ok(Some(bytes))
    }

    /// Waits until this many archives may be unpacked.
    async fn slots(&self, count: u32) -> Result<OwnedSemaphorePermit> {
        let slots = Arc::clone(&self.unpacked.slots).acquire_many_owned(count).await;
        slots.map_err(|error| Error::io("no archive is unpacked any more").because(error))
    }

    /// Returns what `read` makes of the files of a version.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        record: &Record,
        read: impl FnOnce(&FileSet) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let slot = self.slots(1).await?;
        self.unpack(record, slot, read).await
    }

    /// Returns what `read` makes of the files of two versions.
    pub(crate) async fn read_two<T: Send + 'static>(
        &self,
        first: &Record,
        second: &Record,
        read: impl FnOnce(&FileSet, &FileSet) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let slots = self.slots(2).await?;
        let bytes = self.archive(&first.artifact).await?.ok_or_else(|| missing(first))?;
        self.unpack(second, slots, move |second| read(&files_in(&bytes)?, second)).await
    }

    /// Unpacks the archive of a version and returns what `read` makes of its files. Then frees `slot`, even if the request
    /// has ended.
    async fn unpack<T: Send + 'static>(
        &self,
        record: &Record,
        slot: OwnedSemaphorePermit,
        read: impl FnOnce(&FileSet) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let Some(bytes) = self.archive(&record.artifact).await? else { return Err(missing(record)) };
        blocking(move || {
            let _slot = slot;
            files_in(&bytes).and_then(|set| read(&set)).map_err(unusable)
        })
        .await
    }
}

fn missing(record: &Record) -> Error {
    let path = files::artifact(&record.artifact.digest);
    Error::integrity(format!("the store no longer has `{path}`")).coded(codes::REGISTRY_UNUSABLE)
}

fn layer_key(archive: &Digest) -> String {
    format!("layer/{}", archive.hex())
}

/// Reads all files, and returns what is known of them and the layer.
fn look(set: &FileSet, name: &str) -> Result<(Contents, Bytes)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_takes_room_once_until_the_last_piece_is_gone() {
        let sent = Sent::new(10);
        let one = sent.add("one".to_owned(), Bytes::from_static(b"123456")).expect("room");
        let (again, part) = (sent.get("one").expect("is being sent"), one.slice(5..));
        assert_eq!(again, one);
        assert!(sent.add("two".to_owned(), Bytes::from_static(b"12345")).is_err());
        drop((one, again));
        assert!(sent.add("two".to_owned(), Bytes::from_static(b"12345")).is_err());
        drop(part);
        assert!(sent.get("one").is_none());
        assert!(sent.add("two".to_owned(), Bytes::from_static(b"12345")).is_ok());
    }
}
