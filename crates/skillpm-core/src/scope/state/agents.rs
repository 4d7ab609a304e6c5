//! The agents of a scope, and the directories that they read: each is opened once, when it is first asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{ClosedDir, ScopeState};
use crate::agents::{self, Agent};
use crate::engine::load::skill_file;
use crate::error::Error;
use crate::fs::{self, Kind, PathError};
use crate::name::SkillName;
use crate::path::normal;
use crate::scope::Scope;
use crate::scope::agent_view::{self, Form, Role, Seen, Twice, Unseen, alike};
use crate::scope::directory::{FEW, SkillsDir};
use crate::scope::files::Files;
use crate::scope::in_use::InUse;
use crate::scope::problem::{self, Problem};
use crate::settings::Settings;

/// The index of a directory among those of a scope.
pub(super) type DirId = usize;

/// An agent in a scope.
#[derive(Debug)]
pub struct AgentState {
    /// The agent.
    pub agent: &'static Agent,
    /// Whether the user uses it: see [`InUse`].
    pub is_here: bool,
    /// Whether the manifest names it, or the user's own for all scopes.
    pub is_chosen: bool,
    /// Whether the manifest or the lockfile names it.
    pub is_named: bool,
    /// The directory for its links; `None` if it has none in this scope.
    pub own: Option<DirId>,
    /// The directories that it reads, and why.
    pub reads: Vec<(Role, DirId)>,
}

impl AgentState {
    /// Reports whether what it sees concerns the user: it has a directory in this scope and is on this machine, or the
    /// manifest names it.
    pub(crate) fn is_viewer(&self) -> bool {
        self.is_here && self.own.is_some() || self.is_chosen
    }

    /// Reports whether its directory may hold links or copies of installed skills. In that of any other agent people
    /// may keep what they like, such as `skills/`.
    pub fn counts(&self) -> bool {
        self.is_here || self.is_named
    }
}

/// A directory that agents read, or in which they get links.
#[derive(Debug)]
pub(super) struct ReadDir {
    /// The path, whether it exists or not.
    path: PathBuf,
    opened: OnceLock<OpenedDir>,
    seen: OnceLock<Result<BTreeMap<String, Seen>, String>>,
    /// Whether a skill is found at the names that were asked about before the whole directory was read.
    asked: Mutex<BTreeMap<String, bool>>,
}

impl ReadDir {
    fn new(path: PathBuf) -> Self {
        Self { path, opened: OnceLock::new(), seen: OnceLock::new(), asked: Mutex::default() }
    }
}

/// The kind of the thing in the place of a directory.
#[derive(Debug)]
pub enum OpenedDir {
    /// The directory of the canonical copies, perhaps through links.
    Canonical,
    /// Nothing, at this path with links resolved.
    Absent(PathBuf),
    /// Another directory.
    Open(SkillsDir),
    /// Another directory that a link leads to, out of the project: agents see what is in it, but skillpm neither compares
    /// nor changes that.
    Outside(SkillsDir, Error),
    /// It cannot be examined.
    Unreadable(PathError),
}

/// All agents in a scope, and their directories.
#[derive(Debug, Default)]
pub struct Agents {
    /// The agents of the table.
    pub all: Vec<AgentState>,
    dirs: Vec<ReadDir>,
}

impl Agents {
    /// Finds out which agents are here and what they read, without looking into any directory.
    pub(super) fn find(settings: &Settings, scope: &Scope, files: &Files) -> Self {
        let in_use = InUse::read(settings);
        let mut chosen = agent_view::chosen(&files.manifest);
        if files.manifest.agents().gives_links() {
            chosen.extend(in_use.said().into_iter().flatten());
        }
        let named: BTreeSet<&str> =
            agent_view::named(files).filter_map(|id| agents::find(id).ok()).map(|agent| agent.id).collect();
        let mut found = Self::default();
        let mut ids: BTreeMap<PathBuf, DirId> = BTreeMap::new();
        for agent in agents::all() {
            let mut id = |path: PathBuf| {
                *ids.entry(path).or_insert_with_key(|path| {
                    let path = path.clone();
                    found.dirs.push(ReadDir::new(path));
                    found.dirs.len() - 1
                })
            };
            let own = scope.agent_dir(settings, agent).map(&mut id);
            let reads = agent_view::directories(settings, scope, agent).into_iter();
            let reads = reads.map(|dir| (dir.role, id(dir.path))).collect();
            found.all.push(AgentState {
                agent,
                is_here: in_use.has(settings, scope, agent),
                is_chosen: chosen.contains(agent.id),
                is_named: named.contains(agent.id),
                own,
                reads,
            });
        }
        found
    }

