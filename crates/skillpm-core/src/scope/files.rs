//! The two files of a scope, its manifest and its lockfile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::problem;
use super::{Scope, nowhere};
use crate::advice::{Verb, message};
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs;
use crate::lockfile::{LockError, Locked, Lockfile};
use crate::manifest::{Manifest, ManifestError, Requirement};
use crate::name::SkillName;
use crate::resolve::graph;
use crate::scope_kind::ScopeKind;
use crate::text::line_column;

/// The largest manifest or lockfile that is read, in bytes.
pub(crate) const MAX_FILE: u64 = 16 << 20;

/// The two files of a scope.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The manifest; empty if it does not exist.
    pub manifest: Manifest,
    /// The manifest's text, if there is one.
    pub manifest_text: Option<String>,
    /// The lockfile; empty if it does not exist.
    pub lock: Lockfile,
    /// The lockfile's text, if there is one.
    pub lock_text: Option<String>,
    /// The skills on which the sides of a merge differ, if the lockfile was repaired after one. Their entries
    /// say what is installed, not what should be.
    pub conflicts: Option<BTreeSet<SkillName>>,
}

impl Files {
    /// Reads both files of `scope`.
    ///
    /// # Errors
    ///
    /// Fails for a file that cannot be read or is invalid, with the position in it.
    pub fn read(scope: &Scope) -> Result<Self> {
        let (manifest, manifest_text) = read_manifest(scope)?;
        let lock_text = read_lockfile(scope)?;
        let lock = parse_lock(scope, lock_text.as_deref())?;
        Ok(Self { manifest, manifest_text, lock, lock_text, conflicts: None })
    }

    /// Reads both files of `scope` again, and parses them only if their texts are not those of `before`.
    pub fn read_since(scope: &Scope, before: Self) -> Result<Self> {
        let is_same = |path: &Path, text: &Option<String>| {
            read_text(path).is_ok_and(|now| now.transpose().is_ok_and(|now| now == *text))
        };
        let same = before.conflicts.is_none()
            && is_same(&scope.manifest, &before.manifest_text)
            && is_same(&scope.lockfile, &before.lock_text);
        if same { Ok(before) } else { Self::read(scope) }
    }

    /// Returns the names in either file. One that is in both comes twice.
    pub fn names(&self) -> impl Iterator<Item = &SkillName> {
        self.manifest.skills().keys().chain(self.lock.skills.keys())
    }

    /// Returns the requested skills: those of the manifest, or without one all of the lockfile.
    pub(crate) fn requested(&self) -> impl Iterator<Item = &SkillName> {
        let locked = self.lock.skills.keys().filter(|_| self.manifest_text.is_none());
        self.manifest.asked().chain(locked)
    }

    /// Reports whether one of the files names the skill `name`.
    pub fn knows(&self, name: &SkillName) -> bool {
        self.manifest.skills().contains_key(name) || self.lock.skills.contains_key(name)
    }

    /// Returns the skills that stay: those that the manifest requests, and everything that they need
    /// according to the lockfile. Without a manifest, everything in the lockfile is requested.
    pub fn kept(&self) -> BTreeSet<SkillName> {
        self.staying(std::iter::empty(), &BTreeMap::new())
    }

    /// Works like [`Files::kept`], with a manifest that also requests `asked`, and with the lock entries
    /// replaced by `anew`; `None` there means no longer locked.
    pub fn staying<'a>(
        &'a self,
        asked: impl Iterator<Item = &'a SkillName>,
        anew: &BTreeMap<&SkillName, Option<&'a Locked>>,
    ) -> BTreeSet<SkillName> {
        let lock = &self.lock.skills;
        if self.manifest_text.is_none() {
            return lock.keys().cloned().collect();
        }
        graph::closure(self.manifest.asked().chain(asked), |name| match anew.get(name) {
            Some(locked) => *locked,
            None => lock.get(name),
        })
    }

    /// Reports whether `name` is locked although the manifest does not request it.
    pub fn is_only_needed(&self, name: &SkillName) -> bool {
        self.manifest_text.is_some() && !self.manifest.asks_for(name) && self.lock.skills.contains_key(name)
    }

    /// Returns the manifest entry of `name`, or the entry that would request what is locked. Returns `None`
    /// for a skill that is not [`kept`](Files::kept).
    pub fn entry(&self, name: &SkillName, kept: &BTreeSet<SkillName>) -> Option<Requirement> {
        let written = self.manifest.skills().get(name).cloned();
        let locked = || self.lock.skills.get(name).filter(|_| kept.contains(name)).map(Locked::requirement);
        let dependency = self.is_only_needed(name);
        written.or_else(|| Some(Requirement { dependency, ..locked()? }))
    }

    /// Reports whether the sides of a merge conflict differ for the skill `name`.
    pub fn is_conflict(&self, name: &SkillName) -> bool {
        self.conflicts.as_ref().is_some_and(|conflicts| conflicts.contains(name))
    }
}

/// The position of the first byte in a file that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotText {
    line: usize,
    column: usize,
}

impl NotText {
    const MESSAGE: &str = "it is not UTF-8 from here on";

