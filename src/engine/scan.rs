//! The skills of one source.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::Diagnostic;
use super::load::{self, MAX_SKILL_FILE, SKILL_FILE, Unusable};
use super::memory::{How, Known, Memory, Recall, record};
use super::skill::{Group, Home, Skill, SkillParts};
use super::sources::{Entry, Source, SourceKind};
use crate::document::{Document, Split, split_prefix};
use crate::fs::{self, Base, FileStat, Kind, Listing, Looked, Moment, PathError};
use crate::policy::{FileName, Policy};
use crate::skill::{self, LoadError, Loaded, SkillMeta};
use crate::source::discover::SKIPPED;
use crate::workers;

/// The largest number of directories without a skill that are searched in one source.
pub(super) const MAX_DIRECTORIES: usize = 2000;

/// What a directory holds.
pub(super) enum Seeing {
    Skill(Arc<Skill>),
    /// No skill of its own.
    Nothing(Box<Entry>),
    /// One that cannot be used.
    Unusable(Arc<Diagnostic>),
}

/// The real directories that were looked at.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// All directories in these were.
    parents: HashSet<PathBuf>,
    /// Others, most of which links lead to.
    others: HashSet<PathBuf>,
}

impl Seen {
    pub(super) fn insert(&mut self, real: PathBuf) {
        self.others.insert(real);
    }

    fn contains(&self, real: &Path) -> bool {
        self.others.contains(real) || real.parent().is_some_and(|parent| self.parents.contains(parent))
    }
}

/// Looks through sources, one after the other.
pub(super) struct Scanner<'a> {
    policy: &'a Policy,
    recall: Recall,
}

impl<'a> Scanner<'a> {
    /// A search that begins at `since`.
    pub(super) fn new(policy: &'a Policy, before: Memory, since: Moment) -> Self {
        Self { policy, recall: Recall::new(before, since) }
    }

    /// What was seen.
    pub(super) fn memory(self) -> Memory {
        self.recall.finish()
    }

    /// The skills of one source that are not in `seen`, sorted by the bytes of their paths. A source that is
    /// not there has none.
    pub(super) fn scan(
        &mut self,
        source: &Source,
        seen: &mut Seen,
        diagnostics: &mut Vec<Arc<Diagnostic>>,
    ) -> Vec<Arc<Skill>> {
        let mut search =
            Search { scanner: self, source, seen, diagnostics, skills: Vec::new(), directories: 0 };
        let searched = source.real().and_then(|real| {
            if let Some(real) = real {
                return search.directory(&source.dir, &real, 1);
            }
            // That somebody has no skills of their own is nothing to tell; what was named should be there.
            if source.kind == SourceKind::Extra {
                search.diagnostics.push(Arc::new(Diagnostic::Missing(source.dir.clone())));
            }
            Ok(())
        });
        let skills = search.skills;
        if let Err(error) = searched {
            diagnostics.push(Arc::new(Diagnostic::Source(error)));
        }
        skills
    }
}

/// A walk through one source.
struct Search<'a, 'b> {
    scanner: &'a mut Scanner<'b>,
    source: &'a Source,
    seen: &'a mut Seen,
    diagnostics: &'a mut Vec<Arc<Diagnostic>>,
    skills: Vec<Arc<Skill>>,
    /// How many directories were searched that hold no skill of their own.
    directories: usize,
}

/// A directory that may hold a skill, by its place in a listing.
struct Spot {
    at: usize,
    /// Where it leads, if it is a link.
    link: Option<Box<Path>>,
}

