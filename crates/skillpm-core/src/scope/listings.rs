//! The agents in use whose models do not get to see all skills whole, for want of room.

use crate::advice::{Message, Verb, message};
use crate::agents::Agent;
use crate::agents::listing::{Asked, State, listing};
use crate::agents::rules::{Budget, rules};
use crate::scope::root::project_root;
use crate::scope::state::ScopeState;
use crate::settings::Settings;

/// An agent that has no room for all skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowded {
    /// The agent.
    pub agent: &'static Agent,
    /// The skills that are listed shortened, by name only, or not at all for want of room.
    skills: usize,
    /// All skills that it could list.
    all: usize,
}

impl Crowded {
    /// Says what is left out.
    pub(crate) fn told(&self) -> String {
        let Self { agent, skills, all } = self;
        let name = agent.name;
        format!("{name} has no room to list all skills whole: {skills} of {all} are shortened or left out")
    }

    /// Says where to look further.
    pub(crate) fn advice(&self) -> Message {
        message!(Verb::Agents.call().word(self.agent.id), " shows which, and what would make room")
    }
}

/// Returns the agents, of this machine or chosen by the manifest, whose listings have a limit.
pub(crate) fn limited(state: &ScopeState<'_>) -> Vec<&'static Agent> {
    let has_limit = |agent: &&'static Agent| {
        rules(agent.id).is_some_and(|rules| !matches!(rules.budget, Budget::Unlimited | Budget::Unknown))
    };
    let in_use = state.agents().all.iter().filter(|agent| agent.is_viewer()).map(|agent| agent.agent);
    in_use.filter(has_limit).collect()
}

/// Returns those of `agents` that have no room for all skills of both scopes.
pub(crate) fn crowded(settings: &Settings, agents: impl IntoIterator<Item = &'static Agent>) -> Vec<Crowded> {
    let Ok(project) = project_root(settings) else { return Vec::new() };
    let asked = Asked { settings, project: &project, window: None };
    let crowded = agents.into_iter().filter_map(|agent| {
        let listing = listing(agent, asked)?;
        let budget = listing.budget.filter(|budget| listing.whole > *budget)?;
        let is_short = |state: &State| matches!(state, State::Cut(_) | State::NameOnly | State::Omitted);
        let skills = listing.entries.iter().filter(|entry| is_short(&entry.state)).count();
        let all = listing.entries.iter().filter(|entry| entry.size > 0).count();
        (budget > 0 && skills > 0).then_some(Crowded { agent, skills, all })
    });
    crowded.collect()
}
