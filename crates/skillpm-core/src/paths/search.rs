//! The search for files: those that the user named, and the skills in directories that the user named.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::location::FileLocation;
use super::searched::Searched;
use crate::advice::{Verb, message};
use crate::engine::{Disk, Search, SkillDir};
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::refusal::{Limits, Refusal};
use crate::skill::SKILL_FILE;
use crate::skill::find::{FoundSkill, Holds, Links, Rules, VisitedDirs, is_skill_file};
use crate::source::local;
use crate::workers;

/// The maximum depth at which skills are searched for: deeper than any repository. A check should cover all skills of a
/// repository, while agents search less deep.
pub(crate) const MAX_DEPTH: usize = 64;

/// The name of the directories in which agents find skills.
const SKILLS_DIR: &str = "skills";

/// Directories full of other people's files are not searched, unless the user named them.
const DISK: Disk = Disk { leaves_out_foreign: true };

/// Returns the skills that `typed`, located at `at`, names, sorted by path: a file means the skill that it belongs to. A
/// file outside of every skill is an error, unless the caller `ignores_unknown` files. Records in `searched` where it looks, except for the
/// skills' own directories.
pub(crate) fn find(
    typed: &Path,
    at: &Path,
    searched: &mut Searched,
    ignores_unknown: bool,
) -> Result<Vec<FileLocation>> {
    searched.at(|| typed.to_owned());
    let shown = typed.display();
    let named_right = at.file_name().is_some_and(is_skill_file);
    let real = fs::real_path(at)?;
    let kind = real.as_deref().map(fs::kind).transpose()?.flatten();
    match (kind, real) {
        (Some(Kind::Directory), Some(real)) if !named_right => directory(typed, real, searched),
        // A broken link exists, and reading it reports the error.
        _ if named_right && fs::kind(at)?.is_some() => {
            let dir = at.parent().unwrap_or(Path::new(""));
            let dir = fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned());
            let name = at.file_name().unwrap_or_default().to_owned();
            Ok(vec![FileLocation { dir, name, shown: typed.to_owned(), is_named: true }])
        }
        (None, _) => {
            let meant = local::meant(typed, at).unwrap_or_else(|| "check the spelling".into());
            Err(Error::usage(format!("`{shown}` does not exist")).hint(meant))
        }
        (Some(_), _) => match around(typed, at)? {
            Some(skill) => Ok(vec![skill]),
            None if ignores_unknown => Ok(Vec::new()),
            None => Err(Error::usage(format!(
                "`{shown}` belongs to no skill: there is no `{SKILL_FILE}` above it"
            ))
            .hint("name a skill's directory, a file in it, or a directory with skills in it")),
        },
    }
}

/// Returns the skill that the file `typed`, located at `at`, belongs to.
fn around(typed: &Path, at: &Path) -> Result<Option<FileLocation>> {
    let Some(dir) = at.parent().map(fs::real_path).transpose()?.flatten() else { return Ok(None) };
    let mut shown = typed.parent().unwrap_or(Path::new("")).to_owned();
    let mut located = at.parent().unwrap_or(Path::new("")).to_owned();
    for real in dir.ancestors().take(MAX_DEPTH) {
        let entry = SkillDir { dir: shown.clone(), real: real.to_owned() };
        if let Holds::Skill(name) = DISK.holds(&entry)? {
            // Above a link, what was typed leads elsewhere.
            let is_same = fs::real_path(&located)?.as_deref() == Some(real);
            return Ok(Some(FileLocation {
                shown: if is_same { shown.join(&name) } else { real.join(&name) },
                dir: entry.real,
                name,
                is_named: true,
            }));
        }
        // No skill reaches beyond its repository.
        if fs::kind(&real.join(".git"))?.is_some() {
            break;
        }
        for path in [&mut shown, &mut located] {
            if matches!(path.components().next_back(), Some(Component::Normal(_))) {
                path.pop();
            } else {
                path.push("..");
            }
        }
    }
    Ok(None)
}

/// Returns the skill in the directory `real`, and all skills below it.
fn directory(typed: &Path, real: PathBuf, searched: &mut Searched) -> Result<Vec<FileLocation>> {
    let top = SkillDir { dir: typed.to_owned(), real };
    let shown = typed.display();
    let cannot = |error: Error| error.context(format!("`{shown}` cannot be searched for skills"));
    if let Holds::Skill(name) = DISK.holds(&top)? {
        let own = FileLocation { shown: typed.join(&name), dir: top.real, name, is_named: true };
        return with_nested(vec![own]).map_err(cannot);
    }
    let found = below(&top, searched).and_then(with_nested).map_err(cannot)?;
    if found.is_empty() {
        let message = format!("`{shown}` has no skills: there is no `{SKILL_FILE}` in it");
        let hint = message!(
            format_args!("a skill is a directory with a `{SKILL_FILE}`; "),
            Verb::Create.call().word("NAME"),
            " makes one"
        );
        return Err(Error::usage(message).hint(hint));
    }
    Ok(found)
}

