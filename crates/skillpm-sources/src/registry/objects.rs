//! The storage of a registry's files: a directory or a bucket.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::error::damaged;
use super::files::FileKind;
use super::{Event, FileError, History, LogEntry, ReadFiles, Record, RegistryDir, files, read};
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::workers;

/// The number of files of a bucket that are read at the same time.
const REQUESTS: usize = 64;

/// The files of a registry, wherever they lie. Everything that is read of a registry is read through this.
pub trait Objects: ReadFiles + fmt::Debug + Send + Sync {
    /// Returns the number of bytes of the file at `path`; `None` if it does not exist.
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

    /// Returns the number of the last entry of the log; 0 if it has none. Numbers have no gap, so a few questions do.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be read.
    fn log_length(&self) -> Result<u64> {
        let has = |number: u64| Ok::<_, Error>(self.head(&files::log(number))?.is_some());
        let mut beyond: u64 = 1;
        // A store may say anything.
        while beyond < u64::MAX && has(beyond)? {
            beyond = beyond.saturating_mul(2);
        }
        let mut last = beyond / 2;
        while beyond - last > 1 {
            let middle = last + (beyond - last) / 2;
            if has(middle)? { last = middle } else { beyond = middle }
        }
        Ok(last)
    }

    /// Reads entry `number` of the log, from 1; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not an entry.
    fn log_entry(&self, number: u64) -> Result<Option<LogEntry>> {
        read(self, &files::log(number), LogEntry::parse)
    }

    /// Reads the entry of the log after entry `last`; `None` if it does not exist.
    fn log_entry_after(&self, last: u64) -> Result<Option<LogEntry>> {
        last.checked_add(1).map_or(Ok(None), |number| self.log_entry(number))
    }

    /// Reads the records and events of the skill `name`. A skill without files has neither.
    ///
    /// # Errors
    ///
    /// Fails for a file that cannot be read or is not what its path says.
    fn history(&self, name: &SkillName) -> Result<History> {
        let skills = Skills::among(&self.list(&format!("{}/{name}", files::INDEX))?);
        read_histories(self, &skills).remove(name).unwrap_or_else(|| Ok(History::empty(name.clone())))
    }

    /// Reads the records and events of all skills. One that cannot be read does not keep the others from being read.
    ///
    /// # Errors
    ///
    /// Fails if the files cannot be listed.
    fn histories(&self) -> Result<BTreeMap<SkillName, Result<History>>> {
        Ok(read_histories(self, &Skills::among(&self.list(files::INDEX)?)))
    }
}

/// A bucket. It has no lock, and several writers may use it at once: the first to create an object has won, and facts that
/// exclude each other have one object.
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

/// The storage of a registry's files.
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
    /// Held while an entry is appended: other threads would only ask for the same number.
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
        self.next.fetch_max(number.saturating_add(1), Ordering::Relaxed);
    }

    /// Appends `entry` to the log of `bucket`, whose end this is.
    pub(super) fn append(&self, bucket: &dyn Bucket, entry: &[u8]) -> Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = self.next.load(Ordering::Relaxed);
            if number == u64::MAX {
                return Err(log_is_full());
            }
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

