//! The goal of an installation, and the change of a scope to it.

use std::collections::{BTreeMap, BTreeSet};

use super::agent_targets::AgentTargets;
use super::desired::Desired;
use super::outcome::{self, InstallOutcome};
use super::request::InstallRequest;
use super::{around, attributes};
use crate::advice::{Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::plan::{Goal, Plan, Wanted};
use crate::install::receipts::{Receipts, RemovedSkill};
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::change::Begun;
use crate::ops::dependencies::{keep_locked, unneeded};
use crate::settings::Settings;

/// Locks the scope, calls `desire` for the desired state, and changes the scope to it.
///
/// # Errors
///
/// Fails with the error of `read` or `desire`, if something is in the way, for a lockfile that would change
/// and must not, and if something cannot be written. Nothing has been changed then.
pub(super) fn reach(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    read: impl FnOnce(&Scope) -> Result<Files>,
    desire: impl FnOnce(&Files) -> Result<Desired>,
) -> Result<InstallOutcome> {
    let begun = Begun::begin_reading(context, scope, request.dry_run, read)?;
    let files = begun.files();
    let Desired { wanted, entries, orphans, contents, notes } = desire(files)?;
    let placed = Receipts::of(&context.settings, scope);
    // Without a manifest, no skill is known to be unwanted.
    let settles = request.restores() && files.manifest_text.is_some();
    let gone = if settles { placed.gone(files) } else { RemovedSkill::default() };
    let edit = Edit { settings: &context.settings, scope, request, files };
    let planned = begun.plan(edit.goal(wanted, entries, orphans, gone)?)?;
    check_locked(scope, request, planned.plan())?;
    let mut outcome = outcome::planned(context, scope, request, &planned, files, notes)?;
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

/// The change that an installation makes to a scope: a function of the request and the two files.
struct Edit<'a> {
    settings: &'a Settings,
    scope: &'a Scope,
    request: &'a InstallRequest,
    files: &'a Files,
}

impl<'a> Edit<'a> {
    /// Returns the goal: it adds the skills `put` with the agents that should see them, and the `entries` of
    /// the manifest. It removes the `orphans`, skills that nothing needs any more, and those that are `gone`
    /// from manifest and lockfile.
    ///
    /// # Errors
    ///
    /// Fails for an agent that is unknown or has no directory in the scope.
    fn goal(
        &self,
        mut put: Vec<Wanted>,
        mut entries: BTreeMap<SkillName, Requirement>,
        orphans: Vec<SkillName>,
        gone: RemovedSkill,
    ) -> Result<Goal> {
        let Self { request, files, .. } = self;
        if request.no_deps {
            keep_locked(files, &mut put);
        }
        let audience = self.audience(&put, entries.keys())?;
        if !request.restores() {
            put.extend(audience.affected(&put));
        }
        for wanted in &mut put {
            // A skill that is installed again stays as visible as it was.
            wanted.disabled |= files.manifest.skills().get(&wanted.name).is_some_and(|entry| entry.disabled);
            audience.assign(wanted);
        }
        let there: BTreeSet<_> = put.iter().map(|wanted| &wanted.name).collect();
        entries.extend(audience.entries(&there));
        let asked = entries.iter().filter(|(_, entry)| !entry.dependency).map(|(name, _)| name);
        let remove = if request.restores() { orphans } else { unneeded(files, &put, asked) };
        let RemovedSkill { left, mut unlinked } = gone;
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

    /// Returns the agents of each skill once the skills `put` are installed and the manifest also requests
    /// `entries`.
    fn audience<'b>(
        &self,
        put: &'b [Wanted],
        entries: impl Iterator<Item = &'b SkillName>,
    ) -> Result<AgentTargets<'a>> {
        let mut audience = AgentTargets::read(self.settings, self.scope, self.files)?;
        let named = AgentTargets::named(self.settings, self.scope, &self.request.agents)?;
        let named = (!self.request.agents.is_empty()).then_some(&named);
        if self.request.restores() {
            if let Some(named) = named {
                audience.add(named, None);
            }
        } else {
            let asked = put.iter().filter(|wanted| wanted.requirement.is_some());
            let names: Vec<_> = asked.map(|wanted| wanted.name.clone()).collect();
            audience.install(&names, named);
        }
        audience.on_install(put, entries);
        Ok(audience)
    }
}

/// Refuses a change of the lockfile if the request forbids it.
fn check_locked(scope: &Scope, request: &InstallRequest, plan: &Plan) -> Result<()> {
    let Some(option) = request.forbids_change() else { return Ok(()) };
    if plan.lock.is_none() {
        return Ok(());
    }
    let file = scope.lockfile.display();
    Err(Error::config(message!(format_args!("`{file}` would change, but "), option, " forbids that"))
        .hint(message!("run ", Verb::Install.within(scope.kind), " without it and commit the file")))
}
