//! The facts that `doctor` judges: the state of a scope, what its files request, and what killed runs left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agents::Agent;
use crate::engine::{Diagnostic, Source, discover};
use crate::error::Error;
use crate::fs::{self, Kind, PathError};
use crate::git::is_tracked;
use crate::lockfile::{LockError, Lockfile};
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::path::normal;
use crate::scope::Scope;
use crate::scope::agent_view::{self, Role};
use crate::scope::directory::SkillsDir;
use crate::scope::editable::Editable;
use crate::scope::files::{Files, read_manifest, read_text};
use crate::scope::on_disk::{OnDisk, real_dir};
use crate::scope::ownership::{Owned, Ownership};
use crate::scope::state::{ClosedDir, Depth, OpenedDir, ScopeState};
use crate::scope::step::{Location, Step};
use crate::scope::transaction::Transaction;
use crate::settings::Settings;
use crate::skill::SKILL_FILE;
use crate::store::Store;

/// The facts about a scope.
#[derive(Debug)]
pub(crate) struct Inspection<'a> {
    /// The state of the scope, with its files as far as they can be read.
    pub state: ScopeState<'a>,
    /// The scope.
    pub scope: Scope,
    /// The manifest; `None` if it does not exist.
    pub manifest: Result<Option<Manifest>, Error>,
    /// The lockfile; `None` if it does not exist.
    pub lock: Result<Option<Lockfile>, LockFault>,
    /// Whether a killed run left something to finish.
    pub cut_off: bool,
    /// Other leftovers of killed runs.
    pub leftovers: Vec<PathBuf>,
    /// The canonical copies.
    pub canonical: Listing,
    /// The content of the directory of disabled skills.
    pub disabled: Listing,
    /// The skills that the manifest and the lockfile request. Empty if the manifest cannot be read.
    pub desired: BTreeMap<SkillName, DesiredSkill>,
    /// The existing directories of agents, except those that are the canonical one.
    pub agents: Vec<AgentDirectory>,
    /// The agents on this machine and those that the manifest names.
    pub here: Vec<PresentAgent>,
    /// Skills that an earlier lockfile placed here, that nothing names any more, and that an installation
    /// removes.
    pub left: BTreeSet<SkillName>,
    /// Locked skills with an intact tree in the store.
    pub stored: BTreeSet<SkillName>,
    /// The makers of the files at the places of skills.
    pub ownership: Ownership,
    /// The copies of installed skills in agents' directories that are under version control: their authors' own.
    pub tracked: BTreeSet<PathBuf>,
    /// The warnings of the library about the canonical copies.
    pub library: Vec<Arc<Diagnostic>>,
    /// Directories that a change would write to but cannot.
    pub unwritable: Vec<PathBuf>,
}

/// The request of the manifest and the lockfile for one skill, as an installation interprets it.
#[derive(Debug)]
pub(crate) struct DesiredSkill {
    /// The agents that should see it, or would if it were not disabled.
    pub agents: Vec<&'static Agent>,
    /// Those of them that the lockfile does not list: see [`Wanted::personal`](crate::scope::goal::Wanted::personal).
    pub personal: BTreeSet<&'static str>,
    /// Whether it is currently hidden from agents.
    pub disabled: bool,
    /// The link of an editable skill, or why it has none.
    pub editable: Option<Result<Editable, Error>>,
    /// Whether an update left unresolved conflicts in it, or why that is not known.
    pub merge: Result<bool, Error>,
    /// The steps that an installation would take in the canonical place and among the disabled, or its obstacles.
    pub home: Result<Vec<Step>, Error>,
}

impl DesiredSkill {
    /// Returns the agents that get a link or copy of their own.
    pub(crate) fn linked(&self) -> impl Iterator<Item = &'static Agent> {
        self.agents.iter().copied().filter(|agent| !agent.is_universal())
    }
}

/// A function that determines what the files of a scope request.
pub(crate) type DesiredSkills<'a> = &'a dyn Fn(&ScopeState<'_>) -> BTreeMap<SkillName, DesiredSkill>;

/// The reason why a lockfile cannot be used.
#[derive(Debug)]
pub(crate) enum LockFault {
    /// It cannot be read.
    File(Error),
    /// The content is invalid.
    Content(LockError),
}

/// The content of a directory, or why that is not known.
pub(crate) type Listing = Result<BTreeMap<String, OnDisk>, ClosedDir>;

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// The place of the canonical copy of this name, whether something is there or not.
    Canonical(String),
    /// Another place, where something exists.
    Elsewhere,
    /// A place where nothing exists.
    Nowhere,
}

