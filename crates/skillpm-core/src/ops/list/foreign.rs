//! Skills that skillpm did not install: in the directories of agents, or among its own.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::{ListOutcome, ListedSkill, SkillState};
use crate::context::Context;
use crate::fs;
use crate::scope::agent_view::{Form, Seen};
use crate::scope::claims::{FoundIn, found_in};
use crate::scope::state::{AgentState, OpenedDir, ScopeState};
use crate::scope_kind::ScopeKind;

/// Adds to `outcome`, which has what is installed in the scope of `state`, the skills in the directories of agents that
/// skillpm did not install there, and names the tool that recorded each skill that no lockfile knows. What cannot be
/// examined is no reason to list nothing.
pub(super) fn list(context: &Context, state: &ScopeState<'_>, outcome: &mut ListOutcome) {
    let scope = state.scope;
    let of_scope = |skill: &&ListedSkill| skill.scope == scope.kind && skill.outer.is_none();
    let known: BTreeSet<String> =
        outcome.skills.iter().filter(of_scope).map(|skill| skill.name.clone()).collect();
    let mut by_name: BTreeMap<String, Seen> = BTreeMap::new();
    // In a project, any directory may have a name that some agent looks for skills in, such as `skills/`.
    let hidden =
        |agent: &&AgentState| scope.kind == ScopeKind::User || agent.agent.project_dir().starts_with('.');
    for agent in state.agents().all.iter().filter(hidden) {
        // A directory outside of the project does not belong to it.
        let dir = agent.own.filter(|dir| matches!(state.dir(*dir), OpenedDir::Open(_)));
        let seen = dir.and_then(|dir| state.seen(dir).ok()).into_iter().flatten();
        for (name, seen) in seen
            .filter(|(name, seen)| matches!(seen.form, Form::Foreign | Form::Copy) && !known.contains(*name))
        {
            by_name.entry(name.clone()).or_insert_with(|| seen.clone());
        }
    }
    let foreign = by_name.into_iter().map(|(name, seen)| {
        let seen_by = state.seen_by(&name);
        ListedSkill {
            name,
            version: None,
            scope: scope.kind,
            source: None,
            path: None,
            revision: None,
            digest: None,
            agents: seen_by.clone(),
            edited_copies: Vec::new(),
            state: SkillState::Foreign,
            modified: false,
            alias_of: None,
            disabled: false,
            editable: false,
            location: fs::into_text(seen.path),
            source_type: None,
            source_url: None,
            requested: None,
            dependencies: Vec::new(),
            seen_by,
            found_in: None,
            outer: None,
            source_gone: false,
        }
    });
    outcome.skills.extend(foreign);
    if let Some(first) = outcome.skills.iter().position(|skill| of_scope(&skill)) {
        outcome.skills[first..].sort_by(|a, b| a.name.cmp(&b.name));
    }
    let is_unknown = |skill: &&mut ListedSkill| {
        skill.scope == scope.kind && skill.outer.is_none() && skill.state.is_unknown()
    };
    let mut unknown = outcome.skills.iter_mut().filter(is_unknown).peekable();
    if unknown.peek().is_some() {
        let told = found_in(context, scope, &state.files);
        for skill in unknown {
            skill.found_in = Some(told.get(&skill.name).copied().unwrap_or(FoundIn::Directory));
        }
    }
}
