//! The places of a scope, whose directories are each checked once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::step::Location;
use crate::error::Result;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::settings::Settings;

/// The places of the skills in a scope. Checking that a directory does not lead out of the scope takes many disk
/// accesses, and a thousand skills are in two directories.
#[derive(Debug)]
pub(crate) struct CheckedDirs<'a> {
    scope: &'a Scope,
    settings: &'a Settings,
    dirs: RefCell<BTreeMap<Location, PathBuf>>,
}

impl<'a> CheckedDirs<'a> {
    /// Returns the places of `scope`, none of them checked yet.
    pub(crate) fn new(scope: &'a Scope, settings: &'a Settings) -> Self {
        Self { scope, settings, dirs: RefCell::default() }
    }

    /// Returns the path of the skill `name` at `place`.
    pub(crate) fn of(&self, place: &Location, name: &SkillName) -> Result<PathBuf> {
        self.with(place, |dir| dir.join(name.as_str()))
    }

    /// Returns the directory of `place`.
    pub(crate) fn dir(&self, place: &Location) -> Result<PathBuf> {
        self.with(place, Path::to_owned)
    }

    fn with(&self, place: &Location, tell: impl FnOnce(&Path) -> PathBuf) -> Result<PathBuf> {
        if let Some(dir) = self.dirs.borrow().get(place) {
            return Ok(tell(dir));
        }
        let dir = self.scope.dir(self.settings, place)?;
        self.scope.check_inside(&dir)?;
        let told = tell(&dir);
        self.dirs.borrow_mut().insert(place.clone(), dir);
        Ok(told)
    }
}
