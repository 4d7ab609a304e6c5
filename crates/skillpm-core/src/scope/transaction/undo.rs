//! Planning how to take back a transaction: each place becomes what it was before, last step first. Nothing is changed.
//!
//! Later changes are in the way, unless `--force` allows their removal, and a place that is as it was before needs
//! nothing.

mod planner;

use std::collections::BTreeMap;
use std::path::PathBuf;

use self::planner::Planner;
use super::record::Record;
use crate::digest::Digest;
use crate::error::Error;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::plan::ChangedFiles;
use crate::scope::step::{Location, Step};
use crate::settings::Settings;
use crate::tree::FileSet;

/// The changes that take a transaction back.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    /// Changes of trees and links, in this order.
    pub steps: Vec<Step>,
    /// Trees that were edited since and are removed with `--force`: saved before any change.
    pub keep: Vec<(Location, SkillName)>,
    /// Files that were edited since and are removed with `--force`: saved too.
    pub keep_files: Vec<PathBuf>,
    /// The change of the manifest.
    pub(super) manifest: Option<Text>,
    /// The change of the lockfile.
    pub(super) lockfile: Option<Text>,
    /// The merge records to restore or remove.
    pub(super) merges: BTreeMap<SkillName, Text>,
    pub(super) slots: Vec<usize>,
    pub(super) links: BTreeMap<usize, Digest>,
    /// Trees that are no longer in the record and come from the store.
    pub(super) refills: Vec<(usize, SkillName, FileSet, Digest)>,
}

/// A tree that is restored.
#[derive(Debug)]
pub(crate) struct Coming<'a> {
    /// The skill.
    pub name: &'a SkillName,
    /// The digest.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Bytes<'a>,
}

/// Where the bytes of a restored tree are.
#[derive(Debug)]
pub(crate) enum Bytes<'a> {
    /// In this directory of the record.
    Beside(PathBuf),
    /// In the store, because they are no longer in the record.
    Stored(&'a FileSet),
}

/// The new text of a file, and its current one; `None` means no file.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) new: Option<Vec<u8>>,
    pub(super) old: Option<Vec<u8>>,
}

impl Undo {
    /// Plans how to take back the transaction of `record` in `scope`. With `force`, later changes may be
    /// removed if they can be saved.
    pub(crate) fn plan(
        settings: &Settings,
        scope: &Scope,
        record: &Record,
        force: bool,
    ) -> Result<Self, Stop> {
        let mut planner = Planner::new(settings, scope, record, force)?;
        for (at, step) in record.journal.steps.iter().enumerate().rev() {
            planner.take_back(record.journal.slot(at), step)?;
        }
        planner.files()?;
        planner.merges()?;
        let Planner { undo, changed, .. } = planner;
        if changed.is_empty() { Ok(undo) } else { Err(Stop::Changed(changed)) }
    }

    /// Returns which of the two files change.
    pub(crate) fn files(&self) -> ChangedFiles {
        ChangedFiles { manifest: self.manifest.is_some(), lockfile: self.lockfile.is_some() }
    }

    /// Returns which of the two files are removed, because they did not exist before.
    pub(crate) fn files_gone(&self) -> ChangedFiles {
        let [manifest, lockfile] =
            [&self.manifest, &self.lockfile].map(|text| text.as_ref().is_some_and(|text| text.new.is_none()));
        ChangedFiles { manifest, lockfile }
    }

    /// Reports whether everything is already as it was before.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.manifest.is_none() && self.lockfile.is_none()
    }

    /// Returns the trees that come back from `record` to the places of a scope's own skills; each skill has
    /// one.
    pub(crate) fn coming<'a>(&'a self, record: &'a Record) -> impl Iterator<Item = Coming<'a>> {
        let stored: BTreeMap<_, _> = self.refills.iter().map(|(slot, _, set, _)| (slot, set)).collect();
        self.steps.iter().zip(&self.slots).filter_map(move |(step, slot)| match step {
            Step::Put { place: Location::Canonical | Location::Disabled, name, digest, .. } => {
                let beside = || Bytes::Beside(record.tree(*slot));
                let bytes = stored.get(slot).map_or_else(beside, |set| Bytes::Stored(set));
                Some(Coming { name, digest: *digest, bytes })
            }
            _ => None,
        })
    }

    /// Returns the new texts of manifest and lockfile, if they change and the file is to exist.
    pub(crate) fn texts(&self) -> [Option<&[u8]>; 2] {
        [&self.manifest, &self.lockfile].map(|text| text.as_ref().and_then(|text| text.new.as_deref()))
    }
}

/// The reason why a transaction is not taken back.
#[derive(Debug)]
pub(crate) enum Stop {
    /// These places were changed since.
    Changed(Vec<Changed>),
    /// Something else.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A later change that would be lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    /// The path.
    pub path: PathBuf,
    /// The kind of change.
    pub kind: ChangedKind,
}

/// The kind of a later change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangedKind {
    /// A copy or file has other bytes.
    Edited,
    /// Something is where nothing or something else was.
    Came,
    /// A link leads somewhere else.
    Link,
    /// Something that cannot be saved is there; `--force` does not help.
    NotASkill,
    /// A git repository is there, which cannot be saved either.
    Repository,
}
