//! Facts about the place of an installation: which agents see the skills and which do not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Change, InstallOutcome};
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::name::SkillName;
use crate::scope::agent_view;
use crate::scope::state::{AgentState, Depth, Files, ScopeState};
use crate::scope::{Scope, repository_of};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::source::local;

/// Fills in the agents that see the skills of `outcome`, and where the skills are. `files` are the current
/// files of `scope`.
pub(super) fn look(
    context: &Context,
    scope: &Scope,
    files: &Files,
    outcome: &mut InstallOutcome,
) -> Result<()> {
    let settings = &context.settings;
    outcome.place = scope.shown(settings, &scope.skills_dir());
    let state = ScopeState::of(settings, scope, files.clone(), Depth::Metadata);
    let there: Vec<_> = outcome
        .skills
        .iter()
        .filter(|skill| !skill.disabled && skill.change != Change::Removed)
        .map(|skill| skill.name.as_str())
        .collect();
    let sees_all = |agent: &&AgentState| there.iter().all(|name| state.sees(agent, name));
    let is_meant =
        |agent: &&AgentState| agent.is_viewer() || outcome.agents.iter().any(|id| id == agent.agent.id);
    let seen_by = state.agents().all.iter().filter(is_meant).filter(sees_all);
    outcome.seen_by = seen_by.map(|agent| agent.agent.id.to_owned()).collect();
    let has_changed = outcome.files.manifest || outcome.files.lockfile;
    if state.all_read_canonical() && !has_changed {
        return Ok(());
    }
    outcome.unseen = state.unseen(&agent_view::in_sight(files));
    if scope.kind == ScopeKind::Project && has_changed {
        outcome.only_here = only_here(settings, scope, files, outcome)?;
    }
    Ok(())
}

/// Returns the skills of `outcome` that a colleague could not install.
fn only_here(
    settings: &Settings,
    scope: &Scope,
    files: &Files,
    outcome: &InstallOutcome,
) -> Result<Vec<String>> {
    let mut only_here = Vec::new();
    let mut repository = None;
    // Thousands of skills come from few directories.
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    let there = outcome.skills.iter().filter(|skill| skill.change != Change::Removed);
    for skill in there {
        let entry = SkillName::exact(&skill.name).and_then(|name| files.manifest.skills().get(&name));
        let Some(path) = entry.and_then(|entry| entry.origin.local_path()) else { continue };
        if !known.contains_key(path) {
            let root = match &repository {
                Some(root) => root,
                None => repository.insert(repository_around(settings, scope)?),
            };
            known.insert(path, is_inside(settings, scope, root, path)?);
        }
        if !known[path] {
            only_here.push(skill.name.clone());
        }
    }
    Ok(only_here)
}

/// Reports whether a colleague with the whole repository at `root` also has the target of `path`.
fn is_inside(settings: &Settings, scope: &Scope, root: &Path, path: &str) -> Result<bool> {
    if path.starts_with('~') || Path::new(path).is_absolute() {
        return Ok(false);
    }
    let place = local::resolve(settings, scope.as_root(), path)?;
    Ok(fs::real_path(&place)?.unwrap_or(place).starts_with(root))
}

/// Returns the root of the repository that the project is in, or that of the project if it is in none.
fn repository_around(settings: &Settings, scope: &Scope) -> Result<PathBuf> {
    let root = fs::real_path(&scope.root)?.unwrap_or_else(|| scope.root.clone());
    let found = repository_of(&root, |dir| settings.home.as_deref() != Some(dir))?;
    Ok(found.unwrap_or(root))
}
