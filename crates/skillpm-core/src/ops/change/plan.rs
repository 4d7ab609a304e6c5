//! Computes the plan that reaches a goal from the current content of the places of its skills. Nothing is
//! written.

use std::collections::BTreeSet;

use super::conflicts::in_the_way;
use super::unedited::unedited;
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::agent_view;
use crate::install::ownership::Ownership;
use crate::install::places::Places;
use crate::install::plan::{Goal, Plan, plan};
use crate::install::scope::Scope;
use crate::install::sources;
use crate::install::state::{Files, Survey};
use crate::name::SkillName;
use crate::ops::install::agent_targets::Ids;

/// Looks at the places of the skills in `goal` and returns the plan that reaches it.
///
/// # Errors
///
/// Fails if anything is in the way, and lists it with its places; also fails for a place that cannot be examined.
pub(in crate::ops) fn make_plan(
    context: &Context,
    scope: &Scope,
    goal: &Goal,
    files: &Files,
) -> Result<Plan> {
    let put = goal.put.iter().map(|wanted| &wanted.name);
    let names: Vec<&SkillName> = put.chain(&goal.remove).chain(goal.left.keys()).collect();
    let receipts = Ownership::read(&context.settings, scope, files, names.iter().copied());
    let (watched, mut chosen) = watched(context, scope, goal, files, &receipts);
    let shared = shared(context, scope, &names)?;
    let take = |scope: &Scope| {
        let mut survey = Survey::take(&context.settings, scope, &names, &watched)?;
        survey.shared.clone_from(&shared);
        survey.ownership = receipts.clone();
        Ok::<_, Error>(survey)
    };
    let mut survey = take(scope)?;
    survey.sources = sources::here(&context.settings, scope, sources::coming(goal))?;
    let mut planned = plan(goal, files, &survey);
    let everything = || {
        let all = sources::coming(goal).chain(sources::there(files)).chain(sources::orphan_dirs(goal));
        sources::here(&context.settings, scope, all)
    };
    // The bytes of a tree decide whether it may be removed, not the cached digest.
    if planned.as_ref().is_ok_and(Plan::takes_trees) {
        survey = take(&scope.unindexed())?;
        survey.sources = everything()?;
        planned = plan(goal, files, &survey);
    }
    if let Err(conflicts) = &planned {
        (survey.fetched, survey.untouched) = unedited(context, scope, conflicts);
        if !(survey.fetched.is_empty() && survey.untouched.is_empty()) {
            survey.sources = everything()?;
            planned = plan(goal, files, &survey);
        }
    }
    // If nobody requested links, there are none of ours; otherwise there may be one.
    if let Some(error) =
        std::iter::from_fn(|| chosen.pop_first()).find_map(|agent| survey.unreadable.remove(agent))
    {
        return Err(error.into());
    }
    let plan = planned.map_err(|conflicts| in_the_way(context, scope, goal, files, &conflicts))?;
    check_places(context, scope, &plan)?;
    Ok(plan)
}

/// Returns those of `names` that the other scope with its skills in the same directory knows. If the files of
/// that scope cannot be read, returns all of them.
fn shared(context: &Context, scope: &Scope, names: &[&SkillName]) -> Result<BTreeSet<SkillName>> {
    let Some(twin) = scope.other_scope(&context.settings)? else { return Ok(BTreeSet::new()) };
    let files = Files::read(&twin).ok();
    let is_known = |name: &&&SkillName| files.as_ref().is_none_or(|files| files.knows(name));
    Ok(names.iter().filter(is_known).map(|name| (*name).clone()).collect())
}

/// Returns the agents whose directories have to be examined for `goal`, and those among them that the user
/// chose: the manifest, the lockfile or a receipt of this machine names them. An agent of this machine that nobody
/// chose is examined too where a skill goes out of sight, to name what it still sees.
fn watched(
    context: &Context,
    scope: &Scope,
    goal: &Goal,
    files: &Files,
    receipts: &Ownership,
) -> (Vec<&'static Agent>, Ids) {
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
        agent_view::counting(&context.settings, scope, chosen.iter().copied())
    } else {
        agents::all().iter().filter(|agent| chosen.contains(agent.id)).collect()
    };
    (watched, chosen)
}

/// Refuses places that lead out of the project before anything is done, so that a dry run reports it too.
fn check_places(context: &Context, scope: &Scope, plan: &Plan) -> Result<()> {
    let places = Places::new(scope, &context.settings);
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