/// A directory that belongs to agents.
#[derive(Debug)]
pub(crate) struct AgentDirectory {
    /// The path.
    pub path: PathBuf,
    /// The path with links resolved.
    pub real: PathBuf,
    /// The agents for which links are made here; empty if skillpm makes no links.
    pub agents: Vec<&'static Agent>,
    /// The entries.
    pub entries: Listing,
}

impl AgentDirectory {
    /// Returns an agent to report for the directory: preferably one that needs links.
    pub(crate) fn agent(&self) -> Option<&'static Agent> {
        let linked = self.agents.iter().find(|agent| !agent.is_universal());
        linked.or(self.agents.first()).copied()
    }
}

/// An agent that is on this machine, or that should see something.
#[derive(Debug)]
pub(crate) struct PresentAgent {
    /// The agent.
    pub agent: &'static Agent,
    /// Whether the user chose it: in the manifest, or by the lockfile if the manifest lists no agents.
    pub chosen: bool,
    /// Whether its directory is, perhaps through links, the canonical one.
    pub served: bool,
    /// The directory for its links.
    pub dir: Option<PathBuf>,
    /// The skills of this scope that it does not see, although it is on this machine.
    pub unseen: Vec<String>,
    /// The skills that it finds in several places.
    pub twice: Vec<agent_view::Twice>,
}

impl<'a> Inspection<'a> {
    /// Inspects everything in `scope`. Changes nothing, and no problem ends the inspection.
    pub(crate) fn take(
        settings: &'a Settings,
        scope: &'a Scope,
        store: Option<&Store>,
        intent: DesiredSkills<'_>,
    ) -> Self {
        let read = read_manifest(scope);
        let (lock_text, lock) = read_lock(&scope.lockfile);
        let locked = lock.as_ref().ok().and_then(Option::as_ref);
        let readable = read.as_ref().ok();
        let files = Files {
            manifest: readable.map(|(manifest, _)| manifest.clone()).unwrap_or_default(),
            manifest_text: readable.and_then(|(_, text)| text.clone()),
            lock: locked.cloned().unwrap_or_default(),
            lock_text,
            ..Files::default()
        };
        let state = ScopeState::of(settings, scope, files, Depth::Metadata);
        let desired = if read.is_ok() { intent(&state) } else { BTreeMap::new() };
        let mut look = Self {
            cut_off: Transaction::is_cut_off(scope),
            leftovers: Vec::new(),
            canonical: Ok(BTreeMap::new()),
            disabled: Ok(BTreeMap::new()),
            desired,
            agents: Vec::new(),
            here: Vec::new(),
            left: if lock.is_ok() { state.no_longer_asked() } else { BTreeSet::new() },
            stored: locked.map(|lock| stored(lock, store)).unwrap_or_default(),
            ownership: Ownership::of_scope(settings, scope, locked.unwrap_or(&Lockfile::default())),
            tracked: BTreeSet::new(),
            library: Vec::new(),
            unwritable: Vec::new(),
            scope: scope.clone(),
            state,
            manifest: read.map(|(manifest, text)| text.map(|_| manifest)),
            lock,
        };
        let none = BTreeSet::new();
        look.canonical = look.list(&scope.skills_dir(), look.state.canonical.as_ref(), &none);
        look.disabled = look.list(&scope.disabled_dir(), look.state.disabled.as_ref(), &none);
        look.directories();
        look.tracked(settings);
        look.people();
        look.leftovers();
        look.library();
        look.writable();
        look
    }

    /// Reads the canonical copies as the library does.
    fn library(&mut self) {
        if self.canonical.is_ok() {
            let found = discover(&[Source::new(self.scope.kind.into(), self.scope.skills_dir())]);
            self.library = found.diagnostics;
            self.library.retain(|diagnostic| diagnostic.is_told());
        }
    }

    /// Returns the names of skills that are locked or have a canonical copy.
    pub(crate) fn installed(&self) -> BTreeSet<String> {
        let locked = self.locked().into_iter().flat_map(|lock| lock.skills.keys()).map(ToString::to_string);
        let there = self.canonical.iter().flat_map(BTreeMap::keys).cloned();
        locked.chain(there).chain(self.desired.keys().map(ToString::to_string)).collect()
    }