impl Search<'_, '_> {
    /// Looks at all directories in `dir`, whose real path is `real`: at all of them at once, and then, in their
    /// order, into those that hold no skill of their own. Links are followed in the source itself.
    fn directory(&mut self, dir: &Path, real: &Path, depth: usize) -> Result<(), PathError> {
        let base = Base::open(dir)?;
        let mut listed = self.scanner.recall.list(&base, real)?;
        let listing = Arc::clone(&listed.listing);
        let is_new = !self.seen.parents.contains(real);
        let spot = |(at, (name, kind))| match kind {
            Kind::Directory => is_new.then_some(Spot { at, link: None }),
            Kind::Symlink if depth == 1 => {
                // A single entry that cannot be looked at hides none of the others.
                let real = fs::real_path(&dir.join(name)).ok().flatten();
                let real = real.filter(|real| matches!(fs::kind(real), Ok(Some(Kind::Directory))));
                real.map(|real| Spot { at, link: Some(real.into()) })
            }
            _ => None,
        };
        let spots: Vec<Spot> = listing.iter().enumerate().filter_map(spot).collect();
        let reader = Reader { policy: self.scanner.policy, source: self.source, base: &base };
        let home = Arc::new(Home::new(self.source, dir, real, Arc::clone(&listing), listed.device));
        let known = self.scanner.recall.group(&home);
        let known = (&self.scanner.recall, &known);
        let looks: Vec<_> = if listed.changed {
            let buffers = || {
                let base = if spots.len() > workers::PIECE { base.again().ok() } else { None };
                Buffers { base, ..Buffers::default() }
            };
            let looks =
                |buffers: &mut Buffers, spots: &[Spot]| reader.looks(spots, &listed.skills, known, buffers);
            workers::map_pieces(&spots, buffers, looks).collect()
        } else {
            // To see that nothing changed takes less than threads do.
            reader.looks(&spots, &listed.skills, known, &mut Buffers::default())
        };
        self.skills.reserve(spots.len());
        for (spot, Look { found, how }) in spots.iter().zip(looks) {
            let name = listing.get(spot.at).map_or("", |(name, _)| name);
            // A link may lead to what was found since, or to what another one of these leads to.
            let is_seen = match &spot.link {
                Some(link) => self.seen.contains(link) || is_before(&listing, spot.at, real, link),
                None => !self.seen.others.is_empty() && self.seen.others.contains(&real.join(name)),
            };
            let skill = if let Seeing::Skill(skill) = &found { Some(skill) } else { None };
            listed.set(spot.at, skill.filter(|_| spot.link.is_none()), how);
            if is_seen {
                continue;
            }
            match found {
                Seeing::Nothing(entry) if depth < self.scanner.policy.depth => self.below(&entry, depth + 1),
                Seeing::Nothing(_) => {}
                Seeing::Skill(skill) => {
                    if self.scanner.policy.file_name == FileName::Exact {
                        self.diagnostics.extend(second_file(&skill.dir).map(Arc::new));
                    }
                    self.skills.push(skill);
                }
                Seeing::Unusable(diagnostic) => self.diagnostics.push(diagnostic),
            }
            if let Some(link) = &spot.link {
                self.seen.insert(link.to_path_buf());
            }
        }
        self.scanner.recall.put(real.to_owned(), listed);
        self.seen.parents.insert(real.to_owned());
        Ok(())
    }

    /// Looks into a directory without a skill. Links below the first level are not followed, so the
    /// walk ends.
    fn below(&mut self, entry: &Entry, depth: usize) {
        let skipped =
            entry.dir.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped));
        if skipped || self.directories > MAX_DIRECTORIES {
            return;
        }
        self.directories += 1;
        if self.directories > MAX_DIRECTORIES {
            self.diagnostics.push(Arc::new(Diagnostic::TooManyDirectories(self.source.dir.clone())));
            return;
        }
        // What cannot be listed holds no skill that could be read.
        let _ = self.directory(&entry.dir, &entry.real, depth);
    }
}

/// Whether `link` leads to a directory in the listing of `real` before the place `at`.
fn is_before(listing: &Listing, at: usize, real: &Path, link: &Path) -> bool {
    let name = link.file_name().and_then(|name| name.to_str());
    link.parent() == Some(real)
        && listing.iter().take(at).any(|(old, kind)| kind == Kind::Directory && Some(old) == name)
}

impl Spot {
    fn entry(&self, home: &Home) -> Entry {
        let (dir, real) = home.at(self.at);
        Entry { dir, real: self.link.as_deref().map_or(real, Path::to_owned) }
    }
}

/// Reads skills in the directory `base` of `source`.
struct Reader<'a> {
    policy: &'a Policy,
    source: &'a Source,
    base: &'a Base,
}

/// What was seen of a directory, and how. There are thousands of them at once.
struct Look {
    found: Seeing,
    how: How,
}

/// What reading a file came to.
enum Read {
    Look(Look),
    /// A skill of which a record was made.
    Record(Range<u32>),
}

/// A path, the start of a file, and the records of the skills that were read, each behind the one before.
#[derive(Default)]
struct Buffers {
    /// The directory, where this thread has a handle of its own.
    base: Option<Base>,
    path: Vec<u8>,
    bytes: Vec<u8>,
    records: Vec<u8>,
}

impl Buffers {
    /// Makes the path of the file of a skill in the directory `name`.
    fn set_path(&mut self, name: &OsStr) {
        self.path.clear();
        for part in [name.as_encoded_bytes(), b"/", SKILL_FILE.as_bytes()] {
            self.path.extend_from_slice(part);
        }
    }

    /// Makes a record, if there can be one.
    fn record(&mut self, stat: &FileStat, meta: &SkillMeta) -> Option<Range<u32>> {
        let start = u32::try_from(self.records.len()).ok()?;
        record::put(&mut self.records, stat, meta)?;
        Some(start..u32::try_from(self.records.len()).ok()?)
    }
}

