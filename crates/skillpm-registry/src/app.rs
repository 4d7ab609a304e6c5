//! What the server can do, whoever asks and by which protocol.

mod contents;
mod file;
mod shown;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use axum::body::Bytes;

use crate::access::{Caller, Issuers, Scope, Tokens, check_new_name, is_unclaimed, missing};
use crate::catalog::{Catalog, Derived};
use crate::codes;
use crate::config::{Config, ReadAccess};
use crate::digest::Digest;
use crate::error::{Error, Result, not_permitted, unknown};
use crate::name::SkillName;
use crate::registry::{
    Account, Artifact, Decide, Event, History, Package, Publication, Record, Staged, Timestamp,
    TrustedPublisher, Visibility, files,
};
use crate::storage::{Place, Storage, blocking};
use crate::version::Version;
use skillpm_core::ops::registry::check_package;

pub(crate) use contents::Parts;
pub(crate) use file::{File, Overview};
pub(crate) use shown::Shown;

/// The number of different views for which the files about all skills are kept.
const OVERVIEWS: usize = 16;
/// The number of lists of skills that are kept.
const LISTS: usize = 4_096;
/// The number of versions of which it is kept what OCI calls them by: some 150 bytes each.
const PARTS: usize = 100_000;
/// The bytes of files that never change which are kept in memory.
const KEPT_BYTES: u64 = 64 << 20;
/// The largest of these files.
pub(crate) const KEPT_FILE: u64 = 1 << 20;

/// A server.
#[derive(Debug)]
pub(crate) struct App {
    /// The settings.
    pub(crate) config: Config,
    /// Where the registry lies.
    pub(crate) storage: Storage,
    /// What is known of it.
    pub(crate) catalog: Catalog,
    /// The tokens.
    pub(crate) tokens: Tokens,
    /// Who may state which job of a CI system somebody is.
    pub(crate) issuers: Issuers,
    /// The files about all skills, for everybody who sees the same.
    overviews: Mutex<(u64, Overviews)>,
    /// The private skills.
    private: Derived<Vec<Arc<History>>>,
    /// Held by whoever publishes a skill with a new name.
    new_names: tokio::sync::Mutex<()>,
    /// The skills that pages show, by the same.
    shown: Cache<(u64, View), Arc<Shown>>,
    kept: Cache<String, Bytes, BytesOf>,
    /// The lists of skills, each with the state of the skill that it was made of.
    lists: Cache<SkillName, (Arc<History>, File)>,
    unpacked: contents::Unpacked,
    /// What OCI calls versions by, by the digest of the archive.
    pub(crate) parts: Cache<Digest, Parts>,
}

/// What decides which skills a caller sees who may read: those with the same view see the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct View {
    /// The id of a token that keeps its holder from seeing all public skills.
    token: Option<String>,
    /// The private skills that are seen, sorted.
    private: Vec<SkillName>,
}

/// The files about all skills, by who sees what is in them.
type Overviews = BTreeMap<View, Arc<Overview>>;

#[derive(Debug, Clone)]
struct BytesOf;

impl Weighter<String, Bytes> for BytesOf {
    fn weight(&self, key: &String, value: &Bytes) -> u64 {
        (key.len() + value.len()) as u64 + 64
    }
}

/// What came of a publication.
#[derive(Debug)]
pub(crate) struct Published {
    /// The version.
    pub(crate) record: Record,
    /// Whether it was there before, with the same files.
    pub(crate) already: bool,
}

impl App {
    /// Opens the registry that `config` names, and reads all of it.
    pub(crate) async fn open(config: Config) -> Result<Self> {
        let storage = Storage::open(&Place::of(&config)?).await?;
        Self::with(config, storage).await
    }

