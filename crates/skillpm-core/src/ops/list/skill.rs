//! One skill, as its files and the directories of agents show it.

use super::linked::{Dirs, Linked, know_sources, linked};
use super::outcome::{ListedSkill, SkillState};
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::install::agent_view;
use crate::install::editable::Editable;
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::{Files, OnDisk, Survey};
use crate::lockfile::Locked;
use crate::name::SkillName;

/// Returns the skill `name` of a scope; `None` for what is neither asked for nor a skill's directory.
///
/// # Errors
///
/// Fails as [`list`](super::list) does.
pub(in crate::ops) fn one(
    context: &Context,
    kind: ScopeKind,
    name: &SkillName,
) -> Result<Option<ListedSkill>> {
    let is_known = |skill: &ListedSkill| !skill.state.is_unknown();
    let found = one_in(context, &Scope::new(&context.settings, kind)?, name)?;
    if kind == ScopeKind::User && !found.as_ref().is_some_and(is_known) {
        // In the home directory it may be the project that installed it.
        let project = Scope::new(&context.settings, ScopeKind::Project)?;
        if project.other_scope(&context.settings)?.is_some() {
            return Ok(one_in(context, &project, name)?.filter(is_known).or(found));
        }
    }
    Ok(found)
}

fn one_in(context: &Context, scope: &Scope, name: &SkillName) -> Result<Option<ListedSkill>> {
    let files = Files::read(scope)?;
    let agents = agent_view::counting(&context.settings, scope, agent_view::named(&files));
    let mut survey = Survey::take(&context.settings, scope, &[name], &agents)?;
    let mut dirs = Dirs::new(context, scope);
    know_sources(&dirs, &files, &mut survey, [name].into_iter());
    listed(context, scope, &files, &survey, &mut dirs, name)
}

/// Returns the skill `name`; `None` for what is neither asked for nor a skill's directory.
pub(super) fn listed(
    context: &Context,
    scope: &Scope,
    files: &Files,
    survey: &Survey,
    dirs: &mut Dirs<'_>,
    name: &SkillName,
) -> Result<Option<ListedSkill>> {
    let locked = files.lock.skills.get(name);
    let entry = files.manifest.skills().get(name);
    let disabled = entry.is_some_and(|entry| entry.disabled);
    let Linked { agents, edited } = linked(dirs, files, survey, name, (locked, entry));
    let mut skill = ListedSkill {
        name: name.to_string(),
        version: locked.and_then(|locked| locked.version.clone()),
        scope: scope.kind,
        source: locked.map(|locked| locked.origin.to_string()),
        path: locked.and_then(|locked| locked.path.clone()),
        revision: locked.and_then(|locked| locked.revision.clone()),
        digest: locked.map(|locked| locked.digest.to_string()),
        agents,
        edited_copies: edited,
        state: SkillState::Missing,
        modified: false,
        alias_of: locked.and_then(|locked| locked.alias_of.clone()),
        disabled,
        editable: false,
        location: fs::into_text(dirs.skills.join(name.as_str())),
        source_type: locked.map(|locked| locked.origin.kind()),
        source_url: locked.and_then(|locked| locked.origin.address()),
        requested: locked.and_then(|locked| locked.requested.clone()),
        dependencies: locked.map(|locked| locked.dependencies.clone()).unwrap_or_default(),
        seen_by: Vec::new(),
        found_in: None,
        outer: None,
        source_gone: false,
    };
    let mut found = survey.canonical.get(name).unwrap_or(&OnDisk::Absent);
    let out_of_sight = disabled && *found == OnDisk::Absent;
    let editable = entry.map(|entry| Editable::of(&context.settings, scope, entry)).transpose()?.flatten();
    if let (Some(entry), Some(editable)) = (entry, editable) {
        skill.editable = true;
        (skill.source, skill.path) = (Some(entry.origin.to_string()), entry.path.clone());
        (skill.source_type, skill.source_url) = (Some(entry.origin.kind()), entry.origin.address());
        skill.alias_of.clone_from(&entry.name);
        skill.state = state_of_link(&editable, found, out_of_sight);
        skill.source_gone = !editable.is_there();
        if out_of_sight {
            skill.location = editable.directory.display().to_string();
        }
    } else {
        if out_of_sight {
            found = survey.disabled.get(name).unwrap_or(&OnDisk::Absent);
            skill.location = scope.disabled_skill_dir(name).display().to_string();
            if let (Some(entry), None) = (entry, locked) {
                (skill.source, skill.path) = (Some(entry.origin.to_string()), entry.path.clone());
                (skill.source_type, skill.source_url) = (Some(entry.origin.kind()), entry.origin.address());
            }
        }
        let Some(state) = state(locked, found) else { return Ok(None) };
        let place = if out_of_sight { scope.disabled_skill_dir(name) } else { scope.skill_dir(name) };
        let is_tree = state == SkillState::Modified && matches!(found, OnDisk::Tree(_));
        let other = is_tree && scope.index.trees().is_other_line_ends(&place);
        skill.state = if other { SkillState::LineEnds } else { state };
    }
    skill.modified = matches!(skill.state, SkillState::Modified | SkillState::LineEnds);
    if out_of_sight && skill.state != SkillState::Missing {
        skill.state = SkillState::Disabled;
    }
    Ok(Some(skill))
}

/// Returns the state; `None` for what is neither locked nor a skill's directory.
fn state(locked: Option<&Locked>, found: &OnDisk) -> Option<SkillState> {
    match (locked, found) {
        (Some(_), OnDisk::Absent) => Some(SkillState::Missing),
        (Some(locked), OnDisk::Tree(Some(digest))) if *digest == locked.digest => Some(SkillState::Ok),
        (Some(_), _) => Some(SkillState::Modified),
        (None, OnDisk::Tree(_) | OnDisk::OtherLink(_)) => Some(SkillState::Untracked),
        (None, _) => None,
    }
}

/// Returns the state of an editable skill, at whose canonical place `found` is; where agents are not to see it, nothing
/// has to.
pub(in crate::ops) fn state_of_link(editable: &Editable, found: &OnDisk, out_of_sight: bool) -> SkillState {
    let is_there = editable.is_there();
    match found {
        OnDisk::OtherLink(text) if editable.link.says(text) && is_there => SkillState::Editable,
        OnDisk::Absent if out_of_sight && is_there => SkillState::Editable,
        OnDisk::Tree(_) | OnDisk::Other => SkillState::Modified,
        OnDisk::OtherLink(text) if !editable.link.says(text) => SkillState::Modified,
        _ => SkillState::Missing,
    }
}
