//! Reads a registry for mirroring.

use std::sync::{Arc, PoisonError};

use super::RegistryIndex;
use super::carrier::RegistryFiles;
use crate::context::Context;
use crate::error::Result;
use crate::fs::SharedFile;
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::registry::{Config, Event, Listed, NameList, ReadFiles as _, Record, files, read};
use crate::scope_kind::ScopeRoot;
use crate::spec::Registry;

/// The largest number of events of one skill that are read.
const MAX_EVENTS: usize = 100_000;

/// The lists of a registry, which are cached where there is a cache, and its records, events and archives, which are not:
/// their readers have places of their own for them.
pub struct RegistryReader {
    index: RegistryIndex,
    /// The same files, without a cache.
    once: RegistryFiles,
}

impl RegistryReader {
    /// Returns a reader of `registry`. Nothing is requested before it is needed.
    ///
    /// # Errors
    ///
    /// Fails for a directory that is not there, and for a name that nothing was looked up for.
    pub fn new(context: &Context, scope: ScopeRoot<'_>, registry: &Registry) -> Result<Self> {
        let index = RegistryIndex { adds_seen: false, ..RegistryIndex::open(registry, context, scope)? };
        let mut context = context.clone();
        context.settings.dirs.cache = None;
        let once = RegistryFiles::new(registry, &context, scope)?;
        Ok(Self { index, once })
    }

    /// Returns the registry's own description.
    ///
    /// # Errors
    ///
    /// Fails if there is no registry, or one of a newer format.
    pub fn config(&self) -> Result<Config> {
        let config = self.index.files.config()?;
        *self.index.is_checked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        Ok(config)
    }

    /// Fails if the registry cannot be reached any more.
    pub fn check(&self) -> Result<()> {
        self.once.config().map(drop)
    }

    /// Returns the names of all skills that have a version for new installations.
    ///
    /// # Errors
    ///
    /// Fails for a list that cannot be read.
    pub fn names(&self) -> Result<Vec<SkillName>> {
        Ok(self.index.search()?.skills.into_iter().map(|skill| skill.name).collect())
    }

    /// Returns the versions of the skill `name`; `None` if the registry does not have it.
    ///
    /// # Errors
    ///
    /// Fails for a list that cannot be read.
    pub fn list(&self, name: &SkillName) -> Result<Option<Arc<NameList>>> {
        self.index.list(name.as_str())
    }

    /// Returns the record of the version that `listed` names, and its bytes.
    ///
    /// # Errors
    ///
    /// Fails if it does not exist, or differs from the list.
    pub fn record(&self, name: &SkillName, listed: &Listed) -> Result<(Record, Vec<u8>)> {
        let path = files::record(name, &listed.version);
        let key = files::version_key(&listed.version);
        let parse = |bytes: &[u8]| Ok((Record::parse(bytes, name, &key)?, bytes.to_vec()));
        let found = read(&self.once, &path, parse)?;
        let (record, bytes) = found.ok_or_else(|| self.once.unusable(&path, &"it does not exist"))?;
        match record.differs_from(listed) {
            Some(field) => Err(self.once.unusable(&path, &format_args!("the list has another `{field}`"))),
            None => Ok((record, bytes)),
        }
    }

    /// Returns the events of the skill `name`, in their order.
    ///
    /// # Errors
    ///
    /// Fails for an event that cannot be read.
    pub fn events(&self, name: &SkillName) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        for number in 1..=MAX_EVENTS {
            let Some(event) = read(&self.once, &files::event(name, number), Event::parse)? else { break };
            events.push(event);
        }
        Ok(events)
    }

    /// Returns the archive of a version of the skill `name`, with the listed size and digest.
    ///
    /// # Errors
    ///
    /// Fails for an archive that is not there, or has another size or digest.
    pub fn archive(&self, name: &SkillName, listed: &Listed) -> Result<Arc<SharedFile>> {
        let what = format!("{name} {} of {}", listed.version, self.once.name());
        self.once.artifact(listed, Some(&what), Limits::default().archive_bytes)
    }
}