    /// Returns the agent with the id `id`.
    pub fn get(&self, id: &str) -> Option<&AgentState> {
        self.all.iter().find(|one| one.agent.id == id)
    }
}

impl ScopeState<'_> {
    /// Returns the path of a directory that agents read.
    pub fn path(&self, dir: DirId) -> &Path {
        &self.agents().dirs[dir].path
    }

    /// Returns a directory that agents read, as it was found when it was first asked about.
    pub fn dir(&self, dir: DirId) -> &OpenedDir {
        let dir = &self.agents().dirs[dir];
        dir.opened.get_or_init(|| self.open(&dir.path))
    }

    fn open(&self, path: &Path) -> OpenedDir {
        if path == self.scope.skills_dir() {
            return OpenedDir::Canonical;
        }
        let absent = self.root.as_ref().and_then(|root| absent_below(&self.scope.root, root, path));
        if let Some(real) = absent.filter(|real| *real != self.real) {
            return OpenedDir::Absent(real);
        }
        match SkillsDir::open(path, &self.real) {
            Ok(opened) if opened.real() == self.real => OpenedDir::Canonical,
            Ok(opened) if !opened.is_there() => match no_directory(path) {
                Some(error) => OpenedDir::Unreadable(error),
                None => OpenedDir::Absent(opened.real().to_owned()),
            },
            Ok(opened) => match self.scope.check_inside(path) {
                Ok(()) => OpenedDir::Open(opened),
                Err(outside) => OpenedDir::Outside(opened, outside),
            },
            Err(error) => OpenedDir::Unreadable(error),
        }
    }

    /// Reports whether a directory that agents read exists.
    pub fn is_there(&self, dir: DirId) -> bool {
        match self.dir(dir) {
            OpenedDir::Canonical => self.canonical.as_ref().map_or(true, SkillsDir::is_there),
            OpenedDir::Absent(_) => false,
            OpenedDir::Open(_) | OpenedDir::Outside(..) | OpenedDir::Unreadable(_) => true,
        }
    }

    /// Returns the directories in which skills may get links or copies and that cannot be examined, and why.
    pub(crate) fn unexamined_dirs(&self) -> Vec<(&'static Problem, Error)> {
        let own: BTreeSet<_> =
            self.agents().all.iter().filter(|agent| agent.counts()).filter_map(|one| one.own).collect();
        let closed = own.into_iter().filter_map(|dir| match self.dir(dir) {
            OpenedDir::Unreadable(error) => Some((&problem::DIRECTORY_UNREADABLE, error.again().into())),
            OpenedDir::Outside(_, error) => Some((&problem::DIRECTORY_OUTSIDE, error.again())),
            OpenedDir::Open(opened) => {
                opened.check_readable().err().map(|error| (&problem::DIRECTORY_UNREADABLE, error.into()))
            }
            _ => None,
        });
        closed.collect()
    }

    /// Returns the skills in a directory that agents read, by name: directories with a `SKILL.md`, links to such, and
    /// broken links.
    ///
    /// # Errors
    ///
    /// Fails with the reason if the directory cannot be read. A single skill that cannot be examined hides no other.
    pub fn seen(&self, id: DirId) -> Result<&BTreeMap<String, Seen>, &str> {
        let dir = &self.agents().dirs[id];
        let told = |error: &PathError| format!("{error}: {}", error.source);
        let seen = dir.seen.get_or_init(|| match self.dir(id) {
            OpenedDir::Absent(_) => Ok(BTreeMap::new()),
            OpenedDir::Unreadable(error) => Err(told(error)),
            OpenedDir::Open(opened) | OpenedDir::Outside(opened, _) => {
                self.skills_in(&dir.path, opened, false)
            }
            OpenedDir::Canonical => match &self.canonical {
                Ok(opened) => self.skills_in(&dir.path, opened, true),
                Err(ClosedDir::Unreadable(error)) => Err(told(error)),
                // Agents read what is there.
                Err(ClosedDir::Outside(_)) => {
                    let opened = SkillsDir::open(&dir.path, &self.real).map_err(|error| told(&error))?;
                    self.skills_in(&dir.path, &opened, true)
                }
            },
        });
        seen.as_ref().map_err(String::as_str)
    }

    /// Returns the skills in the directory `opened`, whose path is `path`.
    fn skills_in(
        &self,
        path: &Path,
        opened: &SkillsDir,
        is_canonical: bool,
    ) -> Result<BTreeMap<String, Seen>, String> {
        opened.check_readable().map_err(|error| format!("{error}: {}", error.source))?;
        let names = opened.entries().filter(|(name, _)| !name.starts_with('.'));
        let seen = names.filter_map(|(name, kind)| {
            Some((name.to_owned(), self.seen_at(path, opened.real(), (name, kind), is_canonical)?))
        });
        Ok(seen.collect())
    }

    /// Returns the skill at the entry `name` of the directory `dir`, which is `base` with links resolved.
    fn seen_at(
        &self,
        dir: &Path,
        base: &Path,
        (name, kind): (&str, Kind),
        is_canonical: bool,
    ) -> Option<Seen> {
        let path = dir.join(name);
        let (target, says, real) = match kind {
            Kind::Directory => (None, None, Some(base.join(name))),
            Kind::Symlink => {
                let target = fs::read_link(&path).ok()??;
                // This also holds if the canonical place is itself a link, as for an editable skill.
                let says = normal(&base.join(&target));
                // Usually it leads to the canonical copy, and the directories above need not be examined.
                let real = match fs::kind(&says) {
                    Ok(Some(Kind::Directory)) if says.parent() == Some(&self.real) => Some(says.clone()),
                    _ => fs::real_path(&path).ok()?,
                };
                (Some(target), Some(says), real)
            }
            _ => return None,
        };
        // Something that is not a directory contains no skill.
        let is_skill = real.as_deref().is_some_and(|real| matches!(skill_file(real), Ok(Some(_))));
        let is_known = self.knows(name);
        // A link with the name of an installed skill that leads to another one shows that one.
        let is_canonical_of = |path: &PathBuf| {
            let leads_to = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
            path.parent() == Some(&self.real)
                && (!is_known || leads_to == name || alike(leads_to) == alike(name))
        };
        let says_canonical = says.as_ref().is_some_and(is_canonical_of);
        let form = match (&target, &real) {
            (Some(_), None) => Form::Broken,
            _ if !is_skill => return None,
            (None, _) if is_canonical => Form::Canonical,
            (Some(_), _) if is_canonical && is_known => Form::Canonical,
            (Some(_), Some(real)) if is_canonical_of(real) || says_canonical => Form::Link,
            (None, _) if is_known => Form::Copy,
            _ => Form::Foreign,
        };
        Some(Seen { name: name.to_owned(), path, form, target, real })
    }

    /// Reports whether a reader of the directory `id` finds a skill named `name` there: if it is an installed one, that one. The
    /// whole directory is only read for many names.
    fn finds(&self, id: DirId, name: &str) -> bool {
        let dir = &self.agents().dirs[id];
        let is_it = |seen: &Seen| match seen.form {
            Form::Broken => false,
            Form::Foreign => seen.target.is_none() || !self.knows(name),
            Form::Canonical | Form::Link | Form::Copy => true,
        };
        if dir.seen.get().is_none() {
            let mut asked = dir.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = asked.get(name) {
                return *known;
            }
            if asked.len() < FEW {
                let found = self.look_for(id, name).as_ref().is_some_and(is_it);
                asked.insert(name.to_owned(), found);
                return found;
            }
        }
        match self.seen(id) {
            Ok(seen) if seen.contains_key(name) => is_it(&seen[name]),
            // The file system decides whether another spelling is this name.
            Ok(_) => self.look_for(id, name).as_ref().is_some_and(is_it),
            Err(_) => false,
        }
    }

    /// Returns the skill at the entry `name` of the directory `id`, if that can be listed.
    fn look_for(&self, id: DirId, name: &str) -> Option<Seen> {
        let path = self.path(id);
        let (opened, is_canonical) = match (self.dir(id), &self.canonical) {
            (OpenedDir::Absent(_) | OpenedDir::Unreadable(_), _)
            | (OpenedDir::Canonical, Err(ClosedDir::Unreadable(_))) => return None,
            (OpenedDir::Open(opened) | OpenedDir::Outside(opened, _), _) => (opened, false),
            (OpenedDir::Canonical, Ok(opened)) => (opened, true),
            (OpenedDir::Canonical, Err(ClosedDir::Outside(_))) => {
                return self.seen(id).ok()?.get(name).cloned();
            }
        };
        let kind = opened.kind(name).ok()??;
        if name.starts_with('.') || !opened.may_be_listed() {
            return None;
        }
        self.seen_at(path, opened.real(), (name, kind), is_canonical)
    }

    /// Reports whether a skill named `name` is in the directory of the canonical copies, or in that of any agent.
    pub(crate) fn is_anywhere(&self, name: &str) -> bool {
        self.agents().all.iter().filter_map(|agent| agent.own).any(|dir| self.finds(dir, name))
    }

    /// Reports whether agents that read the canonical copies find a skill named `name` there.
    pub(crate) fn is_offered(&self, name: &str) -> bool {
        let skills = self.scope.skills_dir();
        let dir = self.agents().dirs.iter().position(|dir| dir.path == skills);
        dir.is_some_and(|dir| self.finds(dir, name))
    }

    /// Reports whether `agent` surely reads a directory in which it finds a skill at the entry `name`.
    pub fn sees(&self, agent: &AgentState, name: &str) -> bool {
        agent.reads.iter().any(|(role, dir)| *role != Role::Other && self.finds(*dir, name))
    }

    /// Returns the ids of the agents, of this machine or chosen by the manifest, that see a skill named `name`.
    pub fn seen_by(&self, name: &str) -> Vec<String> {
        let viewers = self.agents().all.iter().filter(|agent| agent.is_viewer());
        viewers.filter(|agent| self.sees(agent, name)).map(|agent| agent.agent.id.to_owned()).collect()
    }

    /// Reports whether every agent on this machine reads the canonical copies, so that none misses a skill.
    pub(crate) fn all_read_canonical(&self) -> bool {
        let reads = |(role, dir): &(Role, DirId)| {
            *role != Role::Other && matches!(self.dir(*dir), OpenedDir::Canonical)
        };
        let here = self.agents().all.iter().filter(|agent| agent.is_here && agent.own.is_some());
        here.into_iter().all(|agent| agent.reads.iter().any(reads))
    }

    /// Returns the ids of the agents that the user uses.
    pub(crate) fn used(&self) -> Vec<&'static str> {
        let used = self.agents().all.iter().filter(|agent| agent.is_here && agent.own.is_some());
        used.map(|agent| agent.agent.id).collect()
    }

    /// Returns the agents of this machine that do not see all skills that agents should see. Decisions in the manifest
    /// are not oversights: that no agent gets links (`targets = []`), or that a skill names its own agents. A skill
    /// that is not there is nothing that an agent could see.
    pub fn unseen(&self, names: &BTreeSet<&str>) -> Vec<Unseen> {
        let manifest = &self.files.manifest;
        if !manifest.agents().gives_links() || self.all_read_canonical() {
            return Vec::new();
        }
        let is_decided = |name: &&str| {
            let name = SkillName::exact(name);
            let entry = name.and_then(|name| manifest.skills().get(&name));
            entry.is_some_and(|entry| entry.agents.is_some())
        };
        let is_meant = |name: &&str| self.is_offered(name) && !is_decided(name);
        let names: BTreeSet<&str> = names.iter().copied().filter(is_meant).collect();
        // An unreadable directory may have all of them.
        let is_known = |agent: &&AgentState| agent.reads.iter().all(|(_, dir)| self.seen(*dir).is_ok());
        let here = self.agents().all.iter().filter(|agent| agent.is_here && agent.own.is_some());
        let used = self.used();
        let is_link = |agent: &AgentState, name: &str| {
            let place = agent.own.map(|dir| self.path(dir).join(name));
            place.is_some_and(|place| matches!(fs::kind(&place), Ok(Some(Kind::Symlink))))
        };
        let unseen = here.filter(is_known).map(|agent| Unseen {
            used: used.clone(),
            agent: agent.agent.id.to_owned(),
            skills: names.iter().filter(|name| !self.sees(agent, name)).map(ToString::to_string).collect(),
            chosen: agent.is_chosen,
            blocked: names.iter().any(|name| !self.sees(agent, name) && is_link(agent, name)),
        });
        unseen.filter(|unseen| !unseen.skills.is_empty()).collect()
    }

    /// Returns the skills that `agent` finds in several of its directories.
    pub fn twice(&self, agent: &AgentState) -> Vec<Twice> {
        let nothing = BTreeMap::new();
        let inside = agent.reads.iter().filter(|(_, dir)| !matches!(self.dir(*dir), OpenedDir::Outside(..)));
        let dirs: Vec<_> = inside.map(|(role, dir)| (*role, self.seen(*dir).unwrap_or(&nothing))).collect();
        agent_view::twice(dirs.into_iter().map(|(role, seen)| (role, seen.values())))
    }
}

