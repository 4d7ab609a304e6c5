//! One skill as its records and events have it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Account, Event, Head, Listed, MAX_VERSIONS, NameList, Record, TrustedPublisher, Visibility, files,
};
use crate::name::SkillName;
use crate::version::Version;

/// All that a registry's truth says about one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    name: SkillName,
    /// Ascending; no two have the same key.
    records: Vec<Record>,
    /// The reasons of yanked versions, by key.
    yanked: BTreeMap<String, String>,
    owners: BTreeSet<Account>,
    publishers: BTreeSet<TrustedPublisher>,
    visibility: Visibility,
    /// The versions that events are about and that have no record, by key.
    missing: BTreeMap<String, Version>,
    /// The number of events.
    events: usize,
}

/// Why records and events do not make a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// More versions than [`MAX_VERSIONS`].
    #[error("there are {0} versions, {MAX_VERSIONS} are allowed")]
    TooManyVersions(usize),
}

impl History {
    /// Returns the history of a skill that has none yet.
    pub fn empty(name: SkillName) -> Self {
        Self {
            name,
            records: Vec::new(),
            yanked: BTreeMap::new(),
            owners: BTreeSet::new(),
            publishers: BTreeSet::new(),
            visibility: Visibility::Public,
            missing: BTreeMap::new(),
            events: 0,
        }
    }

    /// Returns the history of the skill `name`. `records` may be in any order, each from a file of its own; `events` are in
    /// the order of their numbers. A version with events but no record was removed by hand: it is [`Self::missing`], and the
    /// others are unaffected.
    ///
    /// # Errors
    ///
    /// Fails for too many versions.
    pub fn new(name: SkillName, mut records: Vec<Record>, events: Vec<Event>) -> Result<Self, HistoryError> {
        if records.len() > MAX_VERSIONS {
            return Err(HistoryError::TooManyVersions(records.len()));
        }
        records.sort_by(|one, other| one.version.number().cmp_precedence(other.version.number()));
        let keys: BTreeSet<_> = if events.is_empty() {
            BTreeSet::new()
        } else {
            records.iter().map(|record| files::version_key(&record.version)).collect()
        };
        let mut history = Self { records, ..Self::empty(name) };
        for event in events {
            if let Some(version) = event.version()
                && !keys.contains(&files::version_key(version))
            {
                history.missing.insert(files::version_key(version), version.clone());
            }
            history.happen(event);
        }
        Ok(history)
    }

    /// Adds an event, which if it is about a version is about one of these.
    pub fn happen(&mut self, event: Event) {
        self.events += 1;
        match event {
            Event::Yank { version, reason, .. } => {
                self.yanked.insert(files::version_key(&version), reason);
            }
            Event::Unyank { version, .. } => {
                self.yanked.remove(&files::version_key(&version));
            }
            Event::AddOwner { owner, .. } => {
                self.owners.insert(owner);
            }
            Event::RemoveOwner { owner, .. } => {
                self.owners.remove(&owner);
            }
            Event::AddPublisher { publisher, .. } => {
                self.publishers.retain(|known| !known.is_same(&publisher));
                self.publishers.insert(publisher);
            }
            Event::RemovePublisher { publisher, .. } => {
                self.publishers.retain(|known| !known.is_same(&publisher));
            }
            Event::SetVisibility { visibility, .. } => self.visibility = visibility,
            Event::Unknown => {}
        }
    }

    /// Adds a version. The caller has checked that no version has the same key.
    pub fn insert(&mut self, record: Record) {
        self.missing.remove(&files::version_key(&record.version));
        let number = record.version.number();
        let at = self.records.partition_point(|there| there.version.number().cmp_precedence(number).is_lt());
        self.records.insert(at, record);
    }

    /// Returns the versions with events but no record: they were published, and the record was removed by hand.
    pub fn missing(&self) -> impl Iterator<Item = &Version> {
        self.missing.values()
    }

    /// Returns the number of events.
    pub fn event_count(&self) -> usize {
        self.events
    }

    /// Returns the lowest version that can be published next beside `version`: the one after the highest version with
    /// the same first two numbers.
    pub fn next_patch(&self, version: &Version) -> String {
        version.next_patch(self.records.iter().map(|record| &record.version).chain(self.missing()))
    }

    /// Returns the skill's name.
    pub fn name(&self) -> &SkillName {
        &self.name
    }

    /// Returns the records, ascending by version.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the record of `version`; build metadata does not matter.
    pub fn get(&self, version: &Version) -> Option<&Record> {
        let key = files::version_key(version);
        self.records.iter().find(|record| files::version_key(&record.version) == key)
    }

    /// Returns why `version` is yanked, or `None` if it is not.
    pub fn yanked(&self, version: &Version) -> Option<&str> {
        self.yanked.get(&files::version_key(version)).map(String::as_str)
    }

    /// Returns the accounts that may publish the skill.
    pub fn owners(&self) -> &BTreeSet<Account> {
        &self.owners
    }

    /// Returns the workflows that may publish the skill.
    pub fn publishers(&self) -> &BTreeSet<TrustedPublisher> {
        &self.publishers
    }

    /// Returns the workflow that allows the job `job` to publish the skill. One whose repository has no known id yet does
    /// not allow a repository that another of the workflows knows by another id.
    pub fn publisher_of(&self, job: &TrustedPublisher) -> Option<&TrustedPublisher> {
        let allowing = || self.publishers.iter().filter(|known| known.allows(job));
        let is_other = |known: &TrustedPublisher| known.is_in_repository(job) && known.has_other_id(job);
        allowing()
            .find(|known| known.repository_id.is_some())
            .or_else(|| allowing().next().filter(|_| !self.publishers.iter().any(is_other)))
    }

    /// Returns who may see the skill.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }

    /// Returns the list of the versions.
    pub fn list(&self) -> NameList {
        let listed = |record: &Record| Listed {
            version: record.version.clone(),
            digest: record.digest,
            artifact: record.artifact,
            dependencies: record.dependencies.clone(),
            published: record.published,
            yanked: self.yanked(&record.version).map(str::to_owned),
        };
        NameList { name: self.name.clone(), versions: self.records.iter().map(listed).collect() }
    }

    /// Returns the version that describes the skill: the highest one that is neither yanked nor, if there is another, a
    /// pre-release. Returns `None` if all are yanked.
    pub fn newest(&self) -> Option<&Record> {
        let offered = || self.records.iter().rev().filter(|record| self.yanked(&record.version).is_none());
        offered().find(|record| record.version.number().pre.is_empty()).or_else(|| offered().next())
    }

    /// Returns the skill as the files about all skills have it, or `None` if all of its versions are yanked.
    pub fn head(&self) -> Option<Head> {
        self.newest().map(Head::of)
    }

    /// Reports whether the derived files, which are public, have the skill: it has versions and is public.
    pub fn is_listed(&self) -> bool {
        !self.records.is_empty() && self.visibility == Visibility::Public
    }
}
