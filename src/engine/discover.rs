//! Which skills there are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::load::{SKILL_FILE, Unusable};
use super::scan::{MAX_DIRECTORIES, scan};
use super::sources::Source;
use crate::fs::{self, PathError};
use crate::install::scope::ScopeKind;
use crate::name::SkillName;
use crate::policy::{Duplicates, FileName, Policy};
use crate::skill::{Deviation, SkillMeta};

/// A skill that an agent can use. Its body has not been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What its frontmatter says.
    pub meta: SkillMeta,
    /// The scope in which it was found.
    pub scope: ScopeKind,
    /// Its directory, below that of its source.
    pub dir: PathBuf,
    /// Its file.
    pub file: PathBuf,
    /// Its directory with all links followed.
    pub real: PathBuf,
    /// What is off in its file and was tolerated.
    pub deviations: Vec<Deviation>,
}

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
    #[error("`{}` is not read: `{SKILL_FILE}` lies beside it", .0.display())]
    SecondFile(PathBuf),
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
    #[error("the skill `{name}` is there twice: `{}` is used, `{}` is not", used.display(), hidden.display())]
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
    pub skills: Vec<Skill>,
    /// The skills that others of their name hide, in the same order.
    pub shadowed: Vec<Skill>,
    /// What went wrong or is worth knowing.
    pub diagnostics: Vec<Diagnostic>,
}

/// Finds the skills in `sources`, the first first. Only frontmatter is read.
///
/// Where two skills have one name, the one of the earlier source is used; inside a source the one
/// whose directory has that name, then the first by the bytes of its path. A skill that several
/// links lead to is one skill.
pub fn discover(sources: &[Source]) -> Discovery {
    gather(sources, &Policy::DEFAULT).0
}

/// Finds the skills in `sources` as `policy` has it.
///
/// # Errors
///
/// Never for a single skill; a source that is not there and two skills of one name, where `policy`
/// makes errors of them.
pub fn discover_with(sources: &[Source], policy: &Policy) -> Result<Discovery, Diagnostic> {
    match gather(sources, policy) {
        (_, Some(error)) => Err(error),
        (found, None) => Ok(found),
    }
}

/// What is found, and the first thing that `policy` makes an error of.
fn gather(sources: &[Source], policy: &Policy) -> (Discovery, Option<Diagnostic>) {
    let mut found = Discovery::default();
    let mut fatal = None;
    let mut seen = BTreeSet::new();
    let mut all: Vec<(usize, Skill)> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        if policy.strict_sources && matches!(fs::real_path(&source.dir), Ok(None)) {
            fatal.get_or_insert(Diagnostic::Missing(source.dir.clone()));
        }
        let skills = scan(source, policy, &mut seen, &mut found.diagnostics);
        all.extend(skills.into_iter().map(|skill| (index, skill)));
    }
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for (at, (_, skill)) in all.iter().enumerate() {
        if policy.file_name == FileName::Warn {
            found.diagnostics.extend(skill.misspelled());
        }
        let first = *used.entry(key(&skill.meta.name)).or_insert(at);
        if first != at {
            let (winner, loser) =
                if policy.duplicates == Duplicates::Last { (at, first) } else { (first, at) };
            used.insert(key(&skill.meta.name), winner);
            let shadowed = all[loser].1.shadowed_by(&all[winner].1.dir);
            match policy.duplicates {
                Duplicates::Error => drop(fatal.get_or_insert(shadowed)),
                Duplicates::First | Duplicates::Last => found.diagnostics.push(shadowed),
            }
        }
    }
    let winners: BTreeSet<usize> = used.into_values().collect();
    let mut all: Vec<_> = all.into_iter().enumerate().collect();
    all.sort_by(|(_, (source, a)), (_, (other, b))| (source, &a.dir).cmp(&(other, &b.dir)));
    for (at, (_, skill)) in all {
        let list = if winners.contains(&at) { &mut found.skills } else { &mut found.shadowed };
        list.push(skill);
    }
    (found, fatal)
}

impl Discovery {
    /// What is off in the skills that are used and was tolerated, each with its file and place.
    pub fn deviations(&self) -> impl Iterator<Item = Diagnostic> {
        self.skills.iter().flat_map(|skill| {
            skill.deviations.iter().map(|deviation| Diagnostic::Deviation {
                file: skill.file.clone(),
                deviation: Box::new(deviation.clone()),
            })
        })
    }
}

/// What names are compared by: two spellings of a valid name are one, every other name is itself.
pub(super) fn key(name: &str) -> String {
    SkillName::new(name).map_or_else(|_| name.to_owned(), String::from)
}

impl Skill {
    /// Whether its directory has its name.
    pub(super) fn is_at_home(&self) -> bool {
        self.dir.file_name().is_some_and(|dir| dir == key(&self.meta.name).as_str())
    }

    /// Whether it has the name of `other`: then only one of the two is used.
    pub fn has_name_of(&self, other: &Self) -> bool {
        key(&self.meta.name) == key(&other.meta.name)
    }

    /// What is to be said of the name of its file.
    pub(super) fn misspelled(&self) -> Option<Diagnostic> {
        let right = self.file.file_name().is_some_and(|name| name == SKILL_FILE);
        (!right).then(|| Diagnostic::Spelling(self.file.clone()))
    }

    /// What is to be said where the skill in `used` is used in place of this one.
    pub(super) fn shadowed_by(&self, used: &Path) -> Diagnostic {
        let (name, hidden) = (self.meta.name.clone(), self.dir.clone());
        Diagnostic::Shadowed { name, used: used.to_owned(), hidden }
    }
}

#[cfg(test)]
mod tests;
