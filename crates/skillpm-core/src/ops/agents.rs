//! `agents`: the agents on this machine, the directories that each reads, and the skills that it sees there.

mod check;
mod listing;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

pub use self::check::{CheckOutcome, DifferentLine, check};
pub use self::listing::{AlikeView, LackingView, ListedState, ListedView, ListingView};
use crate::advice::{Verb, Warning, message};
use crate::agents::listing::Asked;
use crate::agents::rules::rules;
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scope::agent_view::{self, Form, Role, Seen};
use crate::scope::in_use::InUse;
use crate::scope::listings;
use crate::scope::state::{Depth, Files, ScopeState};
use crate::scope::{Roots, Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// A request for the agents of a scope.
#[derive(Debug, Clone, Default)]
pub struct AgentsRequest {
    /// The agents, by id or alias. If empty, those in use here.
    pub names: Vec<String>,
    /// Whether to return all agents of the table.
    pub all: bool,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// The window of the model in tokens; without one, that of each agent's settings or usual model.
    pub window: Option<u64>,
    /// Whether the sessions of the agents are read, which tell how often each skill was used.
    pub usage: bool,
}

/// One agent. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentView {
    /// The id, for `--agent` and `skillpm.toml`.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Whether it is on this machine, or set up in this project.
    pub detected: bool,
    /// The paths that prove this.
    pub found_by: Vec<String>,
    /// Whether it reads the canonical copies, so that it gets no links.
    pub universal: bool,
    /// The scopes whose manifests name it.
    pub chosen: Vec<ScopeKind>,
    /// The directories that it reads.
    pub directories: Vec<DirectoryView>,
    /// The number of skills that it sees, each name once.
    pub sees: usize,
    /// What its model gets to see of all skills of both scopes; `None` if it is unknown how it lists skills, and of agents
    /// that are neither named nor used here.
    pub listing: Option<ListingView>,
    /// The skills that it finds in several places.
    pub twice: Vec<TwiceView>,
}

/// A directory that an agent reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirectoryView {
    /// The scope that it belongs to.
    pub scope: ScopeKind,
    /// The path, whether it exists or not.
    pub path: String,
    /// Why the agent reads it.
    pub role: Role,
    /// Whether it exists.
    pub exists: bool,
    /// The skills in it.
    pub skills: Vec<SkillView>,
    /// Why it cannot be examined.
    pub problem: Option<String>,
}

/// A skill in a directory of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillView {
    /// The name of its directory.
    pub name: String,
    /// The form of the skill.
    pub form: Form,
    /// The text of its link.
    pub target: Option<String>,
}

/// A skill that an agent finds in several places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TwiceView {
    /// The name.
    pub name: String,
    /// The places.
    pub places: Vec<String>,
    /// Whether they all lead to one directory.
    pub same: bool,
}

/// The agents that were found.
#[derive(Debug, Clone, Default)]
pub struct AgentsOutcome {
    /// The agents, by id.
    pub agents: Vec<AgentView>,
    /// The project and the user's home, for shorter paths.
    pub roots: Roots,
    /// Warnings about what could not be read.
    pub warnings: Vec<Warning>,
}

impl AgentsOutcome {
    /// Returns the listing of the agent, of which there is one, as its model gets it.
    ///
    /// # Errors
    ///
    /// Fails for several agents, and for one whose listing is not known to the byte, or not what is in it.
    pub fn text(&self) -> Result<&str> {
        let [agent] = &self.agents[..] else {
            return Err(check::several());
        };
        let is_by_use =
            agent.listing.as_ref().is_some_and(|listing| listing.count(ListedState::Uncertain) > 0);
        agent.listing.as_ref().and_then(|listing| listing.text.as_deref()).ok_or_else(|| {
            let id = agent.id;
            let what = if is_by_use {
                format!("which descriptions `{id}` leaves out depends on use that only it counts")
            } else if agent.listing.is_some() && rules(id).is_some_and(|rules| rules.is_exact) {
                format!("which of several paths of one name `{id}` lists differs from start to start")
            } else {
                format!("the form of the listing of `{id}` is not known to the byte")
            };
            Error::usage(what).hint(message!(Verb::Agents.call().word(agent.id), " tells what is known"))
        })
    }
}

