//! Which files are visited: those that were named, and the skills in directories that were.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::content::{Ahead, Content};
use super::{At, Searched, Visit};
use crate::engine::load::SKILL_FILE;
use crate::error::{Error, Result};
use crate::fs::{self, Base, Kind};
use crate::refusal::{Limits, Refusal};
use crate::skill::find::SKIPPED;
use crate::text::order_of;
use crate::workers;

/// How many files are read before the first of them is visited.
const AHEAD: usize = 16;
/// How deep skills are looked for: deeper than any repository is. Who checks one wants to hear of all its skills,
/// while agents look less deep.
pub(super) const MAX_DEPTH: usize = 64;
/// The name of the directories in which agents find skills.
const SKILLS_DIR: &str = "skills";
/// What tells that a directory is full of other people's files: an environment of Python, one of conda, a cache
/// (<https://bford.info/cachedir/>). Below the one that was named they are not searched.
const FOREIGN: [&str; 3] = ["pyvenv.cfg", "conda-meta", "CACHEDIR.TAG"];

/// A skill that was visited, and what tells its file apart however it is reached.
pub(super) struct Found<S> {
    pub(super) skill: S,
    /// `None` where no other can be the same.
    pub(super) identity: Option<PathBuf>,
}

/// How skills are looked for.
pub(super) struct Search<'a, F> {
    /// Makes what visits them.
    pub(super) visitor: &'a F,
    /// Whether a skill may be found in several ways.
    pub(super) several: bool,
    /// Gets every place at which one is looked for, but for the skills' own directories.
    pub(super) searched: &'a mut Searched,
}

/// What lies in a directory.
type Entry = (OsString, Kind);

/// A directory that may hold a skill, below the one that was named.
struct Place {
    /// Below the directory that was named.
    below: PathBuf,
    /// Where it really is, if it is a link. In a box: few are, and a place is no larger than the entry that it is
    /// made of.
    link: Option<Box<PathBuf>>,
}

/// What a place turned out to be.
enum Step<S> {
    Skill(S),
    /// Not a skill; the directories in it, and the links that may lead to skills.
    Inside(Vec<Entry>),
}

/// [`Step`], or why there is none, in a box: thousands of them are kept until all are there.
type Stepped<S> = Result<Step<S>, Box<Error>>;

