//! `cache`: the store and the downloads, which skillpm can make again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::advice::{Warning, message};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, usage};
use crate::install::receipts::stale_records;
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::read_lock;
use crate::install::transaction::stale_notes;
use crate::settings::no_home;
use crate::store::{Store, downloads};

/// How long a tree or download is kept without being used, unless somebody says otherwise.
pub const DEFAULT_AGE: Duration = Duration::from_hours(30 * 24);
/// How old a half download must be to be taken for one that was cut off.
pub(crate) const REST_AGE: Duration = Duration::from_hours(24);

/// What the store is called among the rooms.
const STORE: &str = "store";

/// One place. The JSON form of this and the other values here is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Room {
    /// `store`, or the name of a directory of the downloads.
    pub name: String,
    /// The directory, whether it is there or not.
    pub path: String,
    /// The number of trees or downloads that it holds.
    pub count: usize,
    /// The number of files that these have.
    pub files: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// The directories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheDirs {
    /// The store.
    pub store: Room,
    /// The directory of the downloads.
    pub downloads: String,
    /// What is in it.
    pub rooms: Vec<Room>,
}

/// Returns where the store and the downloads are, and how much is in them.
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

/// Returns a path as it is shown: JSON has no place for names that are not UTF-8.
fn text(path: &Path) -> String {
    path.display().to_string()
}

fn cache_dir(context: &Context) -> Result<PathBuf> {
    context.settings.dirs.cache.clone().ok_or_else(|| no_home("downloads", Some(crate::env::XDG_CACHE_HOME)))
}

/// A request to remove what has not been used for a while.
#[derive(Debug, Clone)]
pub struct PruneRequest {
    /// What was not used for longer than this goes.
    pub older_than: Duration,
    /// Show it only.
    pub dry_run: bool,
}

/// A request to empty the cache.
#[derive(Debug, Clone, Default)]
pub struct CleanRequest {
    /// The store too.
    pub store: bool,
    /// Show it only.
    pub dry_run: bool,
}

/// Something that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// `store`, or the room.
    pub room: String,
    /// Where it lay.
    pub path: String,
    /// The number of bytes that it had.
    pub bytes: u64,
}

/// The outcome of a removal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RemovedOutcome {
    /// It, one by one.
    pub removed: Vec<Removed>,
    /// Copies that a user edited: they stay in the store.
    pub kept: Vec<String>,
    /// What another process is at work on.
    pub in_use: Vec<String>,
    /// Whether nothing was removed because it was only to be shown.
    pub dry_run: bool,
    /// What a person should know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Removes what was not used for long: trees that no lockfile at hand names, downloads, what killed processes left,
/// notes of changes of scopes if nothing can be taken back any more, and records of what was placed in scopes that are
/// gone. Copies that a user edited stay.
///
/// # Errors
///
/// Fails if something cannot be read or removed. What was removed before that is gone, and nothing is half there.
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
    Ok(work.outcome)
}

/// Removes all downloads, and with `store` all trees. Copies that a user edited stay.
///
/// # Errors
///
/// Fails as [`prune`] does.
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

    /// Returns the digests that the lockfiles of this project and of the user name. Those of other projects are not
    /// known: a tree that only they name is fetched again when it went.
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

    /// Removes the trees that `goes` says, and what killed writers left. Of those of an older store the
    /// digest is of no use: nobody reads them.
    fn store(&mut self, goes: impl Fn(&Path, Option<&Digest>) -> Result<bool>) -> Result<()> {
        let store = self.store.clone();
        // Looking takes no lock.
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

    /// Removes the downloads that `goes` says.
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
        // What is remembered goes with them, without a word: it comes again by itself.
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

    /// Removes what a killed process left.
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
    /// Throw away what is damaged.
    pub fix: bool,
    /// Show what would be thrown away.
    pub dry_run: bool,
}

/// The outcome of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyOutcome {
    /// The number of trees and archives that were examined.
    pub checked: usize,
    /// Those that are not what they should be.
    pub damaged: Vec<Damaged>,
    /// Whether nothing was removed because it was only to be shown.
    pub dry_run: bool,
}

/// Something that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damaged {
    /// `store`, or the room.
    pub room: String,
    /// Where it is.
    pub path: String,
    /// What is wrong.
    pub reason: String,
    /// Whether it is what a user edited, which is never thrown away.
    pub kept: bool,
    /// Whether it was thrown away.
    pub removed: bool,
}

/// Checks each tree of the store against its digest, and each downloaded archive.
///
/// # Errors
///
/// Fails if something cannot be read or removed. Damage is no error: it is in the outcome.
pub fn verify(context: &Context, request: &VerifyRequest) -> Result<VerifyOutcome> {
    let (store, cache) = (Store::new(&context.settings)?, cache_dir(context)?);
    let mut outcome = VerifyOutcome { dry_run: request.dry_run, ..VerifyOutcome::default() };
    let remove = request.fix && !request.dry_run;
    // Nothing is taken away meanwhile: what is gone is not damaged.
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
        // Somebody may have put a whole one there in the meantime.
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
