//! All skills of the registry, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use crate::digest::Digest;
use crate::error::{ErrorKind, Result};
use crate::name::SkillName;
use crate::registry::{History, LogChange, LogEntry, Timestamp};
use crate::storage::{Loaded, Storage};
use crate::version::Version;

/// How long a version that the log announced may take to appear. After that its publisher has surely failed.
const PATIENCE: Duration = Duration::from_mins(10);

/// How many entries of the log are read again after everything was loaded.
const REREAD: u64 = 64;

/// All skills of a registry. Changes by this server are included at once, those by others after the next
/// [`Catalog::refresh`].
#[derive(Debug)]
pub(crate) struct Catalog {
    skills: RwLock<Skills>,
    /// Grows with each change: values derived from an older generation are stale.
    generation: AtomicU64,
    /// The number of the last entry of the log up to which everything that was announced is known.
    complete: AtomicU64,
    /// The position in the log. Only one task reads the log at a time.
    log: tokio::sync::Mutex<Position>,
}

#[derive(Debug, Default)]
struct Skills {
    by_name: BTreeMap<SkillName, Arc<History>>,
    /// The skills whose versions have an archive.
    by_archive: BTreeMap<Digest, BTreeSet<SkillName>>,
    versions: usize,
}

#[derive(Debug)]
struct Position {
    /// The number of the last entry that was read.
    last: u64,
    awaited: Vec<Announced>,
}

/// A change that was announced and has not happened yet.
#[derive(Debug)]
struct Announced {
    name: SkillName,
    what: Awaited,
    /// The entry of the log.
    number: u64,
    /// Until when it is waited for.
    until: Instant,
}

#[derive(Debug)]
enum Awaited {
    Version(Version),
    Event(usize),
}

impl Awaited {
    fn is_in(&self, history: &History) -> bool {
        match self {
            Self::Version(version) => history.get(version).is_some(),
            Self::Event(number) => history.event_count() >= *number,
        }
    }
}

impl Catalog {
    /// Returns the catalog of what was loaded.
    pub(crate) fn new(loaded: Loaded) -> Self {
        let mut skills = Skills::default();
        for history in loaded.histories {
            skills.set(history);
        }
        // Earlier entries may announce versions that did not exist yet when everything was loaded.
        let last = loaded.position.saturating_sub(REREAD);
        let log = tokio::sync::Mutex::new(Position { last, awaited: Vec::new() });
        Self {
            skills: RwLock::new(skills),
            generation: AtomicU64::new(1),
            complete: AtomicU64::new(last),
            log,
        }
    }

    /// Reads what others changed since the last time. Returns the number of skills that changed. What cannot be used is logged
    /// and passed over: it must not hide what comes after it. Fails if the store does not answer. What was read before counts.
    pub(crate) async fn refresh(&self, storage: &Storage) -> Result<usize> {
        let mut position = self.log.lock().await;
        while let Some(entry) = next_entry(storage, position.last).await? {
            position.last += 1;
            let (number, until) = (position.last, Instant::now() + PATIENCE);
            for change in entry.changes {
                let (name, what) = match change {
                    LogChange::Publish { name, version, .. } => (name, Awaited::Version(version)),
                    LogChange::Event { name, number, .. } => (name, Awaited::Event(number)),
                    LogChange::Unknown => continue,
                };
                position.awaited.push(Announced { name, what, number, until });
            }
        }
        storage.seen(position.last);
        position.awaited.retain(|announced| !self.has(announced));
        let names: BTreeSet<_> = position.awaited.iter().map(|announced| announced.name.clone()).collect();
        let mut changed = 0;
        for name in names {
            match storage.history(&name).await {
                Ok(history) => changed += usize::from(self.set(history)),
                Err(error) => tracing::error!(%name, code = error.code(), "{}", error.with_causes()),
            }
        }
        let now = Instant::now();
        position.awaited.retain(|announced| announced.until > now && !self.has(announced));
        let open = position.awaited.iter().map(|announced| announced.number).min();
        self.complete.store(open.map_or(position.last, |number| number - 1), Ordering::Release);
        Ok(changed)
    }

    fn has(&self, announced: &Announced) -> bool {
        self.skill(&announced.name).is_some_and(|known| announced.what.is_in(&known))
    }

