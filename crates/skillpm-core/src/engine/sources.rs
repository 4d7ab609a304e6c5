//! Determines which directories are searched for skills, and in which order.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::agents::{self, LINKED_BY_DEFAULT};
use crate::error::Result;
use crate::fs::{self, Kind, PathError};
use crate::profile::{Duplicates, LoadProfile, SearchedPlaces};
use crate::scope::{project_root, projects_around};
use crate::scope_kind::CANONICAL_DIR;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// The agents whose directories are searched after the canonical ones. All other agents read the canonical
/// directories, or have links to them.
const SEARCHED_AGENTS: [&str; 1] = [LINKED_BY_DEFAULT];

/// The directory of skills that no agent reads by itself, only programs that ask skillpm. It is searched last in each
/// scope (conflict C11).
const OWN_DIR: &str = ".skillpm/skills";

/// The owner of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// The project.
    Project,
    /// The user.
    User,
    /// A directory that a caller named.
    Extra,
    /// The program itself.
    Bundled,
}

impl From<ScopeKind> for SourceKind {
    fn from(scope: ScopeKind) -> Self {
        match scope {
            ScopeKind::Project => Self::Project,
            ScopeKind::User => Self::User,
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Extra => "extra",
            Self::Bundled => "bundled",
        })
    }
}

/// A directory whose subdirectories are skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The part before the colon in `source:name`, which selects a skill of this source.
    pub name: Arc<str>,
    /// The owner.
    pub kind: SourceKind,
    /// The directory, which may not exist.
    pub dir: PathBuf,
    /// Whether it belongs to both user and project, because the project is the home directory.
    pub is_both: bool,
}

/// A directory that may hold a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillDir {
    /// The directory, below that of its source.
    pub dir: PathBuf,
    /// The directory with all links followed: two entries with the same real directory are one skill.
    pub real: PathBuf,
}

/// Returns the directories that are searched unless others are named, in order of precedence: the project's canonical
/// copies, its `.claude/skills` and its `.skillpm/skills`; the same of the projects around it, because agents search
/// up to the root of the repository; then the same of the user.
pub(crate) fn default_sources(settings: &Settings) -> Result<Vec<Source>> {
    let project = project_as_written(settings)?;
    let agents: Vec<_> = SEARCHED_AGENTS.iter().filter_map(|id| agents::find(id).ok()).collect();
    let around = projects_around(settings, &project)?;
    let mut dirs = Vec::new();
    for project in std::iter::once(&project).chain(&around) {
        dirs.push((SourceKind::Project, project.join(CANONICAL_DIR)));
        for agent in &agents {
            dirs.extend(agent.project_dirs.iter().map(|dir| (SourceKind::Project, project.join(dir))));
        }
        dirs.push((SourceKind::Project, project.join(OWN_DIR)));
    }
    // A container may have no home directory; then the user has no skills, and that is not an error.
    dirs.extend(settings.home.iter().map(|home| (SourceKind::User, home.join(CANONICAL_DIR))));
    for agent in &agents {
        dirs.extend(agent.user_dirs(settings).map(|dir| (SourceKind::User, dir)));
    }
    dirs.extend(settings.home.iter().map(|home| (SourceKind::User, home.join(OWN_DIR))));
    Ok(named_apart(each_once(dirs.into_iter().map(|(kind, dir)| Source::new(kind, dir)))))
}

/// Returns the root of the project, under the name that the user gave it if it is the home directory: the path of the
/// working directory has no links.
fn project_as_written(settings: &Settings) -> Result<PathBuf> {
    let project = project_root(settings)?;
    let is_project =
        |home: &&PathBuf| fs::real_path(home).is_ok_and(|real| real.as_deref() == Some(&project));
    Ok(settings.home.as_ref().filter(is_project).cloned().unwrap_or(project))
}

