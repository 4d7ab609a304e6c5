//! Asks once which agents a person uses: at the first installation, if no agents were chosen in the scope.

use crate::advice::{Opt, Warning, message};
use crate::agents;
use crate::change::agent_targets::AgentTargets;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::link::{UseAgentsRequest, use_agents};
use crate::reporter::Choice;
use crate::scope::Scope;
use crate::scope::in_use::InUse;
use crate::scope::state::Files;

/// Asks the person at the terminal which of the agents on this machine they use. Returns the ids. Returns `None` without
/// a question if there is no terminal, if the answer is known, or if there is only one agent. Fails if none was chosen.
pub(super) fn ask(context: &Context, scope: &Scope, files: &Files) -> Result<Option<Vec<String>>> {
    let settings = &context.settings;
    let in_use = InUse::read(settings);
    if in_use.said().is_some() || !AgentTargets::read(settings, scope, files)?.is_untouched() {
        return Ok(None);
    }
    let here: Vec<_> = agents::all().iter().filter(|agent| in_use.has(settings, scope, agent)).collect();
    if here.len() < 2 {
        return Ok(None);
    }
    let item = |agent: &&agents::Agent| Choice {
        title: agent.id.to_owned(),
        description: agent.name.to_owned(),
        note: None,
        picked: true,
    };
    let items: Vec<_> = here.iter().map(item).collect();
    let Some(picked) = context.interact.choose("which agents do you use?", &items) else { return Ok(None) };
    if picked.is_empty() {
        let hint = message!(
            "nothing was changed; ",
            (Opt::Agent, "NAME"),
            " installs for an agent without the question"
        );
        return Err(Error::usage("no agent was chosen").hint(hint));
    }
    Ok(Some(picked.into_iter().filter_map(|at| Some(here.get(at)?.id.to_owned())).collect()))
}

/// Remembers the answer for the next time. Returns a warning if that is not possible: it does not stop an installation.
pub(super) fn remember(context: &Context, agents: &[String]) -> Option<Warning> {
    let request = UseAgentsRequest { agents: Some(agents.to_vec()), dry_run: false };
    let error = use_agents(context, &request).err()?;
    Some(Warning::new(
        codes::AGENTS_NOT_REMEMBERED,
        message!(format_args!("your agents are not remembered: {error}")),
    ))
}
