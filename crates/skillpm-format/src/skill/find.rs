//! Where skills lie: one walk for every place that may hold some, on disk or in memory.
//!
//! A skill is a directory with a file called [`SKILL_FILE`], in any case. Nothing is read here.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::SKILL_FILE;

/// Directories that hold other people's files or build results, or what skillpm needs for its work.
pub const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".skillpm-tx", ".skillpm-undo"];

/// Whether a walk leaves out what lies in directories called `name`.
pub fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|skipped| name == *skipped)
}

/// Whether a file called `name` is a skill's, in whichever case that is spelled.
pub fn is_skill_file(name: impl AsRef<OsStr>) -> bool {
    name.as_ref().eq_ignore_ascii_case(SKILL_FILE)
}

/// Returns the name of a skill's file among `names`: the exact spelling, else the first in the order of bytes.
pub fn skill_file_among<'a>(names: impl Iterator<Item = &'a OsStr>) -> Option<&'a OsStr> {
    names.filter(|name| is_skill_file(name)).min_by_key(|name| (*name != SKILL_FILE, *name))
}

/// Where a walk goes.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// How many directories deep a skill may lie; one right in the top is 1 deep.
    pub depth: usize,
    /// The largest number of directories without a skill that are searched.
    pub most: usize,
    /// What is done with links right in the top.
    pub links: Links,
    /// Whether a directory called like one of [`SKIPPED`] may be a skill itself.
    pub skipped_may_be_skills: bool,
}

/// What a walk does with links to directories. None is followed below the top, so every walk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// They may be skills. What lies behind them is not searched.
    Skills,
    /// They are directories like others, and no directory is found twice.
    Followed,
}

/// Directories in which skills may lie.
pub trait Space {
    /// A directory.
    type Dir: Dir;
    /// Why a directory cannot be looked into.
    type Error;

    /// Returns what each of `dirs` holds, in their order.
    fn look(&self, dirs: &[&Self::Dir]) -> Vec<Result<Holds<Self::Dir>, Self::Error>>;
}

/// A directory in a [`Space`].
pub trait Dir {
    /// Its name; that of a link, where one leads to it.
    fn name(&self) -> &OsStr;
    /// Its path with all links followed.
    fn real(&self) -> &Path;
}

/// What a directory holds.
#[derive(Debug)]
pub enum Holds<D> {
    /// A skill: the name of its file.
    Skill(OsString),
    /// No skill of its own: the directories in it, by their names.
    Inside(Vec<D>),
}

/// A directory right in the top of a walk.
#[derive(Debug)]
pub struct Child<D> {
    /// The directory.
    pub dir: D,
    /// Whether a link leads to it.
    pub is_link: bool,
}

/// A directory that holds a skill, or that could not be looked into.
#[derive(Debug)]
pub struct FoundSkill<D, E> {
    /// The directory.
    pub dir: D,
    /// The name of the skill's file.
    pub file: Result<OsString, E>,
}

/// What a walk came to.
#[derive(Debug)]
pub struct Walked<D, E> {
    /// The skills, by their paths.
    pub found: Vec<FoundSkill<D, E>>,
    /// The directories that hold no skill of their own.
    pub others: Vec<D>,
    /// Whether there are more directories than [`Rules::most`]: the others were not searched.
    pub is_cut: bool,
}

/// The real directories that walks came by which follow links.
#[derive(Debug, Default)]
pub struct VisitedDirs {
    /// All directories in these were looked at, or are just now.
    parents: BTreeSet<PathBuf>,
    /// Those that links lead to.
    others: BTreeSet<PathBuf>,
}

/// Returns the skills below the directory `top`, in which `children` lie, in the order of their names. `top` itself is
/// not looked at, and a skill's own directory is not searched.
///
/// What was `seen` before is not found again where `rules` follow links. Links to directories beside them always lose,
/// whatever their names are.
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
    /// How many directories without a skill were searched.
    searched: usize,
    walked: Walked<S::Dir, S::Error>,
}

impl<S: Space> Walk<'_, S> {
    /// Looks at all `children` of the directory `real` at once, and then, in the order of their names, into those that
    /// hold no skill of their own.
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

    /// Goes into `dir`, which holds no skill of its own.
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

    /// Whether the directory was found before.
    fn is_seen(&self, dir: &S::Dir, is_link: bool) -> bool {
        let VisitedDirs { parents, others } = &*self.seen;
        let is_child = || dir.real().parent().is_some_and(|parent| parents.contains(parent));
        self.follows() && (others.contains(dir.real()) || is_link && is_child())
    }
}
