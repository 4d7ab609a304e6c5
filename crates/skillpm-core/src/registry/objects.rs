//! What the files of a registry lie in: a directory or a bucket.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::damaged;
use super::files::FileKind;
use super::{Event, History, LogEntry, MAX_FILE, Record, RegistryDir, files, package};
use crate::error::Result;
use crate::fs::SharedFile;
use crate::name::SkillName;
use crate::workers;

/// The number of skills of a bucket that are read at the same time.
const SKILLS: usize = 16;
/// The number of files of a skill in a bucket that are read at the same time.
const FILES: usize = 8;

/// The files of a registry, wherever they lie. Everything that is read of a registry is read through this.
pub trait Objects: fmt::Debug + Send + Sync {
    /// Reads the file at `path`, of at most `limit` bytes; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or is larger.
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>>;

    /// Returns the number of bytes of the file at `path`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be read.
    fn head(&self, path: &str) -> Result<Option<u64>>;

    /// Returns the paths of all files below the directory `below`, sorted.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be listed.
    fn list(&self, below: &str) -> Result<Vec<String>>;

    /// Returns what the files lie in, which decides how they are changed.
    fn carrier(&self) -> Carrier<'_>;

    /// Opens the file at `path`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read.
    fn open(&self, path: &str) -> Result<Option<Arc<SharedFile>>> {
        self.get(path, u64::MAX)?.map(|bytes| package::shared(&bytes)).transpose()
    }

    /// Returns the number of the last entry of the log; 0 if it has none. Numbers have no gap, so a few questions do.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be read.
    fn log_length(&self) -> Result<u64> {
        let has = |number: u64| Ok::<_, crate::error::Error>(self.head(&files::log(number))?.is_some());
        let mut beyond = 1;
        while has(beyond)? {
            beyond *= 2;
        }
        let mut last = beyond / 2;
        while beyond - last > 1 {
            let middle = last + (beyond - last) / 2;
            if has(middle)? { last = middle } else { beyond = middle }
        }
        Ok(last)
    }

    /// Reads entry `number` of the log, from 1; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not an entry.
    fn log_entry(&self, number: u64) -> Result<Option<LogEntry>> {
        let path = files::log(number);
        let Some(bytes) = self.get(&path, MAX_FILE)? else { return Ok(None) };
        LogEntry::parse(&bytes).map(Some).map_err(|error| damaged(&path, &error))
    }

    /// Reads the records and events of the skill `name`. A skill without files has neither.
    ///
    /// # Errors
    ///
    /// Fails for a file that cannot be read or is not what its path says.
    fn history(&self, name: &SkillName) -> Result<History> {
        let mut skills = Skills::among(&self.list(&format!("{}/{name}", files::INDEX))?);
        read_history(self, name, &skills.0.remove(name).unwrap_or_default())
    }

    /// Reads the records and events of all skills, sorted by name. One that cannot be read does not keep the others from
    /// being read.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be listed.
    fn histories(&self) -> Result<Vec<Result<History>>> {
        let skills: Vec<_> = Skills::among(&self.list(files::INDEX)?).0.into_iter().collect();
        Ok(for_skills(self, &skills, |(name, files)| read_history(self, name, files)))
    }
}

/// A bucket. It has no lock, and several writers may be at work on it: whoever creates an object first has won, and what has
/// to be kept apart has one object each.
pub trait Bucket: Objects {
    /// Creates the object at `path`. Returns whether it is there with these bytes now; otherwise it was there with others.
    ///
    /// # Errors
    ///
    /// Fails if the store does not answer, or does not take it.
    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool>;

    /// Returns where the log ends, as far as is known.
    fn log_end(&self) -> &LogEnd;
}

/// What the files of a registry lie in.
#[derive(Debug, Clone, Copy)]
pub enum Carrier<'a> {
    /// A directory, which has a lock and renames. It may have files of others.
    Directory(&'a RegistryDir),
    /// A bucket, which can create an object unless there is one. It has no files that are derived.
    Bucket(&'a dyn Bucket),
}

/// The end of the log of a bucket.
#[derive(Debug)]
pub struct LogEnd {
    /// The number that the next entry probably gets.
    next: AtomicU64,
    /// Held by whoever appends an entry: others would only ask for the same number.
    turn: Mutex<()>,
}

impl Default for LogEnd {
    fn default() -> Self {
        Self { next: AtomicU64::new(1), turn: Mutex::default() }
    }
}

impl LogEnd {
    /// Notes that the log has the entry `number`, so that the next one is looked for behind it.
    pub fn seen(&self, number: u64) {
        self.next.fetch_max(number + 1, Ordering::Relaxed);
    }

    /// Appends `entry` to the log of `bucket`, whose end this is.
    pub(super) fn append(&self, bucket: &dyn Bucket, entry: &[u8]) -> Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = self.next.load(Ordering::Relaxed);
            let is_ours = bucket.create(&files::log(number), entry)?;
            self.seen(number);
            if is_ours {
                return Ok(());
            }
        }
    }
}

