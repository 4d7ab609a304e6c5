//! The goal of an installation, and the change of a scope to it.

use std::collections::{BTreeMap, BTreeSet};

use super::around;
use super::attributes::Attributes;
use super::desired::Desired;
use super::outcome::{self, InstallOutcome};
use super::request::InstallRequest;
use crate::advice::{Opt, Warning, message};
use crate::change::Begun;
use crate::change::agent_targets::AgentTargets;
use crate::change::consent::{Agreed, Allow, ConsentGate, Contents, NewVersion, refusal};
use crate::codes;
use crate::context::Context;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::alarms::alarms;
use crate::fetch::dependencies::{keep_locked, unneeded};
use crate::fetch::fetcher::Fetcher;
use crate::fetch::policy_check::skill_file;
use crate::fs::{self, Kind};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::not_installed::not_installed;
use crate::scope::plan::{Goal, Location, Plan, Wanted};
use crate::scope::receipts::{Receipts, RemovedSkill};
use crate::scope::state::{Files, ScopeState};
use crate::settings::Settings;

/// Locks the scope, calls `desire` for the desired state, and changes the scope to it. A person is asked about new
/// capabilities while it is not locked.
pub(super) fn reach(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    read: impl Fn(&Scope) -> Result<Files>,
    desire: impl FnOnce(&ScopeState<'_>) -> Result<Desired>,
) -> Result<InstallOutcome> {
    let begin = || Begun::begin_reading(context, scope, request.dry_run, &read);
    let begun = begin()?;
    let mut desired = desire(begun.state())?;
    let contents = std::mem::take(&mut desired.contents);
    let mut agreed = Agreed { allow: request.allow.clone(), ..Agreed::default() };
    let attempt = |begun: &Begun<'_>, desired, contents, agreed| {
        Attempt { context, scope, request, begun }.make(desired, contents, agreed)
    };
    let (versions, contents) = match attempt(&begun, desired.clone(), contents, agreed.clone())? {
        Attempted::Done(outcome) => return Ok(*outcome),
        Attempted::Refused(versions, contents) => (versions, contents),
    };
    let texts = |files: &Files| (files.manifest_text.clone(), files.lock_text.clone());
    let before = texts(begun.files());
    // Other processes need not wait for an answer.
    drop(begun);
    ask(context, scope, request, &versions)?;
    agreed.versions = versions.iter().map(NewVersion::version).collect();
    let begun = begin()?;
    if texts(begun.files()) != before {
        return Err(Error::new(ErrorKind::Findings, "manifest or lockfile changed while you were asked")
            .hint("nothing was changed by this run: run the command again"));
    }
    match attempt(&begun, desired, contents, agreed)? {
        Attempted::Done(mut outcome) => {
            outcome.reviewed.extend(versions.into_iter().map(NewVersion::accepted));
            Ok(*outcome)
        }
        Attempted::Refused(versions, _) => Err(refused(scope, request, &versions)),
    }
}

/// Asks a person about new capabilities.
fn ask(context: &Context, scope: &Scope, request: &InstallRequest, versions: &[NewVersion]) -> Result<()> {
    let one = versions.iter().filter(|version| version.refused).count() == 1;
    let question = if one { "install this version?" } else { "install these versions?" };
    match (!request.yes).then(|| context.interact.confirm(question)).flatten() {
        Some(true) => Ok(()),
        Some(false) => Err(Error::new(ErrorKind::Findings, "nothing was changed: the answer was no")
            .coded(codes::NEW_CAPABILITY)),
        None => Err(refused(scope, request, versions)),
    }
}

fn refused(scope: &Scope, request: &InstallRequest, versions: &[NewVersion]) -> Error {
    let names: Vec<_> = versions.iter().filter(|one| one.refused).map(|one| one.name.as_str()).collect();
    refusal(&names).hint(message!(
        "nothing was changed; review the lines marked `!`, then run ",
        request.call(scope.kind).option(Opt::AllowNewCapabilities, names.join(","))
    ))
}

/// An attempt to change a scope that was begun.
struct Attempt<'b, 'a> {
    context: &'a Context,
    scope: &'a Scope,
    request: &'a InstallRequest,
    begun: &'b Begun<'a>,
}

enum Attempted {
    Done(Box<InstallOutcome>),
    /// Nothing was changed: versions have new capabilities. The trees are returned.
    Refused(Vec<NewVersion>, Contents),
}