/// Removes sources whose directory is already listed. If the project is the home directory, its directories are
/// reported as the user's, and a caller that asks for the project's sources gets them as well.
pub(crate) fn each_once(sources: impl IntoIterator<Item = Source>) -> Vec<Source> {
    let mut once: Vec<Source> = Vec::new();
    for source in sources {
        match once.iter_mut().find(|other| other.dir == source.dir) {
            Some(other) if (other.kind, source.kind) == (SourceKind::Project, SourceKind::User) => {
                *other = Source { is_both: true, ..source };
            }
            Some(other) if (other.kind, source.kind) == (SourceKind::User, SourceKind::Project) => {
                other.is_both = true;
            }
            Some(_) => {}
            None => once.push(source),
        }
    }
    once
}

/// Returns the directories that `profile` says to search, in order of precedence.
pub(crate) fn sources_of(settings: &Settings, profile: &LoadProfile) -> Result<Vec<Source>> {
    let places = match profile.places {
        SearchedPlaces::Default => return default_sources(settings),
        SearchedPlaces::Listed(places) => places,
        SearchedPlaces::Named => return Ok(Vec::new()),
    };
    let project = project_as_written(settings)?;
    let mut sources = Vec::new();
    for place in places {
        match (place.user, &settings.home) {
            (true, Some(home)) => {
                sources.push(Source::new(SourceKind::User, home.join(place.dir)));
            }
            // Without a home directory, the user has no skills.
            (true, None) => {}
            (false, _) => {
                sources.push(Source::new(SourceKind::Project, project.join(place.dir)));
            }
        }
    }
    Ok(named_apart(each_once(sources)))
}

/// Adds `more` to `sources`, where `profile` prefers every skill of these: a directory that a caller names adds skills,
/// and changes none.
pub(crate) fn with_least(
    mut sources: Vec<Source>,
    more: impl Iterator<Item = Source>,
    profile: &LoadProfile,
) -> Vec<Source> {
    let at = if profile.duplicates == Duplicates::Last { 0 } else { sources.len() };
    drop(sources.splice(at..at, more));
    sources
}

/// Makes the names of sources unique: the second `skills` becomes `skills-2`.
pub(super) fn named_apart(mut sources: Vec<Source>) -> Vec<Source> {
    for at in 1..sources.len() {
        let (before, rest) = sources.split_at_mut(at);
        let is_taken = |name: &str| before.iter().any(|source| &*source.name == name);
        if is_taken(&rest[0].name) {
            // There is one more number than there are sources, so at least one is free.
            let mut numbered = (2..at + 3).map(|number| format!("{}-{number}", rest[0].name));
            let free = numbered.find(|name| !is_taken(name));
            rest[0].name = free.unwrap_or_default().into();
        }
    }
    sources
}

impl Source {
    /// Returns the source of `kind` in `dir`, with its default name.
    ///
    /// The canonical directory of the project is called `project`, that of the user `user`. Their other directories are
    /// also named after the parent directory: `.claude/skills` is `project-claude`. A directory that a caller named has
    /// its own name: `/srv/team-skills` is `team-skills`.
    pub fn new(kind: SourceKind, dir: PathBuf) -> Self {
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = match kind {
            SourceKind::Bundled => None,
            SourceKind::Extra => last(&dir),
            SourceKind::Project | SourceKind::User if dir.ends_with(CANONICAL_DIR) => None,
            SourceKind::Project | SourceKind::User => {
                let around = if dir.ends_with("skills") { dir.parent() } else { Some(&*dir) };
                let around = around.and_then(last);
                around.map(|name| format!("{kind}-{}", name.trim_start_matches('.')))
            }
        };
        Self { name: name.unwrap_or_else(|| kind.to_string()).into(), kind, dir, is_both: false }
    }

    /// Reports whether it is a source of `kind`.
    pub fn is_of(&self, kind: SourceKind) -> bool {
        self.kind == kind || self.is_both && kind == SourceKind::Project
    }

