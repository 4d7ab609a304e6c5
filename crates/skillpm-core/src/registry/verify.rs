//! Reading every byte of a registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::derive::is_own_list;
use super::dir::{exact_name, is_event};
use super::staging::leftovers;
use super::{LogChange, LogEntry, Record, RegistryDir, files, package};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, SharedFile};
use crate::name::SkillName;
use crate::workers;

/// What is wrong with a file.
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
    /// What is in the archive is not what the record says.
    ContentDiffers,
    /// A derived file is not what the records and events make.
    Outdated,
}

/// Something wrong with a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Defect {
    /// The file, below the registry.
    pub path: String,
    /// What is wrong.
    pub kind: DefectKind,
    /// The same for people.
    pub message: String,
}

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of skills.
    pub skills: usize,
    /// The number of versions.
    pub versions: usize,
    /// The number of bytes of their archives.
    pub bytes: u64,
    /// What is wrong, by path.
    pub defects: Vec<Defect>,
    /// Files that belong to nothing, sorted. They harm nothing.
    pub strays: Vec<String>,
    /// Skills that a writer was at work on when it was killed.
    pub pending: Vec<SkillName>,
}

/// What was found out about one skill.
#[derive(Default)]
struct Examined {
    versions: usize,
    bytes: u64,
    /// The keys of the versions whose records can be used.
    keys: Vec<String>,
    artifacts: Vec<Digest>,
    defects: Vec<Defect>,
    strays: Vec<String>,
}

impl RegistryDir {
    /// Reads every byte of the registry: records and events, archives with what is in them, and derived files.
    ///
    /// # Errors
    ///
    /// Fails if a directory cannot be read. Whatever is wrong with a file is a defect.
    pub fn verify(&self) -> Result<Verified> {
        let names = self.names()?;
        let mut verified = Verified { pending: self.pending()?, ..Verified::default() };
        let mut artifacts = BTreeSet::new();
        let examined = workers::map(&names, workers::FEW, || (), |(), name| self.examine(name));
        let mut records = Vec::new();
        for (name, examined) in names.iter().zip(examined) {
            let examined = examined?;
            records.extend(examined.keys.into_iter().map(|key| (name, key)));
            verified.skills += usize::from(examined.versions > 0);
            verified.versions += examined.versions;
            verified.bytes += examined.bytes;
            verified.defects.extend(examined.defects);
            verified.strays.extend(examined.strays);
            artifacts.extend(examined.artifacts);
        }
        let is_damaged = verified.defects.iter().any(|defect| defect.kind == DefectKind::Damaged);
        if !is_damaged {
            // Nothing can be derived from damaged files.
            let outdated = self.outdated()?;
            let defect =
                |path| defect(path, DefectKind::Outdated, "it is not what the records and events make");
            verified.defects.extend(outdated.written.into_iter().chain(outdated.removed).map(defect));
        }
        let log = self.examine_log(&records)?;
        // An event can already have told of a record that is missing.
        let is_new = |defect: &Defect| {
            let mut missing = verified.defects.iter().filter(|one| one.kind == DefectKind::RecordMissing);
            defect.kind != DefectKind::RecordMissing || missing.all(|one| one.path != defect.path)
        };
        let new: Vec<_> = log.into_iter().filter(is_new).collect();
        verified.defects.extend(new);
        // Nor do these tell which archives they name.
        verified.strays.extend(self.strays(&names, (!is_damaged).then_some(&artifacts))?);
        verified.strays.sort_unstable();
        verified.defects.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(verified)
    }

    /// Examines one skill.
    fn examine(&self, name: &SkillName) -> Result<Examined> {
        let dir = format!("{}/{name}", files::INDEX);
        let mut found = Examined::default();
        for entry in fs::list_dir(&self.path_of(&dir))? {
            let path = format!("{dir}/{entry}");
            match entry.strip_suffix(".json") {
                Some(key) => match self.record(name, key) {
                    Ok(record) => self.examine_version(path, &record, &mut found),
                    Err(error) => found.defects.push(damaged_by(path, &error)),
                },
                None if entry == files::EVENTS => found.strays.extend(self.stray_events(&path)?),
                None => found.strays.push(path),
            }
        }
        if found.defects.iter().all(|defect| defect.kind != DefectKind::Damaged) {
            match self.history(name) {
                Ok(history) => {
                    let missing = history.missing().map(|version| {
                        let message =
                            format!("the record of `{name}` {version}, which an event is about, is missing");
                        defect(files::record(name, version), DefectKind::RecordMissing, message)
                    });
                    found.defects.extend(missing);
                }
                Err(error) => found.defects.push(damaged_by(format!("{dir}/{}", files::EVENTS), &error)),
            }
        }
        Ok(found)
    }

