//! The agents in use whose models do not get to see all skills whole, for want of room, or another copy of a skill than
//! skillpm takes.

use std::path::PathBuf;

use crate::advice::{Message, Verb, Warning, message};
use crate::agents::Agent;
use crate::agents::listing::{Asked, State, listing, precedence};
use crate::agents::rules::{Budget, Owner, rules};
use crate::codes;
use crate::fs;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::root::project_root;
use crate::scope::state::{AgentState, Depth, Files, ScopeState};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::text::{and, and_more};

/// The least number of skills without room that is news where twice as many as before lack something.
const MUCH_WORSE: usize = 20;

/// The most names that a warning has.
const MOST_NAMES: usize = 5;

/// An agent that has no room for all skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowded {
    /// The agent.
    pub agent: &'static Agent,
    /// The number of skills that are listed shortened, by name only, or not at all for want of room: the least and the
    /// most.
    skills: (usize, usize),
    /// Those of them that are not listed at all, not even by name.
    omitted: usize,
    /// All skills that it could list.
    all: usize,
}

impl Crowded {
    /// Reports whether that is new to somebody who knows how it was `before`: that there is no room, that skills are not
    /// listed at all, or that twice as many lack something, and at least [`MUCH_WORSE`].
    pub(crate) fn is_news(&self, before: Option<&Self>) -> bool {
        before.is_none_or(|before| {
            before.omitted == 0 && self.omitted > 0 || self.skills.1 >= MUCH_WORSE.max(2 * before.skills.1)
        })
    }

    /// Says what is left out.
    pub(crate) fn told(&self) -> String {
        let Self { agent, skills: (least, most), all, .. } = self;
        let range = if least == most { String::new() } else { format!("{least} to ") };
        let name = agent.name;
        format!(
            "{name} has no room to list all skills whole: {range}{most} of {all} are shortened or left out"
        )
    }

    /// Says where to look further.
    pub(crate) fn advice(&self) -> Message {
        message!(Verb::Agents.call().word(self.agent.id), " shows which, and what would make room")
    }
}

/// A skill of which agents take the user's copy, while skillpm takes that of the project, which has other files.
#[derive(Debug, Clone)]
pub(crate) struct Overridden {
    /// The skill.
    pub name: SkillName,
    agents: Vec<&'static Agent>,
}

impl Overridden {
    /// Says who takes which.
    pub(crate) fn told(&self) -> String {
        told(&self.agents, &[&self.name])
    }

    /// Reports whether one of `agents` is among them.
    pub(crate) fn concerns(&self, agents: &[&Agent]) -> bool {
        self.agents.iter().any(|agent| agents.iter().any(|other| other.id == agent.id))
    }

    /// Says where to look further.
    pub(crate) fn advice(&self) -> Message {
        message!(Verb::Why.call().word(self.name.as_str()), " shows both, and who sees which")
    }
}

/// Says that `agents` take the user's copies of the skills called `names`.
fn told(agents: &[&Agent], names: &[&SkillName]) -> String {
    let verb = if agents.len() == 1 { "takes" } else { "take" };
    let agents: Vec<_> = agents.iter().map(|agent| agent.name).collect();
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let (agents, names) = (and(&agents), and_more(&quoted, MOST_NAMES));
    let rest = if quoted.len() == 1 {
        "that of the project has other files and is not used"
    } else {
        "those of the project have other files and are not used"
    };
    format!("{agents} {verb} your own {names}: {rest}")
}

/// Returns a warning for all skills that the same agents take from the user.
pub(crate) fn warnings(overridden: &[Overridden]) -> Vec<Warning> {
    let mut groups: Vec<(&Overridden, Vec<&SkillName>)> = Vec::new();
    for one in overridden {
        match groups.iter_mut().find(|(first, _)| first.agents == one.agents) {
            Some((_, names)) => names.push(&one.name),
            None => groups.push((one, vec![&one.name])),
        }
    }
    let warning = |(first, names): (&Overridden, Vec<&SkillName>)| Warning {
        hints: vec![first.advice()],
        ..Warning::new(codes::USER_COPY_WINS, told(&first.agents, &names))
    };
    groups.into_iter().map(warning).collect()
}

