//! A survey of the places of skills.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::real_dir;
use crate::agents::Agent;
use crate::digest::Digest;
use crate::error::Result;
use crate::fs::{self, PathError};
use crate::install::directory::SkillsDir;
use crate::install::ownership::Ownership;
use crate::install::plan::Location;
use crate::install::scope::Scope;
use crate::name::SkillName;
use crate::settings::Settings;

/// The content of a place for a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnDisk {
    /// Nothing.
    Absent,
    /// A directory with this digest; `None` if it holds what no skill may have.
    Tree(Option<Digest>),
    /// A link to the canonical copy, whether that exists or not.
    OurLink,
    /// A link to somewhere else.
    OtherLink(PathBuf),
    /// A link that leads to itself, perhaps through others: it has no content.
    Loop,
    /// A file that contains our link's text, as git writes it if it cannot make links: it counts as the link.
    Written,
    /// A file, or another kind of file system entry.
    Other,
}

/// The content of the places that a change is about.
#[derive(Debug, Default)]
pub struct Survey {
    /// The canonical copies.
    pub canonical: BTreeMap<SkillName, OnDisk>,
    /// The content of the directory of disabled skills.
    pub disabled: BTreeMap<SkillName, OnDisk>,
    /// The directory of the canonical copies, with links resolved.
    pub skills_dir: PathBuf,
    /// The agents' directories that were examined, with links resolved, whether they exist or not. If two
    /// agents share one, a change for one applies to the other.
    pub dirs: BTreeMap<&'static str, PathBuf>,
    /// Their content, by skill and agent; nothing for empty places.
    agents: BTreeMap<SkillName, SurveyedPlaces>,
    /// Agents whose directory is the canonical one, or a link to it: they need nothing.
    pub served: BTreeSet<&'static str>,
    /// Agents whose directory cannot be examined, and why.
    pub unreadable: BTreeMap<&'static str, PathError>,
    /// Trees among all these that are not what is locked but unedited: they came from a source, and the store
    /// has them.
    pub fetched: BTreeSet<Digest>,
    /// The places among all these where the tree is the one that skillpm put there, although no lockfile
    /// lists it any more, for example after taking one side of a merge.
    pub untouched: BTreeSet<(Location, SkillName)>,
    /// What the receipts of this machine say about all these.
    pub ownership: Ownership,
    /// Directories on this machine that skills are installed from, with links resolved. Their content belongs
    /// to its author, and may be the only copy, whatever is locked.
    pub sources: BTreeSet<PathBuf>,
    /// The trees that contain a git repository, out of those that were read, by their path with links
    /// resolved. Digests do not cover it, and it may exist nowhere else.
    pub repositories: BTreeSet<PathBuf>,
    /// Skills that the files of the other scope in the same directory name: they stay in place, whatever
    /// happens to them in this one.
    pub shared: BTreeSet<SkillName>,
    /// The directory of the disabled skills, with links resolved.
    disabled_dir: PathBuf,
}

/// What is at the places of one skill, by agent. A list, because there are few agents and thousands of
/// skills.
#[derive(Debug, Default)]
struct SurveyedPlaces(Vec<(&'static str, OnDisk)>);

impl SurveyedPlaces {
    fn find(&self, agent: &str) -> std::result::Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (*other).cmp(agent))
    }

    fn at(&self, agent: &str) -> Option<&OnDisk> {
        self.find(agent).ok().map(|at| &self.0[at].1)
    }

    fn put(&mut self, agent: &'static str, found: OnDisk) {
        match self.find(agent) {
            Ok(at) => self.0[at].1 = found,
            Err(at) => self.0.insert(at, (agent, found)),
        }
    }
}

