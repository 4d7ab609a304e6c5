//! The skills of one source.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::{Diagnostic, Skill};
use super::load::{self, MAX_SKILL_FILE, SKILL_FILE, Unusable};
use super::memory::{Known, Memory};
use super::sources::{self, Entry, Source};
use crate::document::{Document, Split, split_prefix};
use crate::fs::{self, Base, FileStat, Looked};
use crate::policy::{FileName, Policy};
use crate::source::discover::SKIPPED;
use crate::{skill, workers};

/// The largest number of directories without a skill that are searched in one source.
pub(super) const MAX_DIRECTORIES: usize = 2000;

/// What a directory holds: a skill, none, or one that cannot be used.
pub(super) type Found = Result<Option<Arc<Skill>>, Arc<Diagnostic>>;

/// Looks through sources, one after the other.
pub(super) struct Scanner<'a> {
    policy: &'a Policy,
    /// What was seen the last time.
    before: Memory,
    /// What is seen this time.
    now: Memory,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(policy: &'a Policy, before: Memory) -> Self {
        Self { policy, before, now: Memory::new() }
    }

    /// What was seen.
    pub(super) fn memory(self) -> Memory {
        self.now
    }

    /// The skills of one source that are not in `seen`, sorted by the bytes of their paths.
    pub(super) fn scan(
        &mut self,
        source: &Source,
        seen: &mut HashSet<PathBuf>,
        diagnostics: &mut Vec<Arc<Diagnostic>>,
    ) -> Vec<Arc<Skill>> {
        let entries = source.entries().unwrap_or_else(|error| {
            diagnostics.push(Arc::new(Diagnostic::Source(error)));
            Vec::new()
        });
        let mut search =
            Search { scanner: self, source, seen, diagnostics, skills: Vec::new(), directories: 0 };
        search.entries(&source.dir, entries, 1);
        search.skills
    }
}

/// A walk through one source.
struct Search<'a, 'b> {
    scanner: &'a mut Scanner<'b>,
    source: &'a Source,
    seen: &'a mut HashSet<PathBuf>,
    diagnostics: &'a mut Vec<Arc<Diagnostic>>,
    skills: Vec<Arc<Skill>>,
    /// How many directories were searched that hold no skill of their own.
    directories: usize,
}

impl Search<'_, '_> {
    /// Looks at the `entries` of `dir`: all of them at once, and then, in their order, into those that hold
    /// no skill of their own.
    fn entries(&mut self, dir: &Path, mut entries: Vec<Entry>, depth: usize) {
        entries.retain(|entry| !self.seen.contains(&entry.real));
        let Ok(base) = Base::open(dir) else { return };
        let reader = Reader { policy: self.scanner.policy, source: self.source, base: &base };
        let before = &self.scanner.before;
        let looks: Vec<_> = workers::map(&entries, Vec::new, |buffer, entry| {
            reader.look(entry, before.of(&entry.real), buffer)
        })
        .collect();
        for (entry, (found, stat)) in entries.into_iter().zip(looks) {
            // A link may lead to what was found since, or to what another one of these leads to.
            if self.seen.contains(&entry.real) {
                continue;
            }
            match &found {
                Ok(None) if depth < self.scanner.policy.depth => self.below(&entry, depth + 1),
                Ok(None) => {}
                Ok(Some(skill)) => {
                    self.skills.push(Arc::clone(skill));
                    if self.scanner.policy.file_name == FileName::Exact {
                        self.diagnostics.extend(second_file(&entry.dir).map(Arc::new));
                    }
                }
                Err(diagnostic) => self.diagnostics.push(Arc::clone(diagnostic)),
            }
            if let Some(stat) = stat {
                self.scanner.now.put(entry.real.clone(), stat, found);
            }
            self.seen.insert(entry.real);
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
        let inner = sources::directories(&entry.dir).unwrap_or_default();
        if !inner.is_empty() {
            self.entries(&entry.dir, inner, depth);
        }
    }
}

/// Reads skills in the directory `base` of `source`.
pub(super) struct Reader<'a> {
    pub(super) policy: &'a Policy,
    pub(super) source: &'a Source,
    pub(super) base: &'a Base,
}

impl Reader<'_> {
    /// What `entry` holds, and what was known of its file when it was read, where that tells whether it
    /// changed since. What is as it was in `before` is not read. `buffer` is for paths and for bytes.
    fn look(&self, entry: &Entry, before: Option<&Known>, buffer: &mut Vec<u8>) -> (Found, Option<FileStat>) {
        let Some(name) = entry.dir.file_name() else { return (self.slowly(entry), None) };
        let below = Path::new(name).join(SKILL_FILE);
        if let Some(known) = before
            && self.base.stat(below.as_os_str().as_encoded_bytes()) == Some(known.stat)
            && let Some(found) = known.found_in(self.source, entry)
        {
            return (found, Some(known.stat));
        }
        let enough = |prefix: &[u8]| split_prefix(prefix) != Split::NeedMore;
        match self.base.read_start(&below, MAX_SKILL_FILE, buffer, enough) {
            Ok((Looked::Read, stat)) => (self.made_of(entry, buffer), stat),
            // Another spelling, a link, or nothing at all.
            Ok(_) | Err(_) => (self.slowly(entry), None),
        }
    }

    /// The skill whose file starts with what is in `buffer`.
    fn made_of(&self, entry: &Entry, buffer: &mut Vec<u8>) -> Found {
        let mut bytes = std::mem::take(buffer);
        if let Split::Found(parts) = split_prefix(&bytes) {
            bytes.truncate(parts.body);
        }
        let document = Document::from_bytes(bytes);
        let found = self.skill(entry, entry.dir.join(SKILL_FILE), &document);
        *buffer = document.into_text().into_bytes();
        found
    }

    /// What `entry` holds, whatever it may be; `None` where it has no `SKILL.md`.
    pub(super) fn slowly(&self, entry: &Entry) -> Found {
        let unusable = |file: &Path, reason| Arc::new(Diagnostic::Skill { file: file.to_owned(), reason });
        let file = load::skill_file(&entry.dir).map_err(|error| unusable(&entry.dir, error.into()))?;
        let Some(file) = file else { return Ok(None) };
        let is_exact = file.file_name().is_some_and(|name| name == SKILL_FILE);
        if self.policy.file_name == FileName::Exact && !is_exact {
            return Err(unusable(&file, Unusable::Misspelled));
        }
        let document = load::frontmatter(&file).map_err(|reason| unusable(&file, reason))?;
        self.skill(entry, file, &document)
    }

    fn skill(&self, entry: &Entry, file: PathBuf, document: &Document) -> Found {
        let directory = entry.dir.file_name().and_then(OsStr::to_str);
        let loaded = match skill::load_with(document, self.policy, directory) {
            Ok(loaded) => loaded,
            Err(reason) => return Err(Arc::new(Diagnostic::Skill { file, reason: reason.into() })),
        };
        Ok(Some(Arc::new(Skill {
            meta: loaded.meta,
            source: Arc::clone(&self.source.name),
            kind: self.source.kind,
            dir: entry.dir.clone(),
            file,
            real: entry.real.clone(),
            deviations: loaded.deviations,
        })))
    }
}

/// What `entry` of `source` holds; `None` where it has no `SKILL.md`.
pub(super) fn read(policy: &Policy, source: &Source, entry: &Entry) -> Found {
    match Base::open(&source.dir) {
        Ok(base) => Reader { policy, source, base: &base }.look(entry, None, &mut Vec::new()).0,
        Err(error) => Err(Arc::new(Diagnostic::Skill { file: entry.dir.clone(), reason: error.into() })),
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
