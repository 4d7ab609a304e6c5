//! Reading every byte of a registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::dir::{exact_name, is_event};
use super::staging::leftovers;
use super::{LogChange, Record, RegistryDir, files, package};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, SharedFile};
use crate::name::SkillName;
use crate::workers;

/// What is wrong with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefectKind {
    /// A record or event cannot be used.
    Damaged,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
        for examined in examined {
            let examined = examined?;
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
        verified.defects.extend(self.examine_log()?);
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
        if found.defects.iter().all(|defect| defect.kind != DefectKind::Damaged)
            && let Err(error) = self.history(name)
        {
            found.defects.push(damaged_by(format!("{dir}/{}", files::EVENTS), &error));
        }
        Ok(found)
    }

    /// Examines the version with the record `record`, which is the file at `path`.
    fn examine_version(&self, path: String, record: &Record, found: &mut Examined) {
        found.versions += 1;
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

    /// Examines the log: every entry from the first to the last has to be there, and one of them has to announce each
    /// record that any announces. Two publishers can announce a version, and one of them gets it.
    fn examine_log(&self) -> Result<Vec<Defect>> {
        let (mut defects, mut announced) = (Vec::new(), BTreeMap::new());
        for number in 1..=self.log_length()? {
            let path = files::log(number);
            let entry = match self.log_entry(number) {
                Ok(Some(entry)) => entry,
                Ok(None) => {
                    defects.push(defect(path, DefectKind::Damaged, "the entry is missing"));
                    continue;
                }
                Err(error) => {
                    defects.push(damaged_by(path, &error));
                    continue;
                }
            };
            for change in entry.changes {
                let LogChange::Publish { name, version, digest } = change else { continue };
                // What did not come about is not wrong, and a record that is damaged is a defect of its own.
                let Ok(record) = self.record(&name, &files::version_key(&version)) else { continue };
                let is_it = record.digest == digest;
                let known = announced.entry((name, files::version_key(&version))).or_insert((is_it, number));
                known.0 |= is_it;
            }
        }
        for ((name, key), (is_announced, number)) in announced {
            if !is_announced {
                let message = format!("it announces `{name}` {key} with other files than the record has");
                defects.push(defect(files::log(number), DefectKind::ContentDiffers, message));
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
        // A derived file that is not to be there is a defect already.
        let is_list =
            |entry: &str| entry.strip_suffix(".json").is_some_and(|name| exact_name(name).is_some());
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
