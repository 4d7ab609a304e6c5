//! The state of a scope: read once, and every verb that shows a scope is a view of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::agents::{Agents, DirId, OpenedDir};
use super::{Files, OnDisk, SkillState, real_dir};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, PathError};
use crate::install::directory::SkillsDir;
use crate::install::editable::Editable;
use crate::install::merges;
use crate::install::scope::Scope;
use crate::install::sources;
use crate::install::trees::Lying;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::settings::Settings;
use crate::store::Store;
use crate::tree::ReadError;

/// How closely the trees of skills are compared with what is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// By the digests of an earlier reading, where the metadata of their files has not changed since.
    Metadata,
    /// Every byte is read.
    Bytes,
}

/// The reason why a directory is not examined.
#[derive(Debug)]
pub enum ClosedDir {
    /// It cannot be read.
    Unreadable(PathError),
    /// It leads out of the project.
    Outside(Error),
}

impl ClosedDir {
    /// Returns the reason as an error.
    pub fn error(&self) -> Error {
        match self {
            Self::Outside(error) => error.again(),
            Self::Unreadable(error) => error.again().into(),
        }
    }
}

/// The state of a scope. Directories and trees are read when they are first asked about.
#[derive(Debug)]
pub struct ScopeState<'a> {
    pub(super) settings: &'a Settings,
    /// The scope.
    pub scope: &'a Scope,
    /// Its manifest and its lockfile.
    pub files: Files,
    agents: OnceLock<Agents>,
    /// The directory of the canonical copies.
    pub canonical: std::result::Result<SkillsDir, ClosedDir>,
    /// The directory of the disabled skills.
    pub disabled: std::result::Result<SkillsDir, ClosedDir>,
    /// The directory of the canonical copies, with links resolved.
    pub(super) real: PathBuf,
    /// The root of the scope, with links resolved.
    pub(super) root: Option<PathBuf>,
    depth: Depth,
    store: Option<Store>,
    sources: OnceLock<BTreeSet<PathBuf>>,
    linked: OnceLock<Vec<(DirId, Vec<&'static str>)>>,
}

/// A skill in a scope.
#[derive(Debug)]
pub struct SkillInScope<'s> {
    /// The name under which it is installed.
    pub name: &'s SkillName,
    /// Its entry in the lockfile.
    pub locked: Option<&'s Locked>,
    /// Its entry in the manifest.
    pub entry: Option<&'s Requirement>,
    /// The directory that an editable skill is linked to.
    pub editable: Option<Editable>,
    /// Whether it is disabled, and out of the sight of agents.
    pub is_hidden: bool,
    /// Its state. That of a skill that is out of sight is [`SkillState::Disabled`], unless it is missing or in conflict.
    pub state: SkillState,
    /// Its own places: first the one where it belongs.
    pub homes: Vec<PlaceState>,
    /// The links and copies of agents: those that belong to it, and those that should exist.
    pub copies: Vec<PlaceState>,
    /// Why it is unknown whether an update left conflicts in it.
    pub merge_failure: Option<Error>,
}

/// A place of a skill.
#[derive(Debug)]
pub struct PlaceState {
    /// The agents that share the directory; empty for a place of the skill itself.
    pub agents: Vec<&'static str>,
    /// The path.
    pub path: PathBuf,
    /// What is there.
    pub found: OnDisk,
    /// The tree, if every byte was read.
    pub tree: Option<std::result::Result<Lying, ReadError>>,
    /// Its state.
    pub state: SkillState,
    /// Whether it is a copy that somebody edited: it is neither what is locked nor what the skill itself is.
    pub is_edited: bool,
    /// Why it cannot be examined.
    pub failure: Option<Error>,
}

impl SkillInScope<'_> {
    /// Returns the place where it belongs.
    pub fn home(&self) -> &PlaceState {
        &self.homes[0]
    }

    /// Reports whether its bytes are not those that are locked, wherever it is.
    pub fn is_modified(&self) -> bool {
        self.state.is_modified() || self.is_hidden && self.home().state.is_modified()
    }

    /// Reports whether the manifest disables it.
    pub fn is_disabled(&self) -> bool {
        self.entry.is_some_and(|entry| entry.disabled)
    }

    /// Reports whether it is only where the disabled skills are, and no file names it: it is nothing that was installed.
    pub fn is_left_over(&self, scope: &Scope) -> bool {
        self.state == SkillState::Untracked && self.home().path == scope.disabled_skill_dir(self.name)
    }

    /// Reports whether it is editable and its directory is not there: no installation brings it back.
    pub fn is_source_gone(&self) -> bool {
        self.editable.as_ref().is_some_and(|editable| !editable.is_there())
    }
}

