//! `agents`: the agents on this machine, the directories that each reads, and the skills that it sees there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::Warning;
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::error::Result;
use crate::install::agent_view::{self, Form, Role, Seen};
use crate::install::scope::{Scope, ScopeKind, Scopes, exists};
use crate::install::state::Files;

/// A request for the agents of a scope.
#[derive(Debug, Clone, Default)]
pub struct AgentsRequest {
    /// The agents, by id or alias. If empty, those in use here.
    pub names: Vec<String>,
    /// Whether to return all agents of the table.
    pub all: bool,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
}

/// One agent. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentView {
    /// Its id, for `--agent` and `skillpm.toml`.
    pub id: &'static str,
    /// Its name for people.
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
    pub roots: BTreeMap<ScopeKind, String>,
    /// Warnings about what could not be read.
    pub warnings: Vec<Warning>,
}

/// Returns the agents that are on this machine or chosen by a manifest, with the directories that they read
/// and the skills that they see.
///
/// # Errors
///
/// Fails for an unknown agent, and for a requested scope that does not exist.
pub fn agents(context: &Context, request: &AgentsRequest) -> Result<AgentsOutcome> {
    let named: Vec<&Agent> =
        request.names.iter().map(|name| Ok(agents::find(name)?)).collect::<Result<_>>()?;
    let mut outcome = AgentsOutcome::default();
    let mut places = Vec::new();
    let scopes = Scopes::new(&context.settings, request.scope)?;
    places.extend(scopes.there.into_iter().map(|scope| AgentDirectory::look(scope, &mut outcome.warnings)));
    outcome.warnings.extend(scopes.missing.into_iter().map(Warning::from));
    // Whether an agent is on this machine depends on the project, whatever scope is examined.
    let project = Scope::new(&context.settings, ScopeKind::Project)?;
    outcome.roots.insert(ScopeKind::Project, text(&project.root));
    outcome.roots.extend(context.settings.home.iter().map(|home| (ScopeKind::User, text(home))));
    let mut seen = BTreeMap::new();
    for agent in agents::all() {
        let signs = agent.signs(&context.settings, &project.root, &exists);
        let chosen: Vec<_> = places
            .iter()
            .filter(|place| place.chosen.contains(agent.id))
            .map(|place| place.scope.kind)
            .collect();
        let wanted = if named.is_empty() {
            request.all || !signs.is_empty() || !chosen.is_empty()
        } else {
            named.iter().any(|named| named.id == agent.id)
        };
        if wanted {
            outcome.agents.push(view(context, agent, &signs, chosen, &places, &mut seen));
        }
    }
    Ok(outcome)
}

/// A scope and its files.
struct AgentDirectory {
    scope: Scope,
    installed: BTreeSet<String>,
    chosen: BTreeSet<&'static str>,
}

impl AgentDirectory {
    fn look(scope: Scope, warnings: &mut Vec<Warning>) -> Self {
        // What agents see does not depend on files that cannot be read.
        let files = Files::read(&scope).unwrap_or_else(|error| {
            warnings.push(error.into());
            Files::default()
        });
        let names = files.lock.skills.keys().chain(files.manifest.skills().keys());
        let installed = names.map(ToString::to_string).collect();
        Self { chosen: agent_view::chosen(&files.manifest), scope, installed }
    }
}

/// The skills in directories that were examined already: many agents read the same ones.
type ScannedDirectories = BTreeMap<PathBuf, std::result::Result<Vec<Seen>, String>>;

fn view(
    context: &Context,
    agent: &'static Agent,
    signs: &[PathBuf],
    chosen: Vec<ScopeKind>,
    places: &[AgentDirectory],
    known: &mut ScannedDirectories,
) -> AgentView {
    let mut directories = Vec::new();
    let mut paths: Vec<(Role, PathBuf)> = Vec::new();
    for place in places {
        for dir in agent_view::directories(&context.settings, &place.scope, agent) {
            // In the home directory itself the project's directories are the user's.
            if paths.iter().any(|(_, path)| *path == dir.path) {
                continue;
            }
            let looked = known.entry(dir.path.clone()).or_insert_with(|| {
                agent_view::look(&dir.path, &place.scope, &place.installed)
                    .map_err(|error| format!("{error}: {}", error.source))
            });
            let (skills, problem) = match looked {
                Ok(seen) => (seen.iter().map(skill).collect(), None),
                Err(problem) => (Vec::new(), Some(problem.clone())),
            };
            directories.push(DirectoryView {
                scope: place.scope.kind,
                path: text(&dir.path),
                role: dir.role,
                exists: exists(&dir.path),
                skills,
                problem,
            });
            paths.push((dir.role, dir.path));
        }
    }
    let seen = |(role, path): &(Role, PathBuf)| {
        let seen = known.get(path).and_then(|looked| looked.as_ref().ok());
        (*role, seen.map_or(&[][..], Vec::as_slice))
    };
    let twice = agent_view::twice(paths.iter().map(seen));
    let names: BTreeSet<_> = paths
        .iter()
        .map(seen)
        .filter(|(role, _)| *role != Role::Other)
        .flat_map(|(_, seen)| seen)
        .filter(|skill| skill.form != Form::Broken)
        .map(|skill| agent_view::alike(&skill.name))
        .collect();
    AgentView {
        id: agent.id,
        name: agent.name,
        detected: !signs.is_empty(),
        found_by: signs.iter().map(|sign| text(sign)).collect(),
        universal: agent.is_universal(),
        chosen,
        directories,
        sees: names.len(),
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
