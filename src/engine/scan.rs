//! The skills of one source.

mod reader;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) use self::reader::read;
use self::reader::{Buffers, Reader, Spot};
use super::discover::Diagnostic;
use super::load::{MAX_SKILL_FILE, SKILL_FILE, Unusable};
use super::memory::{How, Memory, Recall};
use super::skill::{Home, Skill};
use super::sources::{Entry, Source, SourceKind};
use crate::fs::{self, Base, Kind, Moment, PathError};
use crate::policy::{FileName, Policy};
use crate::source::discover::SKIPPED;
use crate::workers;

/// The largest number of directories without a skill that are searched in one source.
pub(super) const MAX_DIRECTORIES: usize = 2000;
/// How many skills a thread reads at once. To start a thread takes as long as to read dozens of them.
const PIECE: usize = 512;

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
    /// All directories in these were, or are just now.
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
pub(super) struct Scanner {
    policy: Arc<Policy>,
    recall: Recall,
}

impl Scanner {
    /// A search that begins at `since`.
    pub(super) fn new(policy: &Policy, before: Memory, since: Moment) -> Self {
        Self { policy: Arc::new(policy.clone()), recall: Recall::new(before, since) }
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
struct Search<'a> {
    scanner: &'a mut Scanner,
    source: &'a Source,
    seen: &'a mut Seen,
    diagnostics: &'a mut Vec<Arc<Diagnostic>>,
    skills: Vec<Arc<Skill>>,
    /// How many directories were searched that hold no skill of their own.
    directories: usize,
}

impl Search<'_> {
    /// Looks at all directories in `dir`, whose real path is `real`: at all of them at once, and then, in the
    /// order of their names, into those that hold no skill of their own. Links are followed in the source itself.
    fn directory(&mut self, dir: &Path, real: &Path, depth: usize) -> Result<(), PathError> {
        let base = Base::open(dir)?;
        let mut listed = self.scanner.recall.list(&base, real)?;
        let listing = Arc::clone(&listed.listing);
        // From now on: links to directories beside them always lose, wherever in the order of names they stand, and one
        // that leads back to here finds nothing new.
        let is_new = self.seen.parents.insert(real.to_owned());
        let policy = Arc::clone(&self.scanner.policy);
        let reader =
            Reader { policy: &policy, source: self.source, base: &base, since: self.scanner.recall.since };
        let (list, device) = (Arc::clone(&listing), listed.device);
        let home = Arc::new(Home::new(self.source, Arc::clone(&policy), (dir, real), list, device));
        let known = self.scanner.recall.group(&home);
        if is_new {
            self.odd_names(dir, listing.odd());
        }
        // To see that nothing changed takes less than threads do.
        let unchanged = if is_new { reader.unchanged(&listed.skills, &known) } else { Vec::new() };
        let is_unchanged = |at: usize| unchanged.get(at) == Some(&true);
        let spot = |at: &u32| {
            let at = *at as usize;
            match listing.get(at)? {
                (_, Kind::Directory) => (is_new && !is_unchanged(at)).then_some(Spot { at, link: None }),
                (name, Kind::Symlink) if depth == 1 => {
                    // A single entry that cannot be looked at hides none of the others.
                    let real = fs::real_path(&dir.join(name)).ok().flatten();
                    let real = real.filter(|real| matches!(fs::kind(real), Ok(Some(Kind::Directory))));
                    real.map(|real| Spot { at, link: Some(real.into()) })
                }
                _ => None,
            }
        };
        let spots: Vec<Spot> = listing.tour().iter().filter_map(spot).collect();
        let looks = |buffers: &mut Buffers, spots: &[Spot]| reader.looks(spots, &home, buffers);
        let mut looked = Vec::new();
        if !spots.is_empty() {
            looked.resize_with(listing.len(), || None);
        }
        for (spot, look) in spots.iter().zip(workers::map_pieces(&spots, PIECE, Buffers::default, looks)) {
            looked[spot.at] = Some((spot, look));
        }
        self.skills.reserve(listing.len());
        // What was looked at in the order of the tour is told in that of the names.
        for (at, (name, _)) in listing.iter().enumerate() {
            let ((found, how), link) = match (looked.get_mut(at).and_then(Option::take), &listed.skills[at]) {
                (Some((spot, look)), _) => (look.seen(at), spot.link.as_deref()),
                (None, Some(kept)) if is_unchanged(at) => {
                    ((Seeing::Skill(kept.skill(&known, at)), How::Known), None)
                }
                (None, _) => continue,
            };
            // A link may lead to what was found since, or to what another one of these leads to.
            let is_seen = match link {
                Some(link) => self.seen.contains(link),
                None => !self.seen.others.is_empty() && self.seen.others.contains(&real.join(name)),
            };
            let skill = if let Seeing::Skill(skill) = &found { Some(skill) } else { None };
            let size = match &how {
                How::Read(stat) => Some(stat.size),
                _ => skill.and_then(|skill| skill.stat()).map(|stat| stat.size),
            };
            listed.set(at, skill.filter(|_| link.is_none()), how);
            if is_seen {
                continue;
            }
            match found {
                Seeing::Nothing(entry) if depth < self.scanner.policy.depth => self.below(&entry, depth + 1),
                Seeing::Nothing(_) => {}
                Seeing::Skill(skill) => {
                    // The frontmatter was read, and what lies behind it only later.
                    if size.is_some_and(|size| size > MAX_SKILL_FILE) {
                        self.diagnostics.push(Arc::new(Diagnostic::TooLarge(skill.file.clone())));
                    }
                    if self.scanner.policy.file_name == FileName::Exact {
                        self.diagnostics.extend(second_file(&skill.dir).map(Arc::new));
                    }
                    self.skills.push(skill);
                }
                Seeing::Unusable(diagnostic) => self.diagnostics.push(diagnostic),
            }
            if let Some(link) = link {
                self.seen.insert(link.to_owned());
            }
        }
        self.scanner.recall.put(real.to_owned(), listed);
        Ok(())
    }

    /// Tells of skills in directories of `dir` that no agent can be told the name of.
    fn odd_names(&mut self, dir: &Path, names: &[OsString]) {
        for name in names {
            let file = dir.join(name).join(SKILL_FILE);
            if matches!(fs::kind(&file), Ok(Some(_))) {
                self.diagnostics.push(Arc::new(Diagnostic::Skill { file, reason: Unusable::OddName }));
            }
        }
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

/// A file beside `SKILL.md` whose name differs from it in case only.
fn second_file(dir: &Path) -> Option<Diagnostic> {
    let names = fs::list_dir(dir).ok()?;
    let second =
        names.into_iter().find(|name| name != SKILL_FILE && name.eq_ignore_ascii_case(SKILL_FILE))?;
    Some(Diagnostic::SecondFile(dir.join(second)))
}

#[cfg(test)]
mod tests;
