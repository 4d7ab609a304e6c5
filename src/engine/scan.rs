//! The skills of one source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::discover::{Diagnostic, Skill};
use super::load::{self, SKILL_FILE, Unusable};
use super::sources::{self, Entry, Source};
use crate::fs;
use crate::install::scope::ScopeKind;
use crate::policy::{Duplicates, FileName, Policy};
use crate::skill;
use crate::source::discover::SKIPPED;

/// The largest number of directories without a skill that are searched in one source.
pub(super) const MAX_DIRECTORIES: usize = 2000;

/// The skills of one source that are not in `seen`, in the order in which they take a name: those
/// whose directories have their names are served best.
pub(super) fn scan(
    source: &Source,
    policy: &Policy,
    seen: &mut BTreeSet<PathBuf>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Skill> {
    let entries = source.entries().unwrap_or_else(|error| {
        diagnostics.push(Diagnostic::Source(error));
        Vec::new()
    });
    let mut search = Search { source, policy, seen, diagnostics, skills: Vec::new(), directories: 0 };
    for entry in entries {
        search.entry(entry, 1);
    }
    let mut skills = search.skills;
    // Stable: the order by path stays.
    let last = policy.duplicates == Duplicates::Last;
    skills.sort_by_key(|skill| skill.is_at_home() == last);
    skills
}

/// A walk through one source.
struct Search<'a> {
    source: &'a Source,
    policy: &'a Policy,
    seen: &'a mut BTreeSet<PathBuf>,
    diagnostics: &'a mut Vec<Diagnostic>,
    skills: Vec<Skill>,
    /// How many directories were searched that hold no skill of their own.
    directories: usize,
}

impl Search<'_> {
    fn entry(&mut self, entry: Entry, depth: usize) {
        if self.seen.contains(&entry.real) {
            return;
        }
        let found = read(self.policy, self.source.scope, &entry);
        if matches!(found, Ok(None)) && depth < self.policy.depth {
            self.below(&entry, depth + 1);
        }
        match found {
            Ok(Some(skill)) => {
                self.skills.push(skill);
                if self.policy.file_name == FileName::Exact {
                    self.diagnostics.extend(second_file(&entry.dir));
                }
            }
            Ok(None) => {}
            Err(diagnostic) => self.diagnostics.push(diagnostic),
        }
        self.seen.insert(entry.real);
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
            self.diagnostics.push(Diagnostic::TooManyDirectories(self.source.dir.clone()));
            return;
        }
        // What cannot be listed holds no skill that could be read.
        for inner in sources::directories(&entry.dir).unwrap_or_default() {
            self.entry(inner, depth);
        }
    }
}

/// The skill in `entry`; `None` where it has no `SKILL.md`.
pub(super) fn read(policy: &Policy, scope: ScopeKind, entry: &Entry) -> Result<Option<Skill>, Diagnostic> {
    let unusable = |file: &Path, reason| Diagnostic::Skill { file: file.to_owned(), reason };
    let file = load::skill_file(&entry.dir).map_err(|error| unusable(&entry.dir, error.into()))?;
    let Some(file) = file else { return Ok(None) };
    if policy.file_name == FileName::Exact && file.file_name().is_some_and(|name| name != SKILL_FILE) {
        return Err(unusable(&file, Unusable::Misspelled));
    }
    let directory = entry.dir.file_name().and_then(|name| name.to_str());
    let (meta, deviations) = load::frontmatter(&file)
        .and_then(|document| {
            let loaded = skill::load_with(&document, policy, directory)?;
            Ok((loaded.meta, loaded.deviations))
        })
        .map_err(|reason| unusable(&file, reason))?;
    let (dir, real) = (entry.dir.clone(), entry.real.clone());
    Ok(Some(Skill { meta, scope, dir, file, real, deviations }))
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