/// Returns the skills that two of `scopes` have with different files, and of which an agent in use takes the user's copy.
/// Only the lockfiles are read, unless there is such a skill.
pub(crate) fn overridden(settings: &Settings, scopes: &[Scope]) -> Vec<Overridden> {
    let of = |kind| scopes.iter().find(|scope| scope.kind == kind);
    let (Some(project), Some(user)) = (of(ScopeKind::Project), of(ScopeKind::User)) else {
        return Vec::new();
    };
    let (Ok(ours), Ok(yours)) = (Files::read(project), Files::read(user)) else { return Vec::new() };
    let differs = |name: &SkillName| {
        let digest = |files: &Files| files.lock.skills.get(name).map(|locked| locked.digest);
        digest(&ours).zip(digest(&yours)).is_some_and(|(one, other)| one != other)
    };
    let names: Vec<SkillName> = ours.lock.skills.keys().filter(|name| differs(name)).cloned().collect();
    if names.is_empty() || project.root == user.root {
        return Vec::new();
    }
    let ours = ScopeState::of(settings, project, ours, Depth::Metadata);
    let yours = ScopeState::of(settings, user, yours, Depth::Metadata);
    let asked = Asked { settings, project: &project.root, window: None };
    let viewers = ours.agents().all.iter().filter(|agent| agent.is_viewer());
    let viewers: Vec<_> =
        viewers.filter_map(|agent| Some((agent, precedence(agent.agent, asked)?))).collect();
    let skill = |name: SkillName| {
        let takes_yours = |(agent, dirs): &&(&AgentState, Vec<(PathBuf, Owner)>)| {
            let has =
                |(dir, _): &&(PathBuf, Owner)| matches!(fs::kind(&dir.join(name.as_str())), Ok(Some(_)));
            let winner = dirs.iter().find(has).map(|(_, owner)| *owner);
            let is_seen = |state: &ScopeState<'_>| {
                state.agents().get(agent.agent.id).is_some_and(|agent| state.sees(agent, name.as_str()))
            };
            winner == Some(Owner::User) && is_seen(&ours) && is_seen(&yours)
        };
        let agents: Vec<_> = viewers.iter().filter(takes_yours).map(|(agent, _)| agent.agent).collect();
        (!agents.is_empty()).then_some(Overridden { name, agents })
    };
    names.into_iter().filter_map(skill).collect()
}

/// Returns the agents, of this machine or chosen by the manifest, whose listings have a limit.
pub(crate) fn limited(state: &ScopeState<'_>) -> Vec<&'static Agent> {
    let in_use = state.agents().all.iter().filter(|agent| agent.is_viewer()).map(|agent| agent.agent);
    in_use.filter(|agent| has_limit(agent)).collect()
}

/// Reports whether the listing of an agent has a limit.
pub(crate) fn has_limit(agent: &Agent) -> bool {
    rules(agent.id).is_some_and(|rules| !matches!(rules.budget, Budget::Unlimited | Budget::Unknown))
}

/// Returns those of `agents` that have no room for all skills of both scopes.
pub(crate) fn crowded(settings: &Settings, agents: impl IntoIterator<Item = &'static Agent>) -> Vec<Crowded> {
    let Ok(project) = project_root(settings) else { return Vec::new() };
    let asked = Asked { settings, project: &project, window: None };
    let crowded = agents.into_iter().filter_map(|agent| {
        let listing = listing(agent, asked)?;
        let skills = (*listing.lacking.start(), *listing.lacking.end());
        let all = listing.entries.iter().filter(|entry| entry.size > 0).count();
        let omitted = listing.entries.iter().filter(|entry| entry.state == State::Omitted).count();
        (skills.1 > 0).then_some(Crowded { agent, skills, omitted, all })
    });
    crowded.collect()
}
