//! A cache for the tools of skills (S1-FR-204.3).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{SCRIPTS, ToolSet, tools};
use crate::fs::{self, FileStat, Moment};
use crate::profile::ScriptPlaces;

/// Caches the tools of skills as long as the file system reports no change to their scripts. Files are not read to find
/// out. It can be shared between threads.
#[derive(Debug, Default)]
pub(crate) struct ToolCache {
    kept: Mutex<BTreeMap<PathBuf, Arc<CachedTools>>>,
}

/// The tools of a skill, and the stat data of its files from before they were read.
#[derive(Debug)]
struct CachedTools {
    skill: String,
    places: ScriptPlaces,
    stats: Vec<(String, FileStat)>,
    set: Arc<ToolSet>,
}

impl ToolCache {
    /// Returns the tools of the skill called `skill` in `dir`, as [`tools`] finds them.
    pub(crate) fn tools(&self, dir: &Path, skill: &str, places: ScriptPlaces) -> Arc<ToolSet> {
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
        // If there is no stat data, the scripts are read each time.
        let Ok(stats) = fs::stats(root) else {
            self.kept().remove(dir);
            return Arc::new(tools(dir, skill, places));
        };
        let set = Arc::new(tools(dir, skill, places));
        // A file changed just before it was read may change again without a visible difference.
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

    /// Removes all entries.
    pub(crate) fn invalidate(&self) {
        self.kept().clear();
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<CachedTools>>> {
        // A thread that panics leaves the map consistent.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