/// What is at a place, and its tree if it was read.
type Found = (OnDisk, Option<std::result::Result<Lying, ReadError>>);

impl<'a> ScopeState<'a> {
    /// Reads the files of `scope` and looks for its agents.
    ///
    /// # Errors
    ///
    /// Fails for a manifest or lockfile that cannot be read or is invalid, with the position in it.
    pub fn read(settings: &'a Settings, scope: &'a Scope, depth: Depth) -> Result<Self> {
        Ok(Self::of(settings, scope, Files::read(scope)?, depth))
    }

    /// Works like [`ScopeState::read`], with `files` already read.
    pub fn of(settings: &'a Settings, scope: &'a Scope, files: Files, depth: Depth) -> Self {
        let open = |path: PathBuf, real: &Path| {
            scope.check_inside(&path).map_err(ClosedDir::Outside)?;
            SkillsDir::open(&path, real).map_err(ClosedDir::Unreadable)
        };
        let dir = scope.skills_dir();
        let (real, canonical) = match real_dir(&dir) {
            Ok(real) => {
                let opened = open(dir, &real);
                (real, opened)
            }
            Err(error) => (dir, Err(ClosedDir::Unreadable(error))),
        };
        Self {
            settings,
            scope,
            agents: OnceLock::new(),
            files,
            disabled: open(scope.disabled_dir(), &real),
            canonical,
            real,
            root: fs::real_path(&scope.root).ok().flatten(),
            depth,
            store: Store::new(settings).ok(),
            sources: OnceLock::new(),
            linked: OnceLock::new(),
        }
    }

    /// Returns the agents, and the directories that they read.
    pub fn agents(&self) -> &Agents {
        self.agents.get_or_init(|| Agents::find(self.settings, self.scope, &self.files))
    }

    /// Reports whether the files of the scope name a skill `name`.
    pub fn knows(&self, name: &str) -> bool {
        SkillName::exact(name).is_some_and(|name| self.files.knows(&name))
    }

    /// Reports whether nothing is in the canonical place of the skill `name`.
    pub fn is_absent(&self, name: &SkillName) -> bool {
        self.canonical.as_ref().is_ok_and(|dir| matches!(dir.kind(name.as_str()), Ok(None)))
    }

    /// Returns the names of the skills that the scope has: those that are locked, editable or disabled, and those that
    /// are in its directories.
    pub fn names(&self) -> BTreeSet<SkillName> {
        let asked = self.files.manifest.skills().iter();
        let asked = asked.filter(|(_, entry)| entry.editable || entry.disabled).map(|(name, _)| name);
        let there = [&self.canonical, &self.disabled].into_iter().flatten().flat_map(SkillsDir::names);
        self.files.lock.skills.keys().chain(asked).cloned().chain(there).collect()
    }

    /// Returns the skill `name`; `None` for what is neither asked for nor a skill's directory.
    ///
    /// # Errors
    ///
    /// Fails if its places cannot be examined, or the source of an editable skill cannot be found.
    pub fn skill<'s>(&'s self, name: &'s SkillName) -> Result<Option<SkillInScope<'s>>> {
        let locked = self.files.lock.skills.get(name);
        let entry = self.files.manifest.skills().get(name);
        let editable =
            entry.map(|entry| Editable::of(self.settings, self.scope, entry)).transpose()?.flatten();
        let is_disabled = entry.is_some_and(|entry| entry.disabled);
        let canonical = self.home(&self.canonical, name, self.scope.skill_dir(name), locked)?;
        let is_hidden = is_disabled && canonical.found == OnDisk::Absent;
        let mut skill = SkillInScope {
            name,
            locked,
            entry,
            editable,
            is_hidden,
            state: SkillState::Missing,
            homes: Vec::new(),
            copies: Vec::new(),
            merge_failure: None,
        };
        if let Some(editable) = &skill.editable {
            let state = state_of_link(editable, &canonical.found, is_hidden);
            let path = if is_hidden { editable.directory.clone() } else { canonical.path };
            skill.homes.push(PlaceState { path, state, ..canonical });
        } else {
            let aside = self.home(&self.disabled, name, self.scope.disabled_skill_dir(name), locked)?;
            let is_aside = aside.found != OnDisk::Absent;
            let (mut home, other) = if is_hidden { (aside, canonical) } else { (canonical, aside) };
            if let Some(locked) = locked {
                self.compare(&mut skill, locked, &mut home);
            } else if matches!(home.found, OnDisk::Tree(_) | OnDisk::OtherLink(_)) {
                home.state = SkillState::Untracked;
            } else if entry.is_none() && !is_aside {
                return Ok(None);
            }
            // It may be in the wrong place, too, or in no other.
            let mut other = other;
            match locked {
                _ if other.found == OnDisk::Absent => {}
                Some(locked) => other.state = self.state_of_tree(locked, &other),
                None => other.state = SkillState::Untracked,
            }
            let is_left = locked.is_none() && entry.is_none() && home.found == OnDisk::Absent;
            let homes = if is_left { [other, home] } else { [home, other] };
            skill.homes.extend(
                homes
                    .into_iter()
                    .enumerate()
                    .filter_map(|(at, place)| (at == 0 || place.found != OnDisk::Absent).then_some(place)),
            );
        }
        skill.state = skill.home().state;
        if is_hidden && !matches!(skill.state, SkillState::Missing | SkillState::Conflict) {
            skill.state = SkillState::Disabled;
        }
        skill.copies = self.copies(&skill);
        Ok(Some(skill))
    }

