//! Finding skills: one walk for every place that may hold some, on disk or in memory.
//!
//! A skill is a directory with a file called [`SKILL_FILE`], in any case. No file contents are read here.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::SKILL_FILE;
use super::skipped::is_skipped;

/// Reports whether a file called `name` is a skill file, in any spelling of upper and lower case.
pub fn is_skill_file(name: impl AsRef<OsStr>) -> bool {
    name.as_ref().eq_ignore_ascii_case(SKILL_FILE)
}

/// Returns the name of the skill file among `names`: the exact spelling, otherwise the first in byte order.
pub fn skill_file_among<'a>(names: impl Iterator<Item = &'a OsStr>) -> Option<&'a OsStr> {
    names.filter(|name| is_skill_file(name)).min_by_key(|name| (*name != SKILL_FILE, *name))
}

/// The rules of a walk.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The maximum depth of a skill in directories; one directly in the top is 1 deep.
    pub depth: usize,
    /// The maximum number of directories without a skill that are searched.
    pub most: usize,
    /// How to treat links directly in the top.
    pub links: Links,
    /// Whether a directory with a name in [`SKIPPED`](super::skipped::SKIPPED) may itself be a skill.
    pub skipped_may_be_skills: bool,
}

/// How a walk treats links to directories. Below the top no link is followed, so every walk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// They may be skills. Their targets are not searched.
    Skills,
    /// They are treated like directories, and no directory is found twice.
    Followed,
}

/// A set of directories that may contain skills.
pub trait Space {
    /// A directory.
    type Dir: Dir;
    /// The reason why a directory cannot be read.
    type Error;

    /// Returns the contents of each of `dirs`, in their order.
    fn look(&self, dirs: &[&Self::Dir]) -> Vec<Result<Holds<Self::Dir>, Self::Error>>;
}

/// A directory in a [`Space`].
pub trait Dir {
    /// Returns its name; if a link leads to it, the name of the link.
    fn name(&self) -> &OsStr;
    /// Returns its path with all links followed.
    fn real(&self) -> &Path;
}

/// The contents of a directory.
#[derive(Debug)]
pub enum Holds<D> {
    /// A skill: the name of its file.
    Skill(OsString),
    /// Not a skill: the directories in it, by name.
    Inside(Vec<D>),
}

/// A directory directly in the top of a walk.
#[derive(Debug)]
pub struct Child<D> {
    /// The directory.
    pub dir: D,
    /// Whether a link leads to it.
    pub is_link: bool,
}

/// A directory that holds a skill, or that could not be read.
#[derive(Debug)]
pub struct FoundSkill<D, E> {
    /// The directory.
    pub dir: D,
    /// The name of the skill's file.
    pub file: Result<OsString, E>,
}

/// The result of a walk.
#[derive(Debug)]
pub struct Walked<D, E> {
    /// The skills, by path.
    pub found: Vec<FoundSkill<D, E>>,
    /// The directories that are not skills themselves.
    pub others: Vec<D>,
    /// Whether there are more directories than [`Rules::most`]: the rest were not searched.
    pub is_cut: bool,
}

/// The real directories visited by walks that follow links.
#[derive(Debug, Default)]
pub struct VisitedDirs {
    /// Directories whose children have all been read, or are being read.
    parents: BTreeSet<PathBuf>,
    /// The targets of links.
    others: BTreeSet<PathBuf>,
}

/// Returns the skills below the directory `top`, which contains `children`, in the order of their names. `top` itself is not
/// checked, and the directory of a skill is not searched.
///
/// Directories already in `seen` are not found again if `rules` follow links. A link to a directory next to it always loses,
/// independent of the names.
pub fn walk<S: Space>(
    space: &S,
    top: &Path,
    children: Vec<Child<S::Dir>>,
    rules: Rules,
    seen: &mut VisitedDirs,
) -> Walked<S::Dir, S::Error> {
    let walked = Walked { found: Vec::new(), others: Vec::new(), is_cut: false };
    let mut walk = Walk { space, rules, seen, searched: 0, walked };
    walk.level(top, children, 1);
    walk.walked
}

struct Walk<'a, S: Space> {
    space: &'a S,
    rules: Rules,
    seen: &'a mut VisitedDirs,
    /// The number of directories without a skill that were searched.
    searched: usize,
    walked: Walked<S::Dir, S::Error>,
}

impl<S: Space> Walk<'_, S> {
    /// Reads all `children` of the directory `real` at once, and then descends, in the order of their names, into those
    /// that are not skills.
    fn level(&mut self, real: &Path, mut children: Vec<Child<S::Dir>>, depth: usize) {
        let is_new = !self.follows() || self.seen.parents.insert(real.to_owned());
        let skips = !self.rules.skipped_may_be_skills;
        children.retain(|child| child.is_link || is_new && !(skips && is_skipped(child.dir.name())));
        let dirs: Vec<_> = children.iter().map(|child| &child.dir).collect();
        let held = self.space.look(&dirs);
        for (Child { dir, is_link }, held) in children.into_iter().zip(held) {
            if self.is_seen(&dir, is_link) {
                continue;
            }
            if is_link && self.follows() {
                self.seen.others.insert(dir.real().to_owned());
            }
            match held {
                Ok(Holds::Skill(name)) => self.walked.found.push(FoundSkill { dir, file: Ok(name) }),
                Ok(Holds::Inside(inside)) => self.inside(dir, is_link, inside, depth),
                Err(error) => self.walked.found.push(FoundSkill { dir, file: Err(error) }),
            }
        }
    }

    /// Descends into `dir`, which is not a skill.
    fn inside(&mut self, dir: S::Dir, is_link: bool, inside: Vec<S::Dir>, depth: usize) {
        let is_searched = depth < self.rules.depth && !is_skipped(dir.name()) && (self.follows() || !is_link);
        if is_searched && self.searched == self.rules.most {
            self.walked.is_cut = true;
        } else if is_searched {
            self.searched += 1;
            let children = inside.into_iter().map(|dir| Child { dir, is_link: false }).collect();
            self.level(dir.real(), children, depth + 1);
        }
        self.walked.others.push(dir);
    }

    fn follows(&self) -> bool {
        self.rules.links == Links::Followed
    }

    /// Reports whether the directory was found before.
    fn is_seen(&self, dir: &S::Dir, is_link: bool) -> bool {
        let VisitedDirs { parents, others } = &*self.seen;
        let is_child = || dir.real().parent().is_some_and(|parent| parents.contains(parent));
        self.follows() && (others.contains(dir.real()) || is_link && is_child())
    }
}
