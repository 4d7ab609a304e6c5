//! The skills of a set of sources, for the lifetime of a program.
//!
//! The skills that a [`Library`] found form a [`Snapshot`]. A snapshot never changes; a rescan replaces it with a new
//! one. So a reader sees all skills as they were at one time, however many threads read, and may keep using a snapshot
//! that it holds.

mod lookup;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

pub use lookup::{LookupError, NotFound, UnknownSkill};
pub use snapshot::Snapshot;

use super::diagnostic::Diagnostic;
use super::discover::{discover_named, discover_with};
use super::load;
use super::skill::Skill;
use super::sources::{Source, named_apart};
use super::tools::{ToolCache, ToolSet};
use super::trusted::trusted;
use crate::profile::{Freshness, LoadProfile, ScriptPlaces};
use crate::settings::Settings;
use crate::skill;

/// The skills of ordered sources, found and read under a profile.
///
/// Creating it does not search for anything; the first caller waits for the search. It can be shared between threads,
/// and all its methods take `&self`.
#[derive(Debug)]
pub(crate) struct Library {
    sources: Vec<Source>,
    profile: LoadProfile,
    /// The settings that name the trusted directories, if the skills of other projects are left out.
    trust: Option<Box<Settings>>,
    /// The latest result. It is only swapped, never changed.
    current: RwLock<Option<Arc<View>>>,
    /// Held during a search.
    searching: Mutex<()>,
    bodies: Mutex<BTreeMap<PathBuf, Instructions>>,
    tools: ToolCache,
}

/// A snapshot, and the time since which it is valid.
#[derive(Debug)]
struct View {
    snapshot: Arc<Snapshot>,
    since: Instant,
}

/// The instructions of a skill.
#[derive(Debug, Clone)]
pub(crate) struct Instructions {
    /// The skill, with the metadata that its file had when the instructions were read.
    pub skill: Arc<Skill>,
    /// The Markdown after the frontmatter, unchanged.
    pub body: Arc<str>,
}

impl Instructions {
    /// Reads the file of `skill` under `profile`. Metadata and instructions come from the same bytes, because the file
    /// may have changed since the skill was found.
    pub(crate) fn read(skill: &Arc<Skill>, profile: &LoadProfile) -> Result<Self, Arc<Diagnostic>> {
        let unusable = |reason| Arc::new(Diagnostic::Skill { file: skill.file.clone(), reason });
        let document = load::document(&skill.file).map_err(unusable)?;
        let directory = skill.dir.file_name().and_then(|name| name.to_str());
        let loaded = skill::load_with(&document, profile, directory).map_err(|e| unusable(e.into()))?;
        let body = loaded.body.into();
        let skill = if loaded.meta == skill.meta {
            Arc::clone(skill)
        } else {
            let (meta, deviations) = (loaded.meta, loaded.deviations);
            Arc::new(Skill { meta, deviations, ..Skill::clone(skill) })
        };
        Ok(Self { skill, body })
    }
}

impl Library {
    /// Returns the library of `sources`, in order. Nothing is read yet.
    ///
    /// Two sources with the same name are distinguished by a number: the second `skills` is `skills-2`.
    pub(crate) fn new(sources: Vec<Source>, profile: LoadProfile) -> Self {
        Self {
            sources: named_apart(sources),
            profile,
            trust: None,
            current: RwLock::default(),
            searching: Mutex::default(),
            bodies: Mutex::default(),
            tools: ToolCache::default(),
        }
    }

    /// Leaves out the skills of projects that the user does not trust, as `settings` say, at the time of each search.
    #[must_use]
    pub(crate) fn only_trusted(self, settings: Settings) -> Self {
        Self { trust: Some(Box::new(settings)), ..self }
    }

    /// Returns its sources in order, also those of projects that are not trusted.
    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns the profile, which says what is tolerated and when to search again.
    pub(crate) fn profile(&self) -> &LoadProfile {
        &self.profile
    }

