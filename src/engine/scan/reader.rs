//! What lies in directories that may hold skills.

use std::cell::Cell;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Seeing;
use crate::document::{self, Document, Parts, Split, split_prefix};
use crate::engine::discover::Diagnostic;
use crate::engine::load::{self, MAX_SKILL_FILE, SKILL_FILE, Unusable};
use crate::engine::memory::records::Records;
use crate::engine::memory::{How, Known, record};
use crate::engine::skill::{Group, Home, Skill, SkillParts};
use crate::engine::sources::{Entry, Source};
use crate::fs::{Base, FileStat, Kind, Looked, Moment, Opened};
use crate::policy::{FileName, Policy};
use crate::skill::{self, LoadError, Loaded, Texts};

/// How many files are looked at before the names of others are fetched, and read before the first of them is parsed.
const BATCH: usize = 64;
/// More bytes than most records have.
const RECORD: usize = 512;

/// A directory that may hold a skill, by its place in a listing.
pub(super) struct Spot {
    pub(super) at: usize,
    /// Where it leads, if it is a link.
    pub(super) link: Option<Box<Path>>,
}

impl Spot {
    fn entry(&self, home: &Home) -> Entry {
        let (dir, real) = home.at(self.at);
        Entry { dir, real: self.link.as_deref().map_or(real, Path::to_owned) }
    }
}

/// Reads skills in the directory `base` of `source`.
pub(super) struct Reader<'a> {
    pub(super) policy: &'a Policy,
    pub(super) source: &'a Source,
    pub(super) base: &'a Base,
    /// When the search began: what is younger is not remembered.
    pub(super) since: Moment,
}

/// What was seen of a directory, and how. There are thousands of them at once.
pub(super) struct Look(Read, Arc<Group>);

impl Look {
    /// What lies at `at` of the listing, which is where this was seen.
    pub(super) fn seen(self, at: usize) -> (Seeing, How) {
        match self.0 {
            Read::Seen(seen) => *seen,
            Read::Record(place, is_old) => {
                let how = if is_old { How::Recorded } else { How::Unknown };
                (Seeing::Skill(Arc::new(Skill::brief(self.1, at, place))), how)
            }
        }
    }
}

/// What reading a file came to, and how.
enum Read {
    /// Few of them are anything else than a record.
    Seen(Box<(Seeing, How)>),
    /// A skill of which a record was made, and whether the file was old enough. It is made of that where it is
    /// told: what is used in one order lies in that order.
    Record(record::Place, bool),
}

/// The names of some directories, and the paths of the files of the skills in them. Names lie all over memory where
/// they are not asked for in their order: to fetch some together takes less than one after each look at a file.
#[derive(Default)]
struct Paths {
    text: String,
    ends: Vec<usize>,
}

impl Paths {
    /// Makes those of the directories `names`.
    fn fill<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.text.clear();
        self.ends.clear();
        for name in names {
            self.text.extend([name, "/", SKILL_FILE]);
            self.ends.push(self.text.len());
        }
    }

    /// Each name with its path.
    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| {
            let path = &self.text[start..*end];
            (&path[..path.len() - SKILL_FILE.len() - 1], path)
        })
    }
}

/// What was read of several files, and the records of the skills in them, each behind the one before.
#[derive(Default)]
pub(super) struct Buffers {
    starts: Vec<Start>,
    records: Vec<u8>,
}

/// The start of a file.
#[derive(Default)]
struct Start {
    bytes: Vec<u8>,
    /// Its parts, if it has some, and what the file was; `None` where that has another spelling, is a link, or is
    /// nothing at all.
    known: Option<(Option<Parts>, Option<FileStat>)>,
}

impl Start {
    /// Reads the start of `file`.
    fn read(&mut self, file: Opened<'_>) {
        let parts = Cell::new(None);
        let enough = |prefix: &[u8]| match split_prefix(prefix) {
            Split::NeedMore => false,
            split => {
                parts.set(found(split));
                true
            }
        };
        self.known = match file.read_start(MAX_SKILL_FILE, &mut self.bytes, enough) {
            // Of a short file all is there, and nobody asked whether that is enough.
            Ok((Looked::Read, stat)) => {
                Some((parts.take().or_else(|| found(split_prefix(&self.bytes))), stat))
            }
            _ => None,
        };
    }

