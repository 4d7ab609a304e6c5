//! Reading every byte of a registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::announced::Announcements;
use super::derive::is_own_list;
use super::dir_staging::leftovers;
use super::files::FileKind;
use super::objects::{Skills, for_each, for_files, read_event, read_record, with_first_gap};
use super::{Carrier, Event, History, Objects, Record, RegistryDir, exact_name, files, package};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, SharedFile};
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::workers::Room;

/// The bytes of archives that are examined at the same time.
const ROOM: u64 = 256 << 20;

/// The kind of a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DefectKind {
    /// A record or event cannot be used.
    Damaged,
    /// The record of a version that was published is missing.
    RecordMissing,
    /// The archive of a version is missing.
    ArtifactMissing,
    /// The archive of a version does not have the recorded size or digest.
    ArtifactDiffers,
    /// The contents of the archive differ from the record.
    ContentDiffers,
    /// A derived file is not what the records and events make.
    Outdated,
}

/// Something wrong with a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Defect {
    /// The file, below the registry.
    pub path: String,
    /// The kind.
    pub kind: DefectKind,
    /// The same for people.
    pub message: String,
}

/// The findings of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of skills.
    pub skills: usize,
    /// The number of versions.
    pub versions: usize,
    /// The number of bytes of their archives.
    pub bytes: u64,
    /// The defects, by path.
    pub defects: Vec<Defect>,
    /// Files that belong to nothing, sorted. They harm nothing.
    pub strays: Vec<String>,
    /// Skills that a writer was at work on when it was killed.
    pub pending: Vec<SkillName>,
}

