//! Reading every byte of a registry in a bucket.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Bytes;
use futures_util::{StreamExt as _, stream};

use super::{Objects, PRIVATE};
use crate::app::blocking;
use crate::digest::Digest;
use crate::error::Result;
use crate::name::SkillName;
use crate::registry::{
    Announcements, Defect, DefectKind, Event, FileError, History, LogEntry, MAX_FILE, Record, Verified,
    check_archive_bytes, files, registry_name,
};

/// The number of files that are read at the same time.
const FILES: usize = 16;

/// The objects of a skill that are in the places of its records and events.
#[derive(Debug, Default)]
struct Files {
    /// The keys of records.
    records: Vec<String>,
    /// The numbers of events.
    events: BTreeSet<usize>,
}

/// Verifies the registry in `objects`. Whatever cannot be read, or is in a place of the registry's and is not what belongs
/// there, is a defect: nothing is passed over.
///
/// # Errors
///
/// Fails if the store does not list its objects.
pub(super) async fn verify(objects: &Objects) -> Result<Verified> {
    let mut found = Verified::default();
    // The log comes first: what is published meanwhile is not announced yet.
    let (announced, last) = read_log(objects, &mut found.defects).await?;
    let is_log_whole = found.defects.is_empty();
    let mut skills: BTreeMap<SkillName, Files> = BTreeMap::new();
    for path in objects.list("").await? {
        sort_in(path, &mut skills, &mut found);
    }
    let (mut records, mut archives) = (BTreeMap::new(), BTreeSet::new());
    for (name, files) in &skills {
        let read = read_skill(objects, name, files, &mut found.defects).await;
        found.skills += usize::from(!read.is_empty());
        found.versions += read.len();
        for record in read {
            archives.insert(files::artifact(&record.artifact.digest));
            records.insert((name.clone(), files::version_key(&record.version)), record);
        }
    }
    let checks = records.values().map(|record| check_archive(objects.clone(), record.clone()));
    let checked: Vec<_> = stream::iter(checks).buffer_unordered(FILES).collect().await;
    for (size, defect) in checked {
        found.bytes += size;
        found.defects.extend(defect);
    }
    // What was published since is announced by now.
    let mut later = Announcements::default();
    let mut number = last + 1;
    while let Ok(entry) = read(objects, files::log(number), LogEntry::parse).await {
        later.add(number, entry);
        number += 1;
    }
    let since: BTreeSet<_> = later.versions().map(|(name, key)| (name.clone(), key.to_owned())).collect();
    if is_log_whole {
        let known = records.keys().filter(|version| !since.contains(*version));
        found.defects.extend(known.filter_map(|(name, key)| announced.unannounced(name, key)));
    }
    for (name, key) in announced.versions() {
        let record = records.get(&(name.clone(), key.to_owned())).map(|record| record.digest);
        let path = format!("{}/{name}/{key}.json", files::INDEX);
        // It is damaged, which is told already; or it has come about since, or an event has told that it is missing.
        let is_told = record.is_none()
            && (found.defects.iter().any(|defect| defect.path == path)
                || objects.exists(&path).await.unwrap_or(false));
        if !is_told {
            found.defects.extend(announced.examine(name, key, record));
        }
    }
    for (name, event) in announced.events() {
        let is_there = skills.get(name).is_some_and(|files| files.events.iter().any(|there| *there >= event));
        if !is_there && !objects.exists(&files::event(name, event)).await.unwrap_or(false) {
            found.defects.extend(announced.missing_event(name));
        }
    }
    found.strays.retain(|path| !archives.contains(path));
    found.strays.sort_unstable();
    found.defects.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Reads the log. Every entry from the first to the last has to be there. Returns the number of the last one too.
async fn read_log(objects: &Objects, defects: &mut Vec<Defect>) -> Result<(Announcements, u64)> {
    let mut numbers = BTreeSet::new();
    for path in objects.list(files::LOG).await? {
        let number = path.rsplit('/').next().and_then(|file| file.strip_suffix(".json")?.parse::<u64>().ok());
        match number.filter(|number| *number > 0 && files::log(*number) == path) {
            Some(number) => {
                numbers.insert(number);
            }
            None => defects.push(foreign(path)),
        }
    }
    let mut announced = Announcements::default();
    let last = numbers.last().copied().unwrap_or(0);
    let reads = (1..=last).map(|number| async move {
        let path = files::log(number);
        (number, read(objects, path, LogEntry::parse).await)
    });
    let mut reads = stream::iter(reads).buffered(FILES);
    while let Some((number, entry)) = reads.next().await {
        match entry {
            Ok(entry) => announced.add(number, entry),
            Err(defect) => defects.push(defect),
        }
    }
    Ok((announced, last))
}

/// Notes to what the object at `path` belongs.
fn sort_in(path: String, skills: &mut BTreeMap<SkillName, Files>, found: &mut Verified) {
    let parts: Vec<_> = path.split('/').collect();
    let exact = |name: &str| registry_name(name).ok().filter(|known| known.as_str() == name);
    match &parts[..] {
        // Derived files are for static hosts: a server does not read them.
        [files::INDEX, file] if file.strip_suffix(".json").and_then(exact).is_some() => {
            found.strays.push(path);
        }
        [files::INDEX, name, file] => match (exact(name), file.strip_suffix(".json")) {
            (Some(name), Some(key)) => skills.entry(name).or_default().records.push(key.to_owned()),
            _ => found.defects.push(foreign(path)),
        },
        [files::INDEX, name, files::EVENTS, file] => {
            let number = file.strip_suffix(".json").and_then(|number| number.parse::<usize>().ok());
            match exact(name).zip(number).filter(|(name, number)| files::event(name, *number) == path) {
                Some((name, number)) if number > 0 => {
                    skills.entry(name).or_default().events.insert(number);
                }
                _ => found.defects.push(foreign(path)),
            }
        }
        [files::INDEX, ..] => found.defects.push(foreign(path)),
        ["artifacts", "sha256", file] => {
            let digest = file.strip_suffix(".zip").and_then(Digest::from_hex);
            // Those that a record names are removed from the strays later.
            if digest.is_some_and(|digest| files::artifact(&digest) == path) {
                found.strays.push(path);
            } else {
                found.defects.push(foreign(path));
            }
        }
        ["artifacts", ..] => found.defects.push(foreign(path)),
        [files::LOG | PRIVATE, ..] | [files::CONFIG | files::LOCK] => {}
        _ => found.strays.push(path),
    }
}

/// Reads the records and events of a skill. Returns the records that can be used.
async fn read_skill(
    objects: &Objects,
    name: &SkillName,
    files: &Files,
    defects: &mut Vec<Defect>,
) -> Vec<Record> {
    let (mut records, mut events) = (Vec::new(), Vec::new());
    let reads = files.records.iter().map(|key| async move {
        let path = format!("{}/{name}/{key}.json", files::INDEX);
        read(objects, path, |bytes| Record::parse(bytes, name, key)).await
    });
    let reads: Vec<_> = stream::iter(reads).buffered(FILES).collect().await;
    for record in reads {
        match record {
            Ok(record) => records.push(record),
            Err(defect) => defects.push(defect),
        }
    }
    let last = files.events.last().copied().unwrap_or(0);
    for number in 1..=last {
        match read(objects, files::event(name, number), Event::parse).await {
            Ok(event) => events.push(event),
            Err(defect) => defects.push(defect),
        }
    }
    match History::new(name.clone(), records.clone(), events) {
        Ok(history) => {
            for version in history.missing() {
                let path = files::record(name, version);
                // A damaged one is told already.
                if defects.iter().all(|defect| defect.path != path) {
                    let message =
                        format!("the record of `{name}` {version}, which an event is about, is missing");
                    defects.push(Defect { path, kind: DefectKind::RecordMissing, message });
                }
            }
        }
        Err(error) => {
            let path = format!("{}/{name}", files::INDEX);
            defects.push(Defect { path, kind: DefectKind::Damaged, message: error.to_string() });
        }
    }
    records
}

/// Reads the object at `path`, which has to be there.
async fn read<T>(
    objects: &Objects,
    path: String,
    parse: impl FnOnce(&[u8]) -> std::result::Result<T, FileError>,
) -> std::result::Result<T, Defect> {
    let damaged = |path, message| Defect { path, kind: DefectKind::Damaged, message };
    match objects.get(&path, MAX_FILE).await {
        Ok(Some(bytes)) => parse(&bytes).map_err(|error| damaged(path, error.to_string())),
        Ok(None) => Err(damaged(path, "it is missing".to_owned())),
        Err(error) => Err(damaged(path, error.with_causes().to_string())),
    }
}

/// Reads the archive of a version. Returns the number of its bytes, and what is wrong.
async fn check_archive(objects: Objects, record: Record) -> (u64, Option<Defect>) {
    let path = files::artifact(&record.artifact.digest);
    let of = format!("the archive of `{}` {}", record.name, record.version);
    let told = |kind, message| Some(Defect { path: path.clone(), kind, message });
    let bytes: Bytes = match objects.get(&path, u64::MAX).await {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return (0, told(DefectKind::ArtifactMissing, format!("{of} is missing"))),
        Err(error) => {
            let message = format!("{of} cannot be read: {}", error.with_causes());
            return (0, told(DefectKind::ArtifactDiffers, message));
        }
    };
    let size = bytes.len() as u64;
    let checked = blocking(move || {
        if size != record.artifact.size || Digest::of(&bytes) != record.artifact.digest {
            return Ok(Some((DefectKind::ArtifactDiffers, "it has other bytes than it had".to_owned())));
        }
        let checked = check_archive_bytes(&bytes, &record);
        Ok(checked.err().map(|error| (DefectKind::ContentDiffers, error.with_causes().to_string())))
    })
    .await;
    let wrong =
        checked.unwrap_or_else(|error| Some((DefectKind::ArtifactDiffers, error.with_causes().to_string())));
    (size, wrong.and_then(|(kind, message)| told(kind, format!("{of}: {message}"))))
}

fn foreign(path: String) -> Defect {
    let message = "it is in a place of the registry, and is nothing that a registry has there".to_owned();
    Defect { path, kind: DefectKind::Damaged, message }
}
