//! `cache`: the store and the downloads, which skillpm can create again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Warning, message};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, usage};
use crate::scope::Scope;
use crate::scope::receipts::stale_records;
use crate::scope::reviewed::stale_reviews;
use crate::scope::state::read_lock;
use crate::scope::transaction::stale_notes;
use crate::scope_kind::ScopeKind;
use crate::settings::no_home;
use crate::store::{Store, downloads};

/// The default time that an unused tree or download is kept.
pub const DEFAULT_AGE: Duration = Duration::from_hours(30 * 24);
/// The age at which an incomplete download counts as interrupted.
pub(crate) const REST_AGE: Duration = Duration::from_hours(24);

/// The name of the store among the rooms.
const STORE: &str = "store";

/// A part of the cache. The JSON form of this and the other values here is an interface: fields are only
/// added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Room {
    /// `store`, or the name of a directory of the downloads.
    pub name: String,
    /// The directory, whether it exists or not.
    pub path: String,
    /// The number of trees or downloads in it.
    pub count: usize,
    /// The number of their files.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// The directories of the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheDirs {
    /// The store.
    pub store: Room,
    /// The directory of the downloads.
    pub downloads: String,
    /// The parts of it.
    pub rooms: Vec<Room>,
}

/// Returns the directories of the store and the downloads, and how much is in them.
///
/// # Errors
///
/// Fails if the home directory is not known, or something cannot be read.
pub fn places(context: &Context) -> Result<CacheDirs> {
    let (store, cache) = (Store::new(&context.settings)?, cache_dir(context)?);
    let mut rooms = Vec::new();
    for name in downloads::rooms(&cache)? {
        let path = cache.join(&name);
        let units = downloads::units(&path)?;
        let (files, bytes) =
            (units.iter().map(|u| u.usage.files).sum(), units.iter().map(|u| u.usage.bytes).sum());
        rooms.push(Room { name, path: text(&path), count: units.len(), files, bytes });
    }
    let all = usage(store.root())?;
    Ok(CacheDirs {
        store: Room {
            name: STORE.to_owned(),
            path: text(store.root()),
            count: store.objects()?.len() + store.kept()?.len(),
            files: all.files,
            bytes: all.bytes,
        },
        downloads: text(&cache),
        rooms,
    })
}

/// Returns a path as text: JSON cannot hold names that are not UTF-8.
fn text(path: &Path) -> String {
    path.display().to_string()
}

fn cache_dir(context: &Context) -> Result<PathBuf> {
    context.settings.dirs.cache.clone().ok_or_else(|| no_home("downloads", Some(crate::env::XDG_CACHE_HOME)))
}

/// A request to remove everything that has not been used for a while.
#[derive(Debug, Clone)]
pub struct PruneRequest {
    /// The minimum time without use.
    pub older_than: Duration,
    /// Whether to only show it.
    pub dry_run: bool,
}

/// A request to empty the cache.
#[derive(Debug, Clone, Default)]
pub struct CleanRequest {
    /// Whether to empty the store too.
    pub store: bool,
    /// Whether to only show it.
    pub dry_run: bool,
}

/// Something that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Removed {
    /// `store`, or the room of the downloads.
    pub room: String,
    /// The former path.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// The outcome of a removal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemovedOutcome {
    /// Everything that was removed.
    pub removed: Vec<Removed>,
    /// Copies that a user edited: they stay in the store.
    pub kept: Vec<String>,
    /// The directories that another process is using.
    pub in_use: Vec<String>,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Warnings for the user.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Removes what has not been used for long: trees that no lockfile at hand names, downloads, leftovers of
