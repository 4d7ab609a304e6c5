//! Where a registry lies: a directory or a bucket.
//!
//! Both hold the same files. What is written is decided here once, from the history of a skill; the carriers differ in how
//! they make it so. A directory has a lock and a rename, a bucket can create an object unless there is one.

mod bucket;
mod create;
mod directory;
mod objects;
mod probe;
mod verify;

use std::ops::Range;
use std::sync::Arc;

use axum::body::Bytes;

use object_store::local::LocalFileSystem;
use skillpm_core::fs;

use crate::config::Place;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{
    Config, Event, History, LogEntry, MAX_FILE, Package, RegistryDir, Staged, Timestamp, Verified, files,
};
use bucket::Bucket;
pub(crate) use create::{create, create_if_empty};
use directory::Directory;
pub(crate) use objects::{Objects, Pieces};
pub(crate) use probe::check_store;

/// The directory of what only the server reads: tokens.
const PRIVATE: &str = "private";

/// Decides whether a skill with this history may be published, and by which event it becomes the publisher's first.
pub(crate) type Permit = Arc<dyn Fn(&History) -> Result<Option<Event>> + Send + Sync>;
/// Decides which event is to happen to a skill; `None` if things are so already.
pub(crate) type Change = Arc<dyn Fn(&History) -> Result<Option<Event>> + Send + Sync>;

/// A registry.
#[derive(Debug)]
pub(crate) struct Storage {
    config: Config,
    files: Objects,
    private: Objects,
    carrier: Carrier,
}

#[derive(Debug)]
enum Carrier {
    Directory(Directory),
    Bucket(Bucket),
}

/// All that a registry has.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The skills, sorted by name.
    pub(crate) histories: Vec<History>,
    /// The number of the last entry of the log that the histories surely have.
    pub(crate) position: u64,
}

/// A version that is to be published.
pub(crate) struct Publication {
    /// The package.
    pub(crate) package: Arc<Package>,
    /// Whether it may be.
    pub(crate) permit: Permit,
    /// When.
    pub(crate) time: Timestamp,
    /// Who publishes it.
    pub(crate) by: Option<String>,
    /// The history of the skill, as far as it is known.
    pub(crate) known: History,
}

impl Storage {
    /// Opens the registry at `place`.
    ///
    /// # Errors
    ///
    /// Fails if there is none, and if it cannot be read.
    pub(crate) async fn open(place: &Place) -> Result<Self> {
        match place {
            Place::Directory(path) => {
                let dir = RegistryDir::open(path)?;
                let private = dir.path().join(PRIVATE);
                // One that cannot be written can still be served.
                if fs::create_dir_all(&private).is_ok() {
                    fs::make_private(&private);
                }
                let store = LocalFileSystem::new_with_prefix(dir.path())
                    .map_err(|error| Error::io("the directory cannot be opened").because(error))?;
                let files = Objects::new(Arc::new(store), "");
                let config = dir.config().clone();
                let carrier = Carrier::Directory(Directory::new(dir));
                Ok(Self { config, private: files.below(PRIVATE), files, carrier })
            }
            Place::Bucket(bucket) => {
                let files = bucket.objects()?;
                let Some(bytes) = files.get(files::CONFIG, MAX_FILE).await? else {
                    return Err(Error::usage(format!(
                        "`{bucket}` is not a registry: it has no `{}`",
                        files::CONFIG
                    ))
                    .hint("`skillpm-registry init` makes it one"));
                };
                let config = Config::parse(&bytes)
                    .map_err(|error| Error::config(format!("`{}` of `{bucket}`: {error}", files::CONFIG)))
                    .map_err(|error| error.hint("update skillpm-registry, if a newer one made it"))?;
                Ok(Self::bucket(files, config))
            }
        }
    }

    /// Returns the registry with these files in a bucket.
    pub(crate) fn bucket(files: Objects, config: Config) -> Self {
        let carrier = Carrier::Bucket(Bucket::new(files.clone()));
        Self { config, private: files.below(PRIVATE), files, carrier }
    }

    /// Returns the configuration of the registry.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the objects that only the server reads.
    pub(crate) fn private(&self) -> &Objects {
        &self.private
    }

    /// Returns the files of the registry, for whoever runs it.
    pub(crate) fn files(&self) -> &Objects {
        &self.files
    }

