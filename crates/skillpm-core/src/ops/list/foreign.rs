//! Skills that skillpm did not install: in the directories of agents, or among its own.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::{ListOutcome, ListedSkill, SkillState};
use crate::agents;
use crate::context::Context;
use crate::fs;
use crate::install::agent_view::{self, Form, Seen, Viewers};
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::ops::import::{FoundIn, agent_dirs, found_in};

/// Adds to `outcome`, which has what is installed in `scope`, the skills that are in the directories of agents and that
/// nobody installed here; of these and of those among the installed ones that no lockfile knows it says who told of
/// them. What cannot be examined is no reason to list nothing.
pub(super) fn list(
    context: &Context,
    scope: &Scope,
    files: &Files,
    viewers: &Viewers,
    outcome: &mut ListOutcome,
) {
    let of_scope = |skill: &&ListedSkill| skill.scope == scope.kind && skill.outer.is_none();
    let known: BTreeSet<String> =
        outcome.skills.iter().filter(of_scope).map(|skill| skill.name.clone()).collect();
    let mut by_name: BTreeMap<String, Seen> = BTreeMap::new();
    for dir in agent_dirs(context, scope, &agents::all().iter().collect::<Vec<_>>()) {
        for seen in agent_view::look(&dir, scope, &known).unwrap_or_default() {
            if seen.form == Form::Foreign {
                by_name.entry(seen.name.clone()).or_insert(seen);
            }
        }
    }
    let foreign = by_name.into_iter().map(|(name, seen)| {
        let seen_by: Vec<String> = viewers.apart(&name).map(ToOwned::to_owned).collect();
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
        let told = found_in(context, scope, files);
        for skill in unknown {
            skill.found_in = Some(told.get(&skill.name).copied().unwrap_or(FoundIn::Directory));
        }
    }
}
