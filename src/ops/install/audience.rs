//! Which agents are to see the skills.

use std::collections::{BTreeMap, BTreeSet};

use super::InstallRequest;
use crate::error::{Error, Result};
use crate::install::agents::{self, Agent, UnknownAgent};
use crate::install::scope::{Scope, ScopeKind, exists};
use crate::manifest::Agents;
use crate::settings::Settings;

/// The agents, and what the manifest is to say about them.
#[derive(Debug)]
pub(super) struct Audience {
    /// Agents that get a link or copy, or that the canonical copy serves.
    pub(super) agents: Vec<&'static Agent>,
    /// The table `[agents]` of the manifest.
    pub(super) manifest: Agents,
    /// Whether they get copies.
    pub(super) copy: bool,
}

impl Audience {
    /// Chooses the agents: those that the manifest names and those that were named now. Where the
    /// manifest names none and `look` is set, those on this machine; they are written down, so that
    /// no later run adds an agent that nobody chose.
    ///
    /// # Errors
    ///
    /// An unknown agent, or one without a directory in this scope.
    pub(super) fn choose(
        settings: &Settings,
        scope: &Scope,
        request: &InstallRequest,
        manifest: &Agents,
        look: bool,
    ) -> Result<Self> {
        let mut ids: BTreeSet<&'static str> = BTreeSet::new();
        for target in &manifest.targets {
            let agent = agents::find(target).map_err(|error| {
                unknown(
                    &error,
                    format!("{}: there is no agent `{target}`", scope.manifest.display()),
                    Error::config,
                )
            })?;
            ids.insert(agent.id);
        }
        for given in &request.agents {
            if given == super::select::ALL {
                ids.extend(
                    agents::all()
                        .iter()
                        .filter(|agent| is_here(settings, scope, agent))
                        .map(|agent| agent.id),
                );
                continue;
            }
            let agent =
                agents::find(given).map_err(|error| unknown(&error, error.to_string(), Error::usage))?;
            if scope.agent_dir(settings, agent).is_none() {
                return Err(Error::usage(format!(
                    "agent `{}` has no directory for skills of the user",
                    agent.id
                ))
                .hint("install into a project, with `--scope project`"));
            }
            ids.insert(agent.id);
        }
        let nobody_chose = manifest.targets.is_empty() && request.agents.is_empty();
        if nobody_chose && look {
            ids.extend(found(settings, scope));
        }
        // The order in which the manifest names them stays.
        let mut targets = manifest.targets.clone();
        let named: BTreeSet<_> =
            targets.iter().filter_map(|target| agents::find(target).ok()).map(|a| a.id).collect();
        targets.extend(ids.difference(&named).map(|id| (*id).to_owned()));
        let copy = request.copy || manifest.copy;
        // Agents that share a directory share what lies in it.
        let mut dirs = BTreeSet::new();
        let chosen = agents::all().iter().filter(|agent| ids.contains(agent.id));
        let agents = chosen.filter(|agent| dirs.insert(scope.agent_dir(settings, agent))).collect();
        Ok(Self { agents, manifest: Agents { targets, copy }, copy })
    }
}

fn unknown(error: &UnknownAgent, message: String, kind: fn(String) -> Error) -> Error {
    match error.closest {
        Some(close) => kind(message).hint(format!("did you mean `{close}`?")),
        None => kind(message).hint("docs/reference/agents.md lists the agents"),
    }
}

fn is_here(settings: &Settings, scope: &Scope, agent: &Agent) -> bool {
    agent.detected(settings, &scope.root, &exists) && scope.agent_dir(settings, agent).is_some()
}

/// The agents of this machine that get a link. Of several that share a directory, those that are
/// really here are meant, or the first where none is.
fn found(settings: &Settings, scope: &Scope) -> Vec<&'static str> {
    let mut by_dir: BTreeMap<_, Vec<&Agent>> = BTreeMap::new();
    for agent in agents::all().iter().filter(|agent| wants_link(settings, scope, agent)) {
        by_dir.entry(scope.agent_dir(settings, agent)).or_default().push(agent);
    }
    let mut ids = Vec::new();
    for sharing in by_dir.values() {
        let here: Vec<_> = sharing.iter().filter(|agent| is_here(settings, scope, agent)).collect();
        if here.is_empty() {
            ids.extend(sharing.first().map(|agent| agent.id));
        }
        ids.extend(here.iter().map(|agent| agent.id));
    }
    ids
}

fn wants_link(settings: &Settings, scope: &Scope, agent: &Agent) -> bool {
    let presence = agent.presence(settings, &scope.root, false, &exists);
    match scope.kind {
        ScopeKind::Project => agent.project_link_wanted(presence),
        ScopeKind::User => agent.user_link_wanted(presence),
    }
}
