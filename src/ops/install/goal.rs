//! The goal of an installation, and the way there.

use std::collections::BTreeSet;

use super::audience::Audience;
use super::desired::Desired;
use super::{InstallOutcome, InstallRequest, around, attributes, outcome};
use crate::advice::{Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::placed::{Gone, Placed};
use crate::install::plan::{Goal, Plan};
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::name::SkillName;
use crate::ops::change::Begun;
use crate::ops::dependencies::{keep_locked, unneeded};
use crate::settings::Settings;

/// Locks the scope, asks `desire` what is to be there, and changes the scope to it.
///
/// # Errors
///
/// What `read` and `desire` answer; what is in the way; a lockfile that would change and must not; anything that cannot
/// be written. Nothing has been changed then.
pub(super) fn reach(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    read: impl FnOnce(&Scope) -> Result<Files>,
    desire: impl FnOnce(&Files) -> Result<Desired>,
) -> Result<InstallOutcome> {
    let begun = Begun::begin_reading(context, scope, request.dry_run, read)?;
    let files = begun.files();
    let mut desired = desire(files)?;
    let placed = Placed::of(&context.settings, scope);
    // Without a manifest nobody says that something is not to be here.
    let settles = request.restores() && files.manifest_text.is_some();
    let gone = if settles { placed.gone(files) } else { Gone::default() };
    let goal = goal(&context.settings, scope, request, files, &mut desired, gone)?;
    let planned = begun.plan(goal)?;
    check_locked(scope, request, planned.plan())?;
    let contents = std::mem::take(&mut desired.contents);
    let mut outcome = outcome::planned(context, scope, request, &planned, files, desired)?;
    let applied = planned.apply(contents)?;
    if request.dry_run {
        return Ok(outcome);
    }
    outcome.warnings.extend(applied.warnings);
    outcome.warnings.extend_from_slice(&applied.saved);
    outcome.saved = applied.saved;
    let now = Files {
        manifest: applied.plan.manifest.unwrap_or_else(|| files.manifest.clone()),
        lock: applied.plan.lock.unwrap_or_else(|| files.lock.clone()),
        ..Files::default()
    };
    if settles {
        placed.settle(&now.manifest, &now.lock);
    }
    outcome.warnings.extend(attributes::keep(context, scope, &now.manifest));
    around::look(context, scope, &now, &mut outcome)?;
    Ok(outcome)
}

/// Returns the goal: what is `desired`, the agents that are to see it, and what nothing needs any more or is `gone` from
/// manifest and lockfile.
///
/// # Errors
///
/// Fails for an agent that is unknown or has no directory in `scope`.
fn goal(
    settings: &Settings,
    scope: &Scope,
    request: &InstallRequest,
    files: &Files,
    desired: &mut Desired,
    gone: Gone,
) -> Result<Goal> {
    let mut put = std::mem::take(&mut desired.wanted);
    let mut entries = std::mem::take(&mut desired.entries);
    let mut remove = std::mem::take(&mut desired.orphans);
    if request.no_deps {
        keep_locked(files, &mut put);
    }
    let mut audience = Audience::read(settings, scope, files)?;
    let named = Audience::named(settings, scope, &request.agents)?;
    let named = (!request.agents.is_empty()).then_some(&named);
    if request.restores() {
        if let Some(named) = named {
            audience.add(named, None);
        }
    } else {
        let asked = put.iter().filter(|wanted| wanted.requirement.is_some());
        let names: Vec<_> = asked.map(|wanted| wanted.name.clone()).collect();
        audience.install(&names, named);
    }
    audience.come(&put, entries.keys());
    if !request.restores() {
        put.extend(audience.along(&put));
    }
    for wanted in &mut put {
        // A skill that is installed anew stays as visible as it was.
        wanted.disabled |= files.manifest.skills().get(&wanted.name).is_some_and(|entry| entry.disabled);
        audience.dress(wanted);
    }
    let there: BTreeSet<&SkillName> = put.iter().map(|wanted| &wanted.name).collect();
    entries.extend(audience.entries(&there));
    if !request.restores() {
        let asked = entries.iter().filter(|(_, entry)| !entry.dependency).map(|(name, _)| name);
        remove = unneeded(files, &put, asked);
    }
    let Gone { left, mut unlinked } = gone;
    for wanted in &mut put {
        let sees = |id: &&str| wanted.agents.iter().any(|agent| agent.id == *id);
        let gone = unlinked.remove(&wanted.name).unwrap_or_default();
        let gone: Vec<_> = gone.into_iter().filter(|id| !sees(id)).collect();
        wanted.leaving.extend(gone);
    }
    Ok(Goal {
        entries,
        left,
        manifest_agents: audience.manifest(request.copy),
        put,
        remove,
        copy: request.copy || files.manifest.agents().copy,
        force: request.force,
        ..Goal::default()
    })
}

/// Refuses a lockfile that would change where that is not wanted.
fn check_locked(scope: &Scope, request: &InstallRequest, plan: &Plan) -> Result<()> {
    let Some(option) = request.forbids_change() else { return Ok(()) };
    if plan.lock.is_none() {
        return Ok(());
    }
    let file = scope.lockfile.display();
    Err(Error::config(message!(format_args!("`{file}` would change, but "), option, " forbids that"))
        .hint(message!("run ", Verb::Install.within(scope.kind), " without it and commit the file")))
}