/// killed processes, notes of changes of scopes if nothing can be taken back any more, and records of what
/// was placed and reviewed in scopes that no longer exist. Copies that a user edited stay.
///
/// # Errors
///
/// Fails if something cannot be read or removed. What was removed before that is gone, and nothing is half
/// removed.
pub fn prune(context: &Context, request: &PruneRequest) -> Result<RemovedOutcome> {
    let mut work = Work::new(context, request.dry_run)?;
    let locked = work.locked();
    let old = |path: &Path| Ok::<_, Error>(usage(path)?.is_older_than(request.older_than));
    work.store(|path, digest| Ok(!digest.is_some_and(|digest| locked.contains(digest)) && old(path)?))?;
    work.downloads(|unit| unit.usage.is_older_than(request.older_than) || unit.is_rest(REST_AGE))?;
    for note in stale_notes(&context.settings)? {
        if old(&note)? {
            work.rest("undo", &note)?;
        }
    }
    for record in stale_records(&context.settings)? {
        if old(&record)? {
            work.rest("placed", &record)?;
        }
    }
    for record in stale_reviews(&context.settings)? {
        if old(&record)? {
            work.rest("reviewed", &record)?;
        }
    }
    Ok(work.outcome)
}

/// Removes all downloads, and with `store` all trees. Copies that a user edited stay.
pub fn clean(context: &Context, request: &CleanRequest) -> Result<RemovedOutcome> {
    let mut work = Work::new(context, request.dry_run)?;
    if request.store {
        work.store(|_, _| Ok(true))?;
    }
    work.downloads(|_| true)?;
    Ok(work.outcome)
}

struct Work<'a> {
    context: &'a Context,
    store: Store,
    cache: PathBuf,
    outcome: RemovedOutcome,
}

impl<'a> Work<'a> {
    fn new(context: &'a Context, dry_run: bool) -> Result<Self> {
        Ok(Self {
            context,
            store: Store::new(&context.settings)?,
            cache: cache_dir(context)?,
            outcome: RemovedOutcome { dry_run, ..RemovedOutcome::default() },
        })
    }

    /// Returns the digests that the lockfiles of this project and of the user name. Those of other projects
    /// are not known: a removed tree that only they name is fetched again.
    fn locked(&mut self) -> BTreeSet<Digest> {
        let mut locked = BTreeSet::new();
        for kind in [ScopeKind::Project, ScopeKind::User] {
            let lock = Scope::new(&self.context.settings, kind).and_then(|scope| read_lock(&scope));
            match lock {
                Ok(lock) => locked.extend(lock.skills.values().map(|locked| locked.digest)),
                Err(error) => {
                    let told = message!(error.message(), "; what it names may be removed");
                    self.outcome.warnings.push(Warning::new(error.code(), told));
                }
            }
        }
        locked
    }

    /// Removes the trees for which `goes` returns `true`, and leftovers of killed writers. A tree of an older store has no
    /// usable digest: it is never read.
    fn store(&mut self, goes: impl Fn(&Path, Option<&Digest>) -> Result<bool>) -> Result<()> {
        let store = self.store.clone();
        // A dry run takes no lock.
        let lock = if self.outcome.dry_run {
            None
        } else {
            store.lock(|| self.context.reporter.waiting_for_lock(store.root()))?
        };
        for digest in store.objects()? {
            let path = store.path(&digest);
            if !goes(&path, Some(&digest))? {
                continue;
            }
            let bytes = usage(&path)?.bytes;
            if let Some(lock) = &lock {
                lock.take(&digest)?;
            }
            self.gone(STORE, &path, bytes);
        }
        for path in store.old().trees()? {
            if !goes(&path, None)? {
                continue;
            }
            let bytes = usage(&path)?.bytes;
            if self.outcome.dry_run || store.old().take(&path)? {
                self.gone(STORE, &path, bytes);
            } else {
                self.outcome.in_use.push(text(&path));
            }
        }
        for kept in store.kept()? {
            if goes(&kept.path, None)? {
                self.outcome.kept.push(text(&kept.path));
            }
        }
        for stage in lock.as_ref().map_or_else(|| store.dead_stages(), crate::store::StoreLock::stages) {
            self.rest(STORE, &stage)?;
        }
        Ok(())
    }

