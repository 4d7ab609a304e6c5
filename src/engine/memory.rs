//! What was read before, and whether it is still so.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::Skill;
use super::scan::Found;
use super::sources::{Entry, Source};
use crate::fs::{FileStat, Moment};

/// What was read of the skills of some sources, by their real directories.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// When the reading began.
    since: Option<Moment>,
    skills: HashMap<PathBuf, Known>,
}

/// What is remembered of one directory.
#[derive(Debug)]
pub(super) struct Known {
    /// What the file was when it was opened.
    pub(super) stat: FileStat,
    found: Found,
}

impl Memory {
    /// A memory of what is read from now on.
    pub(super) fn new() -> Self {
        Self { since: Some(Moment::now()), skills: HashMap::new() }
    }

    pub(super) fn of(&self, real: &Path) -> Option<&Known> {
        if self.skills.is_empty() { None } else { self.skills.get(real) }
    }

    /// Remembers what was found in `real`, unless its file is so young that it may change once more
    /// without a trace.
    pub(super) fn put(&mut self, real: PathBuf, stat: FileStat, found: Found) {
        if self.since.is_some_and(|since| stat.is_settled(since)) {
            self.skills.insert(real, Known { stat, found });
        }
    }
}

impl Known {
    /// What was found, if it was found as `entry` of `source`; else `None`.
    pub(super) fn found_in(&self, source: &Source, entry: &Entry) -> Option<Found> {
        let is_same = |skill: &Arc<Skill>| skill.dir == entry.dir && skill.source == source.name;
        match &self.found {
            Ok(Some(skill)) if is_same(skill) => Some(Ok(Some(Arc::clone(skill)))),
            _ => None,
        }
    }
}
