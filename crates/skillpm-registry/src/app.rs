//! The operations of the server, independent of caller and protocol.

mod change;
mod contents;
mod file;
#[cfg(test)]
mod tests;
mod visible;

use std::convert::Infallible;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use axum::body::Bytes;

use crate::access::{Caller, Issuers, Scope, Tokens, missing};
use crate::catalog::{Catalog, Derived};
use crate::codes;
use crate::config::{Config, ReadAccess};
use crate::digest::Digest;
use crate::error::{Error, Result, unknown};
use crate::name::SkillName;
use crate::registry::{Artifact, History, Timestamp, Visibility, files};
use crate::storage::{Location, Storage, blocking};

pub(crate) use contents::Parts;
pub(crate) use file::File;
use file::Overview;
pub(crate) use visible::VisibleSkills;

/// The number of views whose skills are cached.
const VIEWS: usize = 16;
/// The number of lists of versions that are cached.
const LISTS: usize = 4_096;
/// How many versions have their OCI descriptor cached, of some 150 bytes each.
const PARTS: usize = 100_000;
/// The size of the cache of immutable files, in bytes.
const CACHE_BYTES: u64 = 64 << 20;
/// The largest of these files.
pub(crate) const MAX_CACHED_FILE: u64 = 1 << 20;

/// A server.
#[derive(Debug)]
pub(crate) struct App {
    /// The settings.
    pub(crate) config: Config,
    /// The files of the registry.
    pub(crate) storage: Storage,
    /// All skills, in memory.
    pub(crate) catalog: Catalog,
    /// The tokens.
    pub(crate) tokens: Tokens,
    /// The trusted issuers of identities of CI jobs (OIDC).
    pub(crate) issuers: Issuers,
    /// The private skills.
    private: Derived<Vec<Arc<History>>>,
    /// Held during the publication of a skill with a new name.
    new_names: tokio::sync::Mutex<()>,
    /// The visible skills of each view.
    visible: Cache<(u64, View), Arc<VisibleSkills>>,
    cached: Cache<String, Bytes, BytesOf>,
    /// The lists of skills, each with the state of the skill that it was made of.
    lists: Cache<SkillName, (Arc<History>, File)>,
    unpacked: contents::Unpacked,
    /// The digests of OCI's parts of each version, by the digest of the archive.
    pub(crate) parts: Cache<Digest, Parts>,
}

/// The part of a caller's rights that decides which skills are visible: callers with equal views see the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct View {
    /// The id of a token that keeps its holder from seeing all public skills.
    token: Option<String>,
    /// The private skills that are seen, sorted.
    private: Vec<SkillName>,
}

#[derive(Debug, Clone)]
struct BytesOf;

impl Weighter<String, Bytes> for BytesOf {
    fn weight(&self, key: &String, value: &Bytes) -> u64 {
        (key.len() + value.len()) as u64 + 64
    }
}

impl App {
    /// Opens the registry that `config` names, and reads all of it.
    pub(crate) async fn open(config: Config) -> Result<Self> {
        let storage = Storage::open(&Location::of(&config)?).await?;
        Self::with(config, storage).await
    }

    /// Returns a server of the registry in `storage`, and reads all of it.
    pub(crate) async fn with(config: Config, storage: Storage) -> Result<Self> {
        let catalog = Catalog::new(storage.load().await?);
        let tokens = Tokens::new(storage.private());
        let issuers = Issuers::new(&config.trusted_issuers, config.public_url.as_deref(), storage.private())?;
        let cached = Cache::with_weighter(10_000, CACHE_BYTES, BytesOf);
        Ok(Self {
            config,
            storage,
            catalog,
            tokens,
            issuers,
            private: Derived::default(),
            new_names: tokio::sync::Mutex::default(),
            visible: Cache::new(VIEWS),
            cached,
            lists: Cache::new(LISTS),
            unpacked: contents::Unpacked::default(),
            parts: Cache::new(PARTS),
        })
    }

    /// Returns the skill `name`, if `caller` may see it. A missing skill and an invisible one give the same error; only
    /// owners learn that their token does not allow reading.
    pub(crate) fn skill(&self, caller: &Caller, name: &SkillName) -> Result<Arc<History>> {
        let found = self.catalog.skill(name).filter(|found| !found.records().is_empty());
        match found {
            Some(found) if self.is_seen(caller, &found) => Ok(found),
            Some(found) if caller.owns(&found) && !caller.may_read() => Err(missing(Scope::Read)),
            _ => Err(unknown(format!("there is no skill `{name}`"))),
        }
    }

