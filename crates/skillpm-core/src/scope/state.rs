//! The state of a scope before a change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

mod agents;
mod scope;
mod skill;
mod survey;

pub(crate) use self::agents::{AgentState, OpenedDir};
pub(crate) use self::scope::{ClosedDir, Depth, ScopeState};
pub use self::skill::SkillState;
pub(crate) use self::skill::{PlaceState, SkillInScope};
pub(crate) use self::survey::{OnDisk, Survey};
use super::plan::requirement_of;
use super::trees::{Trees, is_tree};
use super::{Scope, nowhere};
use crate::advice::{Verb, message};
use crate::resolve::graph;
use crate::scope::health::problem;
use crate::scope_kind::ScopeKind;

use crate::digest::Digest;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs::{self, PathError};
use crate::lockfile::{LockError, Locked, Lockfile, Mended};
use crate::manifest::{Manifest, ManifestError, Requirement};
use crate::name::SkillName;
use crate::text::line_column;

/// The largest manifest or lockfile that is read, in bytes.
pub const MAX_FILE: u64 = 16 << 20;

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
    pub(crate) fn read_since(scope: &Scope, before: Self) -> Result<Self> {
        let is_same = |path: &Path, text: &Option<String>| {
            read_text(path).is_ok_and(|now| now.transpose().is_ok_and(|now| now == *text))
        };
        let same = before.conflicts.is_none()
            && is_same(&scope.manifest, &before.manifest_text)
            && is_same(&scope.lockfile, &before.lock_text);
        if same { Ok(before) } else { Self::read(scope) }
    }

    /// Reads both files of `scope`. Repairs what a merge left in the lockfile, with or without conflict
    /// markers, if the manifest says what is requested.
    pub(crate) fn read_mended(scope: &Scope) -> Result<Self> {
        let error = match Self::read(scope) {
            Ok(files) => return Ok(files),
            Err(error) => error,
        };
        let (manifest, manifest_text) = read_manifest(scope)?;
        let lock_text = read_lockfile(scope)?;
        let is_merged = |text: &String| Lockfile::parse(text).is_err_and(|error| error.is_of_merge());
        let Some(text) = lock_text.filter(is_merged) else { return Err(error) };
        let mended = Mended::parse(&text).ok();
        // Without a manifest, it is unknown what is requested.
        let is_whole = |mended: &Mended| mended.others.is_empty() && !mended.is_torn;
        let Some(Mended { mut lock, others, .. }) =
            mended.filter(|mended| manifest_text.is_some() || is_whole(mended))
        else {
            return Err(torn(scope, &text).unwrap_or(error));
        };
        let conflicts = Some(others.keys().cloned().collect());
        for (name, other) in others {
            // The installed tree comes from one of the sides, and may be replaced like any installed tree.
            if is_tree(&scope.skill_dir(&name), &other.digest) {
                lock.skills.insert(name, other);
            }
        }
        Ok(Self { manifest, manifest_text, lock, lock_text: Some(text), conflicts })
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
    pub(crate) fn staying<'a>(
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
    pub(crate) fn is_only_needed(&self, name: &SkillName) -> bool {
        self.manifest_text.is_some() && !self.manifest.asks_for(name) && self.lock.skills.contains_key(name)
    }

    /// Returns the manifest entry of `name`, or the entry that would request what is locked. Returns `None`
    /// for a skill that is not [`kept`](Files::kept).
    pub fn entry(&self, name: &SkillName, kept: &BTreeSet<SkillName>) -> Option<Requirement> {
        let written = self.manifest.skills().get(name).cloned();
        let locked = || self.lock.skills.get(name).filter(|_| kept.contains(name)).map(requirement_of);
        let dependency = self.is_only_needed(name);
        written.or_else(|| Some(Requirement { dependency, ..locked()? }))
    }

    /// Reports whether the sides of a merge conflict differ for the skill `name`.
    pub(crate) fn is_conflict(&self, name: &SkillName) -> bool {
        self.conflicts.as_ref().is_some_and(|conflicts| conflicts.contains(name))
    }
}

/// The position of the first byte in a file that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotText {
    line: usize,
    column: usize,
}

