//! One skill, as its files and the directories of agents show it.

use std::collections::BTreeSet;

use super::outcome::{ListedSkill, SkillState};
use crate::advice::Warning;
use crate::context::Context;
use crate::engine::load;
use crate::error::Result;
use crate::fs;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::editable::Editable;
use crate::scope::state::{Depth, OnDisk, PlaceState, ScopeState, SkillInScope};
use crate::scope_kind::ScopeKind;
use crate::skill::{self, SKILL_FILE};

/// A skill of a scope, and warnings about what of it could not be examined.
pub(in crate::ops) type Examined = (ListedSkill, Vec<Warning>);

/// Returns the skill `name` of a scope; `None` for what is neither asked for nor a skill's directory.
pub(in crate::ops) fn one(context: &Context, kind: ScopeKind, name: &SkillName) -> Result<Option<Examined>> {
    let is_known = |(skill, _): &Examined| !skill.state.is_unknown();
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

fn one_in(context: &Context, scope: &Scope, name: &SkillName) -> Result<Option<Examined>> {
    let state = ScopeState::read(&context.settings, scope, Depth::Metadata)?;
    let Some(mut skill) = state.skill(name)? else { return Ok(None) };
    let warnings = failures(&mut skill);
    Ok(Some((listed(&state, &skill), warnings)))
}

/// Returns the warnings about what of `skill` could not be examined.
pub(in crate::ops) fn failures(skill: &mut SkillInScope<'_>) -> Vec<Warning> {
    let failures = [skill.merge_failure.take(), skill.homes[0].failure.take()];
    failures.into_iter().flatten().map(Warning::from).collect()
}

/// Returns the entry for `skill`.
pub(super) fn listed(state: &ScopeState<'_>, skill: &SkillInScope<'_>) -> ListedSkill {
    let SkillInScope { name, locked, entry, .. } = *skill;
    let is_linked = skill.editable.is_some();
    // An editable skill is not locked; a disabled one that never was has only the manifest to say where it is from.
    let asked = entry.filter(|_| is_linked || locked.is_none());
    let origin = asked.map(|entry| &entry.origin).or(locked.map(|locked| &locked.origin));
    let path =
        asked.map_or_else(|| locked.and_then(|locked| locked.path.clone()), |entry| entry.path.clone());
    let alias = match entry.filter(|_| is_linked) {
        Some(entry) => entry.name.clone(),
        None => locked.and_then(|locked| locked.alias_of.clone()),
    };
    let (agents, edited_copies) = linked(state, skill);
    ListedSkill {
        name: name.to_string(),
        version: match &skill.editable {
            Some(editable) => version_in(editable),
            None => locked.and_then(|locked| locked.version.clone()),
        },
        scope: state.scope.kind,
        source: origin.map(ToString::to_string),
        path,
        revision: locked.and_then(|locked| locked.revision.clone()),
        digest: locked.map(|locked| locked.digest.to_string()),
        agents,
        edited_copies,
        state: skill.state,
        modified: skill.is_modified(),
        alias_of: alias,
        disabled: skill.is_disabled(),
        editable: is_linked,
        source_type: origin.map(|origin| origin.kind()),
        source_url: origin.and_then(|origin| origin.address()),
        requested: locked.and_then(|locked| locked.requested.clone()),
        dependencies: locked.map(|locked| locked.dependencies.clone()).unwrap_or_default(),
        // A link that leads nowhere shows nothing.
        seen_by: match skill.state {
            SkillState::Missing => Vec::new(),
            _ => state.seen_by(name.as_str()),
        },
        found_in: None,
        outer: None,
        source_gone: skill.is_source_gone(),
        location: fs::into_text(skill.home().path.clone()),
    }
}

/// Returns the version that an editable skill states now. It is not locked, so only its file knows.
fn version_in(editable: &Editable) -> Option<String> {
    let document = load::frontmatter(&editable.directory.join(SKILL_FILE)).ok()?;
    skill::load(&document).ok()?.meta.version
}

/// Returns the agents that have a link to the skill, or a copy of it, and those of them whose copy was edited. Of several
/// agents that share a directory, only the chosen ones are reported, or the first if none was chosen.
/// A link to a skill that is not there shows nothing.
fn linked(state: &ScopeState<'_>, skill: &SkillInScope<'_>) -> (Vec<String>, Vec<String>) {
    use SkillState::{Conflict, LineEnds, Modified, Ok};
    let files = &state.files;
    let is_there = state.is_offered(skill.name.as_str());
    let own = skill.entry.and_then(|entry| entry.agents.as_ref());
    let targets = own.or(files.manifest.agents().targets.as_ref()).into_iter().flatten();
    let recorded = skill.locked.into_iter().flat_map(|locked| &locked.agents);
    let chosen: BTreeSet<&str> = targets.chain(recorded).map(String::as_str).collect();
    let of_copy = |copy: &PlaceState| {
        let named: Vec<_> = copy.agents.iter().copied().filter(|agent| chosen.contains(agent)).collect();
        if named.is_empty() { copy.agents[..1].to_vec() } else { named }
    };
    let shows = |copy: &&PlaceState| is_there || matches!(copy.found, OnDisk::Tree(_));
    let there = skill.copies.iter().filter(shows).filter(|copy| match copy.state {
        Ok | Modified | LineEnds | Conflict => true,
        SkillState::Unreadable => matches!(copy.found, OnDisk::Tree(_)),
        _ => false,
    });
    let agents: BTreeSet<&str> = there.clone().flat_map(of_copy).collect();
    let edited: BTreeSet<&str> = there.filter(|copy| copy.is_edited).flat_map(of_copy).collect();
    let texts = |ids: BTreeSet<&str>| ids.into_iter().map(ToOwned::to_owned).collect();
    (texts(agents), texts(edited))
}
