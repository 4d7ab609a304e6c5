//! Reading a registry.

use std::path::{Path, PathBuf};

use super::error::damaged;
use super::ledger::unknown;
use super::{Config, Event, FileError, History, LogEntry, MAX_FILE, NameList, Record, files, registry_name};
use crate::advice::{Verb, message};
use crate::codes;
use crate::error::{Error, Result};
use crate::fs::{self, Base, Kind, Looked};
use crate::name::SkillName;
use crate::path::normal;
use crate::workers;

/// A directory that is a registry.
#[derive(Debug)]
pub struct RegistryDir {
    pub(super) base: Base,
    pub(super) config: Config,
}

impl RegistryDir {
    /// Returns the name that a registry at `place` gets if nobody names it: the last part of the path.
    ///
    /// # Errors
    ///
    /// Fails if no registry can have that name.
    pub fn default_name(place: &Path) -> Result<SkillName> {
        let name = normal(place).file_name().map(|name| name.to_string_lossy().into_owned());
        let slug = name.as_deref().and_then(SkillName::slug);
        slug.filter(|slug| registry_name(slug.as_str()).is_ok()).ok_or_else(|| {
            Error::usage(format!("`{}` gives a registry no name", place.display()))
                .hint("name it: 1 to 64 of `a` to `z`, `0` to `9` and single hyphens between them")
        })
    }

