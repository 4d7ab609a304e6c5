//! The skills in agents' directories.

use std::collections::BTreeSet;

use crate::agents::Agent;
use crate::name::SkillName;
use crate::scope::state::{OnDisk, Survey};

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
