//! Where skills are looked for, in which order.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::fs::{self, Kind, PathError};
use crate::install::agents::{self, CANONICAL_DIR, LINKED_BY_DEFAULT};
use crate::install::scope::{ScopeKind, project_root};
use crate::policy::{Places, Policy};
use crate::settings::Settings;

/// The agents whose directories are searched after the canonical ones. The others are served by
/// those, or by links from their directories to those.
const SEARCHED_AGENTS: [&str; 1] = [LINKED_BY_DEFAULT];

/// A directory whose subdirectories are skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The scope that it belongs to.
    pub scope: ScopeKind,
    /// The directory. It need not be there.
    pub dir: PathBuf,
}

/// A directory that may hold a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The directory, below that of its source.
    pub dir: PathBuf,
    /// The directory with all links followed: two entries of one real directory are one skill.
    pub real: PathBuf,
}

/// Returns the directories that are searched unless others are named, the first first: the
/// project's canonical copies, the project's `.claude/skills`, then both of the user.
///
/// # Errors
///
/// Where the project's root cannot be found.
pub fn default_sources(settings: &Settings) -> Result<Vec<Source>> {
    let project = project_root(settings)?;
    let agents: Vec<_> = SEARCHED_AGENTS.iter().filter_map(|id| agents::find(id).ok()).collect();
    let mut dirs = vec![(ScopeKind::Project, project.join(CANONICAL_DIR))];
    for agent in &agents {
        dirs.extend(agent.project_dirs.iter().map(|dir| (ScopeKind::Project, project.join(dir))));
    }
    // A container may have no home; the user then has no skills, which is no error.
    dirs.extend(settings.home.iter().map(|home| (ScopeKind::User, home.join(CANONICAL_DIR))));
    for agent in &agents {
        dirs.extend(agent.user_dirs(settings).map(|dir| (ScopeKind::User, dir)));
    }
    let mut sources: Vec<Source> = Vec::new();
    for (scope, dir) in dirs {
        // In the home directory itself the project's directories are the user's.
        if sources.iter().all(|source| source.dir != dir) {
            sources.push(Source { scope, dir });
        }
    }
    Ok(sources)
}

/// Returns the directories that are searched unless others are named, the first first, as `policy`
/// has it.
///
/// # Errors
///
/// Where the project's root cannot be found.
pub fn sources_of(settings: &Settings, policy: &Policy) -> Result<Vec<Source>> {
    let places = match policy.places {
        Places::Default => return default_sources(settings),
        Places::Listed(places) => places,
        Places::Named => return Ok(Vec::new()),
    };
    let project = project_root(settings)?;
    let mut sources = Vec::new();
    for place in places {
        match (place.user, &settings.home) {
            (true, Some(home)) => {
                sources.push(Source { scope: ScopeKind::User, dir: home.join(place.dir) });
            }
            // Without a home the user has no skills.
            (true, None) => {}
            (false, _) => {
                sources.push(Source { scope: ScopeKind::Project, dir: project.join(place.dir) });
            }
        }
    }
    Ok(sources)
}

impl Source {
    /// Lists the directories in this source, links to directories included, sorted by the bytes of
    /// their names. A source that is not there has none.
    ///
    /// # Errors
    ///
    /// Where the source is no directory or cannot be read.
    pub fn entries(&self) -> std::result::Result<Vec<Entry>, PathError> {
        entries(&self.dir)
    }

    /// The directory `name` of this source, if it is there. The caller vouches for `name`.
    pub(super) fn entry(&self, name: &str) -> std::result::Result<Option<Entry>, PathError> {
        let dir = self.dir.join(name);
        Ok(fs::real_path(&dir)?.map(|real| Entry { dir, real }))
    }
}

/// [`Source::entries`] of any directory.
pub(crate) fn entries(dir: &Path) -> std::result::Result<Vec<Entry>, PathError> {
    let Some(source) = fs::real_path(dir)? else { return Ok(Vec::new()) };
    if fs::kind(&source)? != Some(Kind::Directory) {
        let source = std::io::ErrorKind::NotADirectory.into();
        return Err(PathError { action: "read", path: dir.to_owned(), source });
    }
    let mut entries = Vec::new();
    for name in fs::list_dir(dir)? {
        let dir = dir.join(&name);
        // A single entry that cannot be looked at hides none of the others.
        let real = match fs::kind(&dir).ok().flatten() {
            Some(Kind::Directory) => Some(source.join(&name)),
            Some(Kind::Symlink) => fs::real_path(&dir)
                .ok()
                .flatten()
                .filter(|real| matches!(fs::kind(real), Ok(Some(Kind::Directory)))),
            _ => None,
        };
        entries.extend(real.map(|real| Entry { dir, real }));
    }
    Ok(entries)
}

/// The directories in `dir`, links left out.
pub(super) fn directories(dir: &Path) -> std::result::Result<Vec<Entry>, PathError> {
    let mut found = Vec::new();
    for entry in entries(dir)? {
        if fs::kind(&entry.dir)? == Some(Kind::Directory) {
            found.push(entry);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// Conflict C11: project over user, the canonical directory before Claude's.
    #[test]
    fn the_default_order() {
        let world = World::new();
        let dirs = |settings: &Settings| {
            let sources = default_sources(settings).expect("found").into_iter();
            sources.map(|source| (source.scope, source.dir)).collect::<Vec<_>>()
        };
        let (project, home) = (world.project(), world.home());
        let expected = vec![
            (ScopeKind::Project, project.join(".agents/skills")),
            (ScopeKind::Project, project.join(".claude/skills")),
            (ScopeKind::User, home.join(".agents/skills")),
            (ScopeKind::User, home.join(".claude/skills")),
        ];
        assert_eq!(dirs(&world.context().settings), expected);
        let moved = world.settings(&[("CLAUDE_CONFIG_DIR", "/elsewhere")]);
        assert_eq!(dirs(&moved)[3].1, Path::new("/elsewhere/skills"));
        let mut homeless = world.settings(&[]);
        (homeless.home, homeless.env.vars) = (None, std::collections::BTreeMap::new());
        assert_eq!(dirs(&homeless), expected[..2]);
        let mut at_home = world.settings(&[]);
        at_home.cwd = home.to_owned();
        assert_eq!(dirs(&at_home).len(), 2, "no directory is searched twice");
    }

    #[cfg(unix)]
    #[test]
    fn entries_are_directories_and_links_to_them_sorted_by_bytes() {
        let world = World::new();
        let dir = world.project().join("s");
        for name in ["b", "a", "B", "é"] {
            fs::create_dir_all(&dir.join(name)).expect("creates");
        }
        world.write("s/file", "");
        world.link("a", "s/to-a");
        world.link("file", "s/to-file");
        world.link("nowhere", "s/dangling");
        let found = entries(&dir).expect("lists");
        let names: Vec<_> = found.iter().map(|entry| entry.dir.strip_prefix(&dir).expect("below")).collect();
        assert_eq!(names, ["B", "a", "b", "to-a", "é"].map(Path::new));
        assert_eq!(found[3].real, found[1].real);
    }
}
