//! What agents list after a change, beside what they listed before it.

use crate::advice::Warning;
use crate::agents::{self, Agent};
use crate::codes;
use crate::scope::Scopes;
use crate::scope::listings::{Crowded, crowded, has_limit, limited, overridden, warnings};
use crate::scope::plan::{Goal, Plan, Step};
use crate::scope::state::ScopeState;
use crate::settings::Settings;

/// How the agents that a change concerns listed skills before it.
pub(super) struct Listings {
    /// The agents whose listings have a limit.
    limited: Vec<&'static Agent>,
    /// Those of them that had no room for all skills.
    crowded: Vec<Crowded>,
}

impl Listings {
    /// Returns what agents see before a `plan`; `None` if it shows them nothing new.
    pub(super) fn before(
        state: &ScopeState<'_>,
        goal: &Goal,
        plan: &Plan,
        settings: &Settings,
    ) -> Option<Self> {
        let is_shown =
            |step: &Step| matches!(step, Step::Put { .. } | Step::Link { .. } | Step::Enable { .. });
        if !plan.steps.iter().any(is_shown) {
            return None;
        }
        let mut limited = limited(state);
        let crowded = crowded(settings, limited.iter().copied());
        let mut new = named(goal, plan);
        new.retain(|agent| has_limit(agent) && limited.iter().all(|old| old.id != agent.id));
        limited.extend(new);
        Some(Self { limited, crowded })
    }

    /// Returns warnings about what is new after `plan` was carried out: skills for which an agent has no room, and skills of
    /// the plan of which an agent takes another copy.
    pub(super) fn after(self, plan: &Plan, settings: &Settings) -> Vec<Warning> {
        let mut now = crowded(settings, self.limited);
        now.retain(|now| now.is_news(self.crowded.iter().find(|old| old.agent.id == now.agent.id)));
        let mut all: Vec<Warning> = now
            .into_iter()
            .map(|one| Warning {
                hints: vec![one.advice()],
                ..Warning::new(codes::LISTING_CROWDED, one.told())
            })
            .collect();
        let scopes = Scopes::new(settings, None).map(|scopes| scopes.there).unwrap_or_default();
        let mut overridden = overridden(settings, &scopes);
        overridden.retain(|one| plan.steps.iter().any(|step| *step.name() == one.name));
        all.extend(warnings(&overridden));
        all
    }
}

/// Returns the agents that `goal` and the steps to it name, by id.
fn named(goal: &Goal, plan: &Plan) -> Vec<&'static Agent> {
    let links = plan.steps.iter().filter_map(|step| match step {
        Step::Link { agent, .. } => Some(agent),
        _ => None,
    });
    let targets = goal.manifest_agents.iter().filter_map(|agents| agents.targets.as_ref()).flatten();
    let mut named: Vec<_> = links.chain(targets).filter_map(|name| agents::find(name).ok()).collect();
    named.sort_by_key(|agent| agent.id);
    named.dedup_by_key(|agent| agent.id);
    named
}
