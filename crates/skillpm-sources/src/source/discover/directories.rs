//! The directories of a tree in memory, searchable for skills like those on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::path::Path;

use crate::skill::find::{Child, Dir, Holds, Links, Rules, Space, VisitedDirs, skill_file_among, walk};
use crate::skill::skipped::is_skipped;
use crate::tree::Tree;

/// The directories of a tree.
pub(super) struct Directories<'a>(BTreeMap<&'a str, Directory<'a>>);

/// The direct content of a directory.
#[derive(Default)]
struct Directory<'a> {
    /// Names of files.
    files: BTreeSet<&'a str>,
    /// Paths of directories.
    directories: BTreeSet<&'a str>,
}

/// Skills: the name of the skill file by directory.
pub(super) type Skills<'a> = BTreeMap<&'a str, &'a str>;

/// The path of a directory; empty is the root.
pub(in crate::source) struct TreeDir<'a>(&'a str);

impl Dir for TreeDir<'_> {
    fn name(&self) -> &OsStr {
        OsStr::new(self.0.rsplit('/').next().unwrap_or_default())
    }

    fn real(&self) -> &Path {
        Path::new(self.0)
    }
}

impl<'a> Space for Directories<'a> {
    type Dir = TreeDir<'a>;
    type Error = Infallible;

    fn look(&self, dirs: &[&TreeDir<'a>]) -> Vec<Result<Holds<TreeDir<'a>>, Infallible>> {
        let holds = |at: &&TreeDir<'a>| match self.file(at.0) {
            Some(name) => Holds::Skill(name.into()),
            None => Holds::Inside(self.inside(at.0).collect()),
        };
        dirs.iter().map(holds).map(Ok).collect()
    }
}

impl<'a> Directories<'a> {
    /// Returns the directories of `tree`.
    pub(super) fn of(tree: &'a Tree) -> Self {
        let mut all: BTreeMap<&str, Directory<'_>> = BTreeMap::new();
        for (path, _) in tree.entries() {
            let (mut dir, name) = split(path);
            all.entry(dir).or_default().files.insert(name);
            // Up to a directory that is already known.
            while !dir.is_empty() {
                let (parent, _) = split(dir);
                if !all.entry(parent).or_default().directories.insert(dir) {
                    break;
                }
                dir = parent;
            }
        }
        Self(all)
    }

    /// Returns the name of the skill file in `dir`, if `dir` is a skill.
    pub(super) fn file(&self, dir: &str) -> Option<&'a str> {
        let files = &self.0.get(dir)?.files;
        skill_file_among(files.iter().map(|name| OsStr::new(*name)))?.to_str()
    }

    /// Returns `dir` and the name of its skill file, if `dir` is a skill.
    pub(super) fn entry(&self, dir: &str) -> Option<(&'a str, &'a str)> {
        let (dir, _) = self.0.get_key_value(dir)?;
        Some((dir, self.file(dir)?))
    }

    fn inside(&self, dir: &str) -> impl Iterator<Item = TreeDir<'a>> {
        let directories = self.0.get(dir).into_iter().flat_map(|dir| &dir.directories);
        directories.map(|dir| TreeDir(dir))
    }

    /// Returns the skills below `dir`, at most `depth` directories deep. Does not search a skill's own
    /// directory.
    pub(super) fn below(&self, dir: &str, depth: usize) -> Skills<'a> {
        let rules = Rules { depth, most: usize::MAX, links: Links::Skills, skipped_may_be_skills: false };
        let children = self.inside(dir).map(|dir| Child { dir, is_link: false }).collect();
        let found = walk(self, Path::new(dir), children, rules, &mut VisitedDirs::default()).found;
        found.into_iter().filter_map(|found| Some((found.dir.0, self.file(found.dir.0)?))).collect()
    }
}

/// Splits `path` into the directory and the name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Reports whether `path` has a directory that traversals skip.
pub(super) fn is_left_out(path: &str) -> bool {
    path.split('/').any(|part| is_skipped(OsStr::new(part)))
}
