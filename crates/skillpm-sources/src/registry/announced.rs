//! The announcements of the log, compared with the files.

use std::collections::BTreeMap;

use super::verify::{defect, record_path};
use super::{Defect, DefectKind, LogChange, LogEntry, files};
use crate::digest::Digest;
use crate::name::SkillName;

/// The announcements of the log.
#[derive(Debug, Default)]
pub(super) struct Announcements {
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
    pub(super) fn add(&mut self, number: u64, entry: LogEntry) {
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
    pub(super) fn events(&self) -> impl Iterator<Item = (&SkillName, usize)> {
        self.events.iter().map(|(name, (event, _))| (name, *event))
    }

    /// Returns the defect of the last event of `name` that is announced, which is missing.
    pub(super) fn missing_event(&self, name: &SkillName) -> Option<Defect> {
        let (event, number) = self.events.get(name)?;
        let message =
            format!("`{}` announces it, and it is missing: a yank could be gone", files::log(*number));
        Some(defect(files::event(name, *event), DefectKind::Damaged, message))
    }

    /// Returns the versions that are announced, each by its name and key.
    pub(super) fn versions(&self) -> impl Iterator<Item = (&SkillName, &str)> {
        self.versions.keys().map(|(name, key)| (name, key.as_str()))
    }

    /// Returns the defect of a version that has a record and that no entry announces.
    pub(super) fn unannounced(&self, name: &SkillName, key: &str) -> Option<Defect> {
        let is_announced = self.versions.contains_key(&(name.clone(), key.to_owned()));
        let message = "no entry of the log announces it: the last ones may be missing";
        (!is_announced).then(|| defect(record_path(name, key), DefectKind::Damaged, message))
    }

    /// Compares what is announced of a version with the digest that its record has; `None` if there is no record.
    pub(super) fn examine(&self, name: &SkillName, key: &str, record: Option<Digest>) -> Option<Defect> {
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
