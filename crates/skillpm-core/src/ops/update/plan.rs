//! Settles what is to be in the scope after an update: the user's edits merged, and the plan that leads there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::edits;
use super::find::{Newer, UpdateJob, Work, nothing, tree};
use super::outcome::{MergedPath, UpdateChange, UpdateOutcome, UpdatedSkill, Version};
use super::prepared::Prepared;
use crate::change::agent_targets::AgentTargets;
use crate::change::consent::Agreed;
use crate::change::{Begun, Merges, Planned};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::dependencies::unneeded;
use crate::fs;
use crate::lockfile::Locked;
use crate::merge::Versions;
use crate::name::SkillName;
use crate::resolve::graph::closure;
use crate::scope::evidence::Unedited;
use crate::scope::merges::{MergeChoice, Other, Unresolved};
use crate::scope::not_installed::user_has_some;
use crate::scope::plan::{Content, Goal, Location, Merged, Wanted};
use crate::scope::state::Files;
use crate::store::Store;
use crate::tree::{FileSet, ReadError};

/// An update that was planned.
pub(super) struct UpdatePlan<'b, 'a> {
    planned: Planned<'b, 'a>,
    /// The trees that come.
    contents: BTreeMap<SkillName, FileSet>,
    merges: Merges,
    /// The report about it.
    pub(super) outcome: UpdateOutcome,
}

impl UpdatePlan<'_, '_> {
    /// Carries the update out.
    pub(super) fn apply(self) -> Result<UpdateOutcome> {
        let Self { planned, contents, merges, mut outcome } = self;
        let applied = planned.apply_with(contents, merges)?;
        outcome.warnings.extend(applied.saved.into_iter().chain(applied.warnings));
        Ok(outcome)
    }
}

/// The reason why an update cannot be planned.
pub(super) enum PlanError {
    /// The files changed since they were examined.
    Stale(Error),
    Other(Error),
}

impl From<Error> for PlanError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<fs::PathError> for PlanError {
    fn from(error: fs::PathError) -> Self {
        Self::Other(error.into())
    }
}

impl From<ReadError> for PlanError {
    fn from(error: ReadError) -> Self {
        Self::Stale(error.into())
    }
}

impl From<PlanError> for Error {
    fn from(fault: PlanError) -> Self {
        match fault {
            PlanError::Stale(error) | PlanError::Other(error) => error,
        }
    }
}

/// One skill as the update leaves it.
struct PlannedSkill {
    content: Content,
    set: FileSet,
    skill: UpdatedSkill,
    unresolved: Option<Unresolved>,
    /// A tree that could not be merged and that force replaces.
    known: Option<Digest>,
}

