//! What was read before, and whether it is still so.
//!
//! It is the metadata of skills with what the file system told of their files when they were read, in memory
//! ([`super::Library`]) and, where a cache is at hand, in a file ([`mod@format`]). While a file is as it was, it is
//! not read again. What was young when it was read is not remembered: it may be changed once more without
//! another time, which is git's race, handled in git's way.

mod format;
pub(super) mod record;
pub(super) mod records;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::records::Records;
use super::skill::{Group, Home, Skill};
use super::sources::Source;
use crate::digest::Digest;
use crate::engine::Lookup;
use crate::fs::{self, Base, FileStat, Kind, Listing, Moment, SharedFile};
use crate::policy::Policy;
use crate::settings::Settings;
use crate::store::downloads::INDEXES;

/// The largest file that is read or written, in bytes: some hundred thousand skills.
const MAX_FILE: u64 = 256 << 20;

/// What was seen in some directories, by their real paths.
#[derive(Debug, Default)]
pub(super) struct Memory {
    dirs: Lookup<PathBuf, SeenDir>,
    /// What stands in the file that it came from.
    records: Arc<Records>,
    /// When what is remembered was read last.
    newest: Option<Moment>,
    /// Whether it differs from the file.
    changed: bool,
    /// Where it is kept when the program has ended, and what it is about.
    kept: Option<Kept>,
}

/// A file for a memory.
#[derive(Debug, Clone)]
struct Kept {
    file: PathBuf,
    /// Of the policy and the sources: with others, the same files are other skills.
    key: Digest,
}

/// What was seen in one directory.
#[derive(Debug)]
pub(super) struct SeenDir {
    /// What the directory was before it was read, if it was old enough.
    stat: Option<FileStat>,
    /// The file system that it is on. No skill of another one is remembered.
    pub(super) device: u64,
    /// What lies in it.
    pub(super) listing: Arc<Listing>,
    /// The skills in it that were read, by their places in the listing.
    pub(super) skills: Vec<Option<Known>>,
    /// Whether it is not as it was before.
    changed: bool,
}

/// What is remembered of one skill: its metadata, and what its file was when it was opened.
#[derive(Debug, Clone)]
pub(super) enum Known {
    /// Where its record stands in the file.
    Written(record::Place),
    /// A skill that was made of a record.
    Recorded(Arc<Skill>),
    /// A skill that no file can keep.
    Passing(Arc<Skill>, Box<FileStat>),
}

impl Memory {
    /// The memory of skills in `sources` by `policy` that an earlier run kept, if there is one.
    pub(super) fn kept(settings: &Settings, sources: &[Source], policy: &Policy) -> Self {
        Self::kept_at(settings, sources, policy, Moment::now())
    }

    fn kept_at(settings: &Settings, sources: &[Source], policy: &Policy, now: Moment) -> Self {
        let Some(cache) = &settings.dirs.cache else { return Self::default() };
        let mut about = format!("skills\0{policy:?}");
        for source in sources {
            // Writing to a string cannot fail.
            let _ = write!(about, "\0{}\0{}\0{}", source.name, source.kind, source.dir.display());
        }
        let key = Digest::of(about.as_bytes());
        let kept = Kept { file: cache.join(INDEXES).join(key.hex()), key };
        let file = SharedFile::open(&kept.file).ok();
        let mut memory = file.and_then(|file| format::decode(file, &kept.key)).unwrap_or_default();
        // The clock was set back: new files may get the times that old ones had.
        if memory.newest.is_some_and(|newest| newest > now) {
            memory = Self::default();
        }
        memory.kept = Some(kept);
        memory
    }

    /// The directories that were listed, by their real paths: what each was, if it was old enough, and what lay
    /// in it.
    pub(super) fn dirs(&self) -> impl Iterator<Item = (&Path, Option<FileStat>, Arc<Listing>)> {
        self.dirs.iter().map(|(path, dir)| (&**path, dir.stat, Arc::clone(&dir.listing)))
    }

    /// The directories in those that were listed of which no skill is remembered, and that were not listed
    /// themselves: a skill may come to be there, or the file may be one that cannot be used as yet.
    pub(super) fn open_places(&self) -> impl Iterator<Item = PathBuf> {
        self.dirs.iter().flat_map(|(path, dir)| {
            let names = dir.listing.iter().zip(&dir.skills);
            let open = names.filter(|((_, kind), skill)| *kind == Kind::Directory && skill.is_none());
            open.map(|((name, _), _)| path.join(name)).filter(|place| !self.dirs.contains_key(place))
        })
    }

    /// Forgets everything but the place where it is kept.
    pub(super) fn clear(&mut self) {
        self.dirs.clear();
        self.records = Arc::default();
        self.newest = None;
        // What is written was of before.
        self.changed = true;
    }

    /// Writes what changed. Without it, the next run reads the skills again.
    fn keep(&mut self) {
        if let Some(kept) = self.kept.as_ref().filter(|_| self.changed) {
            let _ = fs::write_small_with(&kept.file, |out| format::encode(self, &kept.key, out));
            self.changed = false;
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.keep();
    }
}

/// How something was found.
pub(super) enum How {
    /// By what was known, which is so still.
    Known,
    /// By reading a file that was old enough, and of which the skill has a record.
    Recorded,
    /// By reading a file that was this when it was opened, and old enough.
    Read(Box<FileStat>),
    /// In a way of which nothing is remembered.
    Unknown,
}

/// What is seen in one search, with what was seen before.
pub(super) struct Recall {
    pub(super) before: Memory,
    now: Lookup<PathBuf, SeenDir>,
    /// When the search began.
    pub(super) since: Moment,
    changed: bool,
}

impl Recall {
    /// What is seen from `since` on.
    pub(super) fn new(before: Memory, since: Moment) -> Self {
        Self { before, now: Lookup::new(), since, changed: false }
    }

