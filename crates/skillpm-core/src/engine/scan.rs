//! Reads the skills of one source.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, key};
use super::find::{Disk, MAX_DIRECTORIES, Search};
use super::load::{self, MAX_SKILL_FILE, SKILL_FILE, Unusable};
use super::skill::Skill;
use super::sources::{SkillDir, Source, SourceKind};
use crate::fs::{self, PathError};
use crate::name::SkillName;
use crate::profile::{FileName, LoadProfile};
use crate::skill;
use crate::skill::find::{Holds, Links, Rules, VisitedDirs, is_skill_file};
use crate::workers;

/// The number of skills that a thread reads at a time. Starting a thread takes as long as reading dozens of them.
const PIECE: usize = 128;

/// A skill that was read, and the size of its file in bytes.
type Read = Result<(Skill, u64), Diagnostic>;

/// Returns the skills of `source` whose paths are not in `seen`, and adds problems to `diagnostics`. A source that does
/// not exist has no skills.
pub(super) fn scan(
    profile: &LoadProfile,
    source: &Source,
    seen: &mut VisitedDirs,
    diagnostics: &mut Vec<Arc<Diagnostic>>,
) -> Vec<Arc<Skill>> {
    let mut tell = |diagnostic| diagnostics.push(Arc::new(diagnostic));
    let search = match search(profile, source, seen) {
        Ok(Some(search)) => search,
        // It is normal to have no skills of one's own, but a source that was named should exist.
        Ok(None) => {
            if source.kind == SourceKind::Extra {
                tell(Diagnostic::Missing(source.dir.clone()));
            }
            return Vec::new();
        }
        Err(error) => {
            tell(Diagnostic::Source(error));
            return Vec::new();
        }
    };
    let files: Vec<_> =
        search.found.iter().filter_map(|found| Some((&found.dir, &**found.file.as_ref().ok()?))).collect();
    let read: Vec<Read> =
        workers::map(&files, PIECE, || (), |(), (entry, name)| read(profile, source, entry, name)).collect();
    let mut read = read.into_iter();
    let mut skills = Vec::new();
    for found in search.found {
        let read = match found.file {
            Ok(_) => read.next(),
            Err(error) => Some(Err(Diagnostic::Skill { file: found.dir.dir, reason: error.into() })),
        };
        match read {
            Some(Ok((skill, size))) => {
                // Only the frontmatter was read; the whole file will be too large to load.
                if size > MAX_SKILL_FILE {
                    tell(Diagnostic::TooLarge(skill.file.clone()));
                }
                if profile.file_name == FileName::Exact {
                    second_file(&skill.dir).into_iter().for_each(&mut tell);
                }
                skills.push(Arc::new(skill));
            }
            Some(Err(diagnostic)) => tell(diagnostic),
            None => {}
        }
    }
    if search.is_cut {
        tell(Diagnostic::TooManyDirectories(source.dir.clone()));
    }
    skills
}

/// Returns the directories of the skills in `source`; `None` if the source does not exist.
fn search(
    profile: &LoadProfile,
    source: &Source,
    seen: &mut VisitedDirs,
) -> Result<Option<Search>, PathError> {
    let Some(real) = source.real()? else { return Ok(None) };
    let rules = Rules {
        depth: profile.depth,
        most: MAX_DIRECTORIES,
        links: Links::Followed,
        skipped_may_be_skills: true,
    };
    Disk::default().search(&SkillDir { dir: source.dir.clone(), real }, rules, seen).map(Some)
}

/// Returns the skill called `name` directly in `source`, in a directory of that name, or why that one cannot be used;
/// `None` if the directory does not exist, and for a link, which only a search can follow.
pub(super) fn direct(
    profile: &LoadProfile,
    source: &Source,
    name: &SkillName,
) -> Option<Result<Skill, Diagnostic>> {
    let dir = source.dir.join(name.as_str());
    let (top, real) = (source.real().ok()??, fs::real_path(&dir).ok()??);
    if real != top.join(name.as_str()) || !fs::may_be_listed(&top) {
        return None;
    }
    let entry = SkillDir { dir, real };
    let Ok(Holds::Skill(file)) = Disk::default().holds(&entry) else { return None };
    match read(profile, source, &entry, &file) {
        Ok((skill, size)) if size <= MAX_SKILL_FILE && name.as_str() == key(&skill.meta.name) => {
            Some(Ok(skill))
        }
        Ok(_) => None,
        Err(diagnostic) => Some(Err(diagnostic)),
    }
}

/// Reads the skill in `entry` of `source`, whose file is called `name`, under `profile`. Its body is not read.
pub(super) fn read(profile: &LoadProfile, source: &Source, entry: &SkillDir, name: &OsStr) -> Read {
    let file = entry.dir.join(name);
    let unusable = |reason| Diagnostic::Skill { file: file.clone(), reason };
    let below = entry.dir.strip_prefix(&source.dir).unwrap_or(&entry.dir);
    if below.to_str().is_none() {
        return Err(unusable(Unusable::OddName));
    }
    if profile.file_name == FileName::Exact && name != SKILL_FILE {
        return Err(unusable(Unusable::Misspelled));
    }
    let (document, size) = load::frontmatter_and_size(&file).map_err(unusable)?;
    let directory = entry.dir.file_name().and_then(OsStr::to_str);
    let loaded = skill::load_with(&document, profile, directory).map_err(|reason| unusable(reason.into()))?;
    let skill = Skill {
        meta: loaded.meta,
        source: Arc::clone(&source.name),
        kind: source.kind,
        dir: entry.dir.clone(),
        real: entry.real.clone(),
        deviations: loaded.deviations,
        file,
    };
    Ok((skill, size))
}

/// Returns a diagnostic if a file beside `SKILL.md` differs from it in case only.
fn second_file(dir: &Path) -> Option<Diagnostic> {
    let names = fs::list_dir(dir).ok()?;
    let second = names.into_iter().find(|name| name != SKILL_FILE && is_skill_file(name))?;
    Some(Diagnostic::SecondFile(dir.join(second)))
}

#[cfg(test)]
mod tests;