    /// Reports whether `caller` may read the registry at all.
    pub(crate) fn may_read(&self, caller: &Caller) -> bool {
        self.config.read == ReadAccess::Public || caller.may_read()
    }

    /// Reports whether `caller` may see a skill.
    pub(crate) fn is_seen(&self, caller: &Caller, history: &History) -> bool {
        caller.sees(history, self.config.read)
    }

    /// Returns the view of `caller`, who may read.
    fn view(&self, caller: &Caller) -> View {
        let limited = caller.limited_to().filter(|_| self.config.read == ReadAccess::Token);
        View { token: limited.map(str::to_owned), private: self.private_for(caller) }
    }

    /// Returns the skills that `caller` may see, as pages, searches and the files about all of them need them.
    pub(crate) fn visible(&self, caller: &Caller) -> Arc<VisibleSkills> {
        if !self.may_read(caller) {
            return Arc::default();
        }
        // Most callers see the same, so it is made once for all of them.
        let key = (self.catalog.generation(), self.view(caller));
        if self.visible.peek(&key).is_none() {
            // Nobody asks for views of an older generation again.
            self.visible.retain(|(generation, _), _| *generation == key.0);
        }
        let seen = || self.catalog.all().into_iter().filter(|skill| self.is_seen(caller, skill)).collect();
        let made = self
            .visible
            .get_or_insert_with(&key, || Ok::<_, Infallible>(Arc::new(VisibleSkills::new(seen()))));
        made.unwrap_or_else(|never| match never {})
    }

    /// Returns the names of the private skills that `caller` may see, sorted.
    fn private_for(&self, caller: &Caller) -> Vec<SkillName> {
        let all = self.private.get(&self.catalog, |skills| {
            let is_private = |skill: &&Arc<History>| skill.visibility() == Visibility::Private;
            skills.iter().filter(is_private).map(Arc::clone).collect()
        });
        all.iter().filter(|skill| self.is_seen(caller, skill)).map(|skill| skill.name().clone()).collect()
    }

    /// Returns the list of the versions of `skill`.
    pub(crate) fn list(&self, skill: Arc<History>) -> File {
        if let Some((of, list)) = self.lists.get(skill.name())
            && Arc::ptr_eq(&of, &skill)
        {
            return list;
        }
        let list = File::json(skill.list().to_bytes());
        self.lists.insert(skill.name().clone(), (skill, list.clone()));
        list
    }

    /// Reads a record, an event or an entry of the log, of at most `limit` bytes; `None` if it does not exist. It never
    /// changes, so a small one is cached.
    pub(crate) async fn constant(&self, path: &str, limit: u64) -> Result<Option<Bytes>> {
        if let Some(bytes) = self.cached.get(path) {
            return Ok(Some(bytes));
        }
        let Some(bytes) = self.storage.read(path, limit).await? else { return Ok(None) };
        self.cache(path.to_owned(), &bytes);
        Ok(Some(bytes))
    }

    /// Reads an archive; `None` if it does not exist. A small one is cached. Fails if the store does not answer, or the
    /// bytes differ from those that were published.
    pub(crate) async fn archive(&self, artifact: &Artifact) -> Result<Option<Bytes>> {
        let path = files::artifact(&artifact.digest);
        if let Some(bytes) = self.cached.get(&path) {
            return Ok(Some(bytes));
        }
        let Some(bytes) = self.storage.read(&path, artifact.size).await? else { return Ok(None) };
        let (bytes, digest) = blocking(move || {
            let digest = Digest::of(&bytes);
            Ok((bytes, digest))
        })
        .await?;
        if digest != artifact.digest {
            return Err(Error::integrity(format!("`{path}` has other bytes than were published"))
                .hint("`skillpm-registry verify` lists what is damaged")
                .coded(codes::REGISTRY_MISMATCH));
        }
        self.cache(path, &bytes);
        Ok(Some(bytes))
    }

    /// Keeps `bytes` in memory if they are few.
    fn cache(&self, key: String, bytes: &Bytes) {
        if bytes.len() as u64 <= MAX_CACHED_FILE {
            self.cached.insert(key, bytes.clone());
        }
    }
}

/// Returns the time now.
pub(crate) fn now() -> Timestamp {
    Timestamp::new(i64::try_from(skillpm_sources::env::now()).unwrap_or(i64::MAX))
}