    /// Returns a server of the registry in `storage`, and reads all of it.
    pub(crate) async fn with(config: Config, storage: Storage) -> Result<Self> {
        let catalog = Catalog::new(storage.load().await?);
        let tokens = Tokens::new(storage.private());
        let issuers = Issuers::new(&config.trusted_issuers, config.public_url.as_deref(), storage.private())?;
        let kept = Cache::with_weighter(10_000, KEPT_BYTES, BytesOf);
        Ok(Self {
            config,
            storage,
            catalog,
            tokens,
            issuers,
            overviews: Mutex::default(),
            private: Derived::default(),
            new_names: tokio::sync::Mutex::default(),
            shown: Cache::new(OVERVIEWS),
            kept,
            lists: Cache::new(LISTS),
            unpacked: contents::Unpacked::default(),
            parts: Cache::new(PARTS),
        })
    }

    /// Returns the skill `name`, if `caller` may see it. The error is one, whether it does not exist or must not be seen;
    /// owners are told if their token does not allow to read.
    pub(crate) fn skill(&self, caller: &Caller, name: &SkillName) -> Result<Arc<History>> {
        let found = self.catalog.skill(name).filter(|there| !there.records().is_empty());
        match found {
            Some(there) if self.is_seen(caller, &there) => Ok(there),
            Some(there) if caller.owns(&there) && !caller.may_read() => Err(missing(Scope::Read)),
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

    /// Returns the files about all skills that `caller` may see.
    pub(crate) fn overview(&self, caller: &Caller) -> Arc<Overview> {
        if !self.may_read(caller) {
            return Arc::new(Overview::of(self, &[]));
        }
        // Most callers see the same, so it is made once for all of them.
        let view = self.view(caller);
        let mut kept = self.overviews.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = self.catalog.generation();
        if kept.0 != generation || kept.1.len() >= OVERVIEWS {
            *kept = (generation, BTreeMap::new());
        }
        if let Some(overview) = kept.1.get(&view) {
            return Arc::clone(overview);
        }
        let all = self.catalog.all();
        let skills: Vec<_> = all.into_iter().filter(|skill| self.is_seen(caller, skill)).collect();
        let overview = Arc::new(Overview::of(self, &skills));
        kept.1.insert(view, Arc::clone(&overview));
        overview
    }

    /// Returns the skills that `caller` may see, as pages and searches need them.
    pub(crate) fn shown(&self, caller: &Caller) -> Arc<Shown> {
        if !self.may_read(caller) {
            return Arc::default();
        }
        let key = (self.catalog.generation(), self.view(caller));
        if let Some(shown) = self.shown.get(&key) {
            return shown;
        }
        let seen = self.catalog.all().into_iter().filter(|skill| self.is_seen(caller, skill)).collect();
        let shown = Arc::new(Shown::new(seen));
        self.shown.insert(key, Arc::clone(&shown));
        shown
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

    /// Reads a record, an event or an entry of the log, of at most `limit` bytes; `None` if there is none. It never changes,
    /// so it is kept in memory if it is small.
    pub(crate) async fn constant(&self, path: &str, limit: u64) -> Result<Option<Bytes>> {
        if let Some(bytes) = self.kept.get(path) {
            return Ok(Some(bytes));
        }
        let Some(bytes) = self.storage.read(path, limit).await? else { return Ok(None) };
        self.keep(path.to_owned(), &bytes);
        Ok(Some(bytes))
    }

    /// Reads an archive; `None` if there is none. It is kept in memory if it is small. Fails if the store does not answer, or
    /// has other bytes than were published.
    pub(crate) async fn archive(&self, artifact: &Artifact) -> Result<Option<Bytes>> {
        let path = files::artifact(&artifact.digest);
        if let Some(bytes) = self.kept.get(&path) {
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
        self.keep(path, &bytes);
        Ok(Some(bytes))
    }

    /// Keeps `bytes` in memory if they are few.
    fn keep(&self, key: String, bytes: &Bytes) {
        if bytes.len() as u64 <= KEPT_FILE {
            self.kept.insert(key, bytes.clone());
        }
    }

    /// Checks that the caller may publish the skill `name`, as far as this server knows. It copies nothing.
    pub(crate) async fn check_publisher(
        &self,
        caller: &Caller,
        name: &SkillName,
        time: Timestamp,
    ) -> Result<()> {
        caller.check_scope(Scope::Publish, name)?;
        let check = || self.catalog.skill(name).map_or(Ok(None), |known| caller.publishes(&known, time));
        if check().is_err() {
            // Another server may just have made the caller an owner.
            self.catalog.refresh(&self.storage).await?;
        }
        check().map(drop)
    }

    /// Publishes the archive `bytes` as `version` of `name`. Fails if the archive is not fit for publication or is something
    /// else, if the caller may not publish it, if the version exists with other files, and if the store fails.
    pub(crate) async fn publish(
        &self,
        caller: &Caller,
        name: &SkillName,
        version: &Version,
        bytes: Bytes,
        time: Timestamp,
    ) -> Result<Published> {
        // Another server may just have said who owns it: what it said is read before anything is decided.
        self.catalog.refresh(&self.storage).await?;
        let known = self.catalog.history(name);
        caller.publishes(&known, time)?;
        let mut package = read_package(bytes).await?;
        check_is(&package, name, version)?;
        // Until the catalog has the new name, no other is checked.
        let mut turn = None;
        if is_unclaimed(&known) {
            turn = Some(self.new_names.lock().await);
            let is_seen = |history: &History| self.is_seen(caller, history);
            check_new_name(name, &self.config.reserved_names, &self.catalog, is_seen)?;
            self.check_quota(caller)?;
        }
        package.provenance = caller.provenance();
        let package = Arc::new(package);
        let permit = {
            let caller = caller.clone();
            Arc::new(move |history: &History| caller.publishes(history, time))
        };
        let publication = Publication { package, permit, time, by: caller.by(), known };
        let (staged, history) = self.storage.publish(publication).await?;
        self.catalog.set(history);
        drop(turn);
        Ok(match staged {
            Staged::New(record) => Published { record, already: false },
            Staged::Already(record) => Published { record, already: true },
        })
    }

    fn check_quota(&self, caller: &Caller) -> Result<()> {
        let Some(account) = caller.account().filter(|_| !caller.has_scope(Scope::Admin)) else {
            return Ok(());
        };
        let limit = self.config.limits.skills_per_account;
        let owned = self.catalog.all().iter().filter(|skill| skill.owners().contains(account)).count();
        if owned < limit {
            return Ok(());
        }
        Err(not_permitted(format!("`{account}` owns {owned} skills, {limit} are allowed")))
    }

    /// Yanks `version` of `name` for `reason`, or with `None` takes that back. Returns whether that is new. Fails if the caller
    /// may not, if there is no such version, and if the store fails.
    pub(crate) async fn yank(
        &self,
        caller: &Caller,
        name: &SkillName,
        version: &Version,
        reason: Option<String>,
        time: Timestamp,
    ) -> Result<bool> {
        let version = version.clone();
        self.change(caller, name, Scope::Yank, time, move |history| {
            let Some(record) = history.get(&version) else {
                return Err(unknown(format!("`{}` has no version `{version}`", history.name())));
            };
            if history.yanked(&version) == reason.as_deref() {
                return Ok(None);
            }
            let version = record.version.clone();
            Ok(Some(match reason.clone() {
                Some(reason) => Event::Yank { version, reason, time },
                None => Event::Unyank { version, time },
            }))
        })
        .await
    }

    /// Adds or removes an owner. Returns whether that is new. Fails if the caller may not, if the last owner would go, and if
    /// the store fails.
    pub(crate) async fn own(
        &self,
        caller: &Caller,
        name: &SkillName,
        owner: Account,
        owns: bool,
        time: Timestamp,
    ) -> Result<bool> {
        self.change(caller, name, Scope::Owner, time, move |history| {
            if history.owners().contains(&owner) == owns {
                return Ok(None);
            }
            if owns {
                return Ok(Some(Event::AddOwner { owner: owner.clone(), time }));
            }
            if history.owners().len() == 1 {
                return Err(Error::usage(format!("`{owner}` is the only owner of `{}`", history.name()))
                    .hint("add another one first"));
            }
            Ok(Some(Event::RemoveOwner { owner: owner.clone(), time }))
        })
        .await
    }

    /// Lets the jobs of a workflow publish a skill, or no longer. Without an id of the repository, one that is known stays with
    /// a workflow that is added again, and one with any id is removed. Returns whether that is new. Fails if the caller may
    /// not, and if the store fails.
    pub(crate) async fn trust(
        &self,
        caller: &Caller,
        name: &SkillName,
        publisher: TrustedPublisher,
        is_trusted: bool,
        time: Timestamp,
    ) -> Result<bool> {
        self.change(caller, name, Scope::Owner, time, move |history| {
            let mut known = history.publishers().iter().filter(|known| known.is_same(&publisher));
            let is_id = |known: &TrustedPublisher| {
                publisher.repository_id.is_none() || publisher.repository_id == known.repository_id
            };
            if known.any(is_id) == is_trusted {
                return Ok(None);
            }
            let publisher = publisher.clone();
            Ok(Some(if is_trusted {
                Event::AddPublisher { publisher, time }
            } else {
                Event::RemovePublisher { publisher, time }
            }))
        })
        .await
    }

    /// Sets who may see a skill. Returns whether that is new. Fails if the caller may not, and if the store fails.
    pub(crate) async fn show_to(
        &self,
        caller: &Caller,
        name: &SkillName,
        visibility: Visibility,
        time: Timestamp,
    ) -> Result<bool> {
        self.change(caller, name, Scope::Owner, time, move |history| {
            Ok((history.visibility() != visibility).then_some(Event::SetVisibility { visibility, time }))
        })
        .await
    }

    async fn change(
        &self,
        caller: &Caller,
        name: &SkillName,
        scope: Scope,
        time: Timestamp,
        decide: impl Fn(&History) -> Result<Option<Event>> + Send + Sync + 'static,
    ) -> Result<bool> {
        caller.check_scope(scope, name)?;
        self.catalog.refresh(&self.storage).await?;
        let known = self.catalog.skill(name);
        let known = known.unwrap_or_else(|| Arc::new(History::empty(name.clone())));
        let exists = !known.records().is_empty();
        if !exists || !(self.is_seen(caller, &known) || caller.owns(&known)) {
            // The answer is the same whether the skill does not exist or must not be seen.
            return Err(unknown(format!("there is no skill `{name}`")));
        }
        let change: Decide = {
            let caller = caller.clone();
            Arc::new(move |history: &History| {
                caller.check(scope, history)?;
                decide(history)
            })
        };
        change(&known)?;
        let (is_new, history) =
            self.storage.change(known.as_ref().clone(), change, caller.by(), time).await?;
        self.catalog.set(history);
        Ok(is_new)
    }
}

/// Reads a package and checks that it is fit for publication.
async fn read_package(bytes: Bytes) -> Result<Package> {
    blocking(move || {
        let package = Package::new(bytes.into())?;
        check_package(&format!("{}.zip", package.facts.name), &package)?;
        Ok(package)
    })
    .await
}

/// Checks that `package` is what the address says.
fn check_is(package: &Package, name: &SkillName, version: &Version) -> Result<()> {
    let facts = &package.facts;
    if facts.name == *name && facts.version.as_str() == version.as_str() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the archive has `{}` {}, and not `{name}` {version} as the address says",
        facts.name, facts.version
    ))
    .coded(codes::RELEASE_REFUSED))
}

/// Returns the time now.
pub(crate) fn now() -> Timestamp {
    Timestamp::new(i64::try_from(skillpm_core::env::now()).unwrap_or(i64::MAX))
}