/// Returns the error for a log after whose last entry no number is left.
pub(super) fn log_is_full() -> Error {
    damaged(files::LOG, &"the number of its last entry is the highest there is")
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

    /// Returns the records, each by its name and key.
    pub(super) fn records(&self) -> Vec<(&SkillName, &str)> {
        let mut found = Vec::new();
        for (name, files) in &self.0 {
            found.extend(files.records.iter().map(|key| (name, key.as_str())));
        }
        found
    }

    /// Returns the events, each by its name and number. None before the last one may be missing: a yank could be gone.
    pub(super) fn events(&self) -> Vec<(&SkillName, usize)> {
        let mut found = Vec::new();
        for (name, files) in &self.0 {
            found.extend(with_first_gap(&files.events).into_iter().map(|number| (name, number)));
        }
        found
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

/// Reads the histories of `skills`.
fn read_histories(
    objects: &(impl Objects + ?Sized),
    skills: &Skills,
) -> BTreeMap<SkillName, Result<History>> {
    let mut records = for_files(objects, &skills.records(), |name, key| read_record(objects, name, key));
    let mut events = for_files(objects, &skills.events(), |name, number| read_event(objects, name, number));
    let mut history = |name: &SkillName| {
        let records = records.remove(name).into_iter().flatten().map(|(_, record)| record);
        let events = events.remove(name).into_iter().flatten().map(|(_, event)| event);
        History::new(name.clone(), records.collect::<Result<_>>()?, events.collect::<Result<_>>()?)
            .map_err(|error| damaged(&format!("{}/{name}", files::INDEX), &error))
    };
    skills.0.keys().map(|name| (name.clone(), history(name))).collect()
}

/// Reads the record of the version of `name` with the key `key`, which has to be there.
pub(super) fn read_record(objects: &(impl Objects + ?Sized), name: &SkillName, key: &str) -> Result<Record> {
    let path = format!("{}/{name}/{key}.json", files::INDEX);
    required(objects, &path, |bytes| Record::parse(bytes, name, key))
}

/// Reads event `number` of the skill `name`, which has to be there.
pub(super) fn read_event(
    objects: &(impl Objects + ?Sized),
    name: &SkillName,
    number: usize,
) -> Result<Event> {
    required(objects, &files::event(name, number), Event::parse)
}

fn required<T>(
    objects: &(impl Objects + ?Sized),
    path: &str,
    parse: impl FnOnce(&[u8]) -> Result<T, FileError>,
) -> Result<T> {
    read(objects, path, parse)?.ok_or_else(|| damaged(path, &"it does not exist"))
}

/// Calls `work` for each of `items`, in as many threads as pay off: for a directory some for each processor, for a bucket more,
/// which wait.
pub(super) fn for_each<T: Sync, R: Send>(
    objects: &(impl Objects + ?Sized),
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    match objects.carrier() {
        Carrier::Directory(_) => workers::map(items, workers::FEW, || (), |(), item| work(item)).collect(),
        Carrier::Bucket(_) => workers::map_waiting(items, REQUESTS, work),
    }
}

/// Works like [`for_each`] for files of skills. Returns the results by skill.
pub(super) fn for_files<K: Copy + Sync, R: Send>(
    objects: &(impl Objects + ?Sized),
    files: &[(&SkillName, K)],
    work: impl Fn(&SkillName, K) -> R + Sync,
) -> BTreeMap<SkillName, Vec<(K, R)>> {
    let results = for_each(objects, files, |(name, file)| work(name, *file));
    let mut by_skill: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for ((name, file), result) in files.iter().zip(results) {
        by_skill.entry((*name).clone()).or_default().push((*file, result));
    }
    by_skill
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::error::ErrorKind;
    use crate::registry::{LogChange, Timestamp, registry_name, registry_version, verify};

    /// A bucket that claims to have every object, and fails on records.
    #[derive(Debug, Default)]
    struct Liar {
        files: BTreeMap<String, Vec<u8>>,
        log_end: LogEnd,
    }

    impl ReadFiles for Liar {
        fn get(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>> {
            Ok(self.files.get(path).cloned())
        }
    }

    impl Objects for Liar {
        fn head(&self, path: &str) -> Result<Option<u64>> {
            if path.starts_with(files::INDEX) { Err(Error::io("no answer")) } else { Ok(Some(1)) }
        }

        fn list(&self, below: &str) -> Result<Vec<String>> {
            Ok(self.files.keys().filter(|path| path.starts_with(below)).cloned().collect())
        }

        fn carrier(&self) -> Carrier<'_> {
            Carrier::Bucket(self)
        }
    }

    impl Bucket for Liar {
        fn create(&self, _: &str, _: &[u8]) -> Result<bool> {
            Ok(false)
        }

        fn log_end(&self) -> &LogEnd {
            &self.log_end
        }
    }

    #[test]
    fn a_log_without_end_overflows_nothing() {
        let bucket = Liar::default();
        assert_eq!(bucket.log_length().expect("an answer"), u64::MAX - 1);
        assert!(bucket.log_entry_after(u64::MAX).expect("an answer").is_none());
        bucket.log_end.seen(u64::MAX - 1);
        bucket.log_end.seen(u64::MAX);
        let full = bucket.log_end.append(&bucket, b"{}").expect_err("no number is left");
        assert_eq!(full.kind(), ErrorKind::Integrity);
    }

    /// An error about the existence of one file concerns this file: the others are examined.
    #[test]
    fn a_file_about_which_nothing_is_told_is_a_defect() {
        let mut bucket = Liar::default();
        let (name, digest) = (registry_name("pdf").expect("a name"), Digest::of(b"files"));
        let version = |text| registry_version(text).expect("a version");
        let publish = |text| LogChange::Publish { name: name.clone(), version: version(text), digest };
        let changes = vec![publish("1.0.0"), publish("2.0.0")];
        let entry = LogEntry { time: Timestamp::new(0), by: None, changes };
        bucket.files.insert(files::log(1), entry.to_bytes());
        let defects = verify(&bucket).expect("is verified").defects;
        let told: Vec<_> = defects.iter().map(|defect| (&*defect.path, &*defect.message)).collect();
        assert_eq!(told, [("index/pdf/1.0.0.json", "no answer"), ("index/pdf/2.0.0.json", "no answer")]);
    }
}