    /// The file, which has these `parts`, if it has some.
    fn document(&mut self, parts: Option<Parts>) -> Document {
        let bytes = mem::take(&mut self.bytes);
        match parts {
            Some(parts) => Document::of_start(bytes, parts),
            None => load::of_start(bytes),
        }
    }

    /// Adds the record of the skill in the directory `name` whose file has these `parts` to `records`; `None` where
    /// more is to be known of it than its texts.
    fn record(
        &self,
        records: &mut Vec<u8>,
        stat: &FileStat,
        parts: &Parts,
        policy: &Policy,
        name: &str,
    ) -> Option<record::Place> {
        if parts.open.start > 0 {
            return None;
        }
        let yaml = std::str::from_utf8(self.bytes.get(parts.yaml.clone())?).ok()?;
        let entries = document::usual(yaml)?;
        record::put(records, stat, &Texts::plain(&entries, policy, name)?, name)
    }
}

impl Reader<'_> {
    /// Which of the directories in the home of `group`, by their places, hold what they held when it became
    /// `known`. They are asked in the order of the tour, in which that takes least.
    pub(super) fn unchanged(&self, known: &[Option<Known>], group: &Group) -> Vec<bool> {
        let listing = &group.home.listing;
        let mut unchanged = vec![false; listing.len()];
        let mut paths = Paths::default();
        for batch in listing.tour().chunks(BATCH) {
            let place = |at: &u32| match (known.get(*at as usize)?, listing.get(*at as usize)?) {
                (Some(known), (name, Kind::Directory)) => Some((*at as usize, known, name)),
                _ => None,
            };
            let places: Vec<_> = batch.iter().filter_map(place).collect();
            paths.fill(places.iter().map(|(.., name)| *name));
            for ((at, known, _), (_, path)) in places.iter().zip(paths.iter()) {
                let stat = self.base.stat(path.as_bytes());
                unchanged[*at] = stat.is_some_and(|stat| known.is_still(&stat, group, *at));
            }
        }
        unchanged
    }

    /// What lies at `spots` of `home`, which is read.
    pub(super) fn looks(&self, spots: &[Spot], home: &Arc<Home>, buffers: &mut Buffers) -> Vec<Look> {
        // They would be moved each time that they grow.
        buffers.records.reserve(spots.len() * RECORD);
        let mut found = Vec::with_capacity(spots.len());
        let mut paths = Paths::default();
        for batch in spots.chunks(BATCH) {
            paths.fill(batch.iter().map(|spot| home.listing.get(spot.at).map_or("", |(name, _)| name)));
            let Buffers { starts, records } = buffers;
            // All are read before the first is parsed: else the system's code and ours take turns, and each finds that
            // the other has taken its place in the processor's memory.
            starts.resize_with(BATCH, Start::default);
            let files = paths.iter().map(|(_, path)| Path::new(path)).zip(starts.iter_mut());
            self.base.read_several(files, Start::read);
            found.extend(
                batch
                    .iter()
                    .zip(paths.iter())
                    .zip(starts)
                    .map(|((spot, (name, _)), start)| self.read(name, spot, home, start, records)),
            );
        }
        let mut records = mem::take(&mut buffers.records);
        records.shrink_to_fit();
        let group =
            Arc::new(Group { home: Arc::clone(home), records: Arc::new(Records::in_memory(records)) });
        found.into_iter().map(|read| Look(read, Arc::clone(&group))).collect()
    }

    /// What `spot` of `home` holds, of which `start` was read. Of a skill of which nothing is to be told a record is
    /// made.
    fn read(&self, name: &str, spot: &Spot, home: &Home, start: &mut Start, records: &mut Vec<u8>) -> Read {
        let Some((parts, stat)) = start.known.take() else {
            return Read::Seen(Box::new((self.slowly(spot.entry(home)), How::Unknown)));
        };
        let old = stat.filter(|stat| stat.is_settled(self.since));
        // A link leads to a skill that lies elsewhere.
        let here = stat.filter(|stat| spot.link.is_none() && stat.device == home.device);
        if let (Some(stat), Some(parts)) = (&here, &parts)
            && let Some(record) = start.record(records, stat, parts, self.policy, name)
        {
            return Read::Record(record, old.is_some());
        }
        let document = start.document(parts);
        let loaded = skill::load_with(&document, self.policy, Some(name));
        let plain = loaded.as_ref().ok().filter(|loaded| loaded.deviations.is_empty());
        let record = plain
            .zip(here)
            .and_then(|(loaded, stat)| record::put(records, &stat, &Texts::of(&loaded.meta), name));
        let read = if let Some(record) = record {
            Read::Record(record, old.is_some())
        } else {
            let how = old.map_or(How::Unknown, |stat| How::Read(Box::new(stat)));
            Read::Seen(Box::new((self.found(spot.entry(home), loaded), how)))
        };
        start.bytes = document.into_text().into_bytes();
        read
    }

    /// What `entry` holds whose file is spelled as it should be.
    fn found(&self, entry: Entry, loaded: Result<Loaded<'_>, LoadError>) -> Seeing {
        let file = entry.dir.join(SKILL_FILE);
        self.skill(entry, file, loaded)
    }

    /// What `entry` holds, whatever it may be.
    fn slowly(&self, entry: Entry) -> Seeing {
        let unusable = |file: &Path, reason| {
            Seeing::Unusable(Arc::new(Diagnostic::Skill { file: file.to_owned(), reason }))
        };
        let file = match load::skill_file(&entry.dir) {
            Ok(Some(file)) => file,
            Ok(None) => return Seeing::Nothing(Box::new(entry)),
            Err(error) => return unusable(&entry.dir, error.into()),
        };
        let is_exact = file.file_name().is_some_and(|name| name == SKILL_FILE);
        if self.policy.file_name == FileName::Exact && !is_exact {
            return unusable(&file, Unusable::Misspelled);
        }
        match load::frontmatter(&file) {
            Ok(document) => {
                let directory = entry.dir.file_name().and_then(|name| name.to_str());
                let loaded = skill::load_with(&document, self.policy, directory);
                self.skill(entry, file, loaded)
            }
            Err(reason) => unusable(&file, reason),
        }
    }

    fn skill(&self, entry: Entry, file: PathBuf, loaded: Result<Loaded<'_>, LoadError>) -> Seeing {
        match loaded {
            Ok(loaded) => Seeing::Skill(Arc::new(Skill::from(SkillParts {
                meta: loaded.meta,
                source: Arc::clone(&self.source.name),
                kind: self.source.kind,
                dir: entry.dir,
                file,
                real: entry.real,
                deviations: loaded.deviations,
            }))),
            Err(reason) => Seeing::Unusable(Arc::new(Diagnostic::Skill { file, reason: reason.into() })),
        }
    }
}

/// The parts of a text, if it has some.
fn found(split: Split) -> Option<Parts> {
    if let Split::Found(parts) = split { Some(parts) } else { None }
}

/// What `entry` of `source` holds.
pub(in crate::engine) fn read(policy: &Policy, source: &Source, entry: Entry) -> Seeing {
    match Base::open(entry.dir.parent().unwrap_or(&source.dir)) {
        Ok(base) => {
            let reader = Reader { policy, source, base: &base, since: Moment::now() };
            let start = entry.dir.file_name().and_then(|name| {
                let mut start = Start::default();
                base.read_several([(&*Path::new(name).join(SKILL_FILE), &mut start)], Start::read);
                let (parts, _) = start.known.take()?;
                Some((start.document(parts), name.to_str()))
            });
            match start {
                Some((document, name)) => {
                    let loaded = skill::load_with(&document, policy, name);
                    reader.found(entry.clone(), loaded)
                }
                None => reader.slowly(entry),
            }
        }
        Err(error) => Seeing::Unusable(Arc::new(Diagnostic::Skill { file: entry.dir, reason: error.into() })),
    }
}