    /// Returns what is in the place `path` of the skill `name` in `dir`.
    fn home(
        &self,
        dir: &std::result::Result<SkillsDir, ClosedDir>,
        name: &SkillName,
        path: PathBuf,
        locked: Option<&Locked>,
    ) -> Result<PlaceState> {
        let dir = dir.as_ref().map_err(ClosedDir::error)?;
        // There is nothing that an unlocked skill could differ from.
        let (found, tree) = self.look(dir, name, locked.is_some())?;
        let place = PlaceState {
            agents: Vec::new(),
            path,
            found,
            tree,
            state: SkillState::Missing,
            is_edited: false,
            failure: None,
        };
        Ok(place)
    }

    /// Returns what is at the place of `name` in `dir`; reads a tree only if it is `compared`.
    fn look(
        &self,
        dir: &SkillsDir,
        name: &SkillName,
        compared: bool,
    ) -> std::result::Result<Found, PathError> {
        let mut tree = None;
        let found = dir.look(name.as_str(), |path| match self.depth {
            _ if !compared => None,
            Depth::Metadata => dir.digest(name.as_str(), &self.scope.index),
            Depth::Bytes => {
                let read = tree.insert(self.scope.index.trees().read(path));
                read.as_ref().ok().map(|read| read.digest)
            }
        })?;
        Ok((found, tree))
    }

    /// Compares the skill's own place with what is locked.
    fn compare(&self, skill: &mut SkillInScope<'_>, locked: &Locked, home: &mut PlaceState) {
        home.state = self.state_of_tree(locked, home);
        if home.state != SkillState::Modified && home.state != SkillState::LineEnds {
            return;
        }
        match merges::has_conflicts(self.scope, skill.name, locked, &home.path) {
            Ok(true) => home.state = SkillState::Conflict,
            Ok(false) => {}
            // Whether it is in conflict is a detail of that it was edited.
            Err(error) => skill.merge_failure = Some(error),
        }
    }

    /// Returns the state of what is at `place`, which should be the tree that is `locked`.
    fn state_of_tree(&self, locked: &Locked, place: &PlaceState) -> SkillState {
        match &place.found {
            OnDisk::Absent => SkillState::Missing,
            OnDisk::Tree(Some(digest)) if *digest == locked.digest => SkillState::Ok,
            OnDisk::Tree(Some(_)) => {
                let trees = self.scope.index.trees();
                let is_same = match &place.tree {
                    Some(Ok(tree)) => trees.has_other_line_ends(&tree.files, &locked.digest),
                    _ => trees.is_other_line_ends(&place.path),
                };
                if is_same { SkillState::LineEnds } else { SkillState::Modified }
            }
            // It cannot be read, or it holds what no skill may have: then somebody put that there.
            OnDisk::Tree(None) => {
                let read;
                let tree = if let Some(tree) = &place.tree {
                    tree
                } else {
                    read = self.scope.index.trees().read(&place.path);
                    &read
                };
                match tree {
                    Err(ReadError::Io(_)) => SkillState::Unreadable,
                    _ => SkillState::Modified,
                }
            }
            OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop | OnDisk::Written | OnDisk::Other => {
                SkillState::Elsewhere
            }
        }
    }