    /// Returns the number of the last entry of the log up to which everything that was announced is known.
    pub(crate) fn complete_to(&self) -> u64 {
        self.complete.load(Ordering::Acquire)
    }

    /// Takes in a skill as it is now. Returns whether that is news: what is known already may be newer.
    pub(crate) fn set(&self, history: History) -> bool {
        let mut skills = self.write();
        // Two changes at the same time can each lack what the other did. Then the log brings both, a moment later.
        let is_newer = |known: &Arc<History>| {
            let (known, new) = (
                (known.records().len(), known.event_count()),
                (history.records().len(), history.event_count()),
            );
            new != known && new.0 >= known.0 && new.1 >= known.1
        };
        if !skills.by_name.get(history.name()).is_none_or(is_newer) {
            return false;
        }
        skills.set(history);
        drop(skills);
        self.generation.fetch_add(1, Ordering::Release);
        true
    }

    /// Returns the skill `name`, if the registry has it.
    pub(crate) fn skill(&self, name: &SkillName) -> Option<Arc<History>> {
        self.read().by_name.get(name).map(Arc::clone)
    }

    /// Returns the skill `name`, which has no versions if the registry does not have it.
    pub(crate) fn history(&self, name: &SkillName) -> History {
        self.skill(name).map_or_else(|| History::empty(name.clone()), |known| known.as_ref().clone())
    }

    /// Returns all skills, sorted by name.
    pub(crate) fn all(&self) -> Vec<Arc<History>> {
        self.read().by_name.values().map(Arc::clone).collect()
    }

    /// Returns the skills whose versions have the archive with this digest.
    pub(crate) fn with_archive(&self, digest: &Digest) -> Vec<Arc<History>> {
        let skills = self.read();
        let names = skills.by_archive.get(digest).into_iter().flatten();
        names.filter_map(|name| skills.by_name.get(name)).map(Arc::clone).collect()
    }

    /// Returns the first skill whose name `is_it`.
    pub(crate) fn with_name(&self, is_it: impl Fn(&SkillName) -> bool) -> Option<Arc<History>> {
        self.read().by_name.iter().find(|(name, _)| is_it(name)).map(|(_, skill)| Arc::clone(skill))
    }

    /// Returns the generation: it differs whenever something changed.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns the number of skills and of their versions.
    pub(crate) fn size(&self) -> (usize, usize) {
        let skills = self.read();
        (skills.by_name.len(), skills.versions)
    }

    fn read(&self) -> RwLockReadGuard<'_, Skills> {
        self.skills.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Skills> {
        self.skills.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Skills {
    fn set(&mut self, history: History) {
        let name = history.name().clone();
        if let Some(known) = self.by_name.get(&name) {
            self.versions -= known.records().len();
        }
        self.versions += history.records().len();
        for record in history.records() {
            self.by_archive.entry(record.artifact.digest).or_default().insert(name.clone());
        }
        self.by_name.insert(name, Arc::new(history));
    }
}

/// Reads the entry of the log after entry `last`. One that cannot be used has no changes.
async fn next_entry(storage: &Storage, last: u64) -> Result<Option<LogEntry>> {
    match storage.log_entry_after(last).await {
        Err(error) if error.kind() == ErrorKind::Integrity => {
            tracing::error!(
                number = last.saturating_add(1),
                code = error.code(),
                "an entry of the log is skipped: {}",
                error.with_causes()
            );
            Ok(Some(LogEntry { time: Timestamp::new(0), by: None, changes: Vec::new() }))
        }
        read => read,
    }
}

/// A value that is computed from the catalog, and again when that has changed.
#[derive(Debug)]
pub(crate) struct Derived<T>(Mutex<Option<(u64, Arc<T>)>>);

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Derived<T> {
    /// Returns the value for the catalog as it is now.
    pub(crate) fn get(&self, catalog: &Catalog, compute: impl FnOnce(&[Arc<History>]) -> T) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = catalog.generation();
        if let Some((of, value)) = &*kept
            && *of == generation
        {
            return Arc::clone(value);
        }
        let value = Arc::new(compute(&catalog.all()));
        *kept = Some((generation, Arc::clone(&value)));
        value
    }
}