/// Reads every byte of the registry with these files: records and events, archives with their contents, the log, and derived
/// files, which only a directory has. A foreign file in a place of the registry's is a stray in a directory, which may have
/// files of others, and a defect in a bucket.
///
/// # Errors
///
/// Fails if the files cannot be listed. Every problem of a single file is a defect.
pub fn verify(objects: &dyn Objects) -> Result<Verified> {
    let dir = match objects.carrier() {
        Carrier::Directory(dir) => Some(dir),
        Carrier::Bucket(_) => None,
    };
    let mut found = Verified { pending: pending(dir)?, ..Verified::default() };
    // The log comes first: what is published meanwhile is not announced yet.
    let log = read_log(objects)?;
    let listed = Listing::of(objects, dir)?;
    let mut records = BTreeMap::new();
    for one in examine_all(objects, &listed.skills) {
        found.skills += usize::from(!one.records.is_empty());
        found.versions += one.records.len();
        found.bytes += one.bytes;
        found.defects.extend(one.defects);
        let key = |record: &Record| (record.name.clone(), files::version_key(&record.version));
        records.extend(one.records.into_iter().map(|record| (key(&record), record)));
    }
    let is_damaged = found.defects.iter().any(|defect| defect.kind == DefectKind::Damaged);
    if !is_damaged {
        // A damaged record does not tell which archive it names.
        let named: BTreeSet<_> = records.values().map(|record| record.artifact.digest).collect();
        let unnamed = listed.archives.iter().filter(|digest| !named.contains(digest));
        found.strays.extend(unnamed.map(files::artifact));
    }
    compare(objects, dir, log, &listed.skills, &records, &mut found.defects);
    if let Some(dir) = dir {
        add_others(dir, listed, is_damaged, &mut found)?;
    } else {
        // Derived files are for static hosts: a server does not read them.
        found.strays.extend(listed.lists.iter().map(files::list));
        found.strays.extend(listed.others);
        let message = "it is in a place of the registry, and is nothing that a registry has there";
        let misplaced = |path| defect(path, DefectKind::Damaged, message);
        found.defects.extend(listed.misplaced.into_iter().map(misplaced));
    }
    found.strays.sort_unstable();
    found.defects.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Returns the skills that a writer of a directory is at work on, or was when it was killed.
fn pending(dir: Option<&RegistryDir>) -> Result<Vec<SkillName>> {
    dir.map_or_else(|| Ok(Vec::new()), RegistryDir::pending)
}

/// The log as it was read.
struct Log {
    announced: Announcements,
    /// The number of the last entry.
    last: u64,
    /// The defects of entries.
    defects: Vec<Defect>,
}

/// Reads the log. Every entry from the first to the last has to be there.
fn read_log(objects: &dyn Objects) -> Result<Log> {
    let numbers = objects.list(files::LOG)?.into_iter().filter_map(|path| match FileKind::of(&path) {
        Some(FileKind::Log(number)) => Some(number),
        _ => None,
    });
    let numbers: BTreeSet<u64> = numbers.collect();
    let last = numbers.last().copied().unwrap_or(0);
    let numbers = with_first_gap(&numbers);
    let (mut announced, mut defects) = (Announcements::default(), Vec::new());
    let read = for_each(objects, &numbers, |number| objects.log_entry(*number));
    for (number, entry) in numbers.into_iter().zip(read) {
        match entry {
            Ok(Some(entry)) => announced.add(number, entry),
            Ok(None) => {
                defects.push(defect(files::log(number), DefectKind::Damaged, "the entry is missing"));
            }
            Err(error) => defects.push(damaged_by(files::log(number), &error)),
        }
    }
    Ok(Log { announced, last, defects })
}

/// The files of a registry, by what they are.
#[derive(Default)]
struct Listing {
    skills: Skills,
    archives: Vec<Digest>,
    /// The skills with a list.
    lists: Vec<SkillName>,
    /// Files in places of the registry's that are nothing which a registry has there.
    misplaced: Vec<String>,
    /// Other files that a server does not need.
    others: Vec<String>,
}

impl Listing {
    /// Lists the files. Of a directory only the registry's own directories are examined: others may lie beside them.
    fn of(objects: &dyn Objects, dir: Option<&RegistryDir>) -> Result<Self> {
        let below: &[&str] =
            if dir.is_some() { &[files::INDEX, files::ARTIFACTS, files::LOG] } else { &[""] };
        let mut listing = Self::default();
        for below in below {
            for path in objects.list(below)? {
                listing.add(path);
            }
        }
        Ok(listing)
    }

    fn add(&mut self, path: String) {
        match FileKind::of(&path) {
            Some(FileKind::Artifact(digest)) => self.archives.push(digest),
            Some(FileKind::List(name)) => self.lists.push(name),
            Some(FileKind::Record(..) | FileKind::Event(..)) => self.skills.add(&path),
            Some(FileKind::Config | FileKind::Log(_)) => {}
            Some(_) => self.others.push(path),
            None => match path.split('/').next().unwrap_or_default() {
                files::LOCK | files::PRIVATE => {}
                files::INDEX | "artifacts" | files::LOG => self.misplaced.push(path),
                _ => self.others.push(path),
            },
        }
    }
}

/// The findings about one skill.
#[derive(Default)]
struct Examined {
    /// The records that can be used.
    records: Vec<Record>,
    bytes: u64,
    defects: Vec<Defect>,
}

/// A record, the number of bytes of its archive, and what is wrong with that.
type ExaminedVersion = (Record, u64, Option<Defect>);

/// Examines `skills`.
fn examine_all(objects: &dyn Objects, skills: &Skills) -> Vec<Examined> {
    // An archive of a bucket is in memory while it is examined.
    let room = Room::new(ROOM);
    let mut versions = for_files(objects, &skills.records(), |name, key| {
        let record = read_record(objects, name, key)?;
        let (bytes, defect) = room.with(record.artifact.size, || examine_version(objects, &record));
        Ok((record, bytes, defect))
    });
    let mut events = for_files(objects, &skills.events(), |name, number| read_event(objects, name, number));
    let of = |name: &SkillName| {
        examine(name, versions.remove(name).unwrap_or_default(), events.remove(name).unwrap_or_default())
    };
    skills.0.keys().map(of).collect()
}

/// Examines the skill `name`, whose readable versions and events these are.
fn examine(
    name: &SkillName,
    versions: Vec<(&str, Result<ExaminedVersion>)>,
    read: Vec<(usize, Result<Event>)>,
) -> Examined {
    let mut found = Examined::default();
    for (key, version) in versions {
        match version {
            Ok((record, bytes, defect)) => {
                found.records.push(record);
                found.bytes += bytes;
                found.defects.extend(defect);
            }
            Err(error) => found.defects.push(damaged_by(record_path(name, key), &error)),
        }
    }
    let mut events = Vec::new();
    for (number, event) in read {
        match event {
            Ok(event) => events.push(event),
            Err(error) => found.defects.push(damaged_by(files::event(name, number), &error)),
        }
    }
    match History::new(name.clone(), found.records.clone(), events) {
        Ok(history) => {
            for version in history.missing() {
                let path = files::record(name, version);
                // A damaged one is reported already.
                if found.defects.iter().all(|defect| defect.path != path) {
                    let message =
                        format!("the record of `{name}` {version}, which an event is about, is missing");
                    found.defects.push(defect(path, DefectKind::RecordMissing, message));
                }
            }
        }
        Err(error) => {
            let path = format!("{}/{name}", files::INDEX);
            found.defects.push(defect(path, DefectKind::Damaged, error.to_string()));
        }
    }
    found
}

/// Examines the archive of a version. Returns the number of its bytes, and what is wrong.
fn examine_version(objects: &dyn Objects, record: &Record) -> (u64, Option<Defect>) {
    let at = files::artifact(&record.artifact.digest);
    let of = format!("the archive of `{}` {}", record.name, record.version);
    let differs =
        |message: String| Some(defect(at.clone(), DefectKind::ArtifactDiffers, format!("{of}: {message}")));
    let file = match objects.open(&at, record.artifact.size.min(Limits::default().archive_bytes)) {
        Ok(Some(file)) => file,
        Ok(None) => {
            let message = format!("{of} is missing");
            return (0, Some(defect(at, DefectKind::ArtifactMissing, message)));
        }
        Err(error) => return (0, differs(error.with_causes().to_string())),
    };
    let size = file.len();
    if size != record.artifact.size {
        return (size, differs(format!("it has {size} bytes, not {} as recorded", record.artifact.size)));
    }
    match package::digest_of(&file) {
        Ok(digest) if digest == record.artifact.digest => {}
        Ok(digest) => return (size, differs(format!("its digest is `{digest}`"))),
        Err(error) => return (size, differs(error.to_string())),
    }
    let content = examine_content(&file, record).err();
    let path = || files::record(&record.name, &record.version);
    (size, content.map(|message| defect(path(), DefectKind::ContentDiffers, message)))
}

/// Compares what the log announces with what came about.
fn compare(
    objects: &dyn Objects,
    dir: Option<&RegistryDir>,
    log: Log,
    skills: &Skills,
    records: &BTreeMap<(SkillName, String), Record>,
    defects: &mut Vec<Defect>,
) {
    let Log { announced, last, defects: of_log } = log;
    if of_log.is_empty() {
        // Versions published since the log was read are announced by now. Without a whole log their number is unknown.
        let mut later = Announcements::default();
        let mut number = last;
        while let Ok(Some(entry)) = objects.log_entry_after(number) {
            number += 1;
            later.add(number, entry);
        }
        let is_old = |name: &SkillName, key: &str| later.unannounced(name, key).is_some();
        let known = records.keys().filter(|(name, key)| is_old(name, key));
        defects.extend(known.filter_map(|(name, key)| announced.unannounced(name, key)));
    }
    defects.extend(of_log);
    // The work of a running or killed writer is still to be completed, and may just have been.
    let is_underway = |name: &SkillName, path: &str| -> Result<bool> {
        Ok(pending(dir)?.binary_search(name).is_ok() || objects.head(path)?.is_some())
    };
    for (name, key) in announced.versions() {
        let record = records.get(&(name.clone(), key.to_owned()));
        let path = record_path(name, key);
        // It is damaged, which is reported already, or an event has reported that it is missing.
        let is_told = record.is_none() && defects.iter().any(|defect| defect.path == path);
        if is_told {
            continue;
        }
        match record.map_or_else(|| is_underway(name, &path), |_| Ok(false)) {
            Ok(true) => {}
            Ok(false) => defects.extend(announced.examine(name, key, record.map(|record| record.digest))),
            Err(error) => defects.push(damaged_by(path, &error)),
        }
    }
    for (name, event) in announced.events() {
        if skills.0.get(name).is_some_and(|files| files.events.last() >= Some(&event)) {
            continue;
        }
        let path = files::event(name, event);
        match is_underway(name, &path) {
            Ok(true) => {}
            Ok(false) => defects.extend(announced.missing_event(name)),
            Err(error) => defects.push(damaged_by(path, &error)),
        }
    }
}

/// Adds what is in a directory besides records, events, archives and the log: derived files that are not as they should be,
/// unless damaged files keep them from being derived, and files that belong to nothing.
fn add_others(dir: &RegistryDir, listed: Listing, is_damaged: bool, found: &mut Verified) -> Result<()> {
    if !is_damaged {
        let outdated = dir.outdated()?;
        let message = "it is not what the records and events make";
        let defect = |path| defect(path, DefectKind::Outdated, message);
        found.defects.extend(outdated.written.into_iter().chain(outdated.removed).map(defect));
    }
    found.strays.extend(listed.misplaced);
    // A list that is not to be there is a defect already. Others are not the registry's.
    let is_foreign = |name: &&SkillName| !listed.skills.0.contains_key(name) && !is_own_list(dir, name);
    found.strays.extend(listed.lists.iter().filter(is_foreign).map(files::list));
    let is_discovery = |entry: &String| entry == "index.json" || exact_name(entry).is_some();
    let discovery = fs::list_dir(&dir.path_of(files::AGENT_SKILLS))?;
    let foreign = discovery.iter().filter(|entry| !is_discovery(entry));
    found.strays.extend(foreign.map(|entry| format!("{}/{entry}", files::AGENT_SKILLS)));
    found.strays.extend(leftovers(dir)?.into_iter().map(|entry| format!("{}/{entry}", files::PENDING)));
    Ok(())
}

/// Returns the path of the record of the version with the key `key`.
pub(super) fn record_path(name: &SkillName, key: &str) -> String {
    format!("{}/{name}/{key}.json", files::INDEX)
}

/// Compares what is in the archive `file` with its record.
pub(super) fn examine_content(file: &Arc<SharedFile>, record: &Record) -> Result<(), String> {
    let unpacked = package::unpack(file).map_err(|error| error.with_causes().to_string())?;
    if unpacked.digest != record.digest {
        return Err(format!("the files in its archive have the digest `{}`", unpacked.digest));
    }
    let facts = unpacked.facts().map_err(|error| error.with_causes().to_string())?;
    match record.difference(&facts) {
        Some(field) => Err(format!("its `{field}` is not that of the skill in its archive")),
        None => Ok(()),
    }
}

pub(super) fn defect(path: String, kind: DefectKind, message: impl Into<String>) -> Defect {
    Defect { path, kind, message: message.into() }
}

fn damaged_by(path: String, error: &Error) -> Defect {
    defect(path, DefectKind::Damaged, error.with_causes().to_string())
}