    /// Returns the part of `text` after this source's name and a colon: a skill's name or its path in the source.
    pub(super) fn inside<'a>(&self, text: &'a str) -> Option<&'a str> {
        let after = |name: &str| text.strip_prefix(name)?.strip_prefix(':');
        let as_project = || Self::new(SourceKind::Project, self.dir.clone()).name;
        after(&self.name).or_else(|| self.is_both.then(as_project).and_then(|name| after(&name)))
    }

    /// Returns the directory with all links followed; `None` if it does not exist.
    pub(super) fn real(&self) -> std::result::Result<Option<PathBuf>, PathError> {
        let Some(real) = fs::real_path(&self.dir)? else { return Ok(None) };
        if fs::kind(&real)? != Some(Kind::Directory) {
            let source = std::io::ErrorKind::NotADirectory.into();
            return Err(PathError { action: "read", path: self.dir.clone(), source });
        }
        Ok(Some(real))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// Conflict C11: the project comes before the user, the canonical directory before Claude's, and skillpm's own
    /// last.
    #[test]
    fn the_default_order() {
        let world = World::new();
        let dirs = |settings: &Settings| {
            let sources = default_sources(settings).expect("found").into_iter();
            sources.map(|source| (source.kind, source.dir)).collect::<Vec<_>>()
        };
        let (project, home) = (world.project(), world.home());
        let expected = vec![
            (SourceKind::Project, project.join(".agents/skills")),
            (SourceKind::Project, project.join(".claude/skills")),
            (SourceKind::Project, project.join(".skillpm/skills")),
            (SourceKind::User, home.join(".agents/skills")),
            (SourceKind::User, home.join(".claude/skills")),
            (SourceKind::User, home.join(".skillpm/skills")),
        ];
        assert_eq!(dirs(&world.context().settings), expected);
        let moved = world.settings(&[("CLAUDE_CONFIG_DIR", "/elsewhere")]);
        assert_eq!(dirs(&moved)[4].1, Path::new("/elsewhere/skills"));
        let mut homeless = world.settings(&[]);
        (homeless.home, homeless.env.vars) = (None, std::collections::BTreeMap::new());
        assert_eq!(dirs(&homeless), expected[..3]);
        let mut at_home = world.settings(&[]);
        at_home.cwd = home.to_owned();
        assert_eq!(dirs(&at_home), expected[3..], "no directory is searched twice, and all are the user's");
    }

    /// A skill in the home directory is the user's, and is also found as one of the project.
    #[cfg(unix)]
    #[test]
    fn a_skill_in_the_home_directory_is_the_user_s() {
        let world = World::new();
        world.skill("../home/.agents/skills/pdf", "pdf");
        world.skill("../home/.claude/skills/docx", "docx");
        world.link("home", "../linked");
        let mut settings = world.settings(&[]);
        settings.cwd = world.home().to_owned();
        for home in [world.home().to_owned(), world.root().join("linked")] {
            settings.home = Some(home.clone());
            let sources = default_sources(&settings).expect("found");
            assert_eq!(sources.len(), 3, "{sources:?}");
            let is_right = |source: &Source| source.kind == SourceKind::User && source.dir.starts_with(&home);
            assert!(sources.iter().all(is_right), "{sources:?}");
            assert!(sources.iter().all(|source| source.is_of(SourceKind::Project)));
            let library = crate::engine::Library::new(sources.clone(), LoadProfile::DEFAULT);
            for name in ["pdf", "user:pdf", "project:pdf", "user-claude:docx", "project-claude:docx"] {
                let found = crate::engine::find_among(
                    &crate::engine::Snapshot::of(&sources, &LoadProfile::DEFAULT).expect("found"),
                    name,
                )
                .expect(name)
                .skill;
                assert_eq!(found.kind, SourceKind::User, "{name}");
                assert_eq!(library.get(name).expect(name).dir, found.dir);
            }
        }
    }
}
