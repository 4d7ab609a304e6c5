//! Which skills there are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::load::{MAX_SKILL_FILE, SKILL_FILE, Unusable};
use super::scan::{MAX_DIRECTORIES, scan};
use super::skill::Skill;
use super::sources::Source;
use crate::fs::{self, PathError};
use crate::name::SkillName;
use crate::policy::{Duplicates, FileName, Policy};
use crate::skill::Deviation;
use crate::skill::find::VisitedDirs;

/// Something that kept a skill from being found, or that a person should know.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Diagnostic {
    /// A directory of skills is there and cannot be read.
    #[error("no skills were looked for in `{}`: {}", .0.path.display(), .0.source)]
    Source(PathError),
    /// A skill that no agent can use.
    #[error("`{}` cannot be loaded: {reason}", file.display())]
    Skill {
        /// Its file.
        file: PathBuf,
        /// Why.
        reason: Unusable,
    },
    /// A file whose name differs from `SKILL.md` in case.
    #[error("`{}`: most tools look for `{SKILL_FILE}` only; rename the file", .0.display())]
    Spelling(PathBuf),
    /// A second file whose name differs from `SKILL.md` in case only.
    #[error("`{}` is ignored: `{SKILL_FILE}` is beside it", .0.display())]
    SecondFile(PathBuf),
    /// A file whose frontmatter was read, and which no agent can be given.
    #[error("`{}` has more than {} MiB: it is listed, but cannot be loaded; move long parts into files beside it", .0.display(), MAX_SKILL_FILE >> 20)]
    TooLarge(PathBuf),
    /// A directory of skills that is not there.
    #[error("there is no directory `{}`", .0.display())]
    Missing(PathBuf),
    /// More directories than are searched.
    #[error("`{}` has more than {MAX_DIRECTORIES} directories; the others were not searched", .0.display())]
    TooManyDirectories(PathBuf),
    /// Something that is off in a skill that was loaded.
    #[error("`{}`, line {}: {deviation}", file.display(), deviation.at.line)]
    Deviation {
        /// Its file.
        file: PathBuf,
        /// What is off, and where.
        deviation: Box<Deviation>,
    },
    /// A skill that another one of its name hides.
    #[error("the skill `{name}` was found twice: `{}` is used, `{}` is ignored", used.display(), hidden.display())]
    Shadowed {
        /// The name.
        name: String,
        /// The directory of the one that is used.
        used: PathBuf,
        /// The directory of the other one.
        hidden: PathBuf,
    },
}

/// What was found.
#[derive(Debug, Default)]
pub struct Discovery {
    /// One skill of each name, in the order of the sources, then by the bytes of their paths.
    pub skills: Vec<Arc<Skill>>,
    /// The skills that others of their name hide, in the same order.
    pub shadowed: Vec<Arc<Skill>>,
    /// What went wrong or is worth knowing.
    pub diagnostics: Vec<Arc<Diagnostic>>,
}

/// Finds the skills in `sources`, the first first. Only frontmatter is read.
///
/// Where two skills have one name, the one of the earlier source is used; inside a source the one
/// in the directory of that name right in the source, then one in a directory of that name further
/// below, then the first by the bytes of its path. A skill that several links lead to is one skill.
pub fn discover(sources: &[Source]) -> Discovery {
    gather(sources, &Policy::DEFAULT).0
}

/// Finds the skills in `sources` as `policy` has it.
///
/// # Errors
///
/// Never for a single skill; a source that is not there and two skills of one name, where `policy`
/// makes errors of them.
pub fn discover_with(sources: &[Source], policy: &Policy) -> Result<Discovery, Arc<Diagnostic>> {
    match gather(sources, policy) {
        (_, Some(error)) => Err(error),
        (found, None) => Ok(found),
    }
}

/// Returns what is found, and the first thing that `policy` makes an error of.
fn gather(sources: &[Source], policy: &Policy) -> (Discovery, Option<Arc<Diagnostic>>) {
    let mut diagnostics = Vec::new();
    let mut fatal = None;
    let mut seen = VisitedDirs::default();
    let mut all: Vec<Arc<Skill>> = Vec::new();
    // Where the skills of each source start.
    let mut starts = Vec::new();
    for source in sources {
        if policy.strict_sources && matches!(fs::real_path(&source.dir), Ok(None)) {
            fatal.get_or_insert_with(|| Arc::new(Diagnostic::Missing(source.dir.clone())));
        }
        starts.push(all.len());
        all.extend(scan(policy, source, &mut seen, &mut diagnostics));
    }
    if policy.file_name == FileName::Warn {
        diagnostics.extend(all.iter().filter_map(|skill| skill.misspelled()).map(Arc::new));
    }
    let mut used: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
    let mut hidden = Vec::new();
    for at in order(&all, sources, &starts, policy.duplicates) {
        let skill = &all[at];
        let first = *used.entry(key(&skill.meta.name)).or_insert(at);
        if first != at {
            let (winner, loser) =
                if policy.duplicates == Duplicates::Last { (at, first) } else { (first, at) };
            used.insert(key(&skill.meta.name), winner);
            if policy.duplicates == Duplicates::Error {
                fatal.get_or_insert_with(|| Arc::new(all[loser].shadowed_by(&all[winner].dir)));
            }
            hidden.push(loser);
        }
    }
    // Of three, the one that hides the first may be hidden itself: what is reported is which one is used.
    let shadowed = hidden.into_iter().filter_map(|loser| {
        let winner = used.get(&key(&all[loser].meta.name))?;
        Some(Arc::new(all[loser].shadowed_by(&all[*winner].dir)))
    });
    if policy.duplicates != Duplicates::Error {
        diagnostics.extend(shadowed);
    }
    let mut is_used = vec![false; all.len()];
    for at in used.into_values() {
        is_used[at] = true;
    }
    let mut is_used = is_used.into_iter();
    let (skills, shadowed) = all.into_iter().partition(|_| is_used.next().unwrap_or_default());
    (Discovery { skills, shadowed, diagnostics }, fatal)
}

/// Returns the order in which skills take their names: as they are found, but in a source, whose skills start at one of
/// `starts`, those whose directories have their names are served best, and of these the one right in the source.
fn order(all: &[Arc<Skill>], sources: &[Source], starts: &[usize], duplicates: Duplicates) -> Vec<usize> {
    let mut order: Vec<_> = (0..all.len()).collect();
    let ends = starts.iter().skip(1).copied().chain([all.len()]);
    for (source, (start, end)) in sources.iter().zip(starts.iter().copied().zip(ends)) {
        // Stable: the order by path stays.
        order[start..end].sort_by_cached_key(|at| match (all[*at].rank_in(source), duplicates) {
            (rank, Duplicates::Last) => u8::MAX - rank,
            (rank, _) => rank,
        });
    }
    order
}

impl Discovery {
    /// Returns the deviations in the skills that are used that were tolerated, each with its file and place.
    pub fn deviations(&self) -> impl Iterator<Item = Diagnostic> {
        self.skills.iter().flat_map(|skill| skill.told())
    }
}

/// Returns what names are compared by: two spellings of a valid name are one, every other name is itself.
pub(super) fn key(name: &str) -> Cow<'_, str> {
    SkillName::new(name).map_or(Cow::Borrowed(name), |name| Cow::Owned(name.into()))
}

#[cfg(test)]
mod tests;
