//! A registry in a bucket.

use std::collections::BTreeMap;

use axum::body::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::Mutex;

use super::{Change, Loaded, Objects, Publication, usable};
use crate::codes;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{
    Event, FileError, History, LogChange, LogEntry, MAX_FILE, Record, Staged, Timestamp, files,
    registry_name, stage,
};

/// The number of skills that are read at the same time.
const SKILLS: usize = 16;
/// The number of files of a skill that are read at the same time.
const FILES: usize = 8;
/// How often a change is decided again because another server changed the same skill.
const ATTEMPTS: usize = 16;

/// The bucket. Several servers may be at work on it: whoever creates an object first has won, and what has to be kept
/// apart has one object each.
#[derive(Debug)]
pub(super) struct Bucket {
    objects: Objects,
    /// The number that the next entry of the log probably gets.
    next: Mutex<u64>,
}

impl Bucket {
    pub(super) fn new(objects: Objects) -> Self {
        Self { objects, next: Mutex::new(1) }
    }

    pub(super) async fn load(&self) -> Result<Loaded> {
        // The length first: what is published meanwhile is read twice, not missed.
        let position = self.log_length().await?;
        self.seen(position).await;
        let mut skills: BTreeMap<SkillName, Vec<String>> = BTreeMap::new();
        for path in self.objects.list(files::INDEX).await? {
            let mut parts = path.split('/').skip(1);
            if let (Some(name), Some(_)) = (parts.next(), parts.next())
                && let Ok(name) = registry_name(name)
            {
                skills.entry(name).or_default().push(path);
            }
        }
        let reads = skills.into_iter().map(|(name, paths)| read_history(self.objects.clone(), name, paths));
        let read: Vec<_> = stream::iter(reads).buffer_unordered(SKILLS).collect().await;
        let mut histories: Vec<_> = read.into_iter().filter_map(usable).collect();
        histories.sort_by(|one, other| one.name().cmp(other.name()));
        Ok(Loaded { histories, position })
    }

    pub(super) async fn history(&self, name: &SkillName) -> Result<History> {
        let paths = self.objects.list(&format!("{}/{name}", files::INDEX)).await?;
        read_history(self.objects.clone(), name.clone(), paths).await
    }

    pub(super) async fn log_entry(&self, number: u64) -> Result<Option<LogEntry>> {
        let path = files::log(number);
        let Some(bytes) = self.objects.get(&path, MAX_FILE).await? else { return Ok(None) };
        LogEntry::parse(&bytes).map(Some).map_err(|error| damaged(&path, &error))
    }

    pub(super) async fn publish(&self, publication: Publication) -> Result<(Staged, History)> {
        let Publication { package, permit, time, by, mut known } = publication;
        let name = &package.facts.name;
        for _ in 0..ATTEMPTS {
            let claim = permit(&known)?;
            let mut history = known.clone();
            let staged = stage(&mut history, &package, time)?;
            let Staged::New(record) = &staged else { return Ok((staged, history)) };
            let mut changes = vec![LogChange::Publish {
                name: name.clone(),
                version: record.version.clone(),
                digest: record.digest,
            }];
            let number = known.event_count() + 1;
            changes.extend(claim.clone().map(|event| LogChange::Event { name: name.clone(), number, event }));
            let entry = LogEntry { time, by: by.clone(), changes };
            let archive = files::artifact(&package.artifact.digest);
            let archive = self.objects.create(&archive, Bytes::from(package.bytes.clone()));
            let (archived, announced) = tokio::join!(archive, self.announce(&entry));
            announced?;
            if !archived? {
                return Err(Error::integrity(
                    "the archive in the store has other bytes than its digest says",
                )
                .coded(codes::REGISTRY_MISMATCH));
            }
            let is_claimed = match claim {
                Some(event) => {
                    history.happen(event.clone());
                    self.objects.create(&files::event(name, number), event.to_bytes().into()).await?
                }
                None => true,
            };
            let path = files::record(name, &record.version);
            if is_claimed && self.objects.create(&path, record.to_bytes().into()).await? {
                return Ok((staged, history));
            }
            known = self.history(name).await?;
        }
        Err(contended(name))
    }