impl Reader<'_> {
    /// What lies at `spots` of the home of `group`. What is as it was when it became `known` is not read.
    fn looks(
        &self,
        spots: &[Spot],
        known: &[Option<Known>],
        (recall, group): (&Recall, &Arc<Group>),
        buffers: &mut Buffers,
    ) -> Vec<Look> {
        let home = &group.home;
        let read = |spot: &Spot| {
            let name = OsStr::new(home.listing.get(spot.at).map_or("", |(name, _)| name));
            if let Some(Some(known)) = known.get(spot.at)
                && let Some(skill) = recall.skill(known, self.stat(name, buffers), group, spot.at)
            {
                return Read::Look(Look { found: Seeing::Skill(skill), how: How::Known });
            }
            self.read(name, spot, home, buffers)
        };
        let found: Vec<Read> = spots.iter().map(read).collect();
        let mut records = mem::take(&mut buffers.records);
        records.shrink_to_fit();
        let group = Arc::new(Group { home: Arc::clone(home), bytes: Arc::new(records) });
        let look = |(spot, read): (&Spot, Read)| match read {
            Read::Look(look) => look,
            Read::Record(range) => {
                let skill = Skill::brief(&group, spot.at, range);
                Look { found: Seeing::Skill(Arc::new(skill)), how: How::Recorded }
            }
        };
        spots.iter().zip(found).map(look).collect()
    }

    /// The directory, as the thread of `own` knows it.
    fn base<'b>(&'b self, own: &'b Option<Base>) -> &'b Base {
        own.as_ref().unwrap_or(self.base)
    }

    /// What the file in the directory `name` is now.
    fn stat(&self, name: &OsStr, buffers: &mut Buffers) -> Option<FileStat> {
        buffers.set_path(name);
        self.base(&buffers.base).stat(&buffers.path)
    }

    /// What `spot` of `home` holds, which is read. Of a skill of which nothing is to be told a record is made.
    fn read(&self, name: &OsStr, spot: &Spot, home: &Home, buffers: &mut Buffers) -> Read {
        let Some((document, stat)) = self.start(name, buffers) else {
            return Read::Look(Look { found: self.slowly(spot.entry(home)), how: How::Unknown });
        };
        let loaded = skill::load_with(&document, self.policy, name.to_str());
        let plain = loaded.as_ref().ok().filter(|loaded| loaded.deviations.is_empty());
        // A link leads to a skill that lies elsewhere.
        let here = stat.filter(|stat| spot.link.is_none() && stat.device == home.device);
        let record = plain.zip(here).and_then(|(loaded, stat)| buffers.record(&stat, &loaded.meta));
        let read = if let Some(record) = record {
            Read::Record(record)
        } else {
            let how = stat.map_or(How::Unknown, |stat| How::Read(Box::new(stat)));
            Read::Look(Look { found: self.found(spot.entry(home), loaded), how })
        };
        buffers.bytes = document.into_text().into_bytes();
        read
    }

    /// The start of the file in the directory `name` of the base, and what the file was; `None` where that has
    /// another spelling, is a link, or is nothing at all.
    fn start(&self, name: &OsStr, buffers: &mut Buffers) -> Option<(Document, Option<FileStat>)> {
        let parts = Cell::new(None);
        let enough = |prefix: &[u8]| match split_prefix(prefix) {
            Split::NeedMore => false,
            Split::Found(found) => {
                parts.set(Some(found));
                true
            }
            _ => true,
        };
        let mut bytes = mem::take(&mut buffers.bytes);
        buffers.set_path(name);
        let base = self.base(&buffers.base);
        let Ok((Looked::Read, stat)) = base.read_start(&buffers.path, MAX_SKILL_FILE, &mut bytes, enough)
        else {
            return None;
        };
        let document = match parts.take() {
            Some(parts) => Document::of_start(bytes, parts),
            None => load::of_start(bytes),
        };
        Some((document, stat))
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

/// What `entry` of `source` holds.
pub(super) fn read(policy: &Policy, source: &Source, entry: Entry) -> Seeing {
    match Base::open(entry.dir.parent().unwrap_or(&source.dir)) {
        Ok(base) => {
            let reader = Reader { policy, source, base: &base };
            let start = entry.dir.file_name().and_then(|name| {
                let (document, _) = reader.start(name, &mut Buffers::default())?;
                Some((document, name.to_str()))
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

/// A file beside `SKILL.md` whose name differs from it in case only.
fn second_file(dir: &Path) -> Option<Diagnostic> {
    let names = fs::list_dir(dir).ok()?;
    let second =
        names.into_iter().find(|name| name != SKILL_FILE && name.eq_ignore_ascii_case(SKILL_FILE))?;
    Some(Diagnostic::SecondFile(dir.join(second)))
}

#[cfg(test)]
mod tests;