impl Attempt<'_, '_> {
    fn make(&self, desired: Desired, contents: Contents, mut agreed: Agreed) -> Result<Attempted> {
        let Self { context, scope, request, begun } = *self;
        let files = begun.files();
        let Desired { wanted, entries, orphans, mut notes, .. } = desired;
        let placed = Receipts::of(&context.settings, scope);
        // Without a manifest, no skill is known to be unwanted.
        let settles = request.restores() && files.manifest_text.is_some();
        let gone = if settles { placed.gone(files) } else { RemovedSkill::default() };
        let edit = Edit { settings: &context.settings, scope, request, files };
        let planned = begun.plan(edit.goal(wanted, entries, orphans, gone)?)?;
        check_locked(scope, request, planned.plan())?;
        check_allowed(scope, request, planned.goal(), files)?;
        let gate = ConsentGate::new(context, scope, files);
        let fetch = |name: &SkillName, locked: &Locked| {
            Fetcher::new(context, scope, files).ok()?.content(name, locked).ok()
        };
        let versions = gate.review((planned.goal(), planned.plan()), &contents, &agreed, fetch)?;
        for NewVersion { name, review, refused, .. } in &versions {
            if review.new_capabilities() > 0 {
                context.reporter.new_version(name, review, *refused);
            }
        }
        let is_refused = |one: &&NewVersion| one.refused;
        if !request.dry_run && versions.iter().any(|one| one.refused) {
            return Ok(Attempted::Refused(versions, contents));
        }
        notes.warnings.extend(versions.iter().filter_map(NewVersion::warning));
        if request.restores() {
            notes.warnings.extend(arrivals(&gate, planned.goal(), &contents)?);
        }
        let mut outcome = outcome::planned(context, scope, request, &planned, files, notes)?;
        outcome.refused = versions.iter().filter(is_refused).map(|one| one.name.clone()).collect();
        agreed.versions.extend(versions.iter().map(NewVersion::version));
        outcome.reviewed = versions;
        let plan = planned.plan();
        let comes = plan.steps.iter().any(|step| step.place().0 == Location::Canonical);
        let manifest = plan.manifest.as_ref().unwrap_or(&files.manifest);
        let attributes = Attributes::plan(context, scope, manifest, comes);
        outcome.paths.extend(attributes.as_ref().map(|attributes| attributes.change.clone()));
        let applied = planned.agreed(agreed).apply(contents)?;
        if request.dry_run {
            return Ok(Attempted::Done(Box::new(outcome)));
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
        let is_there = matches!(fs::kind(&scope.skills_dir()), Ok(Some(Kind::Directory)));
        outcome.warnings.extend(attributes.filter(|_| is_there).and_then(Attributes::write));
        around::look(context, scope, &now, &request.agents, &mut outcome)?;
        Ok(Attempted::Done(Box::new(outcome)))
    }
}

/// Returns the warnings about skills that come by a restore, for those of `goal` that this scope has for the first time
/// on this machine: their alarms were not shown here yet.
fn arrivals(gate: &ConsentGate<'_>, goal: &Goal, contents: &Contents) -> Result<Vec<Warning>> {
    let mut told = Vec::new();
    let is_beside = |name: &str| goal.put.iter().any(|wanted| wanted.name.as_str() == name);
    for Wanted { name, content, .. } in &goal.put {
        let Some(locked) = content.locked().filter(|locked| !gate.has(name, &locked.digest)) else {
            continue;
        };
        let Some(set) = contents.get(name).cloned().or_else(|| gate.tree(name, &locked.digest)) else {
            continue;
        };
        if let Some(file) = skill_file(&set) {
            told.extend(alarms(name, &set, &Document::from_bytes(set.read(file)?), &is_beside)?);
        }
    }
    Ok(told)
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
        let targets = self.targets(&put, entries.keys())?;
        if !request.restores() {
            put.extend(targets.affected(&put));
        }
        for wanted in &mut put {
            // A skill that is installed again stays as visible as it was.
            wanted.disabled |= files.manifest.skills().get(&wanted.name).is_some_and(|entry| entry.disabled);
            targets.assign(wanted);
        }
        let there: BTreeSet<_> = put.iter().map(|wanted| &wanted.name).collect();
        entries.extend(targets.entries(&there));
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
            manifest_agents: targets.manifest(request.copy),
            put,
            remove,
            copy: request.copy || files.manifest.agents().copy,
            force: request.force,
            ..Goal::default()
        })
    }

    /// Returns the agents of each skill once the skills `put` are installed and the manifest also requests
    /// `entries`.
    fn targets<'b>(
        &self,
        put: &'b [Wanted],
        entries: impl Iterator<Item = &'b SkillName>,
    ) -> Result<AgentTargets<'a>> {
        let mut targets = AgentTargets::read(self.settings, self.scope, self.files)?;
        let named = AgentTargets::named(self.settings, self.scope, &self.request.agents)?;
        let named = (!self.request.agents.is_empty()).then_some(&named);
        if self.request.restores() {
            if let Some(named) = named {
                targets.add(named, None);
            }
        } else {
            let asked = put.iter().filter(|wanted| wanted.requirement.is_some());
            let names: Vec<_> = asked.map(|wanted| wanted.name.clone()).collect();
            targets.install(&names, named);
        }
        targets.on_install(put, entries);
        Ok(targets)
    }
}

/// Refuses names of skills that may bring new capabilities, but are neither installed nor come.
fn check_allowed(scope: &Scope, request: &InstallRequest, goal: &Goal, files: &Files) -> Result<()> {
    let Allow::Only(names) = &request.allow else { return Ok(()) };
    let comes = goal.put.iter().map(|wanted| &wanted.name);
    let known: Vec<_> = comes.chain(files.lock.skills.keys()).map(SkillName::as_str).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(not_installed(Some(scope.kind), name, known.into_iter())),
        None => Ok(()),
    }
}

/// Refuses a change of the lockfile if the request forbids it.
fn check_locked(scope: &Scope, request: &InstallRequest, plan: &Plan) -> Result<()> {
    let Some(option) = request.forbids_change() else { return Ok(()) };
    if plan.lock.is_none() {
        return Ok(());
    }
    let file = scope.lockfile.display();
    let again = InstallRequest { locked: false, frozen: false, ..request.clone() }.call(scope.kind);
    Err(Error::config(message!(format_args!("`{file}` would change, but "), option, " forbids that"))
        .hint(message!("run ", again, " and commit the file")))
}