impl NotText {
    const MESSAGE: &str = "it is not UTF-8 from here on";

    /// Returns the error for a manifest, or for a file of rules.
    pub fn of_manifest(self) -> ManifestError {
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
///
/// # Errors
///
/// Fails if the file cannot be read, and for a link to nothing: its target is missing.
pub fn read_text(path: &Path) -> Result<Option<std::result::Result<String, NotText>>> {
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
fn read_lockfile(scope: &Scope) -> Result<Option<String>> {
    let text = read_text(&scope.lockfile)?.transpose();
    text.map_err(|odd| lock_error(scope, &odd.of_lockfile()))
}

/// Parses the lockfile of `scope` with this text; empty without one.
fn parse_lock(scope: &Scope, text: Option<&str>) -> Result<Lockfile> {
    let parsed = text.map(Lockfile::parse).transpose();
    Ok(parsed.map_err(|error| lock_error(scope, &error))?.unwrap_or_default())
}

/// Reads the lockfile of `scope`, empty if it does not exist.
///
/// # Errors
///
/// Fails for a file that cannot be read or is invalid, with the position in it.
pub(crate) fn read_lock(scope: &Scope) -> Result<Lockfile> {
    parse_lock(scope, read_lockfile(scope)?.as_deref())
}

/// Reads the manifest of `scope`, empty if there is none, and its text.
///
/// # Errors
///
/// Fails for a file that cannot be read or is invalid, with the position in it, and for a project's manifest that names
/// programs: it may be a stranger's.
pub(crate) fn read_manifest(scope: &Scope) -> Result<(Manifest, Option<String>)> {
    let (manifest, text) = read_manifest_at(&scope.manifest)?;
    let own = scope.user_manifest.as_deref();
    let place = || own.map_or_else(|| "your own manifest".to_owned(), |own| format!("`{}`", own.display()));
    let misplaced = manifest.programs().misplaced(|| format!("move the table to {}", place()).into());
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

/// Returns the error for a lockfile in conflict that cannot be repaired, or `None` if it has no conflict
/// markers.
fn torn(scope: &Scope, text: &str) -> Option<Error> {
    let Err(LockError::MergeConflict { line }) = Lockfile::parse(text) else { return None };
    let place = FilePosition::new(&scope.lockfile, line, 1);
    let message = "there are merge-conflict markers, and the sides cannot be told apart";
    Some(Error::at(ErrorKind::Config, place, message).coded(problem::LOCK_CONFLICT.id).hint(message!(
        "choose one side, for example with `git checkout --ours skillpm.lock`, then run ",
        Verb::Install.within(scope.kind),
        ": it adds what the manifest asks for"
    )))
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

/// Returns `dir` with links resolved for as much of it as exists.
///
/// # Errors
///
/// Fails if it cannot be examined.
pub(crate) fn real_dir(dir: &Path) -> std::result::Result<PathBuf, PathError> {
    for there in dir.ancestors() {
        if let (Some(real), Ok(rest)) = (fs::real_path(there)?, dir.strip_prefix(there)) {
            return Ok(real.join(rest));
        }
    }
    Ok(dir.to_owned())
}

/// The content of the directory of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inside {
    /// The digest of the skill; `None` if it cannot be read as one.
    pub digest: Option<Digest>,
    /// Whether there is a git repository in it, which the digest does not cover: its history, and what is on
    /// other branches, may be nowhere else.
    pub repository: bool,
}

/// The message about a directory that is in the way and contains a repository.
pub(crate) const HAS_REPOSITORY: &str = "holds a git repository, which skillpm could not keep for you";

/// Returns why the skill in directory `path` has no digest, or `None` if it has one.
pub(crate) fn why_no_skill(path: &Path) -> Option<Error> {
    Trees::default().read(path).err().map(Error::from)
}

/// Returns the message that the directory `path` is in the way and cannot be kept as a skill, with the
/// reason.
pub(crate) fn not_kept(path: &Path) -> String {
    let why = why_no_skill(path).map(|error| format!(": {}", error.with_causes())).unwrap_or_default();
    format!("`{}` contains something that skillpm could not keep for you{why}", path.display())
}