/// Works out what is to be done, from what is in the scope now.
pub(super) fn plan_update<'b, 'a>(
    prepared: &Prepared<'_>,
    begun: &'b Begun<'a>,
) -> Result<UpdatePlan<'b, 'a>, PlanError> {
    let Prepared { context, request, scope, .. } = prepared;
    let files = begun.files();
    let mut targets = AgentTargets::read(&context.settings, scope, files)?;
    let copy = files.manifest.agents().copy;
    let mut goal = Goal { copy, force: request.force, ..Goal::default() };
    let (mut contents, mut unresolved, mut changed) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    let mut skills = prepared.found.others.clone();
    let unedited = Unedited::new(&context.settings, scope);
    let is_unedited = |job: &UpdateJob, path: &Path, digest: &Digest| {
        let is_aside = path.starts_with(scope.disabled_dir());
        let place = if is_aside { Location::Disabled } else { Location::Canonical };
        unedited.has(&place, &job.name, digest)
    };
    for job in &prepared.found.jobs {
        let PlannedSkill { content, set, mut skill, unresolved: record, known } =
            planned_skill(prepared, job, &is_unedited)?;
        skill.disabled = job.disabled;
        skills.push(skill);
        unresolved.extend(record.map(|record| (job.name.clone(), record)));
        let replaced = match &content {
            Content::Merged(merged) => merged.replaces,
            _ => None,
        };
        if let Work::New(newer) = &job.work {
            changed.insert(job.name.clone(), other(prepared, job, newer, replaced, &set)?);
        }
        let copies = if copy { copies(prepared, files, job, replaced)? } else { BTreeSet::new() };
        let known: BTreeSet<_> = known.into_iter().chain(copies).collect();
        goal.known.insert(job.name.clone(), known);
        let wanted = Wanted::new(job.name.clone(), content, job.entry.clone());
        goal.put.push(Wanted { disabled: job.disabled, ..wanted });
        contents.insert(job.name.clone(), set);
    }
    targets.on_install(&goal.put, std::iter::empty());
    goal.put.extend(targets.affected(&goal.put));
    goal.put.iter_mut().for_each(|wanted| targets.assign(wanted));
    goal.remove = unneeded(files, &goal.put, std::iter::empty());
    for name in &goal.remove {
        let locked = files.lock.skills.get(name);
        let source = locked.map(|locked| locked.origin.to_string()).unwrap_or_default();
        skills.retain(|skill| skill.name != name.as_str());
        skills.push(UpdatedSkill::new(name.as_str(), source, UpdateChange::Removed, locked));
    }
    goal.put.retain(|wanted| !goal.remove.contains(&wanted.name));
    for (name, record) in &mut unresolved {
        let needed = closure([&*name], |name| files.lock.skills.get(name));
        let gone = goal.remove.iter().filter(|name| needed.contains(*name));
        let locked = gone.filter_map(|name| files.lock.skills.get_key_value(name));
        record.gone = locked.map(|(name, locked)| (name.clone(), locked.clone())).collect();
    }
    let comes = |name: &str| prepared.found.jobs.iter().any(|job| job.name.as_str() == name);
    skills.retain(|skill| skill.change != UpdateChange::Failed || !comes(&skill.name));
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    for skill in &mut skills {
        if let Some(state) = prepared.found.states.get(&skill.name) {
            skill.state.clone_from(state);
        }
    }
    // Each of them was reviewed before this is applied.
    let versions = prepared.found.jobs.iter().map(UpdateJob::version).collect();
    let planned = begun.plan(goal)?.agreed(Agreed { versions, ..Agreed::default() });
    let (plan, goal) = (planned.plan(), planned.goal());
    let now = plan.lock.as_ref().unwrap_or(&files.lock);
    for (name, record) in &mut unresolved {
        let mut needed = closure([&*name], |name| files.lock.skills.get(name));
        needed.append(&mut closure([&*name], |name| now.skills.get(name)));
        needed.remove(name);
        let others = changed.iter().filter(|(other, _)| needed.contains(*other));
        record.others = others.map(|(name, other)| (name.clone(), other.clone())).collect();
    }
    // A skill that is removed, or comes because of another one, need not be available by itself.
    let mut failures = prepared.found.failures.clone();
    for failure in &mut failures {
        failure.names.retain(|name| goal.remove.iter().all(|gone| gone.as_str() != name) && !comes(name));
    }
    failures.retain(|failure| !failure.names.is_empty());
    let mut warnings = prepared.found.warnings.clone();
    warnings.extend_from_slice(planned.foreign());
    let settings = &prepared.context.settings;
    let user_has_some = || user_has_some(settings, scope, &prepared.request.call());
    let elsewhere = skills.is_empty().then(user_has_some).flatten();
    let outcome = UpdateOutcome {
        skills,
        paths: planned.paths().to_vec(),
        steps: plan.steps.clone(),
        links: plan.links.clone(),
        files: plan.files(),
        dry_run: false,
        place: scope.shown(settings, &scope.skills_dir()),
        elsewhere,
        scope: Some(scope.kind),
        refused: prepared.refused.iter().map(ToString::to_string).collect(),
        failures,
        warnings,
        decided: prepared.found.decided.clone(),
    };
    let ended = prepared.found.jobs.iter().filter(|job| job.ends_a_merge()).map(|job| &job.name);
    let ended = ended.chain(&prepared.found.resolved).cloned().collect();
    Ok(UpdatePlan { planned, contents, merges: Merges { open: unresolved, ended }, outcome })
}

/// Returns the update of the skill of `job`, for one that needs it: `set` takes its place, and the tree there was
/// `replaced`, where it had been edited.
fn other(
    prepared: &Prepared<'_>,
    job: &UpdateJob,
    newer: &Newer,
    replaced: Option<Digest>,
    set: &FileSet,
) -> Result<Other> {
    Ok(Other {
        before: newer.old.clone(),
        asked: MergeChoice::of(&prepared.files.manifest, &job.name),
        new: newer.new.digest,
        mine: replaced.unwrap_or(newer.old.digest),
        merged: set.digest()?,
    })
}

/// Returns the plan for `job`; `is_unedited` says whether a tree has no edits.
fn planned_skill(
    prepared: &Prepared<'_>,
    job: &UpdateJob,
    is_unedited: &dyn Fn(&UpdateJob, &Path, &Digest) -> bool,
) -> Result<PlannedSkill, PlanError> {
    let on_disk = tree(prepared.context, &prepared.scope, &job.name, job.disabled)?;
    let digest = on_disk.as_ref().and_then(|(_, digest)| *digest);
    match &job.work {
        Work::New(newer) => {
            let mut skill = updated(job, UpdateChange::Updated, &newer.old);
            skill.to = Some(Version::of(&newer.new));
            skill.compared(&newer.diff);
            let clean = PlannedSkill {
                content: Content::Locked(newer.new.clone()),
                set: newer.set.clone(),
                skill,
                unresolved: None,
                known: None,
            };
            match on_disk {
                Some((path, Some(digest)))
                    if ![newer.old.digest, newer.new.digest].contains(&digest)
                        && !is_unedited(job, &path, &digest) =>
                {
                    edited(
                        prepared,
                        job,
                        newer,
                        clean,
                        digest,
                        &prepared.scope.index.trees().read(&path)?.files,
                    )
                }
                _ => Ok(clean),
            }
        }
        Work::Added(added) => {
            let origin = added.locked.origin.to_string();
            let mut skill = UpdatedSkill::new(job.name.as_str(), origin, UpdateChange::Added, None);
            skill.to = Some(Version::of(&added.locked));
            added.diff.iter().for_each(|diff| skill.compared(diff));
            let content = Content::Locked(added.locked.clone());
            Ok(PlannedSkill { content, set: added.set.clone(), skill, unresolved: None, known: None })
        }
        Work::Decide { record, locked, base, mine, theirs, prefer } => {
            let versions = Versions { base, ours: mine, theirs };
            let merged = edits::merged(&job.name, &versions, locked, Some(*prefer))?;
            let mut skill = updated(job, UpdateChange::Resolved, locked);
            skill.merge = merged.files.iter().filter_map(MergedPath::of).collect();
            let tree = merged.set.digest()?;
            let keep = ![record.merged, tree].map(Some).contains(&digest);
            let content = content(locked, tree, digest, keep);
            Ok(PlannedSkill { content, set: merged.set, skill, unresolved: None, known: None })
        }
        Work::Abort { record, locked, mine } => {
            let mut skill = updated(job, UpdateChange::Aborted, locked);
            skill.to = Some(Version::of(&record.before));
            let keep = ![record.merged, record.mine, locked.digest].map(Some).contains(&digest);
            let content = content(&record.before, record.mine, digest, keep);
            Ok(PlannedSkill { content, set: mine.clone(), skill, unresolved: None, known: None })
        }
    }
}

