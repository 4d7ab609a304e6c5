//! Finds the skills in a list of sources.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, key};
use super::scan::{direct, scan};
use super::skill::Skill;
use super::sources::Source;
use crate::fs::{self};
use crate::name::SkillName;
use crate::profile::{Duplicates, FileName, LoadProfile};
use crate::skill::find::VisitedDirs;

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    /// One skill of each name, ordered by source, then by the bytes of their paths.
    pub skills: Vec<Arc<Skill>>,
    /// The skills that others with the same name hide, in the same order.
    pub shadowed: Vec<Arc<Skill>>,
    /// The problems, and other facts worth knowing.
    pub diagnostics: Vec<Arc<Diagnostic>>,
}

/// Finds the skills in `sources`, which are in order of precedence. Only frontmatter is read.
///
/// If several skills have the same name, the one from the earliest source is used. Within a source, a
/// skill directly in the source whose directory has that name comes first, then one further below whose
/// directory has it, then the first by the bytes of its path. A skill that several links lead to counts
/// once.
pub(crate) fn discover(sources: &[Source]) -> Discovery {
    gather(sources, &LoadProfile::DEFAULT, None).0
}

/// Finds the skills in `sources` under `profile`.
pub(super) fn discover_with(sources: &[Source], profile: &LoadProfile) -> Result<Discovery, Arc<Diagnostic>> {
    settled(gather(sources, profile, None))
}

/// Works like [`discover_with`], but only as far as it takes to know which skill is called `name`: a skill directly in a
/// source, whose directory has the name, wins in its source and hides those of later sources. Other skills of its
/// source, and of later ones except for those in a directory of that name, are left out.
pub(super) fn discover_named(
    sources: &[Source],
    profile: &LoadProfile,
    name: &str,
) -> Result<Discovery, Arc<Diagnostic>> {
    // Under other profiles, skills that are left out here decide as well.
    let decides_early = profile.duplicates == Duplicates::First && !profile.strict_sources;
    let name = SkillName::exact(name).filter(|_| decides_early);
    settled(gather(sources, profile, name.as_ref()))
}

fn settled((found, fatal): (Discovery, Option<Arc<Diagnostic>>)) -> Result<Discovery, Arc<Diagnostic>> {
    fatal.map_or(Ok(found), Err)
}

/// Returns the result, and the first problem that `profile` treats as an error. With the name of one skill, only as much
/// as [`discover_named`] says.
fn gather(
    sources: &[Source],
    profile: &LoadProfile,
    one: Option<&SkillName>,
) -> (Discovery, Option<Arc<Diagnostic>>) {
    let mut diagnostics = Vec::new();
    let mut fatal = None;
    let mut seen = VisitedDirs::default();
    let mut all: Vec<Arc<Skill>> = Vec::new();
    // The index in `all` at which the skills of each source start.
    let mut starts = Vec::new();
    let mut is_decided = false;
    for source in sources {
        if profile.strict_sources && matches!(fs::real_path(&source.dir), Ok(None)) {
            fatal.get_or_insert_with(|| Arc::new(Diagnostic::Missing(source.dir.clone())));
        }
        starts.push(all.len());
        if let Some(name) = one {
            match direct(profile, source, name) {
                Some(Ok(skill)) if all.iter().all(|other| other.real != skill.real) => {
                    is_decided = true;
                    all.push(Arc::new(skill));
                }
                // The search of the source reports it, if there is one.
                Some(Err(diagnostic)) if is_decided => diagnostics.push(Arc::new(diagnostic)),
                _ => {}
            }
        }
        if !is_decided {
            all.extend(scan(profile, source, &mut seen, &mut diagnostics));
            let is_called_so =
                |skill: &Arc<Skill>| one.is_some_and(|name| name.as_str() == key(&skill.meta.name));
            is_decided = all.iter().any(is_called_so);
        }
    }
    if profile.file_name == FileName::Warn {
        diagnostics.extend(all.iter().filter_map(|skill| skill.misspelled()).map(Arc::new));
    }
    let mut used: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
    let mut hidden = Vec::new();
    for at in order(&all, sources, &starts, profile.duplicates) {
        let skill = &all[at];
        let first = *used.entry(key(&skill.meta.name)).or_insert(at);
        if first != at {
            let (winner, loser) =
                if profile.duplicates == Duplicates::Last { (at, first) } else { (first, at) };
            used.insert(key(&skill.meta.name), winner);
            if profile.duplicates == Duplicates::Error {
                fatal.get_or_insert_with(|| Arc::new(all[loser].shadowed_by(&all[winner].dir)));
            }
            hidden.push(loser);
        }
    }
    // Of three skills, the one that hides the first may itself be hidden: report the one that is used.
    let shadowed = hidden.into_iter().filter_map(|loser| {
        let (winner, loser) = (&all[*used.get(&key(&all[loser].meta.name))?], &all[loser]);
        Some(Arc::new(loser.shadowed_by(&winner.dir)))
    });
    if profile.duplicates != Duplicates::Error {
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

/// Returns the order in which skills take their names: the order in which they were found, except that within a source
/// [`Skill::rank_in`] decides first. The skills of each source start at one of `starts`.
fn order(all: &[Arc<Skill>], sources: &[Source], starts: &[usize], duplicates: Duplicates) -> Vec<usize> {
    let mut order: Vec<_> = (0..all.len()).collect();
    let ends = starts.iter().skip(1).copied().chain([all.len()]);
    for (source, (start, end)) in sources.iter().zip(starts.iter().copied().zip(ends)) {
        // The sort is stable and keeps the order by path.
        order[start..end].sort_by_cached_key(|at| match (all[*at].rank_in(source), duplicates) {
            (rank, Duplicates::Last) => u8::MAX - rank,
            (rank, _) => rank,
        });
    }
    order
}

#[cfg(test)]
mod tests;
