//! Who has a link to an installed skill, or a copy of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::agents;
use crate::context::Context;
use crate::digest::Digest;
use crate::install::plan::Location;
use crate::install::scope::Scope;
use crate::install::sources;
use crate::install::state::{Files, OnDisk, Survey};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::store::Store;

/// The directories of a scope. There are thousands of skills, and few directories.
pub(super) struct Dirs<'a> {
    context: &'a Context,
    scope: &'a Scope,
    /// The one of the canonical copies.
    pub(super) skills: PathBuf,
    /// Those of the agents that were asked about, by their ids.
    known: BTreeMap<&'static str, Rc<Path>>,
}

impl<'a> Dirs<'a> {
    pub(super) fn new(context: &'a Context, scope: &'a Scope) -> Self {
        Self { context, scope, skills: scope.skills_dir(), known: BTreeMap::new() }
    }

    fn of(&mut self, id: &'static str) -> Option<Rc<Path>> {
        if let Some(dir) = self.known.get(id) {
            return Some(Rc::clone(dir));
        }
        let dir = self.scope.agent_dir(&self.context.settings, agents::find(id).ok()?).unwrap_or_default();
        Some(Rc::clone(self.known.entry(id).or_insert(dir.into())))
    }

    /// Reports whether an agent was given a copy of `tree`, when that was in the project: it was not edited since.
    fn is_earlier(&self, tree: &Digest) -> bool {
        Store::new(&self.context.settings).is_ok_and(|store| store.is_merged(tree))
    }
}

/// Lets `survey` know which of the skills `names` that agents have are what something is installed from. Only what is
/// no link can be.
pub(super) fn know_sources<'a>(
    dirs: &Dirs<'_>,
    files: &Files,
    survey: &mut Survey,
    mut names: impl Iterator<Item = &'a SkillName>,
) {
    if names.any(|name| survey.of(name).any(|(_, found)| matches!(found, OnDisk::Tree(_)))) {
        // If one cannot be found, what is here is reported all the same.
        let here = sources::here(&dirs.context.settings, dirs.scope, sources::there(files));
        survey.sources = here.unwrap_or_default();
    }
}

/// The agents that have a link to a skill, or a copy of it.
pub(super) struct Linked {
    pub(super) agents: Vec<String>,
    /// Those whose copy was edited.
    pub(super) edited: Vec<String>,
}

/// Returns the agents that have a link to the skill, or a copy of it. Where several share a directory, only the ones
/// that somebody chose are reported, or the first where nobody did.
pub(super) fn linked(
    dirs: &mut Dirs<'_>,
    files: &Files,
    survey: &Survey,
    name: &SkillName,
    (locked, entry): (Option<&Locked>, Option<&Requirement>),
) -> Linked {
    let digest = locked.map(|locked| locked.digest);
    let is_home = |found: &OnDisk| {
        [&survey.canonical, &survey.disabled].iter().any(|home| home.get(name) == Some(found))
    };
    let has_copy = |agent: &str| locked.is_some_and(|locked| locked.agents.iter().any(|id| id == agent));
    let mut by_dir: BTreeMap<Rc<Path>, Vec<&str>> = BTreeMap::new();
    let mut edited: BTreeSet<&str> = BTreeSet::new();
    for (agent, found) in survey.of(name) {
        let ours = match found {
            OnDisk::OurLink => true,
            // Some agents look where people write skills, in `skills/`: what is there is no copy of what was made of
            // it.
            OnDisk::Tree(_) if survey.is_source(&Location::Agent(agent.to_owned()), name) => false,
            OnDisk::Tree(Some(tree)) if Some(*tree) == digest || is_home(found) => true,
            OnDisk::Tree(tree) if has_copy(agent) => {
                if !tree.is_some_and(|tree| dirs.is_earlier(&tree)) {
                    edited.insert(agent);
                }
                true
            }
            _ => false,
        };
        if ours && let Some(dir) = dirs.of(agent) {
            by_dir.entry(dir).or_default().push(agent);
        }
    }
    if by_dir.is_empty() {
        return Linked { agents: Vec::new(), edited: Vec::new() };
    }
    let own = entry.and_then(|entry| entry.agents.as_ref());
    let targets = own.or(files.manifest.agents().targets.as_ref()).into_iter().flatten();
    let recorded = locked.into_iter().flat_map(|locked| &locked.agents);
    let chosen: BTreeSet<&str> = targets.chain(recorded).map(String::as_str).collect();
    let is_target = |agent: &&str| chosen.contains(agent);
    let mut told: Vec<String> = Vec::new();
    for agents in by_dir.values() {
        let named: Vec<_> = agents.iter().copied().filter(is_target).collect();
        let shown = if named.is_empty() { &agents[..1] } else { &named[..] };
        told.extend(shown.iter().map(|agent| (*agent).to_owned()));
    }
    told.sort();
    let edited = told.iter().filter(|agent| edited.contains(agent.as_str())).cloned().collect();
    Linked { agents: told, edited }
}
