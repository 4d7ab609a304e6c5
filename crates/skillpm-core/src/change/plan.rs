//! Computes the plan that reaches a goal from the current content of the places of its skills. Nothing is
//! written.

use std::collections::BTreeSet;

use super::conflicts::in_the_way;
use crate::agents::{self, Agent};
use crate::change::agent_targets::Ids;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::name::SkillName;
use crate::scope::checked_dirs::CheckedDirs;
use crate::scope::evidence::Evidence;
use crate::scope::ownership::Ownership;
use crate::scope::plan::{Goal, Location, Plan, Step, plan};
use crate::scope::state::{Depth, Files, OnDisk, ScopeState, Survey};
use crate::scope::{Scope, nowhere};

/// Looks at the places of the skills in `goal` in the scope with `state`, and returns the plan that reaches it.
pub(crate) fn make_plan(context: &Context, state: &ScopeState<'_>, goal: &Goal) -> Result<Plan> {
    let (scope, files) = (state.scope, &state.files);
    let put = goal.put.iter().map(|wanted| &wanted.name);
    let names: Vec<&SkillName> = put.chain(&goal.remove).chain(goal.left.keys()).collect();
    let receipts = Ownership::read(&context.settings, scope, files, names.iter().copied());
    let (watched, mut chosen) = watched(state, goal, &receipts);
    let shared = shared(context, scope, &names)?;
    let take = |state: &ScopeState<'_>| {
        let mut survey = Survey::take(state, &names, &watched)?;
        survey.shared.clone_from(&shared);
        survey.ownership.clone_from(&receipts);
        Ok::<_, Error>(survey)
    };
    let mut survey = take(state)?;
    let evidence = Evidence::new(&context.settings, scope, files, goal);
    let mut planned = plan(goal, files, &survey, &evidence);
    // The bytes of a tree decide whether it may be removed, not a digest that was kept.
    if planned.as_ref().is_ok_and(|plan| !is_as_read(context, scope, plan, &survey)) {
        let scope = scope.unindexed();
        survey = take(&ScopeState::of(&context.settings, &scope, files.clone(), Depth::Bytes))?;
        planned = plan(goal, files, &survey, &evidence);
    }
    evidence.check()?;
    // Without requested links none of ours exist; otherwise there may be one.
    if let Some(error) =
        std::iter::from_fn(|| chosen.pop_first()).find_map(|agent| survey.unreadable.remove(agent))
    {
        return Err(match fs::read_link(&error.path) {
            Ok(Some(target)) if !fs::exists(&error.path) => nowhere(&error.path, &target),
            _ => error.into(),
        });
    }
    let plan = planned.map_err(|conflicts| in_the_way(context, scope, goal, files, &conflicts))?;
    check_places(context, scope, &plan)?;
    Ok(plan)
}

/// Reports whether the trees that `plan` takes, and the skill's own trees that stay for them, have the digests of `survey`
/// to the byte, and no git repository came into one that goes.
fn is_as_read(context: &Context, scope: &Scope, plan: &Plan, survey: &Survey) -> bool {
    plan.steps.iter().all(|step| {
        let (Step::Put { place, name, replaces: Some(old), .. } | Step::Remove { place, name, old }) = step
        else {
            return true;
        };
        let read = |place: &Location| {
            let path = scope.place(&context.settings, place, name).ok()?;
            scope.index.trees().read(&path).ok()
        };
        let current = plan.current_location(place, name);
        let homes = [(Location::Canonical, &survey.canonical), (Location::Disabled, &survey.disabled)];
        read(&current).is_some_and(|tree| tree.digest == *old && !tree.repository)
            && homes.iter().filter(|(home, _)| *home != current).all(|(home, found)| match found.get(name) {
                Some(OnDisk::Tree(Some(digest))) => read(home).is_some_and(|tree| tree.digest == *digest),
                _ => true,
            })
    })
}

/// Returns those of `names` that the other scope with its skills in the same directory knows. If the files of
/// that scope cannot be read, returns all of them.
fn shared(context: &Context, scope: &Scope, names: &[&SkillName]) -> Result<BTreeSet<SkillName>> {
    let Some(other) = scope.other_scope(&context.settings)? else { return Ok(BTreeSet::new()) };
    let files = Files::read(&other).ok();
    let is_known = |name: &&&SkillName| files.as_ref().is_none_or(|files| files.knows(name));
    Ok(names.iter().filter(is_known).map(|name| (*name).clone()).collect())
}

/// Returns the agents whose directories have to be examined for `goal`, and those among them that the user chose: the
/// manifest, the lockfile or a receipt of this machine names them. Where a skill goes out of sight, the other agents of this
/// machine are examined too, to name the skills that they still see.
fn watched(state: &ScopeState<'_>, goal: &Goal, receipts: &Ownership) -> (Vec<&'static Agent>, Ids) {
    let files = &state.files;
    let names = || goal.put.iter().map(|wanted| &wanted.name).chain(&goal.remove).chain(goal.left.keys());
    let locked = names().filter_map(|name| files.lock.skills.get(name)).flat_map(|locked| &locked.agents);
    let own = names().filter_map(|name| files.manifest.skills().get(name)?.agents.as_ref()).flatten();
    let targets = files.manifest.agents().targets.iter().flatten();
    let listed = targets.chain(locked).chain(own).map(String::as_str);
    let known = listed
        .chain(names().flat_map(|name| receipts.agents_of(name)))
        .filter_map(|id| agents::find(id).ok());
    let chosen =
        known.map(|agent| agent.id).chain(goal.put.iter().flat_map(|wanted| {
            wanted.agents.iter().map(|agent| agent.id).chain(wanted.leaving.iter().copied())
        }));
    let chosen: Ids = chosen.collect();
    let hides = !goal.remove.is_empty() || goal.put.iter().any(|wanted| wanted.disabled);
    let watched = if hides {
        let all = state.agents().all.iter();
        all.filter(|one| one.is_here || chosen.contains(one.agent.id)).map(|one| one.agent).collect()
    } else {
        agents::all().iter().filter(|agent| chosen.contains(agent.id)).collect()
    };
    (watched, chosen)
}

/// Refuses places that lead out of the project before anything is done, so that a dry run reports it too.
fn check_places(context: &Context, scope: &Scope, plan: &Plan) -> Result<()> {
    let places = CheckedDirs::new(scope, &context.settings);
    for step in &plan.steps {
        for place in std::iter::once(step.place().0).chain(step.goes_to()) {
            places.dir(&place)?;
        }
    }
    if plan.lock.is_some() {
        scope.check_inside(&scope.lockfile)?;
    }
    if plan.manifest.is_some() {
        scope.check_inside(&scope.manifest)?;
    }
    Ok(())
}