impl Survey {
    /// Examines the places of the skills `names`: canonical, disabled, and in the directories of `agents`.
    ///
    /// # Errors
    ///
    /// Fails if one of the first two places cannot be examined, or leads out of the project.
    pub fn take(
        settings: &Settings,
        scope: &Scope,
        names: &[&SkillName],
        agents: &[&'static Agent],
    ) -> Result<Self> {
        scope.check_skills_inside()?;
        Self::take_in(settings, scope, &SkillsDir::of_scope(scope)?, names, agents, &|_| true)
    }

    /// Works like [`Survey::take`], with the directory of canonical copies already opened and known to be in
    /// the project. Reads only the trees of skills that are `compared`; the digest of any other is `None`.
    ///
    /// # Errors
    ///
    /// Fails if one of the first two places cannot be examined.
    pub fn take_in(
        settings: &Settings,
        scope: &Scope,
        canonical: &SkillsDir,
        names: &[&SkillName],
        agents: &[&'static Agent],
        compared: &dyn Fn(&SkillName) -> bool,
    ) -> Result<Self> {
        let mut survey = Self { skills_dir: canonical.real().to_owned(), ..Self::default() };
        let disabled = SkillsDir::open(&scope.disabled_dir(), &survey.skills_dir)?;
        disabled.real().clone_into(&mut survey.disabled_dir);
        let repositories = RefCell::new(BTreeSet::new());
        let digest = |dir: &SkillsDir, name: &SkillName| {
            let inside = dir.inside(name.as_str(), &scope.index);
            if inside.repository {
                repositories.borrow_mut().insert(dir.real().join(name.as_str()));
            }
            inside.digest
        };
        let found = |dir: &SkillsDir, name: &SkillName| {
            dir.look(name.as_str(), |_| compared(name).then(|| digest(dir, name)).flatten())
        };
        let all = |dir: &SkillsDir| -> std::result::Result<BTreeMap<_, _>, PathError> {
            // Collected at once, so that names that come in order need not be searched for.
            names.iter().map(|name| Ok(((*name).clone(), found(dir, name)?))).collect()
        };
        (survey.canonical, survey.disabled) = (all(canonical)?, all(&disabled)?);
        let root = fs::real_path(&scope.root).ok().flatten();
        for agent in agents {
            let Some(dir) = scope.agent_dir(settings, agent) else { continue };
            let absent = root.as_ref().and_then(|root| absent_below(&scope.root, root, &dir));
            if let Some(real) = absent.filter(|real| dir != scope.skills_dir() && *real != survey.skills_dir)
            {
                survey.dirs.insert(agent.id, real);
                continue;
            }
            // A directory of somebody else, such as one that a container made, is not our failure.
            if let Err(error) = survey.agent(scope, names, agent.id, &dir, &found) {
                survey.unreadable.insert(agent.id, error);
            }
        }
        survey.repositories = repositories.into_inner();
        Ok(survey)
    }

    fn agent(
        &mut self,
        scope: &Scope,
        names: &[&SkillName],
        agent: &'static str,
        dir: &Path,
        found: &dyn Fn(&SkillsDir, &SkillName) -> std::result::Result<OnDisk, PathError>,
    ) -> std::result::Result<(), PathError> {
        let real = real_dir(dir)?;
        if dir == scope.skills_dir() || real == self.skills_dir {
            self.served.insert(agent);
            return Ok(());
        }
        // If two agents share a directory, it is examined once.
        let same = self.dirs.iter().find(|(_, other)| **other == real).map(|(other, _)| *other);
        if let Some(other) = same {
            for there in self.agents.values_mut() {
                if let Some(found) = there.at(other).cloned() {
                    there.put(agent, found);
                }
            }
        } else {
            let opened = SkillsDir::open(dir, &self.skills_dir)?;
            let mut there = Vec::new();
            // An agent's directory that does not exist holds nothing.
            for name in names.iter().filter(|_| opened.is_there()) {
                match found(&opened, name)? {
                    OnDisk::Absent => {}
                    found => there.push(((*name).clone(), found)),
                }
            }
            if self.agents.is_empty() {
                // Collected at once, so that names that come in order need not be searched for.
                let only = |(name, found)| (name, SurveyedPlaces(vec![(agent, found)]));
                self.agents = there.into_iter().map(only).collect();
            } else {
                for (name, found) in there {
                    self.agents.entry(name).or_default().put(agent, found);
                }
            }
        }
        self.dirs.insert(agent, real);
        Ok(())
    }

    /// Returns what is at the place of `name` in the directory of `agent`, or `None` if that was not
    /// examined.
    pub fn at(&self, agent: &str, name: &SkillName) -> Option<&OnDisk> {
        let there = self.agents.get(name).and_then(|places| places.at(agent));
        there.or_else(|| self.dirs.contains_key(agent).then_some(&OnDisk::Absent))
    }

    /// Reports whether a skill is installed from what is at the place of `name`, or from a directory in it.
    pub fn is_source(&self, place: &Location, name: &SkillName) -> bool {
        // A disabled skill was moved there, so it contains no source.
        let Some(path) = self.path(place, name).filter(|_| *place != Location::Disabled) else {
            return false;
        };
        // In sorted order, what is in a directory follows it directly.
        self.sources.range(path.clone()..).next().is_some_and(|source| source.starts_with(&path))
    }

    /// Reports whether a git repository is in the tree at the place of `name`.
    pub fn has_repository(&self, place: &Location, name: &SkillName) -> bool {
        // Repositories are very rare.
        !self.repositories.is_empty()
            && self.path(place, name).is_some_and(|path| self.repositories.contains(&path))
    }

    /// Returns the place of `name`, with links resolved, or `None` for an agent whose directory was not
    /// examined.
    fn path(&self, place: &Location, name: &SkillName) -> Option<PathBuf> {
        let dir = match place {
            Location::Canonical => &self.skills_dir,
            Location::Disabled => &self.disabled_dir,
            Location::Agent(agent) => self.dirs.get(agent.as_str())?,
        };
        Some(dir.join(name.as_str()))
    }

    /// Records what is at the place of `name` in the directory of `agent`.
    #[cfg(test)]
    pub(in crate::install) fn set(&mut self, agent: &'static str, name: &SkillName, found: OnDisk) {
        self.agents.entry(name.clone()).or_default().put(agent, found);
    }

    /// Returns everything that is at a place of `name` in agents' directories.
    pub fn of(&self, name: &SkillName) -> impl Iterator<Item = (&'static str, &OnDisk)> {
        let places = self.agents.get(name).into_iter().flat_map(|places| &places.0);
        places.map(|(agent, found)| (*agent, found))
    }
}

/// Returns what [`real_dir`] returns for `dir`, if not even its first component exists in `root`, which is
/// `real` with links resolved. Few of the dozens of agents exist on a machine, and resolving a path takes a
/// system call for each of its components.
pub(super) fn absent_below(root: &Path, real: &Path, dir: &Path) -> Option<PathBuf> {
    let rest = dir.strip_prefix(root).ok()?;
    let Some(Component::Normal(first)) = rest.components().next() else { return None };
    matches!(fs::kind(&root.join(first)), Ok(None)).then(|| real.join(rest))
}
