//! Resolution of the paths of a request to skills: files, skills' directories, whole repositories, and
//! patterns for them.

mod changes;
mod inside;
mod installed;
mod location;
mod pattern;
mod search;
mod searched;
mod target;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) use self::changes::ChangedFiles;
pub use self::changes::Changes;
pub(crate) use self::inside::Inside;
pub(crate) use self::installed::Installed;
pub(crate) use self::location::{Content, FileLocation};
pub(crate) use self::searched::Searched;
pub(crate) use self::target::NO_FILE;
pub use self::target::Target;
use crate::error::Result;
use crate::fs;

/// Finds skills, each once.
pub(crate) struct Finder<'a> {
    cwd: &'a Path,
    searched: &'a mut Searched,
    seen: BTreeSet<PathBuf>,
    ignores_unknown: bool,
}

impl<'a> Finder<'a> {
    /// Returns a finder that resolves paths from `cwd`, and records in `searched` where it looked.
    pub(crate) fn new(cwd: &'a Path, searched: &'a mut Searched) -> Self {
        Self { cwd, searched, seen: BTreeSet::new(), ignores_unknown: false }
    }

    /// Returns the same finder; if `yes`, a file outside of every skill finds nothing instead of being an error.
    pub(crate) fn ignoring_unknown(self, yes: bool) -> Self {
        Self { ignores_unknown: yes, ..self }
    }

    /// Returns the skills that `typed` names and that were not named before, sorted by the bytes of their
    /// paths. An existing path is not a pattern.
    pub(crate) fn find(&mut self, typed: &Path) -> Result<Vec<FileLocation>> {
        let at = self.cwd.join(typed);
        let mut found = Vec::new();
        match pattern::read(typed) {
            Some(pattern) if fs::kind(&at)?.is_none() => {
                for typed in pattern.matches(self.cwd, self.searched)? {
                    found.extend(search::find(&typed, &self.cwd.join(&typed), self.searched, false)?);
                }
            }
            _ => found = search::find(typed, &at, self.searched, self.ignores_unknown)?,
        }
        found.retain(|place| self.seen.insert(place.file()));
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
