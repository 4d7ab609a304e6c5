//! `import`: skillpm takes over the skills that other tools installed.
//!
//! Everything that another tool left is collected, tied to the bytes of its source and compared with the disk, and recorded
//! by one transaction, as an installation is. Unedited copies are brought to the bytes of their source; edited ones, and
//! skills without a known source, stay as they are and are reported.

mod adopt;
mod agents;
mod classify;
mod dependencies;
mod outcome;
mod request;
mod targets;

use std::collections::{BTreeMap, BTreeSet};

use self::classify::{Action, Judge};
use self::dependencies::Brought;
pub use self::outcome::{FoundIn, ImportOutcome, ImportedSkill, Verdict};
pub use self::request::ImportRequest;
use self::targets::FoundTargets;
use crate::change::Begun;
use crate::change::home;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::claims::{self, Claims, everyone};
use crate::scope::plan::{Goal, Plan};
use crate::scope::state::{Depth, ScopeState, Survey};

/// The number of times that what is there is read and compared before concurrent changes are reported.
const ATTEMPTS: usize = 3;

/// Adopts what other tools installed.
///
/// Sources are fetched and compared first; only then is the scope locked, and changed in one transaction.
///
/// # Errors
///
/// Fails for a file of another tool or of a policy that cannot be read, a scope that cannot be changed. A skill that
/// cannot be adopted is no error: the outcome says why.
pub fn import(context: &Context, request: &ImportRequest) -> Result<ImportOutcome> {
    // Adopted skills are read to the byte.
    let scope = home::to_change(context, request.scope, request.dry_run)?.unindexed();
    if !request.skills.is_empty() {
        return adopt::adopt(context, &scope, request);
    }
    // Other running processes may leave the files that are read.
    if !request.dry_run && fs::kind(&scope.work_dir())?.is_some() {
        drop(Begun::begin(context, &scope, false)?);
    }
    for _ in 1..ATTEMPTS {
        if let Some(outcome) = attempt(context, &scope, request)? {
            return Ok(outcome);
        }
    }
    attempt(context, &scope, request)?.ok_or_else(|| {
        let message = format!("manifest or lockfile of the {} changed while skillpm was running", scope.kind);
        Error::new(ErrorKind::Findings, message).hint("nothing was changed by skillpm: run the command again")
    })
}

/// Works like [`import`], of all that other tools installed in `scope`. `None` if manifest or lockfile changed before
/// the scope was locked: nothing was done then.
fn attempt(context: &Context, scope: &Scope, request: &ImportRequest) -> Result<Option<ImportOutcome>> {
    let state = ScopeState::read(&context.settings, scope, Depth::Bytes)?;
    let files = &state.files;
    let everyone = everyone(context, scope, files);
    let Claims { mut claims, read } =
        claims::collect(context, scope, files, &everyone, request.file.as_deref())?;
    claims.retain(|claim| !claim.install_name().is_some_and(|name| state.has_lost(&name)));
    let names: Vec<SkillName> = claims.iter().filter_map(claims::Claim::install_name).collect();
    let survey = Survey::take(&state, &names.iter().collect::<Vec<_>>(), &everyone)?;
    let mut judge = Judge::new(context, scope, files, &survey, &everyone)?;
    let mut judged: Vec<_> = claims.iter().map(|claim| judge.classify(claim)).collect();
    let (incoming, mut warnings) = judge.into_parts();
    let mut brought = Brought::find(context, &state, &everyone, incoming)?;
    warnings.append(&mut brought.warnings);
    let (along, changed) = (std::mem::take(&mut brought.skills), std::mem::take(&mut brought.changed));
    let needed: Vec<_> = along.iter().map(|(wanted, _)| wanted.name.clone()).collect();
    let targets = FoundTargets::of(files, &survey, &everyone, &judged);
    for (skill, action) in &mut judged {
        targets.make_room(&survey, skill, action);
    }
    let mut goal = Goal {
        manifest_agents: Some(targets.manifest).filter(|agents| agents != files.manifest.agents()),
        copy: targets.copy,
        ..Goal::default()
    };
    let adopted = judged.iter().filter_map(|(_, action)| action.name());
    let there = adopted.chain(files.lock.skills.keys()).chain(files.manifest.skills().keys()).chain(&needed);
    let there: BTreeSet<SkillName> = there.cloned().collect();
    let settled = |mut wanted| {
        brought.write(&mut wanted, &there);
        wanted.agents.clone_from(&targets.agents);
        wanted
    };
    let mut contents = BTreeMap::new();
    let mut skills = Vec::new();
    for (skill, action) in judged {
        skills.push(skill);
        match action {
            Action::Nothing => {}
            Action::Record(wanted) => goal.record.push(settled(wanted)),
            Action::Put { wanted, set, known } => {
                contents.insert(wanted.name.clone(), set);
                goal.known.insert(wanted.name.clone(), known);
                goal.put.push(settled(wanted));
            }
        }
    }
    for (wanted, set) in along.into_iter().map(|(wanted, set)| (settled(wanted), set)).chain(changed) {
        contents.insert(wanted.name.clone(), set);
        goal.put.push(wanted);
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    let (mut plan, mut paths) = (Plan::default(), Vec::new());
    if !goal.put.is_empty() || !goal.record.is_empty() {
        let begun = Begun::begin(context, scope, request.dry_run)?;
        let now = begun.files();
        if files.lock_text != now.lock_text || files.manifest_text != now.manifest_text {
            return Ok(None);
        }
        let applied = begun.plan(goal)?.apply(contents)?;
        warnings.extend(applied.saved);
        warnings.extend(applied.foreign);
        (plan, paths) = (applied.plan, applied.paths);
    }
    let before = files.manifest.agents().targets.clone().unwrap_or_default();
    let manifest = plan.manifest.as_ref();
    let now = manifest.and_then(|manifest| manifest.agents().targets.clone()).unwrap_or_default();
    Ok(Some(ImportOutcome {
        skills,
        read,
        files: plan.files(),
        steps: plan.steps,
        paths,
        agents: now.into_iter().filter(|agent| !before.contains(agent)).collect(),
        needed,
        dry_run: request.dry_run,
        scope: Some(scope.kind),
        warnings,
    }))
}