    /// Removes the downloads for which `goes` returns `true`.
    fn downloads(&mut self, goes: impl Fn(&downloads::Unit) -> bool) -> Result<()> {
        for room in downloads::rooms(&self.cache)? {
            for unit in downloads::units(&self.cache.join(&room))?.into_iter().filter(&goes) {
                if self.outcome.dry_run || downloads::take(&self.cache, &unit.path)? {
                    self.gone(&room, &unit.path, unit.usage.bytes);
                } else {
                    self.outcome.in_use.push(text(&unit.path));
                }
            }
        }
        // Cached indexes are removed too, without a report: they are created again automatically.
        for unit in downloads::units(&self.cache.join(downloads::INDEXES))?.into_iter().filter(&goes) {
            if !self.outcome.dry_run {
                fs::remove_tree(&unit.path)?;
            }
        }
        for path in downloads::gone(&self.cache)? {
            self.rest("downloads", &path)?;
        }
        Ok(())
    }

    /// Removes a leftover of a killed process.
    fn rest(&mut self, room: &str, path: &Path) -> Result<()> {
        let bytes = usage(path)?.bytes;
        if !self.outcome.dry_run {
            fs::remove_tree(path)?;
        }
        self.gone(room, path, bytes);
        Ok(())
    }

    fn gone(&mut self, room: &str, path: &Path, bytes: u64) {
        self.outcome.removed.push(Removed { room: room.to_owned(), path: text(path), bytes });
    }
}

/// A request to check the store and the downloads.
#[derive(Debug, Clone, Default)]
pub struct VerifyRequest {
    /// Whether to discard damaged trees and archives.
    pub fix: bool,
    /// Whether to only show what would be discarded.
    pub dry_run: bool,
}

/// The outcome of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifyOutcome {
    /// The number of trees and archives that were examined.
    pub checked: usize,
    /// Those that are damaged.
    pub damaged: Vec<Damaged>,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

/// A damaged tree or archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Damaged {
    /// `store`, or the room of the downloads.
    pub room: String,
    /// The path.
    pub path: String,
    /// The problem.
    pub reason: String,
    /// Whether it is a copy that a user edited, which is never discarded.
    pub kept: bool,
    /// Whether it was discarded.
    pub removed: bool,
}

/// Checks each tree of the store against its digest, and each downloaded archive.
///
/// # Errors
///
/// Fails if something cannot be read or removed. Damage is not an error: it is in the outcome.
pub fn verify(context: &Context, request: &VerifyRequest) -> Result<VerifyOutcome> {
    let (store, cache) = (Store::new(&context.settings)?, cache_dir(context)?);
    let mut outcome = VerifyOutcome { dry_run: request.dry_run, ..VerifyOutcome::default() };
    let remove = request.fix && !request.dry_run;
    // Nothing is removed meanwhile: an absent tree is not damaged.
    let reading = store.reader()?;
    let objects = store.objects()?;
    outcome.checked += objects.len();
    let wrong = store.damaged(objects);
    drop(reading);
    let lock = if remove && !wrong.is_empty() {
        store.lock(|| context.reporter.waiting_for_lock(store.root()))?
    } else {
        None
    };
    let damaged = |path: &Path, kept, removed| Damaged {
        room: STORE.to_owned(),
        path: text(path),
        reason: "its bytes do not match the digest in its name".to_owned(),
        kept,
        removed,
    };
    for digest in wrong {
        // Another process may have replaced it with an intact one in the meantime.
        let removed = match &lock {
            Some(lock) if !store.is_whole(&digest) => lock.take(&digest).map(|()| true)?,
            _ => false,
        };
        outcome.damaged.push(damaged(&store.path(&digest), false, removed));
    }
    for kept in store.kept()? {
        outcome.checked += 1;
        if !kept.is_whole() {
            outcome.damaged.push(damaged(&kept.path, true, false));
        }
    }
    for room in downloads::rooms(&cache)? {
        for unit in downloads::units(&cache.join(&room))? {
            outcome.checked += usize::from(unit.is_archive());
            let Some(reason) = unit.damage() else { continue };
            let removed = remove && downloads::take(&cache, &unit.path)?;
            outcome.damaged.push(Damaged {
                room: room.clone(),
                path: text(&unit.path),
                reason,
                kept: false,
                removed,
            });
        }
    }
    Ok(outcome)
}