    /// Returns the error for a manifest, or for a file of rules.
    pub(crate) fn of_manifest(self) -> ManifestError {
        let hint = "restore the file from version control, or save it as UTF-8";
        let (message, hint) = (Self::MESSAGE.to_owned(), Some(hint.to_owned()));
        ManifestError { line: self.line, column: self.column, message, hint: hint.map(Into::into) }
    }

    /// Returns the error for a lockfile.
    pub(crate) fn of_lockfile(self) -> LockError {
        LockError::Malformed { line: self.line, column: self.column, message: Self::MESSAGE.to_owned() }
    }
}

/// Reads the manifest or lockfile at `path`, if there is one. The bytes may not be UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<Option<std::result::Result<String, NotText>>> {
    let bytes = fs::read_capped(path, MAX_FILE)?;
    if bytes.is_none()
        && let Some(target) = fs::read_link(path)?
    {
        return Err(nowhere(path, &target));
    }
    Ok(bytes.map(|bytes| {
        String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let before = std::str::from_utf8(before).unwrap_or_default();
            let (line, column) = line_column(before, before.len());
            NotText { line, column }
        })
    }))
}

/// Returns the text of the lockfile of `scope`.
pub(super) fn read_lockfile(scope: &Scope) -> Result<Option<String>> {
    let text = read_text(&scope.lockfile)?.transpose();
    text.map_err(|odd| lock_error(scope, &odd.of_lockfile()))
}

/// Parses the lockfile of `scope` with this text; empty without one.
pub(super) fn parse_lock(scope: &Scope, text: Option<&str>) -> Result<Lockfile> {
    let parsed = text.map(Lockfile::parse).transpose();
    Ok(parsed.map_err(|error| lock_error(scope, &error))?.unwrap_or_default())
}

/// Reads the lockfile of `scope`, empty if it does not exist.
pub(crate) fn read_lock(scope: &Scope) -> Result<Lockfile> {
    parse_lock(scope, read_lockfile(scope)?.as_deref())
}

/// Reads the manifest of `scope`, empty if it does not exist, and its text.
pub(crate) fn read_manifest(scope: &Scope) -> Result<(Manifest, Option<String>)> {
    let (manifest, text) = read_manifest_at(&scope.manifest)?;
    let own = scope.user_manifest.as_deref();
    let place = || own.map_or_else(|| "your own manifest".to_owned(), |own| format!("`{}`", own.display()));
    let programs = || manifest.programs().misplaced(|| format!("move the table to {}", place()).into());
    let misplaced = programs().or_else(|| manifest.misplaced(|| format!("move it to {}", place()).into()));
    match misplaced {
        Some(error) if scope.kind == ScopeKind::Project && !is_file(&scope.manifest, own)? => {
            Err(manifest_error(&scope.manifest, error))
        }
        _ => Ok((manifest, text)),
    }
}

/// Reports whether `path` is the file `other`, perhaps under another name.
fn is_file(path: &Path, other: Option<&Path>) -> Result<bool> {
    let Some(other) = other else { return Ok(false) };
    Ok(path == other || fs::real_path(path)? == fs::real_path(other)?)
}

/// Works like [`read_manifest`], for the file at `path`.
pub(crate) fn read_manifest_at(path: &Path) -> Result<(Manifest, Option<String>)> {
    let text = read_text(path)?.transpose().map_err(|odd| manifest_error(path, odd.of_manifest()))?;
    let manifest = text.as_deref().map(Manifest::parse).transpose();
    Ok((manifest.map_err(|error| manifest_error(path, error))?.unwrap_or_default(), text))
}

/// Returns the error for a manifest at `path`.
pub(crate) fn manifest_error(path: &Path, error: ManifestError) -> Error {
    let place = FilePosition::new(path, error.line, error.column);
    let new = Error::at(ErrorKind::Config, place, error.message).coded(problem::MANIFEST_UNREADABLE.id);
    match error.hint {
        Some(hint) => new.hint(hint),
        None => new,
    }
}

fn lock_error(scope: &Scope, error: &LockError) -> Error {
    let install = || Verb::Install.within(scope.kind);
    let new = match error.position() {
        Some((line, column)) => {
            let place = FilePosition::new(&scope.lockfile, line, column);
            Error::at(ErrorKind::Config, place, error.reason())
        }
        None => Error::config(format!("{}: {error}", scope.lockfile.display())),
    };
    new.hint(match error {
        LockError::MergeConflict { .. } | LockError::Twice { .. } => message!(
            install(),
            " repairs it if the sides can be told apart: it keeps the entries that both agree on, and resolves the others again"
        ),
        LockError::Malformed { .. } => {
            message!("restore the file from version control, or delete it and run ", install())
        }
        LockError::Version(_) => message!("update skillpm, or delete the file and run ", install()),
        LockError::Entry { .. } => {
            message!("restore the file from version control, or delete the entry and run ", install())
        }
    })
    .coded(match error {
        LockError::MergeConflict { .. } | LockError::Twice { .. } => problem::LOCK_CONFLICT.id,
        LockError::Version(_) => problem::LOCK_NEWER.id,
        LockError::Malformed { .. } | LockError::Entry { .. } => problem::LOCK_UNREADABLE.id,
    })
}
