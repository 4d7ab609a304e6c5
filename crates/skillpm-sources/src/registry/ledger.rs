//! The state of the touched skills after a change, before anything is written.

use std::collections::BTreeMap;

use super::{Event, History, MAX_VERSIONS, Objects, Package, Record, Timestamp, files};
use crate::advice::{Verb, message};
use crate::codes;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::text::closest;
use crate::version::Version;

/// Whether a package is new to a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staged {
    /// It is, and will be published as this.
    New(Record),
    /// The registry already has the same files as this version.
    Already(Record),
}

/// The skills that a change touches, as they will be. Nothing is written.
#[derive(Debug)]
pub struct Ledger<'a> {
    objects: &'a dyn Objects,
    touched: BTreeMap<SkillName, History>,
}

impl<'a> Ledger<'a> {
    /// Returns a ledger of the registry with these files without a change.
    pub fn new(objects: &'a dyn Objects) -> Self {
        Self { objects, touched: BTreeMap::new() }
    }

    /// Takes a history for what the registry has of that skill.
    pub(super) fn assume(&mut self, history: History) {
        self.touched.insert(history.name().clone(), history);
    }

    /// Returns the skills that are touched.
    pub(super) fn touched(&self) -> &BTreeMap<SkillName, History> {
        &self.touched
    }

    /// Returns the history of the skill `name`, which counts as touched from now on.
    ///
    /// # Errors
    ///
    /// Fails for a record or event that cannot be read or is damaged.
    pub fn history(&mut self, name: &SkillName) -> Result<&mut History> {
        if !self.touched.contains_key(name) {
            self.touched.insert(name.clone(), self.objects.history(name)?);
        }
        self.touched.get_mut(name).ok_or_else(|| Error::io("a history was lost"))
    }

    /// Publishes `package` at the time `published`.
    ///
    /// # Errors
    ///
    /// Fails if the registry has the version with other files, or too many versions.
    pub fn publish(&mut self, package: &Package, published: Timestamp) -> Result<Staged> {
        stage(self.history(&package.facts.name)?, package, published)
    }

    /// Adds a record as another registry has it. Returns whether it is new. Fails if there is another record of the version, or
    /// if there are too many versions.
    pub(super) fn adopt(&mut self, record: &Record) -> Result<bool> {
        let history = self.history(&record.name)?;
        match history.get(&record.version) {
            Some(there) if there == record => return Ok(false),
            Some(there) => return Err(exists(history, there, &record.version)),
            None => {}
        }
        check_count(history)?;
        history.insert(record.clone());
        Ok(true)
    }

    /// Yanks `version` of `name` for `reason`, or with `None` takes that back. Returns the number of the event and the
    /// event itself; `None` if it is so already.
    ///
    /// # Errors
    ///
    /// Fails if there is no such version.
    pub fn yank(
        &mut self,
        name: &SkillName,
        version: &Version,
        reason: Option<&str>,
        time: Timestamp,
    ) -> Result<Option<(usize, Event)>> {
        let history = self.history(name)?;
        let Some(version) = history.get(version).map(|record| record.version.clone()) else {
            return Err(unknown(history, Some(version), &[]));
        };
        if history.yanked(&version) == reason {
            return Ok(None);
        }
        let event = match reason {
            Some(reason) => Event::Yank { version, reason: reason.to_owned(), time },
            None => Event::Unyank { version, time },
        };
        history.happen(event.clone());
        Ok(Some((history.event_count(), event)))
    }
}

/// Publishes `package` in `history`, that of its skill, at the time `published`. Nothing is written. Fails if the skill has the
/// version with other files, had it and its record was removed, or has too many versions.
fn stage(history: &mut History, package: &Package, published: Timestamp) -> Result<Staged> {
    let facts = &package.facts;
    if let Some(there) = already(history, package) {
        return Ok(Staged::Already(there.clone()));
    }
    if let Some(there) = history.get(&facts.version) {
        return Err(exists(history, there, &facts.version));
    }
    if history.missing().any(|missing| files::version_key(missing) == files::version_key(&facts.version)) {
        return Err(removed(history, &facts.version));
    }
    check_count(history)?;
    let record = Record {
        name: facts.name.clone(),
        version: facts.version.clone(),
        description: facts.description.clone(),
        license: facts.license.clone(),
        tags: facts.tags.clone(),
        digest: package.digest,
        artifact: package.artifact,
        dependencies: facts.dependencies.clone(),
        published,
        provenance: package.provenance.clone(),
    };
    history.insert(record.clone());
    Ok(Staged::New(record))
}

/// Returns the record of the version with the files of `package`, if it is published already.
pub(super) fn already<'h>(history: &'h History, package: &Package) -> Option<&'h Record> {
    history.get(&package.facts.version).filter(|there| there.digest == package.digest)
}

/// Fails if no version can be added.
fn check_count(history: &History) -> Result<()> {
    if history.records().len() < MAX_VERSIONS {
        return Ok(());
    }
    let message = format!("`{}` has {MAX_VERSIONS} versions, more are not allowed", history.name());
    Err(Error::usage(message).coded(codes::RELEASE_REFUSED))
}

/// Returns the error for a version that a registry has with other files.
fn exists(history: &History, there: &Record, version: &Version) -> Error {
    let told = format!("`{}` {} was already published with other files", there.name, there.version);
    taken(told, history, version)
}

/// Returns the error for a version that a registry had: its files are no longer known.
fn removed(history: &History, version: &Version) -> Error {
    let told = format!("`{}` {version} was published before, and its record was removed", history.name());
    taken(told, history, version)
}

fn taken(told: String, history: &History, version: &Version) -> Error {
    let next = history.next_patch(version);
    Error::usage(told).coded(codes::VERSION_EXISTS).hint(message!(
        format_args!("a published version never changes; the next one is `{next}`: "),
        Verb::Bump.call().word(&next)
    ))
}

/// Returns the error for a skill, or a version of it, that a registry with the skills `names` does not have.
pub(super) fn unknown(history: &History, version: Option<&Version>, names: &[SkillName]) -> Error {
    let name = history.name();
    let error = match (history.records().last(), version) {
        (Some(last), Some(version)) => {
            Error::usage(format!("the registry has no version `{version}` of `{name}`"))
                .hint(format!("its highest version is `{}`", last.version))
        }
        _ => no_skill(name, names),
    };
    error
        .coded(codes::RELEASE_UNKNOWN)
        .hint(message!(Verb::Registry.call().word("list"), " shows what it has"))
}

/// Returns the error for the skill `name`, which a registry with the skills `names` does not have.
pub fn no_skill(name: &SkillName, names: &[SkillName]) -> Error {
    let error = Error::usage(format!("the registry has no skill `{name}`")).coded(codes::RELEASE_UNKNOWN);
    let others = names.iter().filter(|other| *other != name).map(SkillName::as_str);
    match closest(name.as_str(), others) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error,
    }
}