impl<V: Visit, F: Fn() -> V + Sync> Search<'_, F> {
    /// Visits what `typed` names, which lies at `at`.
    ///
    /// # Errors
    ///
    /// A path that is not there, cannot be read, or holds no skill.
    pub(super) fn find(&mut self, typed: &Path, at: &Path) -> Result<Vec<Found<V::Skill>>> {
        self.searched.at(|| typed.to_owned());
        let shown = typed.display();
        let named_right = at.file_name().is_some_and(|name| name.eq_ignore_ascii_case(SKILL_FILE));
        let real = fs::real_path(at)?;
        let kind = real.as_deref().map(fs::kind).transpose()?.flatten();
        match (kind, real) {
            (Some(Kind::Directory), Some(real)) if !named_right => self.directory(typed, &real),
            // A link to nothing is there, and the visit says so.
            _ if named_right && fs::kind(at)?.is_some() => {
                let dir = at.parent().unwrap_or(Path::new(""));
                let dir = fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned());
                self.skill(&dir, at.file_name().unwrap_or_default(), typed.to_owned())
            }
            (None, _) => Err(Error::usage(format!("`{shown}` does not exist")).hint("check the spelling")),
            (Some(_), _) => {
                Err(Error::usage(format!("`{shown}` is not a skill: its name is not `{SKILL_FILE}`"))
                    .hint("name a skill's directory, its `SKILL.md`, or a directory with skills in it"))
            }
        }
    }

    /// Visits the skill whose file is `name` in the real directory `dir`.
    fn skill(&self, dir: &Path, name: &OsStr, shown: PathBuf) -> Result<Vec<Found<V::Skill>>> {
        let at = At {
            base: &Base::open(dir)?,
            dir: Path::new(""),
            name,
            directory: dir.file_name(),
            is_named: true,
        };
        let skill = at.visit(&mut (self.visitor)(), || shown)?;
        let identity = || self.several.then(|| dir.join(name));
        Ok(skill.map(|skill| Found { skill, identity: identity() }).into_iter().collect())
    }

    /// Visits the skill in the real directory `dir`, else all skills below it.
    fn directory(&mut self, typed: &Path, dir: &Path) -> Result<Vec<Found<V::Skill>>> {
        let exact = Path::new(SKILL_FILE);
        if fs::kind(&dir.join(exact))?.is_some() {
            return self.skill(dir, exact.as_os_str(), typed.join(exact));
        }
        let entries = fs::entries(dir)?;
        if let Some(name) = other_file(&entries) {
            return self.skill(dir, name, typed.join(name));
        }
        // What a link leads to shows in no directory here.
        for (name, _) in entries.iter().filter(|(_, kind)| *kind == Kind::Symlink) {
            self.searched.at(|| typed.join(name));
        }
        let shown = typed.display();
        let found = self
            .below(typed, &Base::open(dir)?, entries)
            .map_err(|error| error.context(format!("`{shown}` cannot be searched for skills")))?;
        if found.is_empty() {
            let message = format!("`{shown}` has no skills: there is no `{SKILL_FILE}` in it");
            let hint =
                format!("a skill is a directory with a `{SKILL_FILE}`; `skillpm create NAME` makes one");
            return Err(Error::usage(message).hint(hint));
        }
        Ok(found)
    }

    /// Level by level, all directories of one at once, from those among the `entries` of `base` on.
    /// Whether one is a skill shows when its file is opened; a skill's own directory is not searched,
    /// and never listed for this.
    fn below(&mut self, typed: &Path, base: &Base, entries: Vec<Entry>) -> Result<Vec<Found<V::Skill>>> {
        let limit = Limits::default().archive_entries;
        let (mut found, mut count, mut deep) = (Vec::new(), 0, false);
        let mut places = top(base.path(), entries);
        let mut order = by_name(&places);
        let several = self.several || places.iter().any(|place| place.link.is_some());
        let mut linked: BTreeSet<PathBuf> =
            places.iter().filter_map(|p| p.link.as_deref().cloned()).collect();
        for _ in 0..MAX_DEPTH {
            if places.is_empty() {
                break;
            }
            count += places.len() as u64;
            if count > limit {
                return Err(Refusal::TooManyEntries { count, limit }.into());
            }
            // They are visited as the directory has them, which is how the system finds them fastest.
            let visitor = self.visitor;
            let state = || (visitor(), Ahead::default());
            let mut steps: Vec<_> =
                workers::map_pieces(&places, workers::PIECE, state, |(visitor, ahead), places| {
                    let mut all = Vec::with_capacity(places.len());
                    for places in places.chunks(AHEAD) {
                        all.extend(look(visitor, ahead, base, typed, places));
                    }
                    all
                })
                .map(Some)
                .collect();
            deep |= !found.is_empty();
            found.reserve(steps.len());
            let mut next = Vec::new();
            for index in order {
                let (place, Some(step)) = (&places[index], steps[index].take()) else { continue };
                match step.map_err(|error| *error)? {
                    Step::Skill(skill) => {
                        let link = || place.link.as_deref().cloned();
                        let real = || link().unwrap_or_else(|| base.path().join(&place.below));
                        let name = || V::shown(&skill).file_name().unwrap_or_default();
                        let identity = several.then(|| real().join(name()));
                        found.push(Found { skill, identity });
                    }
                    Step::Inside(entries) => {
                        self.searched.at(|| typed.join(&place.below));
                        for (name, kind) in entries {
                            let below = place.below.join(name);
                            if kind == Kind::Directory {
                                next.push(Place { below, link: None });
                                continue;
                            }
                            self.searched.at(|| typed.join(&below));
                            // What is below the directory that was named is found without the link.
                            let real = leads_to(&base.path().join(&below));
                            let real = real.filter(|real| !real.starts_with(base.path()));
                            if let Some(real) = real.filter(|real| linked.insert(real.clone())) {
                                next.push(Place { below, link: Some(Box::new(real)) });
                            }
                        }
                    }
                }
            }
            // In order already, as the names in each directory are.
            order = (0..next.len()).collect();
            places = next;
        }
        // Those of one level are in order already.
        if deep {
            found.sort_by(|a, b| V::shown(&a.skill).cmp(V::shown(&b.skill)));
        }
        Ok(found)
    }
}

/// The directories among the `entries` of `dir`. Agents follow links in their directories, and so do we, to
/// skills.
fn top(dir: &Path, entries: Vec<Entry>) -> Vec<Place> {
    let place = |(name, kind): Entry| match kind {
        Kind::Directory if !is_among(&name, SKIPPED) => Some(Place { below: name.into(), link: None }),
        Kind::Symlink => {
            let real = leads_to(&dir.join(&name))?;
            Some(Place { below: name.into(), link: Some(Box::new(real)) })
        }
        _ => None,
    };
    entries.into_iter().filter_map(place).collect()
}

/// The directory to which `link` leads. A link that cannot be followed hides none of the others.
fn leads_to(link: &Path) -> Option<PathBuf> {
    let real = fs::real_path(link).ok().flatten();
    real.filter(|real| matches!(fs::kind(real), Ok(Some(Kind::Directory))))
}

/// The indexes of `places`, which lie in one directory, in the order of their names.
fn by_name(places: &[Place]) -> Vec<usize> {
    order_of(places.len(), |index| places[index].below.as_os_str().as_encoded_bytes())
}

/// The name among `entries` that is nearly the one of a skill's file.
fn other_file(entries: &[Entry]) -> Option<&OsStr> {
    let names = entries.iter().map(|(name, _)| name.as_os_str());
    names.filter(|name| name.eq_ignore_ascii_case(SKILL_FILE)).min()
}