    /// Examines the version with the record `record`, which is the file at `path`.
    fn examine_version(&self, path: String, record: &Record, found: &mut Examined) {
        found.versions += 1;
        found.keys.push(files::version_key(&record.version));
        found.artifacts.push(record.artifact.digest);
        let at = files::artifact(&record.artifact.digest);
        let file = match SharedFile::open_plain(&self.path_of(&at)) {
            Ok(Some(file)) => Arc::new(file),
            Ok(None) => {
                let message = format!("the archive of `{}` {} is missing", record.name, record.version);
                return found.defects.push(defect(at, DefectKind::ArtifactMissing, message));
            }
            Err(error) => {
                return found.defects.push(defect(at, DefectKind::ArtifactDiffers, error.to_string()));
            }
        };
        found.bytes += file.len();
        let differs = |message: String| defect(at, DefectKind::ArtifactDiffers, message);
        if file.len() != record.artifact.size {
            let message = format!("it has {} bytes, not {} as recorded", file.len(), record.artifact.size);
            return found.defects.push(differs(message));
        }
        match package::digest_of(&file) {
            Ok(digest) if digest == record.artifact.digest => {}
            Ok(digest) => return found.defects.push(differs(format!("its digest is `{digest}`"))),
            Err(error) => return found.defects.push(differs(error.to_string())),
        }
        if let Err(message) = examine_content(&file, record) {
            found.defects.push(defect(path, DefectKind::ContentDiffers, message));
        }
    }

    /// Examines the log: every entry from the first to the last has to be there, and what they announce has to be what the
    /// records have. `records` are the versions that were found before, by name and key: each was announced before it came
    /// about.
    fn examine_log(&self, records: &[(&SkillName, String)]) -> Result<Vec<Defect>> {
        let (mut defects, mut announced) = (Vec::new(), Announcements::default());
        for number in 1..=self.log_length()? {
            let path = files::log(number);
            match self.log_entry(number) {
                Ok(Some(entry)) => announced.add(number, entry),
                Ok(None) => defects.push(defect(path, DefectKind::Damaged, "the entry is missing")),
                Err(error) => defects.push(damaged_by(path, &error)),
            }
        }
        if defects.is_empty() {
            // Otherwise a damaged entry may have announced it.
            defects.extend(records.iter().filter_map(|(name, key)| announced.unannounced(name, key)));
        }
        // What a writer is at work on, or a killed one was, still comes about. It may just have done so.
        let is_underway = |name: &SkillName, path: &str| -> Result<bool> {
            Ok(self.pending()?.binary_search(name).is_ok() || self.kind(path)?.is_some())
        };
        for (name, key) in announced.versions() {
            let path = record_path(name, key);
            let record = match self.kind(&path)? {
                None if is_underway(name, &path)? => continue,
                None => None,
                // One that is damaged is a defect already.
                Some(_) => match self.record(name, key) {
                    Ok(record) => Some(record.digest),
                    Err(_) => continue,
                },
            };
            defects.extend(announced.examine(name, key, record));
        }
        for (name, event) in announced.events() {
            let path = files::event(name, event);
            if self.kind(&path)?.is_none() && !is_underway(name, &path)? {
                defects.extend(announced.missing_event(name));
            }
        }
        Ok(defects)
    }

    /// Returns the files below the directory of events at `dir` that are no events.
    fn stray_events(&self, dir: &str) -> Result<Vec<String>> {
        let entries = fs::list_dir(&self.path_of(dir))?;
        Ok(entries.iter().filter(|entry| !is_event(entry)).map(|entry| format!("{dir}/{entry}")).collect())
    }

    /// Returns the files that belong to none of the skills `names`, nor to a version with one of `artifacts`, if these
    /// are known. Only directories of the registry's own are examined: others may lie beside them.
    fn strays(&self, names: &[SkillName], artifacts: Option<&BTreeSet<Digest>>) -> Result<Vec<String>> {
        let is_name = |entry: &str| exact_name(entry).is_some_and(|name| names.binary_search(&name).is_ok());
        let is_artifact = |entry: &str| {
            let digest = entry.strip_suffix(".zip").and_then(Digest::from_hex);
            digest.is_some_and(|digest| artifacts.is_none_or(|known| known.contains(&digest)))
        };
        // A derived file that is not to be there is a defect already. Others are not the registry's.
        let is_list = |entry: &str| {
            let name = entry.strip_suffix(".json").and_then(exact_name);
            name.is_some_and(|name| names.binary_search(&name).is_ok() || is_own_list(self, &name))
        };
        let is_discovery = |entry: &str| entry == "index.json" || exact_name(entry).is_some();
        let mut strays = Vec::new();
        let mut look = |dir: &str, belongs: &dyn Fn(&str) -> bool| -> Result<()> {
            let entries = fs::list_dir(&self.path_of(dir))?;
            strays
                .extend(entries.iter().filter(|entry| !belongs(entry)).map(|entry| format!("{dir}/{entry}")));
            Ok(())
        };
        look(files::INDEX, &|entry| is_name(entry) || is_list(entry))?;
        look(files::ARTIFACTS, &is_artifact)?;
        look(files::AGENT_SKILLS, &is_discovery)?;
        strays.extend(leftovers(self)?.into_iter().map(|entry| format!("{}/{entry}", files::PENDING)));
        Ok(strays)
    }
}