/// Returns the agents that are on this machine or chosen by a manifest, with the directories that they read
/// and the skills that they see.
///
/// # Errors
///
/// Fails for an unknown agent, and for a requested scope that does not exist.
pub fn agents(context: &Context, request: &AgentsRequest) -> Result<AgentsOutcome> {
    let settings = &context.settings;
    let named: Vec<&Agent> =
        request.names.iter().map(|name| Ok(agents::find(name)?)).collect::<Result<_>>()?;
    let mut outcome = AgentsOutcome::default();
    let scopes = Scopes::new(settings, request.scope)?;
    outcome.warnings.extend(scopes.missing.into_iter().map(Warning::from));
    let states: Vec<ScopeState<'_>> =
        scopes.there.iter().map(|scope| state_of(settings, scope, &mut outcome.warnings)).collect();
    // Whether an agent is on this machine depends on the project, in any scope.
    let mut overridden = listings::overridden(settings, &scopes.there);
    overridden.retain(|one| named.is_empty() || one.concerns(&named));
    outcome.warnings.extend(listings::warnings(&overridden));
    let project = Scope::new(settings, ScopeKind::Project)?;
    outcome.roots = Roots::new(&settings.cwd, Some(&project.root), settings.home.as_deref());
    let in_use = InUse::read(settings);
    for agent in agents::all() {
        let signs = agent.signs(settings, &project.root, &|path| project.is_used(path));
        let is_chosen =
            |state: &&ScopeState<'_>| state.agents().get(agent.id).is_some_and(|agent| agent.is_chosen);
        let chosen: Vec<_> = states.iter().filter(is_chosen).map(|state| state.scope.kind).collect();
        let wanted = if named.is_empty() {
            request.all || in_use.has(settings, &project, agent) || !chosen.is_empty()
        } else {
            named.iter().any(|named| named.id == agent.id)
        };
        if wanted {
            // Of agents that nobody uses here, the directories are enough.
            let is_used = !request.all || !signs.is_empty() || !chosen.is_empty();
            let mut view = view(agent, &signs, chosen, &states);
            let asked = Asked { settings, project: &project.root, window: request.window };
            if let Some(mut listing) = is_used.then(|| agents::listing::listing(agent, asked)).flatten() {
                outcome.warnings.extend(listing.problems.drain(..).map(Warning::from));
                let mut listing = ListingView::new(listing, &states);
                if request.usage {
                    listing.count_uses(agent, settings)?;
                }
                if request.scope.is_none() {
                    view.sees = listing.listed();
                }
                view.listing = Some(listing);
            }
            outcome.agents.push(view);
        }
    }
    Ok(outcome)
}

/// Returns the state of `scope`. What agents see does not depend on files that cannot be read.
pub(super) fn state_of<'a>(
    settings: &'a Settings,
    scope: &'a Scope,
    warnings: &mut Vec<Warning>,
) -> ScopeState<'a> {
    let files = Files::read(scope).unwrap_or_else(|error| {
        warnings.push(error.into());
        Files::default()
    });
    ScopeState::of(settings, scope, files, Depth::Metadata)
}

fn view(
    agent: &'static Agent,
    signs: &[PathBuf],
    chosen: Vec<ScopeKind>,
    states: &[ScopeState<'_>],
) -> AgentView {
    let mut directories: Vec<DirectoryView> = Vec::new();
    let mut seen: Vec<(Role, Vec<&Seen>)> = Vec::new();
    for (state, (role, dir)) in states.iter().flat_map(|state| {
        let reads = state.agents().get(agent.id).into_iter().flat_map(|agent| &agent.reads);
        reads.map(move |dir| (state, *dir))
    }) {
        let path = text(state.path(dir));
        // In the home directory itself the project's directories are the user's.
        if directories.iter().any(|known| known.path == path) {
            continue;
        }
        let (skills, problem) = match state.seen(dir) {
            Ok(seen) => (seen.values().collect(), None),
            Err(problem) => (Vec::new(), Some(problem.to_owned())),
        };
        directories.push(DirectoryView {
            scope: state.scope.kind,
            path,
            role,
            exists: state.is_there(dir),
            skills: skills.iter().map(|seen| skill(seen)).collect(),
            problem,
        });
        seen.push((role, skills));
    }
    let surely = seen.iter().filter(|(role, _)| *role != Role::Other).flat_map(|(_, seen)| seen);
    let names: BTreeSet<_> = surely
        .filter(|skill| skill.form != Form::Broken)
        .map(|skill| agent_view::alike(&skill.name))
        .collect();
    let twice = agent_view::twice(seen.iter().map(|(role, seen)| (*role, seen.iter().copied())));
    AgentView {
        id: agent.id,
        name: agent.name,
        detected: !signs.is_empty(),
        found_by: signs.iter().map(|sign| text(sign)).collect(),
        universal: agent.is_universal(),
        chosen,
        directories,
        sees: names.len(),
        listing: None,
        twice: twice
            .into_iter()
            .map(|twice| TwiceView {
                name: twice.name,
                places: twice.places.iter().map(|path| text(path)).collect(),
                same: twice.same,
            })
            .collect(),
    }
}

fn skill(seen: &Seen) -> SkillView {
    SkillView { name: seen.name.clone(), form: seen.form, target: seen.target.as_deref().map(text) }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
