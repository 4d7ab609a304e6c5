//! Searches directories on disk for skills.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::sources::SkillDir;
use crate::fs::{self, Kind, PathError};
use crate::skill::SKILL_FILE;
use crate::skill::find::{Child, Dir, Holds, Rules, Space, VisitedDirs, Walked, skill_file_among, walk};
use crate::workers;

/// The maximum number of directories without a skill that are searched in one source.
pub(super) const MAX_DIRECTORIES: usize = 2000;

/// The number of directories that a thread examines at a time. Starting a thread takes as long as examining hundreds.
const PIECE: usize = 512;
/// Files that mark a directory of third-party files: a Python environment, a conda environment, or a cache
/// (<https://bford.info/cachedir/>).
const FOREIGN: [&str; 3] = ["pyvenv.cfg", "conda-meta", "CACHEDIR.TAG"];

/// The result of a search on disk.
pub(crate) type Search = Walked<SkillDir, PathError>;

/// The file system of this machine, as a space to search.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    /// Whether to skip directories of third-party files.
    pub(crate) leaves_out_foreign: bool,
}

impl Dir for SkillDir {
    fn name(&self) -> &OsStr {
        self.dir.file_name().unwrap_or_default()
    }

    fn real(&self) -> &Path {
        &self.real
    }
}

impl SkillDir {
    fn child(&self, name: &OsStr) -> Self {
        Self { dir: self.dir.join(name), real: self.real.join(name) }
    }
}

impl Space for Disk {
    type Dir = SkillDir;
    type Error = PathError;

    fn look(&self, dirs: &[&SkillDir]) -> Vec<Result<Holds<SkillDir>, PathError>> {
        workers::map(dirs, PIECE, || (), |(), dir| self.holds(dir)).collect()
    }
}

impl Disk {
    /// Returns the skills in the directories in `top`, searched by `rules`.
    pub(crate) fn search(
        &self,
        top: &SkillDir,
        rules: Rules,
        seen: &mut VisitedDirs,
    ) -> Result<Search, PathError> {
        let mut entries = fs::entries(&top.real)?;
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let child = |(name, kind): (OsString, Kind)| match kind {
            Kind::Directory => Some(Child { dir: top.child(&name), is_link: false }),
            // An entry that cannot be examined does not hide the others.
            Kind::Symlink => {
                let real = fs::real_path(&top.real.join(&name)).ok().flatten();
                let real = real.filter(|real| matches!(fs::kind(real), Ok(Some(Kind::Directory))))?;
                Some(Child { dir: SkillDir { dir: top.dir.join(&name), real }, is_link: true })
            }
            _ => None,
        };
        let children = entries.into_iter().filter_map(child).collect();
        Ok(walk(self, &top.real, children, rules, seen))
    }

    /// Returns the contents of `dir`; a directory that has disappeared is empty.
    pub(crate) fn holds(&self, dir: &SkillDir) -> Result<Holds<SkillDir>, PathError> {
        if fs::kind(&dir.real.join(SKILL_FILE))?.is_some() {
            return Ok(Holds::Skill(SKILL_FILE.into()));
        }
        let mut entries = match fs::entries(&dir.real) {
            Err(error) if error.is_absent() => Vec::new(),
            entries => entries?,
        };
        let names = || entries.iter().map(|(name, _)| name.as_os_str());
        if let Some(name) = skill_file_among(names()) {
            return Ok(Holds::Skill(name.to_owned()));
        }
        if self.leaves_out_foreign && names().any(|name| FOREIGN.iter().any(|foreign| name == *foreign)) {
            return Ok(Holds::Inside(Vec::new()));
        }
        entries.retain(|(_, kind)| *kind == Kind::Directory);
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Holds::Inside(entries.iter().map(|(name, _)| dir.child(name)).collect()))
    }
}

/// Returns the file of the skill in `dir`: `SKILL.md`, otherwise the first one whose name differs only in case; `None`
/// if there is neither. It may be of any kind, including a link.
///
/// # Errors
///
/// Fails if `dir` cannot be read.
pub fn skill_file(dir: &Path) -> Result<Option<PathBuf>, PathError> {
    let entry = SkillDir { dir: dir.to_owned(), real: dir.to_owned() };
    Ok(match Disk::default().holds(&entry)? {
        Holds::Skill(name) => Some(dir.join(name)),
        Holds::Inside(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// S0-FR-002, conflict C13.
    #[test]
    fn the_exact_spelling_wins() {
        let world = World::new();
        let dir = world.project().join("s");
        let name =
            || skill_file(&dir).expect("reads").map(|file| file.strip_prefix(&dir).map(Path::to_owned));
        assert_eq!(name(), None);
        world.write("s/readme.md", "");
        assert_eq!(name(), None);
        for file in ["skill.md", "Skill.md", "SKILL.md"] {
            world.write(&format!("s/{file}"), "");
            assert_eq!(name(), Some(Ok(file.into())), "upper case sorts first");
        }
    }
}