/// Returns what [`real_dir`](super::real_dir) returns for `dir`, if not even its first component exists in `root`, which is
/// `real` with links resolved. Few of the dozens of agents exist on a machine, and resolving a path takes a
/// system call for each of its components.
fn absent_below(root: &Path, real: &Path, dir: &Path) -> Option<PathBuf> {
    let rest = dir.strip_prefix(root).ok()?;
    let Some(Component::Normal(first)) = rest.components().next() else { return None };
    matches!(fs::kind(&root.join(first)), Ok(None)).then(|| real.join(rest))
}

/// Returns why there can be no directory at `path`, where none is: a file is there or above it, or a broken link. Git writes
/// a link as a file where it cannot make links.
fn no_directory(path: &Path) -> Option<PathError> {
    let there = path.ancestors().find(|there| !matches!(fs::kind(there), Ok(None)))?;
    let told = match fs::kind(there).ok()?? {
        Kind::Directory => return None,
        Kind::Symlink if fs::exists(there) => return None,
        Kind::Symlink => {
            format!("it is a link to `{}`, which does not exist", fs::read_link(there).ok()??.display())
        }
        Kind::File | Kind::Other => "it is a file, and not a directory".to_owned(),
    };
    let source = std::io::Error::new(std::io::ErrorKind::NotADirectory, told);
    Some(PathError { action: "read", path: there.to_owned(), source })
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;
    use crate::manifest::Manifest;
    use crate::scope::state::Depth;

    #[test]
    fn what_lies_in_a_directory() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = fs::real_path(dir.path()).expect("looks").expect("is there");
        let vars = [("HOME".into(), root.join("home").into())].into();
        let settings =
            Settings::from_env(Env { vars, cwd: root.clone(), interactive: false }).expect("valid");
        let scope = Scope::project(&settings, &root);
        let (skills, own) = (scope.skills_dir(), root.join(".claude/skills"));
        for path in
            [skills.join("pdf"), skills.join("new"), own.join("copy"), own.join("mine"), own.join("empty")]
        {
            fs::create_dir_all(&path).expect("creates");
            if !path.ends_with("empty") {
                fs::write_atomic(&path.join("SKILL.md"), b"x").expect("writes");
            }
        }
        let link = |target: &str, path: &Path| fs::symlink(Path::new(target), path).expect("links");
        for (target, name) in [
            ("../../.agents/skills/pdf", "pdf"),
            ("../../.agents/skills/pdf", "alias"),
            ("../../elsewhere", "gone"),
            ("mine", "linked"),
        ] {
            link(target, &own.join(name));
        }
        fs::write_atomic(&own.join("file"), b"x").expect("writes");
        link("../.agents/skills", &root.join(".junie/skills"));
        let text = "[skills]\npdf = { path = \"pdf\" }\ncopy = { path = \"copy\" }\n";
        let files = Files { manifest: Manifest::parse(text).expect("a manifest"), ..Files::default() };
        let state = ScopeState::of(&settings, &scope, files, Depth::Metadata);
        let forms = |id: &str| {
            let dir = state.agents().get(id).and_then(|agent| agent.own).expect("a directory");
            let seen = state.seen(dir).expect("reads").values();
            seen.map(|skill| format!("{} {:?}", skill.name, skill.form)).collect::<Vec<_>>()
        };
        assert_eq!(forms("codex"), ["new Canonical", "pdf Canonical"]);
        assert_eq!(
            forms("claude-code"),
            ["alias Link", "copy Copy", "gone Broken", "linked Foreign", "mine Foreign", "pdf Link"]
        );
        assert_eq!(forms("junie"), ["new Canonical", "pdf Canonical"]);
        assert!(forms("windsurf").is_empty());
    }
}