/// Returns a new version of a skill that the user edited: `ours`, with the digest `digest`.
fn edited(
    prepared: &Prepared<'_>,
    job: &UpdateJob,
    newer: &Newer,
    clean: PlannedSkill,
    digest: Digest,
    ours: &FileSet,
) -> Result<PlannedSkill, PlanError> {
    let base = match (&newer.base, prepared.request.prefer) {
        (Some(base), _) => base.clone(),
        // Without a base, everything that differs is a conflict, and a side was requested.
        (None, Some(_)) => nothing(),
        (None, None) if prepared.request.force => return Ok(PlannedSkill { known: Some(digest), ..clean }),
        (None, None) => return Err(PlanError::Stale(changed(&job.name))),
    };
    // It may be the installed files that were unchanged when they were examined.
    if newer.base.is_some() && base.digest()? != newer.old.digest {
        return Err(PlanError::Stale(changed(&job.name)));
    }
    let versions = Versions { base: &base, ours, theirs: &newer.set };
    let merged = edits::merged(&job.name, &versions, &newer.new, prepared.request.prefer)?;
    let tree = merged.set.digest()?;
    let paths = edits::disputed(&merged);
    let record = |paths| Unresolved {
        before: newer.old.clone(),
        asked: MergeChoice::of(&prepared.files.manifest, &job.name),
        new: newer.new.digest,
        mine: digest,
        merged: tree,
        paths,
        gone: BTreeMap::new(),
        others: BTreeMap::new(),
    };
    let mut skill = clean.skill;
    skill.change = if paths.is_empty() { UpdateChange::Merged } else { UpdateChange::Conflict };
    skill.merge = merged.files.iter().filter_map(MergedPath::of).collect();
    // An update with conflicts can be taken back, even after the user continued with a merge that is all their own.
    let keep = tree != digest || !paths.is_empty();
    Ok(PlannedSkill {
        content: content(&newer.new, tree, Some(digest), keep),
        set: merged.set,
        skill,
        unresolved: (!paths.is_empty()).then(|| record(paths)),
        known: None,
    })
}

fn content(locked: &Locked, tree: Digest, replaces: Option<Digest>, keep: bool) -> Content {
    Content::Merged(Merged { locked: locked.clone(), tree, replaces, keep })
}

fn updated(job: &UpdateJob, change: UpdateChange, from: &Locked) -> UpdatedSkill {
    UpdatedSkill::new(job.name.as_str(), from.origin.to_string(), change, Some(from))
}

/// Returns the copies of agents that equal the tree `replaced`, which goes, or the result of an earlier merge: nothing
/// is lost if they follow.
fn copies(
    prepared: &Prepared<'_>,
    files: &Files,
    job: &UpdateJob,
    replaced: Option<Digest>,
) -> Result<BTreeSet<Digest>> {
    let mut known = BTreeSet::new();
    let Some(locked) = files.lock.skills.get(&job.name) else { return Ok(known) };
    let settings = &prepared.context.settings;
    let store = Store::new(settings).ok();
    for agent in &locked.agents {
        let place = Location::Agent(agent.clone());
        let Ok(path) = prepared.scope.place(settings, &place, &job.name) else { continue };
        if fs::kind(&path)? != Some(fs::Kind::Directory) {
            continue;
        }
        let stored = |digest| store.as_ref().is_some_and(|store| store.is_merged(&digest));
        known.extend(
            prepared
                .scope
                .index
                .trees()
                .digest(&path)
                .filter(|digest| Some(*digest) == replaced || stored(*digest)),
        );
    }
    Ok(known)
}

fn changed(name: &SkillName) -> Error {
    Error::new(ErrorKind::Findings, format!("`{name}` was edited while its source was being checked"))
        .hint("nothing was changed by this run: run the command again")
}
