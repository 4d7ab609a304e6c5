//! A survey of the places of skills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{ClosedDir, OpenedDir, ScopeState};
use crate::agents::Agent;
use crate::error::Result;
use crate::fs::PathError;
use crate::name::SkillName;
use crate::scope::directory::SkillsDir;
use crate::scope::on_disk::OnDisk;
use crate::scope::ownership::Ownership;
use crate::scope::step::Location;

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
    /// The receipts of this machine about all these.
    pub ownership: Ownership,
    /// The trees that contain a git repository, out of those that were read, by their path with links
    /// resolved. Digests do not cover it, and it may exist nowhere else.
    pub repositories: BTreeSet<PathBuf>,
    /// Skills that the files of the other scope in the same directory name: they stay in place, also if this scope drops
    /// them.
    pub shared: BTreeSet<SkillName>,
    /// The directory of the disabled skills, with links resolved.
    disabled_dir: PathBuf,
}

/// The places of one skill in agents' directories, by agent. A list, because there are few agents and thousands of skills.
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
    /// Examines the places of the skills `names` in `state`: canonical, disabled, and in the directories of `agents`.
    ///
    /// # Errors
    ///
    /// Fails if one of the first two places cannot be examined, or leads out of the project.
    pub fn take(state: &ScopeState<'_>, names: &[&SkillName], agents: &[&'static Agent]) -> Result<Self> {
        let canonical = state.canonical.as_ref().map_err(ClosedDir::error)?;
        let disabled = state.disabled.as_ref().map_err(ClosedDir::error)?;
        let mut survey = Self {
            skills_dir: canonical.real().to_owned(),
            disabled_dir: disabled.real().to_owned(),
            ..Self::default()
        };
        let own = |found: Vec<(&SkillName, OnDisk)>| {
            found.into_iter().map(|(name, found)| (name.clone(), found)).collect()
        };
        survey.canonical = own(survey.look(state, canonical, names)?);
        survey.disabled = own(survey.look(state, disabled, names)?);
        for agent in agents {
            let Some(id) = state.agents().get(agent.id).and_then(|agent| agent.own) else { continue };
            match state.dir(id) {
                OpenedDir::Canonical => drop(survey.served.insert(agent.id)),
                OpenedDir::Absent(real) => drop(survey.dirs.insert(agent.id, real.clone())),
                OpenedDir::Unreadable(error) => drop(survey.unreadable.insert(agent.id, error.again())),
                OpenedDir::Open(dir) | OpenedDir::Outside(dir, _) => {
                    // Another user's directory, such as one that a container made, does not stop the change.
                    if let Err(error) = survey.agent(state, agent.id, dir, names) {
                        survey.unreadable.insert(agent.id, error);
                    }
                }
            }
        }
        Ok(survey)
    }

    /// Looks at the places of `names` in `dir`.
    fn look<'n>(
        &mut self,
        state: &ScopeState<'_>,
        dir: &SkillsDir,
        names: &[&'n SkillName],
    ) -> std::result::Result<Vec<(&'n SkillName, OnDisk)>, PathError> {
        let look = |name: &&'n SkillName| {
            let found = dir.look(name.as_str(), |_| {
                let inside = dir.inside(name.as_str(), &state.scope.index);
                if inside.repository {
                    self.repositories.insert(dir.real().join(name.as_str()));
                }
                inside.digest
            })?;
            Ok((*name, found))
        };
        names.iter().map(look).collect()
    }

    fn agent(
        &mut self,
        state: &ScopeState<'_>,
        agent: &'static str,
        dir: &SkillsDir,
        names: &[&SkillName],
    ) -> std::result::Result<(), PathError> {
        // If two agents share a directory, it is examined once.
        let same = self.dirs.iter().find(|(_, other)| *other == dir.real()).map(|(other, _)| *other);
        if let Some(other) = same {
            for there in self.agents.values_mut() {
                if let Some(found) = there.at(other).cloned() {
                    there.put(agent, found);
                }
            }
        } else {
            for (name, found) in self.look(state, dir, names)? {
                if found != OnDisk::Absent {
                    self.agents.entry(name.clone()).or_default().put(agent, found);
                }
            }
        }
        self.dirs.insert(agent, dir.real().to_owned());
        Ok(())
    }

    /// Returns what is at the place of `name` in the directory of `agent`, or `None` if that was not
    /// examined.
    pub fn at(&self, agent: &str, name: &SkillName) -> Option<&OnDisk> {
        let there = self.agents.get(name).and_then(|places| places.at(agent));
        there.or_else(|| self.dirs.contains_key(agent).then_some(&OnDisk::Absent))
    }

    /// Reports whether a git repository is in the tree at the place of `name`.
    pub(crate) fn has_repository(&self, place: &Location, name: &SkillName) -> bool {
        // Repositories are very rare.
        !self.repositories.is_empty()
            && self.path(place, name).is_some_and(|path| self.repositories.contains(&path))
    }

    /// Returns the place of `name`, with links resolved, or `None` for an agent whose directory was not
    /// examined.
    pub(in crate::scope) fn path(&self, place: &Location, name: &SkillName) -> Option<PathBuf> {
        let dir = match place {
            Location::Canonical => &self.skills_dir,
            Location::Disabled => &self.disabled_dir,
            Location::Agent(agent) => self.dirs.get(agent.as_str())?,
        };
        Some(dir.join(name.as_str()))
    }

    /// Records what is at the place of `name` in the directory of `agent`.
    #[cfg(test)]
    pub(in crate::scope) fn set(&mut self, agent: &'static str, name: &SkillName, found: OnDisk) {
        self.agents.entry(name.clone()).or_default().put(agent, found);
    }

    /// Returns everything that is at a place of `name` in agents' directories.
    pub fn of(&self, name: &SkillName) -> impl Iterator<Item = (&'static str, &OnDisk)> {
        let places = self.agents.get(name).into_iter().flat_map(|places| &places.0);
        places.map(|(agent, found)| (*agent, found))
    }
}