/// What the log announces.
#[derive(Debug, Default)]
pub struct Announcements {
    versions: BTreeMap<(SkillName, String), Vec<Announced>>,
    /// The highest number of an event of each skill, and the number of the entry.
    events: BTreeMap<SkillName, (usize, u64)>,
}

/// A version as an entry of the log announces it.
#[derive(Debug)]
struct Announced {
    number: u64,
    digest: Digest,
    /// Whether a server made the entry. Two servers on a bucket can announce a version at the same time.
    is_of_server: bool,
}

impl Announcements {
    /// Adds what `entry`, which has this number, announces.
    pub fn add(&mut self, number: u64, entry: LogEntry) {
        let is_of_server = entry.by.is_some();
        for change in entry.changes {
            match change {
                LogChange::Publish { name, version, digest } => {
                    let announced = self.versions.entry((name, files::version_key(&version))).or_default();
                    announced.push(Announced { number, digest, is_of_server });
                }
                LogChange::Event { name, number: event, .. } => {
                    let last = self.events.entry(name).or_default();
                    *last = (*last).max((event, number));
                }
                LogChange::Unknown => {}
            }
        }
    }

    /// Returns the last event that is announced of each skill.
    pub fn events(&self) -> impl Iterator<Item = (&SkillName, usize)> {
        self.events.iter().map(|(name, (event, _))| (name, *event))
    }

    /// Returns the defect of the last event of `name` that is announced, which is missing.
    pub fn missing_event(&self, name: &SkillName) -> Option<Defect> {
        let (event, number) = self.events.get(name)?;
        let message =
            format!("`{}` announces it, and it is missing: a yank could be gone", files::log(*number));
        Some(defect(files::event(name, *event), DefectKind::Damaged, message))
    }

    /// Returns the versions that are announced, each by its name and key.
    pub fn versions(&self) -> impl Iterator<Item = (&SkillName, &str)> {
        self.versions.keys().map(|(name, key)| (name, key.as_str()))
    }

    /// Returns the defect of a version that has a record and that no entry announces.
    pub fn unannounced(&self, name: &SkillName, key: &str) -> Option<Defect> {
        let is_announced = self.versions.contains_key(&(name.clone(), key.to_owned()));
        let message = "no entry of the log announces it: the last ones may be missing";
        (!is_announced).then(|| defect(record_path(name, key), DefectKind::Damaged, message))
    }

    /// Compares what is announced of a version with the digest that its record has; `None` if there is no record.
    pub fn examine(&self, name: &SkillName, key: &str, record: Option<Digest>) -> Option<Defect> {
        let announced = self.versions.get(&(name.clone(), key.to_owned()))?;
        let first = announced.first()?;
        let Some(record) = record else {
            let last = announced.last().unwrap_or(first).number;
            let message = format!(
                "`{}` announces `{name}` {key}, and its record is missing: it was removed, or its publication was cut \
                 off and not tried again",
                files::log(last)
            );
            return Some(defect(record_path(name, key), DefectKind::RecordMissing, message));
        };
        if announced.iter().all(|one| one.digest != record) {
            let message = format!("it announces `{name}` {key} with other files than the record has");
            return Some(defect(files::log(first.number), DefectKind::ContentDiffers, message));
        }
        // Writers of a directory take turns: the second one knows what the first one announced.
        let other = announced.iter().find(|one| one.digest != first.digest)?;
        let is_race = announced.iter().all(|one| one.is_of_server);
        let message =
            format!("it announces `{name}` {key} with other files than `{}` does", files::log(first.number));
        (!is_race).then(|| defect(files::log(other.number), DefectKind::ContentDiffers, message))
    }
}

/// Returns the path of the record of the version with the key `key`.
fn record_path(name: &SkillName, key: &str) -> String {
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

fn defect(path: String, kind: DefectKind, message: impl Into<String>) -> Defect {
    Defect { path, kind, message: message.into() }
}

fn damaged_by(path: String, error: &Error) -> Defect {
    defect(path, DefectKind::Damaged, error.with_causes().to_string())
}
