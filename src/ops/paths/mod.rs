//! Which skills the paths of a request mean: files, skills' directories, whole repositories, and
//! patterns for them. What is done with a skill's file is the verb's, and done while it is looked
//! for: whether a directory holds a skill shows when its file is opened.

mod content;
mod inside;
mod installed;
mod pattern;
mod search;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::fs::{self, Base};

use content::Content;
pub(super) use inside::Inside;
pub(super) use installed::Installed;
use search::{Found, Search};

/// What somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A skill's directory, a `SKILL.md`, a directory in which skills are looked for, or a pattern
    /// such as `skills/**/SKILL.md` for them.
    Path(PathBuf),
    /// A text, which need not be in any file yet.
    Text {
        /// The content.
        bytes: Vec<u8>,
        /// The file that it is to be, for the name of its directory and for messages.
        file: Option<PathBuf>,
    },
}

/// How a text that came from no file is shown.
pub(super) const NO_FILE: &str = "<stdin>";

impl Target {
    /// How a text is shown whose file is to be `file`.
    pub(super) fn shown(file: Option<&Path>) -> PathBuf {
        file.unwrap_or(Path::new(NO_FILE)).to_owned()
    }

    /// The refusal where a text is to be changed in its place.
    pub(super) fn no_place(verb: &str) -> Error {
        Error::usage(format!("standard input cannot be {verb} in its place"))
            .hint("name a file or a directory")
    }
}

/// Where a file is, or may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    /// A directory that is open.
    pub(super) base: &'a Base,
    /// The directory of the file, below the open one.
    pub(super) dir: &'a Path,
    /// The file's name.
    pub(super) name: &'a OsStr,
    /// The real name of its directory, if that has one.
    pub(super) directory: Option<&'a OsStr>,
    /// Whether the skill itself was named, and not a directory with skills in it.
    pub(super) is_named: bool,
}

impl At<'_> {
    /// The whole path.
    pub(super) fn path(&self) -> PathBuf {
        self.base.path().join(self.dir).join(self.name)
    }

    /// Reads the file and hands it to `visitor`; it is shown as `shown` says. `None` where there is none.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, and what the visit answers.
    pub(super) fn visit<V: Visit>(
        self,
        visitor: &mut V,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<Option<V::Skill>> {
        Content::default().visit(self, visitor, shown)
    }
}

/// Does a verb's work on one skill's file after the other. Each thread has one of its own.
pub(super) trait Visit {
    /// What comes of a skill.
    type Skill: Send;

    /// Looks at the file at `at`, which holds `bytes` and is shown as `shown` says. Where there are none it may be
    /// anything: a link, a pipe, more than a skill's file may have. The memory of `bytes` is used again.
    fn visit(
        &mut self,
        at: At<'_>,
        bytes: Option<&mut Vec<u8>>,
        shown: impl FnOnce() -> PathBuf,
    ) -> Result<Self::Skill>;

    /// The file of `skill`, as it is shown.
    fn shown(skill: &Self::Skill) -> &Path;
}

/// The places at which skills are looked for, as they are shown: where one of them is another one by now, other skills
/// may be found. Nobody but a watch wants to know them.
#[derive(Debug, Default)]
pub(super) struct Searched(Option<Vec<PathBuf>>);

impl Searched {
    /// To be kept.
    pub(super) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    fn at(&mut self, path: impl FnOnce() -> PathBuf) {
        if let Some(paths) = &mut self.0 {
            paths.push(path());
        }
    }

    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        self.0.unwrap_or_default()
    }
}

/// Finds skills, each once.
pub(super) struct Finder<'a, F> {
    cwd: &'a Path,
    searched: &'a mut Searched,
    visitor: F,
    /// Whether a skill may be found in several ways.
    several: bool,
    seen: BTreeSet<PathBuf>,
}

impl<'a, V: Visit, F: Fn() -> V + Sync> Finder<'a, F> {
    /// A finder for `count` targets, seen from `cwd`, that visits skills with what `visitor` makes and notes in
    /// `searched` where it looked.
    pub(super) fn new(cwd: &'a Path, count: usize, visitor: F, searched: &'a mut Searched) -> Self {
        Self { cwd, searched, visitor, several: count > 1, seen: BTreeSet::new() }
    }

    /// Visits the skills that `typed` names, by the bytes of their paths, and that were not named
    /// before. A path that is there is no pattern.
    ///
    /// # Errors
    ///
    /// A path that is not there, cannot be read, or holds no skill; a pattern that is none, or that
    /// nothing matches; what a visit answers.
    pub(super) fn find(&mut self, typed: &Path) -> Result<Vec<V::Skill>> {
        let at = self.cwd.join(typed);
        let mut found = Vec::new();
        match pattern::read(typed) {
            Some(pattern) if fs::kind(&at)?.is_none() => {
                let all = pattern.matches(self.cwd, self.searched)?;
                let mut search = Search { visitor: &self.visitor, several: true, searched: self.searched };
                for typed in all {
                    found.extend(search.find(&typed, &self.cwd.join(&typed))?);
                }
            }
            _ => {
                let several = self.several;
                let mut search = Search { visitor: &self.visitor, several, searched: self.searched };
                found = search.find(typed, &at)?;
            }
        }
        let mut new = |found: &Found<V::Skill>| {
            found.identity.as_ref().is_none_or(|identity| self.seen.insert(identity.clone()))
        };
        Ok(found.into_iter().filter(|found| new(found)).map(|found| found.skill).collect())
    }
}

#[cfg(test)]
mod tests;
