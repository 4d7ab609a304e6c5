//! The agents that see adopted skills.

use super::agents::in_directories;
use super::classify::Action;
use super::outcome::{ImportedSkill, Verdict};
use crate::agents::Agent;
use crate::manifest::Agents;
use crate::scope::claims::named;
use crate::scope::plan::Location;
use crate::scope::state::{Files, OnDisk, Survey};

/// The agents that see the skills that are adopted.
pub(super) struct FoundTargets {
    /// Those agents.
    pub(super) agents: Vec<&'static Agent>,
    /// The agents in the manifest afterwards.
    pub(super) manifest: Agents,
    /// Whether each of them gets a copy instead of a link.
    pub(super) copy: bool,
}

impl FoundTargets {
    /// Returns the agents that have a link to an adopted skill or a copy of it, and those that the manifest names. An agent
    /// that saw none of the skills before sees none of them afterwards.
    pub(super) fn of(
        files: &Files,
        survey: &Survey,
        everyone: &[&'static Agent],
        judged: &[(ImportedSkill, Action)],
    ) -> Self {
        let mut agents: Vec<&'static Agent> = named(files).collect();
        let (mut links, mut copies) = (false, false);
        for (agent, found) in judged
            .iter()
            .filter_map(|(_, action)| action.name())
            .flat_map(|name| in_directories(survey, everyone, name))
        {
            links |= *found == OnDisk::OurLink;
            copies |= matches!(found, OnDisk::Tree(_));
            let sees = matches!(found, OnDisk::OurLink | OnDisk::Tree(_));
            if sees && agents.iter().all(|other| other.id != agent.id) {
                agents.push(agent);
            }
        }
        let manifest = files.manifest.agents();
        let old: Vec<&str> = named(files).map(|agent| agent.id).collect();
        let new = agents.iter().map(|agent| agent.id).filter(|id| !old.contains(id));
        let new: Vec<String> = new.map(ToOwned::to_owned).collect();
        let mut targets = manifest.targets.clone();
        if !new.is_empty() {
            targets.get_or_insert_default().extend(new);
        }
        // If skillpm keeps links already, it goes on to do so.
        let copy = manifest.copy || (copies && !links && files.lock.skills.is_empty());
        Self { agents, manifest: Agents { targets, copy, ..manifest.clone() }, copy }
    }

    /// Takes back the adoption of a skill where an agent has something else in its place: only the
    /// entries are written then.
    pub(super) fn make_room(&self, survey: &Survey, skill: &mut ImportedSkill, action: &mut Action) {
        let Action::Put { wanted, .. } = action else { return };
        let in_the_way = self.agents.iter().find(|agent| {
            let served = survey.served.contains(agent.id);
            let found = survey.at(agent.id, &wanted.name);
            let own = || survey.has_repository(&Location::Agent(agent.id.to_owned()), &wanted.name);
            // A copy that is to be one is left as it is.
            let stays = || match (found, wanted.content.locked()) {
                (Some(OnDisk::Tree(Some(tree))), Some(locked)) => self.copy && *tree == locked.digest,
                _ => false,
            };
            !served && (matches!(found, Some(OnDisk::OtherLink(_) | OnDisk::Other)) || own() && !stays())
        });
        if let Some(agent) = in_the_way {
            skill.verdict = Verdict::Edited;
            let why = format!(
                "something else is in its place in the directory of {}, and was left as is",
                agent.id
            );
            skill.reason = why.into();
            *action = Action::Record(wanted.clone());
        }
    }
}