/// Returns `found` and the skills inside these, sorted: agents that search deep load them too.
fn with_nested(mut found: Vec<FileLocation>) -> Result<Vec<FileLocation>> {
    let mut first = 0;
    let mut seen: BTreeSet<PathBuf> = found.iter().map(FileLocation::file).collect();
    while first < found.len() {
        let inside = |outer: &FileLocation| {
            let dir = outer.shown.parent().unwrap_or(Path::new("")).to_owned();
            let top = SkillDir { dir, real: outer.dir.clone() };
            let nested = search(&top)?.found.into_iter();
            // A link does not make another skill a part of this one.
            let is_part = |dir: &Path| dir != top.real && dir.starts_with(&top.real);
            let nested = nested.filter(|inner| is_part(&inner.dir.real));
            nested.map(location).collect::<Result<Vec<_>>>()
        };
        let nested = workers::map(&found[first..], workers::PIECE, || (), |(), outer| inside(outer));
        let nested = nested.collect::<Result<Vec<_>>>()?;
        first = found.len();
        // A link may lead to one that was found before, and from there to itself.
        found.extend(nested.into_iter().flatten().filter(|inner| seen.insert(inner.file())));
    }
    found.sort_by(|one, other| one.shown.cmp(&other.shown));
    Ok(found)
}

/// Returns the skills in the directories of `top`.
fn search(top: &SkillDir) -> Result<Search> {
    let limit = Limits::default().archive_entries;
    let rules = Rules {
        depth: MAX_DEPTH,
        most: usize::try_from(limit).unwrap_or(usize::MAX),
        links: Links::Skills,
        skipped_may_be_skills: false,
    };
    let walked = DISK.search(top, rules, &mut VisitedDirs::default())?;
    if walked.is_cut {
        return Err(Refusal::TooManyEntries { count: limit + 1, limit }.into());
    }
    Ok(walked)
}

fn location(found: FoundSkill<SkillDir, fs::PathError>) -> Result<FileLocation> {
    let (SkillDir { dir, real }, name) = (found.dir, found.file?);
    Ok(FileLocation { shown: dir.join(&name), dir: real, name, is_named: false })
}

/// Returns all skills below `top`. Like agents, follows links in their directories to skills.
fn below(top: &SkillDir, searched: &mut Searched) -> Result<Vec<FileLocation>> {
    let walked = search(top)?;
    let mut linked = Vec::new();
    for dir in walked.others.iter().filter(|dir| dir.dir.file_name().is_some_and(|name| name == SKILLS_DIR)) {
        linked.extend(links_of(top, dir, searched)?);
    }
    if searched.is_kept() {
        // The target of a link is in no directory here.
        let links = fs::entries(&top.real)?.into_iter().filter(|(_, kind)| *kind == Kind::Symlink);
        links.for_each(|(name, _)| searched.at(|| top.dir.join(name)));
        walked.others.into_iter().for_each(|other| searched.at(|| other.dir));
    }
    let mut places = walked.found.into_iter().map(location).collect::<Result<Vec<_>>>()?;
    if !linked.is_empty() {
        places.extend(linked);
        places.sort_by(|one, other| one.shown.cmp(&other.shown));
        // Two links may lead to one skill.
        let mut seen = BTreeSet::new();
        places.retain(|place| seen.insert(place.file()));
    }
    Ok(places)
}

/// Returns the skills outside `top` that links in `dir` lead to: editable ones. A link that cannot be followed hides none of
/// the others.
fn links_of(top: &SkillDir, dir: &SkillDir, searched: &mut Searched) -> Result<Vec<FileLocation>> {
    let mut places = Vec::new();
    for (name, _) in fs::entries(&dir.real)?.into_iter().filter(|(_, kind)| *kind == Kind::Symlink) {
        let shown = dir.dir.join(&name);
        searched.at(|| shown.clone());
        let real = fs::real_path(&dir.real.join(&name)).ok().flatten();
        let Some(real) = real.filter(|real| !real.starts_with(&top.real)) else { continue };
        if !matches!(fs::kind(&real), Ok(Some(Kind::Directory))) {
            continue;
        }
        let entry = SkillDir { dir: shown, real };
        if let Ok(Holds::Skill(name)) = DISK.holds(&entry) {
            places.push(FileLocation {
                shown: entry.dir.join(&name),
                dir: entry.real,
                name,
                is_named: false,
            });
        }
    }
    Ok(places)
}
