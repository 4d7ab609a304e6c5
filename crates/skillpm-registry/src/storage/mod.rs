//! The files of a registry, in a directory or a bucket.
//!
//! Both have the same files, and [`crate::registry`] reads and changes them. This module has the parts that only a server
//! needs: the objects of a bucket, streams of bytes, and threads that wait for either.

mod bucket;
mod create;
mod location;
mod objects;
mod probe;

use std::ops::Range;
use std::sync::Arc;

use axum::body::Bytes;
use object_store::local::LocalFileSystem;
use skillpm_sources::fs::{self, SharedFile};
use tokio::sync::Semaphore;

use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{
    self, Carrier, Config, Decide, History, LogEntry, Publication, RegistryDir, Staged, Timestamp, Verified,
    files,
};
use bucket::Bucket;
pub(crate) use create::{create, create_if_empty};
pub(crate) use location::Location;
pub(crate) use objects::{Objects, Pieces};
pub(crate) use probe::check_store;

/// The number of bytes of a piece of a file.
const PIECE: usize = 256 << 10;
/// The number of changes of a bucket that wait for the store at the same time.
const CHANGES: usize = 32;

/// A registry.
#[derive(Debug)]
pub(crate) struct Storage {
    config: Config,
    files: Objects,
    private: Objects,
    /// The same files, as they are read and changed on threads that wait.
    registry: Arc<dyn registry::Objects>,
    /// Held during a change: changes must not occupy all the threads that reads need. Those of a directory wait for its
    /// lock, one at a time.
    changes: Semaphore,
}

/// All that a registry has.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The skills, sorted by name.
    pub(crate) histories: Vec<History>,
    /// The number of the last entry of the log that the histories surely have.
    pub(crate) position: u64,
}

impl Storage {
    /// Opens the registry at `location`.
    pub(crate) async fn open(location: &Location) -> Result<Self> {
        match location {
            Location::Directory(path) => {
                let dir = RegistryDir::open(path)?;
                let private = dir.path().join(files::PRIVATE);
                // One that cannot be written can still be served.
                if fs::create_dir_all(&private).is_ok() {
                    fs::make_private(&private);
                }
                let store = LocalFileSystem::new_with_prefix(dir.path())
                    .map_err(|error| Error::io("the directory cannot be opened").because(error))?;
                let objects = Objects::new(Arc::new(store), "");
                let config = dir.config().clone();
                Ok(Self {
                    config,
                    private: objects.below(files::PRIVATE),
                    files: objects,
                    registry: Arc::new(dir),
                    changes: Semaphore::new(1),
                })
            }
            Location::Bucket(bucket) => {
                let objects = bucket.objects()?;
                let files = Bucket::new(objects.clone());
                let config = blocking(move || registry::config(&files)).await?.ok_or_else(|| {
                    let message = format!("`{bucket}` is not a registry: it has no `{}`", files::CONFIG);
                    Error::usage(message).hint("`skillpm-registry init` makes it one")
                })?;
                Ok(Self::bucket(objects, config))
            }
        }
    }

    /// Returns the registry with these objects in a bucket.
    pub(crate) fn bucket(objects: Objects, config: Config) -> Self {
        Self {
            config,
            private: objects.below(files::PRIVATE),
            registry: Arc::new(Bucket::new(objects.clone())),
            files: objects,
            changes: Semaphore::new(CHANGES),
        }
    }

    /// Returns the configuration of the registry.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the objects that only the server reads.
    pub(crate) fn private(&self) -> &Objects {
        &self.private
    }

    /// Reads the file at `path`, of at most `limit` bytes; `None` if it does not exist. Fails if the store does not answer,
    /// and for a larger file.
    pub(crate) async fn read(&self, path: &str, limit: u64) -> Result<Option<Bytes>> {
        let path = path.to_owned();
        match self.registry.carrier() {
            Carrier::Bucket(_) => self.files.get(&path, limit).await,
            Carrier::Directory(_) => {
                self.blocking(move |registry| Ok(registry.get(&path, limit)?.map(Bytes::from))).await
            }
        }
    }