    /// Reads the file at `path`, of at most `limit` bytes; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the store does not answer, and for a larger file.
    pub(crate) async fn read(&self, path: &str, limit: u64) -> Result<Option<Bytes>> {
        if self.is_plain(path).await? { self.files.get(path, limit).await } else { Ok(None) }
    }

    /// Opens the bytes of `range` of the file at `path`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the store does not answer.
    pub(crate) async fn stream(&self, path: &str, range: Range<u64>) -> Result<Option<Pieces>> {
        if self.is_plain(path).await? { self.files.stream(path, Some(range)).await } else { Ok(None) }
    }

    /// Reports whether the registry is still there.
    ///
    /// # Errors
    ///
    /// Fails if the store does not answer.
    pub(crate) async fn is_there(&self) -> Result<bool> {
        self.files.exists(files::CONFIG).await
    }

    /// Notes that the log has the entry `number`, so that the next one is looked for behind it.
    pub(crate) async fn seen(&self, number: u64) {
        if let Carrier::Bucket(bucket) = &self.carrier {
            bucket.seen(number).await;
        }
    }

    /// Reports whether what is at `path` may be a file: a directory that somebody copied could have links in it.
    async fn is_plain(&self, path: &str) -> Result<bool> {
        match &self.carrier {
            Carrier::Directory(directory) => directory.is_plain(path).await,
            Carrier::Bucket(_) => Ok(true),
        }
    }

    /// Reads all records and events.
    ///
    /// # Errors
    ///
    /// Fails if one cannot be read, or is damaged.
    pub(crate) async fn load(&self) -> Result<Loaded> {
        match &self.carrier {
            Carrier::Directory(directory) => directory.load().await,
            Carrier::Bucket(bucket) => bucket.load().await,
        }
    }

    /// Reads every byte of the registry. Whatever is wrong with a file is a defect.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be listed.
    pub(crate) async fn verify(&self) -> Result<Verified> {
        match &self.carrier {
            Carrier::Directory(directory) => directory.verify().await,
            Carrier::Bucket(_) => verify::verify(&self.files).await,
        }
    }

    /// Reads the records and events of the skill `name`.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::load`] does.
    pub(crate) async fn history(&self, name: &SkillName) -> Result<History> {
        match &self.carrier {
            Carrier::Directory(directory) => directory.history(name).await,
            Carrier::Bucket(bucket) => bucket.history(name).await,
        }
    }

    /// Reads entry `number` of the log; `None` if there is none yet.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read.
    pub(crate) async fn log_entry(&self, number: u64) -> Result<Option<LogEntry>> {
        match &self.carrier {
            Carrier::Directory(directory) => directory.log_entry(number).await,
            Carrier::Bucket(bucket) => bucket.log_entry(number).await,
        }
    }

    /// Publishes a version. Returns what came of it, and the skill as it is then.
    ///
    /// # Errors
    ///
    /// Fails if that is not permitted, if the version exists with other files, and if the store fails. Then it is not
    /// published, or the error is that of a store that did not say.
    pub(crate) async fn publish(&self, publication: Publication) -> Result<(Staged, History)> {
        match &self.carrier {
            Carrier::Directory(directory) => directory.publish(publication).await,
            Carrier::Bucket(bucket) => bucket.publish(publication).await,
        }
    }

    /// Lets an event happen to a skill, whose history is `known` so far. Returns whether one did, and the skill as it is
    /// then.
    ///
    /// # Errors
    ///
    /// Fails if `change` does, and if the store fails.
    pub(crate) async fn change(
        &self,
        known: History,
        change: Change,
        by: Option<String>,
        time: Timestamp,
    ) -> Result<(bool, History)> {
        match &self.carrier {
            Carrier::Directory(directory) => directory.change(known.name(), change, by, time).await,
            Carrier::Bucket(bucket) => bucket.change(known, change, by, time).await,
        }
    }
}

/// Returns the history of a skill that was read. One that cannot be used is left out and logged: it must not keep the
/// others from being served.
fn usable(read: Result<History>) -> Option<History> {
    read.inspect_err(|error| {
        tracing::error!(code = error.code(), "a skill is left out: {}", error.with_causes());
    })
    .ok()
}
