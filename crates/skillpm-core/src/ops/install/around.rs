//! Facts about the place of an installation: which agents see the skills and which do not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::outcome::NewInGit;
use super::{Change, InstallOutcome};
use crate::agents;
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::name::SkillName;
use crate::scope::changes::PathEffect;
use crate::scope::state::{AgentState, Depth, Files, ScopeState};
use crate::scope::{Scope, repository_of};
use crate::scope::{agent_view, attributes};
use crate::scope_kind::{DISABLED_DIR, ScopeKind};
use crate::settings::Settings;
use crate::source::local;

/// Fills in the agents that see the skills of `outcome`, and where the skills are. `files` are the current
/// files of `scope`, and `named` the agents that the user named.
pub(super) fn look(
    context: &Context,
    scope: &Scope,
    files: &Files,
    named: &[String],
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
    let is_meant = |agent: &&AgentState| {
        let is = |id: &String| agents::find(id).is_ok_and(|named| named.id == agent.agent.id);
        agent.is_viewer() || outcome.agents.iter().chain(named).any(is)
    };
    let seen_by = state.agents().all.iter().filter(is_meant).filter(sees_all);
    outcome.seen_by = seen_by.map(|agent| agent.agent.id.to_owned()).collect();
    let has_changed = outcome.files.manifest || outcome.files.lockfile;
    if state.all_read_canonical() && !has_changed {
        return Ok(());
    }
    outcome.new_in_git = new_in_git(settings, &state, outcome);
    outcome.unseen = state.unseen(&agent_view::in_sight(files));
    if scope.kind == ScopeKind::Project && has_changed {
        outcome.only_here = only_here(settings, scope, files, outcome)?;
    }
    Ok(())
}

/// Returns the paths of the scope that git did not know before this first installation, and the file that would make it
/// ignore them; `None` if this is not a first one in a repository. A directory in which people keep skills of their own
/// is not named as a whole.
fn new_in_git(settings: &Settings, state: &ScopeState<'_>, outcome: &InstallOutcome) -> Option<NewInGit> {
    let scope = state.scope;
    // It comes with the first skill in a repository.
    let mark = scope.work_dir().join(attributes::FILE);
    if !outcome.paths.iter().any(|path| path.path == mark && path.change == PathEffect::Created) {
        return None;
    }
    let dirs = outcome.agents.iter().filter_map(|id| scope.agent_dir(settings, agents::find(id).ok()?));
    let dirs: BTreeSet<PathBuf> = [scope.skills_dir()].into_iter().chain(dirs).collect();
    // Skills that are disabled later lie there.
    let mut paths = vec![format!("/{DISABLED_DIR}/")];
    for dir in dirs {
        let shown = dir.strip_prefix(&scope.root).ok()?.to_str()?.replace('\\', "/");
        let names = fs::list_dir(&dir).ok()?;
        let is_ours = |name: &String| state.knows(name);
        if names.iter().all(is_ours) {
            paths.push(format!("/{shown}/"));
        } else {
            paths.extend(names.iter().filter(|name| is_ours(name)).map(|name| format!("/{shown}/{name}")));
        }
    }
    let file = scope.root.join(".gitignore");
    let file = file.strip_prefix(&settings.cwd).map_or_else(|_| file.clone(), Path::to_owned);
    (paths.len() > 1).then_some(NewInGit { paths, file })
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