    /// Returns all skills, as up to date as the profile requires. If nothing changed, the result is the same snapshot.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, LookupError> {
        let asked = Instant::now();
        if let Some(view) = self.view()
            && self.is_fresh(&view, asked)
        {
            return Ok(Arc::clone(&view.snapshot));
        }
        let _searching = lock(&self.searching);
        // Another thread may have searched in the meantime.
        let before = self.view();
        if let Some(view) = &before
            && self.is_fresh(view, asked)
        {
            return Ok(Arc::clone(&view.snapshot));
        }
        let since = Instant::now();
        let (sources, untrusted) = self.trusted_sources();
        let mut found = discover_with(&sources, &self.profile)?;
        found.diagnostics.splice(..0, untrusted.map(Arc::new));
        let same = before
            .filter(|view| view.snapshot.is_of(&sources, &found))
            .map(|view| Arc::clone(&view.snapshot));
        let snapshot =
            same.unwrap_or_else(|| Arc::new(Snapshot::new(sources, found, self.profile.duplicates)));
        let view = View { snapshot: Arc::clone(&snapshot), since };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(view));
        Ok(snapshot)
    }

    /// Returns the sources that are searched, and a problem if others are left out.
    fn trusted_sources(&self) -> (Vec<Source>, Option<Diagnostic>) {
        match &self.trust {
            Some(settings) => trusted(settings, &self.sources),
            None => (self.sources.clone(), None),
        }
    }

    /// Returns the skills that decide which one is called `name`, as up to date as the profile requires: all of them only
    /// if they were read already, or if it takes all to know.
    pub(crate) fn around(&self, name: &str) -> Result<Arc<Snapshot>, LookupError> {
        // A search of everything pays if its result is used again.
        if self.profile.freshness != Freshness::Stat || self.profile.keep_bodies {
            let snapshot = self.snapshot()?;
            if matches!(self.profile.freshness, Freshness::Ttl(_)) && snapshot.get(name).is_err() {
                // A skill that came since the last search is found by its name at once.
                self.invalidate();
                return self.snapshot();
            }
            return Ok(snapshot);
        }
        let (sources, untrusted) = self.trusted_sources();
        let mut found = discover_named(&sources, &self.profile, name)?;
        found.diagnostics.splice(..0, untrusted.map(Arc::new));
        Ok(Arc::new(Snapshot::new(sources, found, self.profile.duplicates)))
    }

    /// Discards everything that was read: the next caller waits for a new search. Snapshots that are still held stay as
    /// they are.
    pub(crate) fn invalidate(&self) {
        // A search in progress ends first, and its result is discarded, too.
        let _searching = lock(&self.searching);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = None;
        lock(&self.bodies).clear();
        self.tools.invalidate();
    }

    /// Returns the instructions of `skill`, which was found here. Its file is read, unless the profile caches what was
    /// read and the file is unchanged.
    pub(crate) fn instructions(&self, skill: &Arc<Skill>) -> Result<Instructions, Arc<Diagnostic>> {
        if self.profile.keep_bodies
            && let Some(kept) = lock(&self.bodies).get(&skill.real)
            && Arc::ptr_eq(&kept.skill, skill)
        {
            return Ok(kept.clone());
        }
        let read = Instructions::read(skill, &self.profile)?;
        if self.profile.keep_bodies {
            let kept = Instructions { skill: Arc::clone(skill), body: Arc::clone(&read.body) };
            lock(&self.bodies).insert(skill.real.clone(), kept);
        }
        Ok(read)
    }

    /// Returns the script tools of `skill`, whose scripts are in `places`. They are read again only if the file system
    /// says that something has changed (S1-FR-204.3).
    pub(crate) fn tools(&self, skill: &Skill, places: ScriptPlaces) -> Arc<ToolSet> {
        self.tools.tools(&skill.real, &skill.meta.name, places)
    }

    fn view(&self) -> Option<Arc<View>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports whether `view` is fresh enough for a request made at `asked`.
    fn is_fresh(&self, view: &View, asked: Instant) -> bool {
        match self.profile.freshness {
            Freshness::Session => true,
            Freshness::Ttl(time) => asked.saturating_duration_since(view.since) < time,
            // Only a view that was read after the request.
            Freshness::Stat => view.since > asked,
        }
    }
}

/// Locks `mutex`, even if it is poisoned: a thread that panics leaves no inconsistent data behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
