//! `agents use`: which agents a person uses. It is remembered in the user's own manifest, for all scopes.

use schemars::JsonSchema;
use serde::Serialize;

use super::visibility::{Edits, VisibilityOptions, rearrange};
use crate::advice::Warning;
use crate::change::agent_targets::{AgentTargets, Ids};
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::changes::PathChange;
use crate::scope::plan::NewLink;
use crate::scope_kind::ScopeKind;
use crate::skill::SKILL_FILE;

/// A request to remember which agents a person uses.
#[derive(Debug, Clone, Default)]
pub struct UseAgentsRequest {
    /// All of them, by id or alias; `*` means those that are found on the machine. `None` forgets what was said: then the
    /// agents that are found count.
    pub agents: Option<Vec<String>>,
    /// Whether to only plan.
    pub dry_run: bool,
}

/// What is remembered. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct UseAgentsOutcome {
    /// The ids of the agents; `None` if the agents that are found count.
    pub agents: Option<Vec<String>>,
    /// The file that says so.
    pub manifest: String,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The links that were or would be made, in the project and for the user.
    pub links: Vec<NewLink>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// Warnings for the user.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Remembers which agents a person uses, and links the skills that are installed for them, in the user's scope and in the
/// project. Skills that are not there are left to the next installation.
///
/// # Errors
///
/// An agent is unknown, a manifest or lockfile cannot be read, or a link cannot be made.
pub fn use_agents(context: &Context, request: &UseAgentsRequest) -> Result<UseAgentsOutcome> {
    let settings = &context.settings;
    let user = Scope::new(settings, ScopeKind::User)?;
    let project = Scope::new(settings, ScopeKind::Project)?;
    // Some agents have a directory in projects only.
    let named =
        request.agents.as_ref().map(|given| AgentTargets::named(settings, &project, given)).transpose()?;
    let mut outcome = UseAgentsOutcome {
        agents: named.as_ref().map(|named| named.iter().map(|id| (*id).to_owned()).collect()),
        manifest: user.manifest.display().to_string(),
        dry_run: request.dry_run,
        ..UseAgentsOutcome::default()
    };
    // A home directory that is a project has the files of both.
    let scopes = if project.skills_dir() == user.skills_dir() { vec![user] } else { vec![user, project] };
    for scope in scopes {
        let how = VisibilityOptions { dry_run: request.dry_run, force: false, bring: false };
        let changed = rearrange(context, &scope, how, |files, targets| {
            targets.remember(named.as_ref());
            let is_there = |name: &&SkillName| fs::exists(&scope.skill_dir(name).join(SKILL_FILE));
            let known = files.names().filter(is_there).filter(|name| targets.entry(name).is_some());
            let skills = known.map(|name| (name.clone(), false)).collect();
            Ok(Edits { skills, only: Some(named.clone().unwrap_or_default()), taken: Ids::new() })
        })?;
        outcome.links.extend(changed.links);
        outcome.paths.extend(changed.paths);
        outcome.warnings.extend(changed.warnings);
    }
    Ok(outcome)
}