    pub(super) async fn change(
        &self,
        mut known: History,
        change: Change,
        by: Option<String>,
        time: Timestamp,
    ) -> Result<(bool, History)> {
        let name = known.name().clone();
        for _ in 0..ATTEMPTS {
            let Some(event) = change(&known)? else { return Ok((false, known)) };
            let number = known.event_count() + 1;
            let changes = vec![LogChange::Event { name: name.clone(), number, event: event.clone() }];
            self.announce(&LogEntry { time, by: by.clone(), changes }).await?;
            if self.objects.create(&files::event(&name, number), event.to_bytes().into()).await? {
                known.happen(event);
                return Ok((true, known));
            }
            known = self.history(&name).await?;
        }
        Err(contended(&name))
    }

    /// Appends `entry` to the log.
    async fn announce(&self, entry: &LogEntry) -> Result<()> {
        let bytes = Bytes::from(entry.to_bytes());
        let mut next = self.next.lock().await;
        while !self.objects.create(&files::log(*next), bytes.clone()).await? {
            *next += 1;
        }
        *next += 1;
        Ok(())
    }

    /// Remembers that the log has the entry `number`.
    pub(super) async fn seen(&self, number: u64) {
        let mut next = self.next.lock().await;
        *next = (*next).max(number + 1);
    }

    /// Finds the number of the last entry of the log. Numbers have no gap, so a few questions do.
    async fn log_length(&self) -> Result<u64> {
        let has = |number: u64| {
            let path = files::log(number);
            async move { self.objects.exists(&path).await }
        };
        let mut beyond = 1;
        while has(beyond).await? {
            beyond *= 2;
        }
        let mut last = beyond / 2;
        while beyond - last > 1 {
            let middle = last + (beyond - last) / 2;
            if has(middle).await? { last = middle } else { beyond = middle }
        }
        Ok(last)
    }
}

/// Reads the history of the skill `name`, whose records and events are at `paths`.
async fn read_history(objects: Objects, name: SkillName, paths: Vec<String>) -> Result<History> {
    let (mut keys, mut last) = (Vec::new(), 0);
    for path in paths {
        let parts: Vec<_> = path.split('/').collect();
        match &parts[..] {
            [_, _, file] => keys.extend(file.strip_suffix(".json").map(str::to_owned)),
            [_, _, files::EVENTS, file] => {
                let number = file.strip_suffix(".json").and_then(|number| number.parse::<usize>().ok());
                last = last.max(number.unwrap_or(0));
            }
            _ => {}
        }
    }
    let records = keys.into_iter().map(|key| read_record(objects.clone(), name.clone(), key));
    let records = stream::iter(records).buffer_unordered(FILES).try_collect().await?;
    // A number that is missing is an error: a yank could be gone.
    let events = (1..=last).map(|number| read_event(objects.clone(), name.clone(), number));
    let events = stream::iter(events).buffered(FILES).try_collect().await?;
    History::new(name.clone(), records, events).map_err(|error| {
        Error::integrity(format!("the records of `{name}` do not fit together: {error}"))
            .coded(codes::REGISTRY_UNUSABLE)
    })
}

async fn read_record(objects: Objects, name: SkillName, key: String) -> Result<Record> {
    let path = format!("{}/{name}/{key}.json", files::INDEX);
    Record::parse(&required(&objects, &path).await?, &name, &key).map_err(|error| damaged(&path, &error))
}

async fn read_event(objects: Objects, name: SkillName, number: usize) -> Result<Event> {
    let path = files::event(&name, number);
    Event::parse(&required(&objects, &path).await?).map_err(|error| damaged(&path, &error))
}

async fn required(objects: &Objects, path: &str) -> Result<Bytes> {
    let found = objects.get(path, MAX_FILE).await?;
    found.ok_or_else(|| {
        Error::integrity(format!("`{path}` of the registry is missing")).coded(codes::REGISTRY_UNUSABLE)
    })
}

fn damaged(path: &str, error: &FileError) -> Error {
    Error::integrity(format!("`{path}` of the registry is damaged: {error}")).coded(codes::REGISTRY_UNUSABLE)
}

fn contended(name: &SkillName) -> Error {
    Error::io(format!("`{name}` is changed by too many at the same time")).hint("try again")
}