    /// Returns the agents that the user chose.
    fn chosen(&self) -> BTreeSet<&'static str> {
        let wished = self.desired.values().flat_map(DesiredSkill::linked).map(|agent| agent.id);
        self.asked().map(agent_view::chosen).unwrap_or_default().into_iter().chain(wished).collect()
    }

    /// Reports whether the files of the scope name this skill, or did when an installation placed it.
    pub(crate) fn knows(&self, name: &str) -> bool {
        let asked = |name: &SkillName| self.asked().is_some_and(|asked| asked.skills().contains_key(name));
        self.locked().is_some_and(|lock| is_locked(lock, name))
            || SkillName::exact(name).is_some_and(|name| {
                self.desired.contains_key(&name) || self.left.contains(&name) || asked(&name)
            })
    }

    /// Returns what is in the canonical place of `name`.
    pub(crate) fn canonical(&self, name: &SkillName) -> Option<&OnDisk> {
        self.canonical.as_ref().ok()?.get(name.as_str())
    }

    /// Returns what is in the place of `name` among the disabled.
    pub(crate) fn disabled(&self, name: &SkillName) -> Option<&OnDisk> {
        self.disabled.as_ref().ok()?.get(name.as_str())
    }

    /// Returns the lockfile, if it exists and can be read.
    pub(crate) fn locked(&self) -> Option<&Lockfile> {
        self.lock.as_ref().ok()?.as_ref()
    }

    /// Returns the manifest, if it exists and can be read.
    pub(crate) fn asked(&self) -> Option<&Manifest> {
        self.manifest.as_ref().ok()?.as_ref()
    }

    /// Returns what is in the agents' directory `dir`, or `None` if it does not exist or is not known.
    pub(crate) fn in_directory(&self, dir: &Path) -> Option<&BTreeMap<String, OnDisk>> {
        let real = real(dir);
        self.agents.iter().find(|found| found.real == real)?.entries.as_ref().ok()
    }

    /// Reports whether `dir` cannot be examined.
    pub(crate) fn is_closed(&self, dir: &Path) -> bool {
        let real = real(dir);
        self.agents.iter().any(|found| found.real == real && found.entries.is_err())
            || self.scope.check_inside(dir).is_err()
    }

    /// Returns the content of the directory at `path`, as it was `opened`; trees that are not in `named` are only hashed
    /// if they are locked.
    fn list(&self, path: &Path, opened: Result<&SkillsDir, &ClosedDir>, named: &BTreeSet<String>) -> Listing {
        let opened = opened.map_err(|closed| match closed {
            ClosedDir::Unreadable(error) => ClosedDir::Unreadable(error.again()),
            ClosedDir::Outside(error) => ClosedDir::Outside(error.again()),
        })?;
        // If the directory does not exist, its nearest existing ancestor must be a directory.
        if let Some(there) = path.ancestors().find(|there| fs::exists(there))
            && fs::kind(&real(there)).map_err(ClosedDir::Unreadable)? != Some(Kind::Directory)
        {
            let source = std::io::ErrorKind::NotADirectory.into();
            let error = PathError { action: "read", path: there.to_owned(), source };
            return Err(ClosedDir::Unreadable(error));
        }
        opened.check_readable().map_err(ClosedDir::Unreadable)?;
        let mut entries = BTreeMap::new();
        for (name, _) in opened.entries().filter(|(name, _)| !name.starts_with('.')) {
            let hashed = named.contains(name) || self.locked().is_some_and(|lock| is_locked(lock, name));
            let digest = |path: &Path| hashed.then(|| self.scope.index.digest_of(path)).flatten();
            let found = opened.look(name, digest).map_err(ClosedDir::Unreadable)?;
            entries.insert(name.to_owned(), found);
        }
        Ok(entries)
    }

    /// Returns the text of the link `found` at the entry `name` of the directory `dir`, and where it leads.
    pub(crate) fn link(&self, dir: &Path, name: &str, found: &OnDisk) -> Option<(PathBuf, LinkTarget)> {
        let path = dir.join(name);
        let text = match found {
            OnDisk::OtherLink(text) => text.clone(),
            OnDisk::OurLink | OnDisk::Loop => fs::read_link(&path).ok()??,
            _ => return None,
        };
        let skills = real(&self.scope.skills_dir());
        let says = normal(&real(dir).join(&text));
        Some((text, goes(&path, &says, &skills).unwrap_or(LinkTarget::Elsewhere)))
    }

    /// Inspects the directories of the agents that count, each once: those that the user chose, those of this machine,
    /// and those for which skillpm made something. It does not look into any other.
    fn directories(&mut self) {
        let installed = self.installed();
        let chosen = self.chosen();
        let made: BTreeSet<&str> = self.ownership.agents().collect();
        let state = &self.state;
        let mut all: Vec<_> = state
            .agents()
            .all
            .iter()
            .filter(|one| one.is_here || chosen.contains(one.agent.id) || made.contains(one.agent.id))
            .collect();
        // If agents share a directory, those that the user chose get the links.
        all.sort_by_key(|one| !chosen.contains(one.agent.id));
        let mut found: Vec<AgentDirectory> = Vec::new();
        for (own_only, one) in all.iter().map(|one| (true, one)).chain(all.iter().map(|one| (false, one))) {
            for (role, dir) in &one.reads {
                let is_own = one.own == Some(*dir);
                if *role == Role::Shared || is_own != own_only {
                    continue;
                }
                let path = state.path(*dir);
                let closed;
                let opened = match state.dir(*dir) {
                    OpenedDir::Canonical | OpenedDir::Absent(_) => continue,
                    OpenedDir::Open(opened) => Ok(opened),
                    OpenedDir::Outside(_, error) => {
                        closed = ClosedDir::Outside(error.again());
                        Err(&closed)
                    }
                    OpenedDir::Unreadable(error) => {
                        closed = ClosedDir::Unreadable(error.again());
                        Err(&closed)
                    }
                };
                let real = real(path);
                if let Some(known) = found.iter_mut().find(|known| known.real == real) {
                    known.agents.extend(is_own.then_some(one.agent));
                    continue;
                }
                let entries = self.list(path, opened, &installed);
                let agents = is_own.then_some(one.agent).into_iter().collect();
                found.push(AgentDirectory { path: path.to_owned(), real, agents, entries });
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        self.agents = found;
    }

    /// Returns what `of` says about the place of `name` for any of the agents of `dir`.
    pub(crate) fn owned(
        &self,
        dir: &AgentDirectory,
        name: &SkillName,
        of: fn(&Ownership, &Lockfile, &Location, &SkillName) -> Option<Owned>,
    ) -> Option<Owned> {
        let none = Lockfile::default();
        let lock = self.locked().unwrap_or(&none);
        let place = |agent: &&Agent| Location::Agent(agent.id.to_owned());
        dir.agents.iter().find_map(|agent| of(&self.ownership, lock, &place(agent), name))
    }

    /// Asks git about the trees in agents' directories that skillpm did not put there. There are few.
    fn tracked(&mut self, settings: &Settings) {
        let is_ours =
            |dir: &AgentDirectory, name: &SkillName| self.owned(dir, name, Ownership::of_tree).is_some();
        let mut tracked = BTreeSet::new();
        for dir in &self.agents {
            for (name, found) in dir.entries.iter().flatten() {
                let Some(name) = SkillName::exact(name) else { continue };
                let known = self.desired.contains_key(&name) && matches!(found, OnDisk::Tree(_));
                let path = dir.path.join(name.as_str());
                if known
                    && !is_ours(dir, &name)
                    && is_tracked(settings, &self.scope.root, &path.join(SKILL_FILE))
                {
                    tracked.insert(path);
                }
            }
        }
        self.tracked = tracked;
    }

    /// Determines what the agents on this machine, and those that the user chose, see.
    fn people(&mut self) {
        let chosen = self.chosen();
        let there = self.desired.iter().filter(|(_, wish)| !wish.disabled);
        let there: BTreeSet<&str> = there.map(|(name, _)| name.as_str()).collect();
        let unseen = if self.asked().is_some() { self.state.unseen(&there) } else { Vec::new() };
        let mut unseen: BTreeMap<String, Vec<String>> =
            unseen.into_iter().map(|unseen| (unseen.agent, unseen.skills)).collect();
        let mut here = Vec::new();
        for one in &self.state.agents().all {
            let agent = one.agent;
            let is_chosen = chosen.contains(agent.id);
            if !is_chosen && !one.is_here {
                continue;
            }
            let is_canonical = |dir| matches!(self.state.dir(dir), OpenedDir::Canonical);
            let served = agent.is_universal() || one.own.is_some_and(is_canonical);
            // A missing link that the user requested has its own finding.
            let is_wished = |name: &String| {
                let wish = self.desired.iter().find(|(wished, _)| wished.as_str() == name);
                wish.is_some_and(|(_, wish)| wish.linked().any(|wished| wished.id == agent.id))
            };
            let mut unseen = unseen.remove(agent.id).unwrap_or_default();
            unseen.retain(|name| !is_wished(name));
            let dir = one.own.map(|dir| self.state.path(dir).to_owned());
            let twice = self.state.twice(one);
            here.push(PresentAgent { agent, chosen: is_chosen, served, dir, unseen, twice });
        }
        self.here = here;
    }

    /// Finds the leftovers of killed runs next to what they moved or wrote.
    fn leftovers(&mut self) {
        // A running process may need them.
        if Transaction::is_begun(&self.scope) && !self.cut_off {
            return;
        }
        let mut dirs: BTreeSet<PathBuf> = self.agents.iter().map(|dir| dir.path.clone()).collect();
        dirs.extend([self.scope.work_dir(), self.scope.skills_dir(), self.scope.disabled_dir()]);
        dirs.extend(self.scope.manifest.parent().map(Path::to_owned));
        for dir in dirs {
            if self.scope.check_inside(&dir).is_err() {
                continue;
            }
            for name in fs::list_dir(&dir).unwrap_or_default() {
                if fs::is_leftover(&dir.join(&name)) {
                    self.leftovers.push(dir.join(&name));
                }
            }
        }
    }

    fn writable(&mut self) {
        let mut dirs = vec![self.scope.work_dir(), self.scope.skills_dir(), self.scope.disabled_dir()];
        dirs.extend(self.scope.manifest.parent().map(Path::to_owned));
        let linked = self.here.iter().filter(|here| here.chosen && !here.served);
        dirs.extend(linked.filter_map(|here| here.dir.clone()));
        let is_dir = |dir: &Path| matches!(fs::kind(&real(dir)), Ok(Some(Kind::Directory)));
        dirs.retain(|dir| is_dir(dir) && !fs::may_change(dir));
        self.unwritable = dirs;
    }
}

/// Reports whether `name` is the name of a locked skill.
pub(crate) fn is_locked(lock: &Lockfile, name: &str) -> bool {
    SkillName::exact(name).is_some_and(|name| lock.skills.contains_key(&name))
}

/// Reads the lockfile at `path`; returns its text, if it can be read.
fn read_lock(path: &Path) -> (Option<String>, Result<Option<Lockfile>, LockFault>) {
    let text = match read_text(path).map(Option::transpose) {
        Ok(Ok(text)) => text,
        Ok(Err(odd)) => return (None, Err(LockFault::Content(odd.of_lockfile()))),
        Err(error) => return (None, Err(LockFault::File(error))),
    };
    let lock = text.as_deref().map(Lockfile::parse).transpose().map_err(LockFault::Content);
    (text, lock)
}

fn stored(lock: &Lockfile, store: Option<&Store>) -> BTreeSet<SkillName> {
    let Some(store) = store else { return BTreeSet::new() };
    let wanted: BTreeSet<_> = lock.skills.values().map(|locked| locked.digest).collect();
    let damaged: BTreeSet<_> = store.damaged(wanted.into_iter().collect()).into_iter().collect();
    let whole = lock.skills.iter().filter(|(_, locked)| !damaged.contains(&locked.digest));
    whole.map(|(name, _)| name.clone()).collect()
}

/// Returns the target of the link at `path`, whose text is `says`. `skills` is the directory of the canonical
/// copies.
fn goes(path: &Path, says: &Path, skills: &Path) -> Result<LinkTarget, PathError> {
    let canonical = |leads: &Path| match (leads.parent(), leads.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) if parent == skills => Some(LinkTarget::Canonical(name.to_owned())),
        _ => None,
    };
    // First by its text, even if nothing exists there; otherwise by its end.
    if let Some(goes) = canonical(says) {
        return Ok(goes);
    }
    Ok(match fs::real_path(path)? {
        Some(ends) => canonical(&ends).unwrap_or(LinkTarget::Elsewhere),
        None => LinkTarget::Nowhere,
    })
}

/// Returns `path` with links resolved as far as it exists.
pub(super) fn real(path: &Path) -> PathBuf {
    real_dir(path).unwrap_or_else(|_| path.to_owned())
}
