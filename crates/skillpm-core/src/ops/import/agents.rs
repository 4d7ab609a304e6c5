//! The agents of a scope, and what they have in their directories.

use std::collections::BTreeSet;

use crate::agents::{self, Agent};
use crate::context::Context;
use crate::install::scope::{Scope, exists};
use crate::install::state::{Files, OnDisk, Survey};
use crate::name::SkillName;

/// Returns all agents. Of those that share a directory, the ones that the manifest names and those that are here come
/// first, because what is in it is reported about the first.
pub(super) fn everyone(context: &Context, scope: &Scope, files: &Files) -> Vec<&'static Agent> {
    let named: Vec<&str> = named(files).map(|agent| agent.id).collect();
    let mut everyone: Vec<_> = agents::all().iter().collect();
    everyone.sort_by_key(|agent| {
        (!named.contains(&agent.id), !agent.detected(&context.settings, &scope.root, &exists))
    });
    everyone
}

/// Returns the agents that the manifest of `files` names.
pub(super) fn named(files: &Files) -> impl Iterator<Item = &'static Agent> {
    files.manifest.agents().targets.iter().flatten().filter_map(|target| agents::find(target).ok())
}

/// Returns what is at the places of the skill `name` in the directories of agents. Of those that share one, the first
/// of `everyone` is reported.
pub(super) fn in_directories<'a>(
    survey: &'a Survey,
    everyone: &[&'static Agent],
    name: &SkillName,
) -> Vec<(&'static Agent, &'a OnDisk)> {
    let mut seen = BTreeSet::new();
    let first = everyone.iter().filter(|agent| survey.dirs.get(agent.id).is_some_and(|dir| seen.insert(dir)));
    first.filter_map(|agent| Some((*agent, survey.at(agent.id, name)?))).collect()
}
