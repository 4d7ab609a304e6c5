//! Where a search looked.

use std::path::PathBuf;

/// The places that were searched for skills, as they are shown: if one of them changes, other skills may be
/// found. Only a watch records them.
#[derive(Debug, Default)]
pub(crate) struct Searched(Option<Vec<PathBuf>>);

impl Searched {
    /// Returns an empty list that is recorded.
    pub(crate) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    /// Notes that `path` was searched.
    pub(crate) fn at(&mut self, path: impl FnOnce() -> PathBuf) {
        if let Some(paths) = &mut self.0 {
            paths.push(path());
        }
    }

    /// Reports whether what is noted is kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Returns what was noted.
    pub(crate) fn into_paths(self) -> Vec<PathBuf> {
        self.0.unwrap_or_default()
    }
}