    /// Returns the directories in which agents get links or copies of skills, with the agents that share each.
    fn linked_dirs(&self) -> Vec<(DirId, Vec<&'static str>)> {
        let mut found: Vec<(DirId, Vec<&'static str>)> = Vec::new();
        for agent in self.agents().all.iter().filter(|agent| agent.counts()) {
            let Some(dir) = agent.own else { continue };
            let real = |dir: DirId| match self.dir(dir) {
                OpenedDir::Open(opened) | OpenedDir::Outside(opened, _) => Some(opened.real().to_owned()),
                OpenedDir::Absent(real) => Some(real.clone()),
                _ => None,
            };
            let is_canonical = matches!(self.dir(dir), OpenedDir::Canonical);
            match found
                .iter_mut()
                .find(|(known, _)| *known == dir || real(*known).is_some() && real(*known) == real(dir))
            {
                _ if is_canonical => {}
                Some((_, agents)) => agents.push(agent.agent.id),
                None => found.push((dir, vec![agent.agent.id])),
            }
        }
        found
    }

    /// Returns the links and copies of agents.
    fn copies(&self, skill: &SkillInScope<'_>) -> Vec<PlaceState> {
        let dirs = self.linked.get_or_init(|| self.linked_dirs());
        dirs.iter().filter_map(|(dir, agents)| self.copy(skill, *dir, agents)).collect()
    }

    /// Returns the link or copy of the skill in the directory `dir` of `agents`, if there is or should be one.
    fn copy(&self, skill: &SkillInScope<'_>, dir: DirId, agents: &[&'static str]) -> Option<PlaceState> {
        let is_locked_for =
            skill.locked.is_some_and(|locked| locked.agents.iter().any(|id| agents.contains(&id.as_str())));
        let is_required = is_locked_for && !skill.is_disabled();
        let mut place = PlaceState {
            agents: agents.to_vec(),
            path: self.path(dir).join(skill.name.as_str()),
            found: OnDisk::Absent,
            tree: None,
            state: SkillState::Missing,
            is_edited: false,
            failure: None,
        };
        let looked = match self.dir(dir) {
            OpenedDir::Open(opened) => {
                self.look(opened, skill.name, skill.locked.is_some()).map_err(Error::from)
            }
            OpenedDir::Absent(_) | OpenedDir::Canonical => Ok((OnDisk::Absent, None)),
            OpenedDir::Outside(_, error) => Err(error.again()),
            OpenedDir::Closed(error) => Err(error.again().into()),
        };
        match looked {
            Ok((found, tree)) => (place.found, place.tree) = (found, tree),
            Err(error) => {
                (place.state, place.failure) = (SkillState::Unreadable, Some(error));
                return is_locked_for.then_some(place);
            }
        }
        let is_home = |found: &OnDisk| skill.homes.iter().find(|home| home.found == *found);
        place.state = match &place.found {
            OnDisk::Absent => return is_required.then_some(place),
            OnDisk::OurLink => SkillState::Ok,
            // Some agents look where people write skills, in `skills/`: what is there is no copy of what was made of
            // it.
            OnDisk::Tree(_) if self.is_source(&place.path) => return None,
            OnDisk::Tree(Some(tree)) if skill.locked.is_some_and(|locked| locked.digest == *tree) => {
                SkillState::Ok
            }
            // A copy of a skill in conflict is in conflict.
            found @ OnDisk::Tree(Some(_)) if is_home(found).is_some() => {
                is_home(found).map_or(SkillState::Modified, |home| home.state)
            }
            OnDisk::Tree(tree) if is_locked_for => {
                // An agent was given a copy of it when that was in the project: it was not edited since.
                let is_earlier = |tree: &Digest| self.store.as_ref().is_some_and(|s| s.is_merged(tree));
                place.is_edited = !tree.as_ref().is_some_and(is_earlier);
                skill.locked.map_or(SkillState::Modified, |locked| self.state_of_tree(locked, &place))
            }
            OnDisk::Tree(_) => return None,
            _ if is_required => SkillState::Elsewhere,
            _ => return None,
        };
        Some(place)
    }

    /// Reports whether a skill is installed from the directory `path`, or from one in it.
    fn is_source(&self, path: &Path) -> bool {
        // If one cannot be found, what is here is reported all the same.
        let here = || sources::here(self.settings, self.scope, sources::there(&self.files));
        let sources = self.sources.get_or_init(|| here().unwrap_or_default());
        if sources.is_empty() {
            return false;
        }
        let Ok(Some(real)) = fs::real_path(path) else { return false };
        // In sorted order, what is in a directory follows it directly.
        sources.range(real.clone()..).next().is_some_and(|source| source.starts_with(&real))
    }
}

/// Returns the state of an editable skill, at whose canonical place `found` is; where agents are not to see it, nothing
/// has to.
fn state_of_link(editable: &Editable, found: &OnDisk, is_hidden: bool) -> SkillState {
    let is_there = editable.is_there();
    match found {
        OnDisk::OtherLink(text) if editable.link.says(text) && is_there => SkillState::Editable,
        OnDisk::Absent if is_hidden && is_there => SkillState::Editable,
        OnDisk::Tree(_) | OnDisk::Other => SkillState::Modified,
        OnDisk::OtherLink(text) if !editable.link.says(text) => SkillState::Elsewhere,
        _ => SkillState::Missing,
    }
}
