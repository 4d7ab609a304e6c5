//! Tools of skills that were examined before (S1-FR-204.3).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{SCRIPTS, ToolSet, tools};
use crate::fs::{self, FileStat, Moment};
use crate::policy::ScriptPlaces;

/// Keeps the tools of skills as long as nothing of their scripts has changed, by what the file system says
/// without reading them. Any number of threads may ask.
#[derive(Debug, Default)]
pub struct ToolCache {
    kept: Mutex<BTreeMap<PathBuf, Arc<CachedTools>>>,
}

/// What was found in a skill's directory, and what the file system said of it before.
#[derive(Debug)]
struct CachedTools {
    skill: String,
    places: ScriptPlaces,
    stats: Vec<(String, FileStat)>,
    set: Arc<ToolSet>,
}

impl ToolCache {
    /// Returns the tools of the skill `skill` in `dir`, as [`tools`] finds them.
    pub fn tools(&self, dir: &Path, skill: &str, places: ScriptPlaces) -> Arc<ToolSet> {
        let root = if places == ScriptPlaces::Root { dir.to_owned() } else { dir.join(SCRIPTS) };
        self.looked_at(dir, skill, places, &root, Moment::now())
    }

    fn looked_at(
        &self,
        dir: &Path,
        skill: &str,
        places: ScriptPlaces,
        root: &Path,
        now: Moment,
    ) -> Arc<ToolSet> {
        // The lock is not held while files are examined or read.
        let kept = self.kept().get(dir).cloned();
        if let Some(kept) = kept
            && (kept.skill.as_str(), kept.places) == (skill, places)
            && fs::is_unchanged(root, &kept.stats)
        {
            return Arc::clone(&kept.set);
        }
        // If nothing can be said of it, it is read each time.
        let Ok(stats) = fs::stats(root) else {
            self.kept().remove(dir);
            return Arc::new(tools(dir, skill, places));
        };
        let set = Arc::new(tools(dir, skill, places));
        // What was changed just before it was read may be changed again without a trace.
        if stats.iter().all(|(_, stat)| stat.is_settled(now)) {
            let kept = CachedTools { skill: skill.to_owned(), places, stats, set: Arc::clone(&set) };
            self.kept().insert(dir.to_owned(), Arc::new(kept));
        }
        set
    }

    /// Works like [`ToolCache::tools`], `seconds` later.
    #[cfg(test)]
    pub(super) fn tools_later(&self, dir: &Path, skill: &str, seconds: i64) -> Arc<ToolSet> {
        let now = Moment::now();
        let later = Moment { seconds: now.seconds + seconds, ..now };
        self.looked_at(dir, skill, ScriptPlaces::Top, &dir.join(SCRIPTS), later)
    }

    /// Forgets everything.
    pub fn invalidate(&self) {
        self.kept().clear();
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<CachedTools>>> {
        // A thread that panicked has left the map whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
