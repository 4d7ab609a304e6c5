//! What verbs that change a scope share.

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::install::agents;
use crate::install::plan::{Conflict, ConflictKind, Goal, Place, Plan, plan};
use crate::install::scope::Scope;
use crate::install::state::{Files, Survey};
use crate::name::SkillName;
use crate::store::{self, Store};

/// Looks at the places that `goal` is about and plans.
///
/// # Errors
///
/// What is in the way, with the places; a place that cannot be looked at.
pub(super) fn make_plan(context: &Context, scope: &Scope, goal: &Goal, files: &Files) -> Result<Plan> {
    let names: Vec<&SkillName> = goal.put.iter().map(|wanted| &wanted.name).chain(&goal.remove).collect();
    // A skill that goes may be linked anywhere.
    let mut everyone: Vec<_> = agents::all().iter().collect();
    let targets = files.manifest.agents().targets.iter().filter_map(|target| agents::find(target).ok());
    let chosen: Vec<_> = targets.chain(goal.agents.iter().copied()).map(|agent| agent.id).collect();
    // Of those that share a directory, the ones that somebody chose are told.
    everyone.sort_by_key(|agent| !chosen.contains(&agent.id));
    let looked_at = if goal.remove.is_empty() { &goal.agents } else { &everyone };
    let mut survey = Survey::take(&context.settings, scope, &names, looked_at)?;
    // Where nobody asked for links there are none of ours; elsewhere one may be.
    if let Some(error) = chosen.iter().find_map(|agent| survey.unreadable.remove(agent)) {
        return Err(error.into());
    }
    let plan = plan(goal, files, &survey).map_err(|conflicts| in_the_way(context, scope, &conflicts))?;
    check_places(context, scope, &plan)?;
    Ok(plan)
}

/// Refuses places that lead out of the project before anything is done, so that a dry run says it too.
fn check_places(context: &Context, scope: &Scope, plan: &Plan) -> Result<()> {
    for step in &plan.steps {
        let (place, name) = step.place();
        scope.place(&context.settings, &place, name)?;
    }
    if plan.lock.is_some() {
        scope.check_inside(&scope.lockfile)?;
    }
    if plan.manifest.is_some() {
        scope.check_inside(&scope.manifest)?;
    }
    Ok(())
}

fn in_the_way(context: &Context, scope: &Scope, conflicts: &[Conflict]) -> Error {
    let line = |conflict: &Conflict| {
        let path = place(context, scope, conflict);
        match &conflict.kind {
            ConflictKind::Modified => format!("`{path}` was edited since it was installed"),
            ConflictKind::Untracked => format!("`{path}` is there already and was not installed by skillpm"),
            ConflictKind::Link => format!("`{path}` is a link to somewhere else"),
            ConflictKind::SameName(other) => format!(
                "`{}` and the skill `{other}`, which is there already, are the same name on some file systems",
                conflict.name
            ),
            ConflictKind::NotASkill => {
                format!("`{path}` holds something that skillpm could not keep for you")
            }
        }
    };
    let lines: Vec<_> = conflicts.iter().map(line).collect();
    let error = match &lines[..] {
        [one] => Error::new(ErrorKind::Findings, one.clone()),
        many => Error::new(
            ErrorKind::Findings,
            format!("{} things are in the way:\n  {}", many.len(), many.join("\n  ")),
        ),
    };
    if let Some(other) = conflicts.iter().find_map(|conflict| match &conflict.kind {
        ConflictKind::SameName(other) => Some(other),
        _ => None,
    }) {
        error.hint(format!("nothing was changed; `skillpm remove {other}` makes room for the new one"))
    } else if conflicts.iter().any(|conflict| conflict.kind == ConflictKind::NotASkill) {
        error.hint("move it away and run the command again: nothing was changed")
    } else {
        error.hint("nothing was changed; `--force` goes on all the same and keeps a copy in the store")
    }
}

fn place(context: &Context, scope: &Scope, conflict: &Conflict) -> String {
    let dir = match &conflict.place {
        Place::Canonical => Some(scope.skills_dir()),
        Place::Agent(id) => agents::find(id).ok().and_then(|agent| scope.agent_dir(&context.settings, agent)),
    };
    dir.unwrap_or_default().join(conflict.name.as_str()).display().to_string()
}

/// Saves what `plan` replaces and no lockfile knows, and tells where.
///
/// # Errors
///
/// Where it cannot be saved: then nothing may be replaced.
pub(super) fn keep_replaced(context: &Context, scope: &Scope, plan: &Plan) -> Result<Vec<String>> {
    let mut told = Vec::new();
    for (at, name) in &plan.keep {
        let path = scope.place(&context.settings, at, name)?;
        let store = Store::new(&context.settings)?;
        let digest = store.keep(&store::read(&path)?).map_err(|error| {
            error.context(format!("`{}` could not be kept, so it was not replaced", path.display()))
        })?;
        told.push(format!("your copy of `{name}` is kept in `{}`", store.path(&digest).display()));
    }
    Ok(told)
}