    /// What lies in `base`, whose real path is `real`, and the skills that were known of it. The directory is
    /// read only if it changed.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    pub(super) fn list(&mut self, base: &Base, real: &Path) -> Result<SeenDir, fs::PathError> {
        let stat = base.stat(b".");
        let before = if self.before.dirs.is_empty() { None } else { self.before.dirs.remove(real) };
        let before = match before {
            Some(before) if stat.is_some() && before.stat == stat => {
                return Ok(SeenDir { changed: false, ..before });
            }
            before => before,
        };
        let listing = base.listing()?;
        let mut skills = vec![None; listing.len()];
        let device = stat.map(|stat| stat.device).unwrap_or_default();
        if let Some(before) = before.filter(|before| before.device == device) {
            let mut old = before.listing.iter().map(|(name, _)| name).zip(before.skills).peekable();
            for ((name, _), skill) in listing.iter().zip(&mut skills) {
                while old.next_if(|(old, _)| *old < name).is_some() {}
                if let Some((_, known)) = old.next_if(|(old, _)| *old == name) {
                    *skill = known;
                }
            }
        }
        // Names that are no text are told each time, and are not remembered.
        let stat = stat.filter(|stat| listing.odd().is_empty() && stat.is_settled(self.since));
        Ok(SeenDir { stat, device, listing: Arc::new(listing), skills, changed: true })
    }

    /// Remembers a directory as it was seen now.
    pub(super) fn put(&mut self, real: PathBuf, seen: SeenDir) {
        self.changed |= seen.changed;
        self.now.insert(real, seen);
    }

    /// What is remembered from now on.
    pub(super) fn finish(mut self) -> Memory {
        // What is left there is gone, or was not looked at.
        let changed = self.before.changed || self.changed || !self.before.dirs.is_empty();
        let newest = if changed { Some(self.since) } else { self.before.newest };
        Memory {
            dirs: self.now,
            records: Arc::clone(&self.before.records),
            newest,
            changed,
            kept: self.before.kept.take(),
        }
    }

    /// The skills that stand in the file of the memory and lie in `home`.
    pub(super) fn group(&self, home: &Arc<Home>) -> Arc<Group> {
        Arc::new(Group { home: Arc::clone(home), records: Arc::clone(&self.before.records) })
    }
}

impl SeenDir {
    /// Notes what was found at `at` of the listing, and how; `skill` is what can be remembered of it.
    pub(super) fn set(&mut self, at: usize, skill: Option<&Arc<Skill>>, how: How) {
        let place = &mut self.skills[at];
        let known = match (skill, how) {
            (Some(skill), How::Known) => {
                if let Some(Known::Written(_)) = place {
                    *place = Some(Known::Recorded(Arc::clone(skill)));
                }
                return;
            }
            (Some(skill), How::Recorded) => Some(Known::Recorded(Arc::clone(skill))),
            (Some(skill), How::Read(stat)) => Some(Known::Passing(Arc::clone(skill), stat)),
            _ => None,
        };
        let is_lasting = |known: &Option<Known>| known.as_ref().is_some_and(Known::is_lasting);
        self.changed |= is_lasting(place) || is_lasting(&known);
        *place = known;
    }
}

impl Known {
    /// Whether it is of a skill at `at` of the home of `group` whose file is `stat` still.
    pub(super) fn is_still(&self, stat: &FileStat, group: &Group, at: usize) -> bool {
        let lies_there = match self {
            Self::Written(_) => true,
            Self::Recorded(skill) | Self::Passing(skill, _) => skill.lies_at(&group.home, at),
        };
        lies_there && self.stat(group.home.device, &group.records) == Some(*stat)
    }

    /// The skill that it is of, which lies at `at` of the home of `group`.
    pub(super) fn skill(&self, group: &Arc<Group>, at: usize) -> Arc<Skill> {
        match self {
            Self::Recorded(skill) | Self::Passing(skill, _) => Arc::clone(skill),
            Self::Written(place) => Arc::new(Skill::brief(Arc::clone(group), at, place.clone())),
        }
    }

    /// What its file was, which is on `device`; `records` are those that it may stand in.
    fn stat(&self, device: u64, records: &Records) -> Option<FileStat> {
        match self {
            Self::Written(place) => records.stat(place, device),
            Self::Recorded(skill) => skill.stat(),
            Self::Passing(_, stat) => Some(**stat),
        }
    }

    /// The record of it, if there is one.
    fn record<'a>(&'a self, records: &'a Records) -> Option<record::Record<'a>> {
        match self {
            Self::Written(place) => records.record(place),
            Self::Recorded(skill) => skill.record(),
            Self::Passing(..) => None,
        }
    }

    /// Whether it can be kept in a file.
    fn is_lasting(&self) -> bool {
        !matches!(self, Self::Passing(..))
    }
}