fn is_among(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|one| name == *one)
}

/// Looks into the directories at `places`, of which those that are no links lie below `base`.
fn look<V: Visit>(
    visitor: &mut V,
    ahead: &mut Ahead,
    base: &Base,
    typed: &Path,
    places: &[Place],
) -> impl Iterator<Item = Stepped<V::Skill>> {
    let dirs = places.iter().map(|place| place.link.is_none().then_some(&*place.below));
    let contents = ahead.read(base, dirs, Path::new(SKILL_FILE));
    places.iter().zip(contents).map(|(place, content)| {
        let stepped = match &place.link {
            Some(real) => match Base::open(real) {
                Ok(real) => step(visitor, None, &real, Path::new(""), typed, place),
                Err(error) if error.is_absent() => Ok(Step::Inside(Vec::new())),
                Err(error) => Err(error.into()),
            },
            None => step(visitor, Some(content), base, &place.below, typed, place),
        };
        stepped.map_err(Box::new)
    })
}

/// Looks into the directory `dir` below `base`, in which `content` was read, if anything was.
fn step<V: Visit>(
    visitor: &mut V,
    content: Option<&mut Content>,
    base: &Base,
    dir: &Path,
    typed: &Path,
    place: &Place,
) -> Result<Step<V::Skill>> {
    let directory = place.link.as_deref().unwrap_or(&place.below).file_name();
    let at = |name| At { base, dir, name, directory, is_named: false };
    let shown = |name: &OsStr| {
        // One allocation: there is such a path for every skill.
        let length = typed.as_os_str().len() + place.below.as_os_str().len() + name.len() + 2;
        let mut shown = PathBuf::with_capacity(length);
        shown.extend([typed, &place.below, Path::new(name)]);
        shown
    };
    let exact = OsStr::new(SKILL_FILE);
    let visited = match content {
        Some(content) => content.visit_read(at(exact), visitor, || shown(exact))?,
        None => at(exact).visit(visitor, || shown(exact))?,
    };
    if let Some(skill) = visited {
        return Ok(Step::Skill(skill));
    }
    let entries = match fs::entries(&base.path().join(dir)) {
        // It went after its parent was listed, as other programs' temporary directories do.
        Err(error) if error.is_absent() => return Ok(Step::Inside(Vec::new())),
        entries => entries?,
    };
    if let Some(name) = other_file(&entries)
        && let Some(skill) = at(name).visit(visitor, || shown(name))?
    {
        return Ok(Step::Skill(skill));
    }
    // A link may lead anywhere, so only a skill is taken from behind it.
    let is_searched = place.link.is_none() && !entries.iter().any(|(name, _)| is_among(name, &FOREIGN));
    // Installed skills that somebody works on are links in the directories of agents.
    let has_links = dir.file_name().is_some_and(|name| name == SKILLS_DIR);
    let mut inside: Vec<_> = entries
        .into_iter()
        .filter(|(name, kind)| match kind {
            Kind::Directory => is_searched && !is_among(name, SKIPPED),
            Kind::Symlink => is_searched && has_links,
            _ => false,
        })
        .collect();
    inside.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Step::Inside(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A visitor where no skill is.
    struct Nobody;

    impl Visit for Nobody {
        type Skill = PathBuf;

        fn visit(
            &mut self,
            _at: At<'_>,
            _bytes: Option<&mut Vec<u8>>,
            _shown: impl FnOnce() -> PathBuf,
        ) -> Result<PathBuf> {
            unreachable!("there is no skill")
        }

        fn shown(skill: &PathBuf) -> &Path {
            skill
        }
    }

    #[test]
    fn what_goes_while_it_is_searched_hides_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let base = Base::open(dir.path()).expect("opens");
        let gone = |link| Place { below: "gone".into(), link };
        let link = gone(Some(Box::new(dir.path().join("gone"))));
        fs::write_atomic(&dir.path().join("file"), b"").expect("writes");
        let file = Place { below: "file".into(), link: None };
        let places = [gone(None), link, file];
        for steps in look(&mut Nobody, &mut Ahead::default(), &base, Path::new("."), &places) {
            assert!(matches!(steps, Ok(Step::Inside(entries)) if entries.is_empty()));
        }
    }

    #[test]
    fn places_are_in_the_order_of_their_names() {
        let names =
            ["b", "a", "a-long-name-that-is-shared-2", "a-long-name-that-is-shared-1", "é", "ab", "B"];
        let entries = names.iter().map(|name| (OsString::from(name), Kind::Directory)).collect();
        let places = top(Path::new(""), entries);
        let places: Vec<_> = by_name(&places).into_iter().map(|index| places[index].below.clone()).collect();
        let mut expected: Vec<_> = names.map(PathBuf::from).to_vec();
        expected.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        assert_eq!(places, expected);
    }
}