/// The files of one skill that decide what it is.
#[derive(Debug, Default)]
pub(super) struct SkillFiles {
    /// The keys of records.
    pub(super) records: Vec<String>,
    /// The numbers of events.
    pub(super) events: BTreeSet<usize>,
}

/// The files of skills.
#[derive(Debug, Default)]
pub(super) struct Skills(pub(super) BTreeMap<SkillName, SkillFiles>);

impl Skills {
    /// Returns the records and events among the files at `paths`.
    fn among(paths: &[String]) -> Self {
        let mut skills = Self::default();
        for path in paths {
            skills.add(path);
        }
        skills
    }

    /// Adds the file at `path`, if it is a record or an event.
    pub(super) fn add(&mut self, path: &str) {
        match FileKind::of(path) {
            Some(FileKind::Record(name, key)) => self.0.entry(name).or_default().records.push(key),
            Some(FileKind::Event(name, number)) => {
                self.0.entry(name).or_default().events.insert(number);
            }
            _ => {}
        }
    }
}

impl SkillFiles {
    /// Returns the number of the last event. None before it may be missing: a yank could be gone.
    pub(super) fn last_event(&self) -> usize {
        self.events.last().copied().unwrap_or(0)
    }
}

/// Returns `numbers`, which are those of files and should have no gap, and the first one that is missing before the last: to
/// read them all then fails. Any file may have any number, so the numbers up to the last one can be too many to count.
pub(super) fn with_first_gap<N: Copy + Ord + From<u8> + Add<Output = N>>(numbers: &BTreeSet<N>) -> Vec<N> {
    let mut all: Vec<N> = numbers.iter().copied().collect();
    let mut expected = N::from(1);
    for at in 0..all.len() {
        if all[at] != expected {
            all.insert(at, expected);
            break;
        }
        expected = expected + N::from(1);
    }
    all
}

/// Reads the history of the skill `name`, which has these files.
fn read_history(objects: &(impl Objects + ?Sized), name: &SkillName, files: &SkillFiles) -> Result<History> {
    let records = for_files(objects, &files.records, |key| read_record(objects, name, key));
    let numbers = with_first_gap(&files.events);
    let events = for_files(objects, &numbers, |number| read_event(objects, name, *number));
    let (records, events): (Result<_>, Result<_>) =
        (records.into_iter().collect(), events.into_iter().collect());
    History::new(name.clone(), records?, events?)
        .map_err(|error| damaged(&format!("{}/{name}", files::INDEX), &error))
}

/// Reads the record of the version of `name` with the key `key`, which has to be there.
pub(super) fn read_record(objects: &(impl Objects + ?Sized), name: &SkillName, key: &str) -> Result<Record> {
    let path = format!("{}/{name}/{key}.json", files::INDEX);
    Record::parse(&required(objects, &path)?, name, key).map_err(|error| damaged(&path, &error))
}

/// Reads event `number` of the skill `name`, which has to be there.
pub(super) fn read_event(
    objects: &(impl Objects + ?Sized),
    name: &SkillName,
    number: usize,
) -> Result<Event> {
    let path = files::event(name, number);
    Event::parse(&required(objects, &path)?).map_err(|error| damaged(&path, &error))
}

fn required(objects: &(impl Objects + ?Sized), path: &str) -> Result<Vec<u8>> {
    objects.get(path, MAX_FILE)?.ok_or_else(|| damaged(path, &"it does not exist"))
}

/// Calls `work` for each of several skills or entries of the log, in as many threads as pay off: for a directory some for
/// each processor, for a bucket more, which wait.
pub(super) fn for_skills<T: Sync, R: Send>(
    objects: &(impl Objects + ?Sized),
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    match objects.carrier() {
        Carrier::Directory(_) => workers::map(items, workers::FEW, || (), |(), item| work(item)).collect(),
        Carrier::Bucket(_) => workers::map_waiting(items, SKILLS, work),
    }
}

/// Works like [`for_skills`] for several files of one skill.
pub(super) fn for_files<T: Sync, R: Send>(
    objects: &(impl Objects + ?Sized),
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    match objects.carrier() {
        Carrier::Directory(_) => items.iter().map(work).collect(),
        Carrier::Bucket(_) => workers::map_waiting(items, FILES, work),
    }
}