    /// Opens the registry in `dir`.
    ///
    /// # Errors
    ///
    /// Fails if `dir` is not a registry, or one of a newer format.
    pub fn open(dir: &Path) -> Result<Self> {
        let missing = || {
            Error::usage(format!("`{}` is not a registry: it has no `{}`", dir.display(), files::CONFIG))
                .coded(codes::REGISTRY_ABSENT)
                .hint(message!(Verb::Registry.call().word("init").path(dir), " makes it one"))
        };
        if fs::kind(&fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned()))? != Some(Kind::Directory) {
            return Err(missing());
        }
        let base = Base::open(dir)?;
        let config = Self::config_of(&base)?.ok_or_else(missing)?;
        Ok(Self { base, config })
    }

    /// Returns the configuration of the registry in `base`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, is damaged, or is one of a newer format.
    pub(super) fn config_of(base: &Base) -> Result<Option<Config>> {
        let Some(bytes) = read(base, files::CONFIG)? else { return Ok(None) };
        match Config::parse(&bytes) {
            Ok(config) => Ok(Some(config)),
            Err(error @ FileError::Format(_)) => {
                Err(Error::config(format!("`{}`: {error}", base.path().join(files::CONFIG).display()))
                    .coded(codes::REGISTRY_UNUSABLE)
                    .hint("update skillpm"))
            }
            Err(error) => Err(damaged(files::CONFIG, &error)),
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.base.path()
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the names of all skills that have a directory of records, sorted. Other entries are left out.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be read.
    pub fn names(&self) -> Result<Vec<SkillName>> {
        let entries = fs::list_dir(&self.path_of(files::INDEX))?;
        let mut names = Vec::new();
        for entry in entries {
            // A file has a dot in its name and a skill has none.
            if let Some(name) = exact_name(&entry)
                && self.kind(&format!("{}/{entry}", files::INDEX))? == Some(Kind::Directory)
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Reads the records and events of the skill `name`. A skill without a directory has neither.
    ///
    /// # Errors
    ///
    /// Fails for a file that cannot be read or is not what its path says.
    pub fn history(&self, name: &SkillName) -> Result<History> {
        let dir = format!("{}/{name}", files::INDEX);
        let (mut buffer, mut records, mut has_events) = (Vec::new(), Vec::new(), false);
        for entry in fs::list_dir(&self.path_of(&dir))? {
            match entry.strip_suffix(".json") {
                Some(key) => records.push(self.record_into(name, key, &mut buffer)?),
                None => has_events |= entry == files::EVENTS,
            }
        }
        let events = if has_events { self.events(name, &mut buffer)? } else { Vec::new() };
        History::new(name.clone(), records, events).map_err(|error| damaged(&dir, &error))
    }

    /// Reads the records and events of all skills, sorted by name.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::history`] does.
    pub fn histories(&self) -> Result<Vec<History>> {
        let names = self.names()?;
        workers::map(&names, workers::FEW, || (), |(), name| self.history(name)).collect()
    }

    /// Works like [`Self::history`], for a skill that the registry has.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::history`] does, and if the registry has no such skill.
    pub fn known(&self, name: &SkillName) -> Result<History> {
        let history = self.history(name)?;
        if history.records().is_empty() { Err(unknown(&history, None)) } else { Ok(history) }
    }

    /// Reads the record of the version of `name` with the key `key`.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not what its path says.
    pub(super) fn record(&self, name: &SkillName, key: &str) -> Result<Record> {
        self.record_into(name, key, &mut Vec::new())
    }

    fn record_into(&self, name: &SkillName, key: &str, buffer: &mut Vec<u8>) -> Result<Record> {
        let path = format!("{}/{name}/{key}.json", files::INDEX);
        self.required(&path, buffer)?;
        Record::parse(buffer, name, key).map_err(|error| damaged(&path, &error))
    }

    /// Reads the events of the skill `name`, in the order of their numbers.
    fn events(&self, name: &SkillName, buffer: &mut Vec<u8>) -> Result<Vec<Event>> {
        let dir = format!("{}/{name}/{}", files::INDEX, files::EVENTS);
        let entries = fs::list_dir(&self.path_of(&dir))?;
        let count = entries.iter().filter(|entry| is_event(entry)).count();
        let mut events = Vec::with_capacity(count);
        for number in 1..=count {
            let path = files::event(name, number);
            // A missing one is an error: a yank could be gone.
            self.required(&path, buffer)?;
            events.push(Event::parse(buffer).map_err(|error| damaged(&path, &error))?);
        }
        Ok(events)
    }

    /// Reads the list of the versions of the skill `name`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not a list.
    pub fn list(&self, name: &SkillName) -> Result<Option<NameList>> {
        let path = files::list(name);
        let Some(bytes) = self.read(&path)? else { return Ok(None) };
        NameList::parse(&bytes, name).map(Some).map_err(|error| damaged(&path, &error))
    }

    /// Returns the number of the last entry of the log; 0 if it has none.
    ///
    /// # Errors
    ///
    /// Fails if the directory of the log cannot be read.
    pub fn log_length(&self) -> Result<u64> {
        let last = |dir: &str, ending: &str| -> Result<Option<u64>> {
            let entries = fs::list_dir(&self.path_of(dir))?;
            Ok(entries.iter().filter_map(|entry| entry.strip_suffix(ending)?.parse().ok()).max())
        };
        let Some(thousand) = last(files::LOG, "")? else { return Ok(0) };
        Ok(last(&format!("{}/{thousand}", files::LOG), ".json")?
            .unwrap_or(thousand * 1000 - u64::from(thousand > 0)))
    }

    /// Reads entry `number` of the log, from 1; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not an entry.
    pub fn log_entry(&self, number: u64) -> Result<Option<LogEntry>> {
        let path = files::log(number);
        let Some(bytes) = self.read(&path)? else { return Ok(None) };
        LogEntry::parse(&bytes).map(Some).map_err(|error| damaged(&path, &error))
    }

    /// Returns the names that a writer was at work on when it was killed, sorted.
    ///
    /// # Errors
    ///
    /// Fails if the directory of markers cannot be read.
    pub fn pending(&self) -> Result<Vec<SkillName>> {
        let entries = fs::list_dir(&self.path_of(files::PENDING))?;
        Ok(entries.iter().filter_map(|entry| exact_name(entry)).collect())
    }

    /// Returns the path of the file or directory at `below`.
    pub(super) fn path_of(&self, below: &str) -> PathBuf {
        self.path().join(below)
    }

    /// Reports whether there is a regular file at `below`, and no link on the way to it.
    ///
    /// # Errors
    ///
    /// Fails if the directories cannot be read.
    pub fn is_plain(&self, below: &str) -> Result<bool> {
        Ok(self.kind(below)? == Some(Kind::File))
    }

    /// Returns the kind of what is at `below`.
    pub(super) fn kind(&self, below: &str) -> Result<Option<Kind>> {
        Ok(self.base.kind(Path::new(below))?)
    }

    /// Reads the file at `below`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or is too large or not a regular file.
    pub(super) fn read(&self, below: &str) -> Result<Option<Vec<u8>>> {
        read(&self.base, below)
    }

    /// Reads the file at `below` into `buffer`.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::read`] does, and if there is none.
    fn required(&self, below: &str, buffer: &mut Vec<u8>) -> Result<()> {
        match self.base.read_into(Path::new(below), MAX_FILE, buffer)? {
            Looked::Read => Ok(()),
            Looked::Absent => Err(damaged(below, &"it does not exist")),
            Looked::Other => Err(not_plain(below)),
        }
    }
}

/// Returns the name that `entry` is, if a registry can hold a skill of that name.
pub(super) fn exact_name(entry: &str) -> Option<SkillName> {
    registry_name(entry).ok().filter(|name| name.as_str() == entry)
}

/// Reports whether `entry` is the name of a file of an event.
pub(super) fn is_event(entry: &str) -> bool {
    let number = entry.strip_suffix(".json").and_then(|number| number.parse::<usize>().ok());
    number.is_some_and(|number| number > 0 && entry == format!("{number}.json"))
}

fn read(base: &Base, below: &str) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match base.read_into(Path::new(below), MAX_FILE, &mut bytes)? {
        Looked::Read => Ok(Some(bytes)),
        Looked::Absent => Ok(None),
        Looked::Other => Err(not_plain(below)),
    }
}

/// Returns the error for something at `below` that is not a file of a registry.
fn not_plain(below: &str) -> Error {
    damaged(below, &"it is not a regular file, or is too large")
}
