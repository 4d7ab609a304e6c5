//! The state of a scope: read once, and every verb that shows a scope is a view of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::SkillState;
use super::agents::{Agents, DirId, OpenedDir};
use super::skill::{PlaceState, SkillInScope, state_of_link, state_of_unlocked};
use crate::agents;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, PathError};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::directory::SkillsDir;
use crate::scope::editable::Editable;
use crate::scope::evidence::contains;
use crate::scope::files::Files;
use crate::scope::merges;
use crate::scope::on_disk::{OnDisk, real_dir};
use crate::scope::receipts::Receipts;
use crate::scope::sources;
use crate::scope::trees::OnDiskTree;
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
    /// The manifest and its lockfile.
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
    /// See [`ScopeState::has_lost`].
    lost: OnceLock<BTreeSet<SkillName>>,
    linked: OnceLock<Vec<(DirId, Vec<&'static str>)>>,
}

/// The kind of a place, and its tree if it was read.
type Looked = (OnDisk, Option<std::result::Result<OnDiskTree, ReadError>>);

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
            lost: OnceLock::new(),
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

    /// Fails if the directory of the canonical copies cannot be listed.
    pub(crate) fn check_readable(&self) -> Result<()> {
        let dir = self.canonical.as_ref().map_err(ClosedDir::error)?;
        Ok(dir.check_readable()?)
    }

    /// Reports whether a directory or a link is in one of the skill's own places.
    pub(crate) fn is_installed(&self, name: &SkillName) -> bool {
        [&self.canonical, &self.disabled].into_iter().flatten().any(|dir| {
            !matches!(dir.look(name.as_str(), |_| None), Ok(OnDisk::Other | OnDisk::Written | OnDisk::Absent))
        })
    }

    /// Reports whether nothing is in the canonical place of the skill `name`.
    pub fn is_absent(&self, name: &SkillName) -> bool {
        self.canonical.as_ref().is_ok_and(|dir| matches!(dir.kind(name.as_str()), Ok(None)))
    }

    /// Returns the names of the skills that the scope has: those in its files, and those that are in its directories.
    pub fn names(&self) -> BTreeSet<SkillName> {
        let there = [&self.canonical, &self.disabled].into_iter().flatten().flat_map(SkillsDir::names);
        self.files.names().cloned().chain(there).collect()
    }

    /// Reports whether skillpm put the skill `name` there, edited or not, and the lockfile that named it is lost: a skill of
    /// the manifest may need it.
    pub(crate) fn has_lost(&self, name: &SkillName) -> bool {
        let find = || match self.files.lock_text {
            None if !self.files.manifest.skills().is_empty() => {
                Receipts::of(self.settings, self.scope).orphans(&self.files).into_keys().collect()
            }
            _ => BTreeSet::new(),
        };
        self.lost.get_or_init(find).contains(name)
    }

    /// Returns the skills that an earlier lockfile placed here, that nothing names any more, and that an installation
    /// removes. Without a lockfile, the dependencies of the manifest's skills are unknown.
    pub(crate) fn no_longer_asked(&self) -> BTreeSet<SkillName> {
        let files = &self.files;
        let is_known = files.lock_text.is_some() || files.manifest.skills().is_empty();
        if files.manifest_text.is_none() || !is_known {
            return BTreeSet::new();
        }
        let left = Receipts::of(self.settings, self.scope).orphans(files);
        left.into_iter().filter(|(name, was)| was.is_whole(self.scope, name)).map(|(name, _)| name).collect()
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
        let canonical = self.home(&self.canonical, name, self.scope.skill_dir(name), locked);
        let is_hidden = is_disabled && canonical.found == OnDisk::Absent && canonical.failure.is_none();
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
            let state = match canonical.failure {
                Some(_) => SkillState::Unreadable,
                None => state_of_link(editable, &canonical.found, is_hidden),
            };
            let path = if is_hidden { editable.directory.clone() } else { canonical.path };
            skill.homes.push(PlaceState { path, state, ..canonical });
        } else {
            let disabled = self.home(&self.disabled, name, self.scope.disabled_skill_dir(name), locked);
            let (mut home, mut other) = if is_hidden { (disabled, canonical) } else { (canonical, disabled) };
            if let Some(locked) = locked {
                self.compare(&mut skill, locked, &mut home);
                other.state = self.state_of_tree(locked, &other);
            } else {
                (home.state, other.state) = (state_of_unlocked(&home), state_of_unlocked(&other));
                let is_there = |place: &PlaceState| place.state == SkillState::Untracked;
                match entry {
                    // A skill that no file names may be only where the disabled skills are.
                    None if !is_there(&home) && is_there(&other) => (home, other) = (other, home),
                    None if !is_there(&home) => return Ok(None),
                    _ => {}
                }
                if entry.is_some() || self.has_lost(name) {
                    for place in [&mut home, &mut other].into_iter().filter(|place| is_there(place)) {
                        place.state = SkillState::Unlocked;
                    }
                }
            }
            skill.homes.push(home);
            skill.homes.extend(Some(other).filter(|other| other.state != SkillState::Missing));
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
    ) -> PlaceState {
        // There is nothing that an unlocked skill could differ from.
        let looked = match dir {
            Ok(dir) => self.look(dir, name, locked.is_some()).map_err(Error::from),
            Err(closed) => Err(closed.error()),
        };
        let ((found, tree), failure) = match looked {
            Ok(looked) => (looked, None),
            Err(error) => ((OnDisk::Absent, None), Some(error)),
        };
        let (agents, state) = (Vec::new(), SkillState::Missing);
        PlaceState { agents, locked_for: None, path, found, tree, state, is_edited: false, failure }
    }

    /// Returns what is at the place of `name` in `dir`; reads a tree only if it is `compared`.
    fn look(
        &self,
        dir: &SkillsDir,
        name: &SkillName,
        compared: bool,
    ) -> std::result::Result<Looked, PathError> {
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
            // It was edited either way; only whether it is in conflict stays unknown.
            Err(error) => skill.merge_failure = Some(error),
        }
    }

    /// Returns the state of what is at `place`, which should be the tree that is `locked`.
    fn state_of_tree(&self, locked: &Locked, place: &PlaceState) -> SkillState {
        match &place.found {
            _ if place.failure.is_some() => SkillState::Unreadable,
            OnDisk::Absent => SkillState::Missing,
            OnDisk::Tree(Some(digest)) if *digest == locked.digest => SkillState::Ok,
            OnDisk::Tree(Some(_)) => {
                let trees = self.scope.index.trees();
                let is_same = |tree: &OnDiskTree| trees.has_other_line_ends(&tree.files, &locked.digest);
                let is_same = self.with_tree(place, |tree| tree.as_ref().is_ok_and(is_same));
                if is_same { SkillState::LineEnds } else { SkillState::Modified }
            }
            // A file that no skill may have was put there.
            OnDisk::Tree(None) => {
                let is_unread = self.with_tree(place, |tree| matches!(tree, Err(ReadError::Io(_))));
                if is_unread { SkillState::Unreadable } else { SkillState::Modified }
            }
            OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop | OnDisk::Written | OnDisk::Other => {
                SkillState::Elsewhere
            }
        }
    }

    /// Returns what `of` says about the tree at `place`, which is read if it was not.
    fn with_tree<T>(
        &self,
        place: &PlaceState,
        of: impl FnOnce(&std::result::Result<OnDiskTree, ReadError>) -> T,
    ) -> T {
        match &place.tree {
            Some(tree) => of(tree),
            None => of(&self.scope.index.trees().read(&place.path)),
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
        let named = skill.locked.into_iter().flat_map(|locked| &locked.agents);
        let named = named.filter_map(|id| agents::find(id).ok()).map(|agent| agent.id);
        let locked_for = named.into_iter().find(|id| agents.contains(id));
        let is_locked_for = locked_for.is_some();
        let is_required = is_locked_for && !skill.is_disabled();
        let mut place = PlaceState {
            agents: agents.to_vec(),
            locked_for,
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
            OpenedDir::Unreadable(error) => Err(error.again().into()),
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

    /// Returns the directories that skills are installed from, with links resolved.
    pub fn sources(&self) -> &BTreeSet<PathBuf> {
        // If one cannot be found, the places of skills are reported all the same.
        let here = || sources::here(self.settings, self.scope, sources::there(&self.files));
        self.sources.get_or_init(|| here().unwrap_or_default())
    }

    /// Reports whether a skill is installed from the directory `path`, or from one in it.
    fn is_source(&self, path: &Path) -> bool {
        let sources = self.sources();
        if sources.is_empty() {
            return false;
        }
        let Ok(Some(real)) = fs::real_path(path) else { return false };
        contains(sources, &real)
    }
}