    /// Opens the bytes of `range` of the file at `path`; `None` if it does not exist.
    pub(crate) async fn stream(&self, path: &str, range: Range<u64>) -> Result<Option<Pieces>> {
        if matches!(self.registry.carrier(), Carrier::Bucket(_)) {
            return self.files.stream(path, range).await;
        }
        let path = path.to_owned();
        let file = self.blocking(move |registry| registry.open(&path, u64::MAX)).await?;
        Ok(file.map(|file| pieces(file, range)))
    }

    /// Reports whether the registry still exists.
    pub(crate) async fn is_there(&self) -> Result<bool> {
        self.files.exists(files::CONFIG).await
    }

    /// Notes that the log has the entry `number`, so that the search for the next one starts behind it.
    pub(crate) fn seen(&self, number: u64) {
        if let Carrier::Bucket(bucket) = self.registry.carrier() {
            bucket.log_end().seen(number);
        }
    }

    /// Reads all records and events. A skill that cannot be used is left out and logged: it must not keep the others from
    /// being served.
    pub(crate) async fn load(&self) -> Result<Loaded> {
        self.blocking(|registry| {
            // The length first: what is published meanwhile is read twice, not missed.
            let position = registry.log_length()?;
            if let Carrier::Bucket(bucket) = registry.carrier() {
                bucket.log_end().seen(position);
            }
            let read = registry.histories()?.into_values().map(|read| {
                read.inspect_err(|error| {
                    tracing::error!(code = error.code(), "a skill is left out: {}", error.with_causes());
                })
            });
            Ok(Loaded { histories: read.flatten().collect(), position })
        })
        .await
    }

    /// Reads every byte of the registry. Every problem of a file is a defect.
    pub(crate) async fn verify(&self) -> Result<Verified> {
        self.blocking(registry::verify).await
    }

    /// Reads the records and events of the skill `name`. Fails if one cannot be read, or is damaged.
    pub(crate) async fn history(&self, name: &SkillName) -> Result<History> {
        let name = name.clone();
        self.blocking(move |registry| registry.history(&name)).await
    }

    /// Reads the entry of the log after entry `last`; `None` if it does not exist yet.
    pub(crate) async fn log_entry_after(&self, last: u64) -> Result<Option<LogEntry>> {
        self.blocking(move |registry| registry.log_entry_after(last)).await
    }

    /// Publishes a version. Returns what came of it, and the skill as it is then.
    pub(crate) async fn publish(&self, publication: Publication) -> Result<(Staged, History)> {
        let _turn = self.changes.acquire().await;
        self.blocking(move |registry| registry::publish(registry, publication)).await
    }

    /// Applies an event to a skill whose history is `known` so far. Returns whether that changed anything, and the new state
    /// of the skill.
    pub(crate) async fn change(
        &self,
        known: History,
        decide: Decide,
        by: Option<String>,
        time: Timestamp,
    ) -> Result<(bool, History)> {
        let _turn = self.changes.acquire().await;
        self.blocking(move |registry| registry::change(registry, known, &decide, by.as_deref(), time)).await
    }

    /// Calls `work` on a thread that may wait for the disk or the store.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn registry::Objects) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let registry = Arc::clone(&self.registry);
        blocking(move || work(&*registry)).await
    }
}

/// Returns the bytes of `range` of `file`, piece by piece.
fn pieces(file: Arc<SharedFile>, range: Range<u64>) -> Pieces {
    let next = move |at: u64| {
        let (file, len) = (Arc::clone(&file), usize::try_from(range.end - at).unwrap_or(PIECE).min(PIECE));
        async move {
            if len == 0 {
                return Ok(None);
            }
            blocking(move || {
                let mut piece = vec![0; len];
                let read = file.read_exact_at(&mut piece, at);
                read.map_err(|error| Error::io("an archive cannot be read").because(error))?;
                Ok(Some((Bytes::from(piece), at + len as u64)))
            })
            .await
        }
    };
    Box::pin(futures_util::stream::try_unfold(range.start, next))
}

/// Calls `work` on a thread that may compute, and wait for the disk or the store.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::io("a thread of the server ended early").because(error))?
}
