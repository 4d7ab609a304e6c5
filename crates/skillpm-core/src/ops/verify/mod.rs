//! `verify`: compares every byte of every copy, and every link, with the lockfile.
//!
//! Everything is read. Cached digests are not used: a verification concerns the bytes now on disk.

mod compare;
mod outcome;

use std::collections::BTreeSet;
use std::path::Path;

pub use self::outcome::{UnlockedCode, VerifiedPlace, VerifiedSkill, VerifyOutcome};
use super::list::closed;
use crate::advice::{Verb, Warning};
use crate::agents;
use crate::context::Context;
use crate::error::Result;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::scope::Scopes;
use crate::scope::health::problem;
use crate::scope::not_installed::unknown;
use crate::scope::state::{Depth, Files, OnDisk, PlaceState, ScopeState, SkillInScope, SkillState};
use crate::scope::transaction::Transaction;
use crate::scope_kind::ScopeKind;
use crate::store::Store;
use crate::workers;

/// A request to verify skills.
#[derive(Debug, Clone, Default)]
pub struct VerifyRequest {
    /// Names of skills; all if empty.
    pub names: Vec<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// Count code that is not part of a skill, such as compiled modules, as a difference.
    pub strict: bool,
}

/// Compares installed skills with the lockfile.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read, for a name that is not installed, and for a
/// directory of skills that leads out of the project. Differences are not an error: they are in the outcome.
pub fn verify(context: &Context, request: &VerifyRequest) -> Result<VerifyOutcome> {
    let mut outcome = VerifyOutcome { strict: request.strict, ..VerifyOutcome::default() };
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut scopes = Scopes::new(&context.settings, request.scope)?;
    let twins = scopes.settle_twins(&context.settings)?;
    for scope in &scopes.there {
        outcome.warnings.extend(Transaction::cut_off(scope));
        let state = ScopeState::read(&context.settings, scope, Depth::Bytes)?;
        let mut names = asked(&state.files);
        let is_meant = |name: &SkillName| {
            request.names.is_empty() || request.names.iter().any(|meant| meant == name.as_str())
        };
        if let Some(closed) = closed(scope, request.scope)? {
            known.extend(names.iter().map(ToString::to_string));
            names.retain(is_meant);
            outcome.skills.extend(names.iter().map(|name| unexamined(&state, name, closed.to_string())));
            outcome.warnings.push(closed);
            continue;
        }
        outcome.warnings.extend(unknown_agents(&state));
        // In the home directory both scopes have the same skills: those that neither requests are reported
        // once, as the user's.
        if !twins || scope.kind == ScopeKind::User {
            let strangers = state.names().into_iter().filter(|name| state.is_installed(name));
            let strangers = strangers.filter(|name| !twins || !known.contains(name.as_str()));
            names.extend(strangers);
        }
        known.extend(names.iter().map(ToString::to_string));
        names.retain(is_meant);
        let names: Vec<_> = names.into_iter().collect();
        let store = Store::new(&context.settings).ok();
        let verified = workers::map(
            &names,
            workers::PIECE,
            || (),
            |(), name| match state.skill(name) {
                Ok(skill) => skill.and_then(|skill| verified(&state, skill, store.as_ref())),
                Err(error) => Some(unexamined(&state, name, error.with_causes().to_string())),
            },
        );
        outcome.skills.extend(verified.into_iter().flatten());
    }
    match request.names.iter().find(|name| !known.contains(*name)) {
        None => Ok(outcome),
        Some(name) => Err(unknown(context, request.scope, (&Verb::Verify.call(), name))),
    }
}

/// Returns the skills that are locked, or requested and not disabled.
fn asked(files: &Files) -> BTreeSet<SkillName> {
    let shown = files.manifest.skills().iter().filter(|(_, entry)| entry.editable || !entry.disabled);
    files.lock.skills.keys().chain(shown.map(|(name, _)| name)).cloned().collect()
}

/// Returns the result for the skill `name`, whose places could not be examined for this `reason`.
fn unexamined(state: &ScopeState<'_>, name: &SkillName, reason: String) -> VerifiedSkill {
    let path = state.scope.skill_dir(name);
    let place = VerifiedPlace::new(None, &path, SkillState::Unreadable).because(reason);
    VerifiedSkill {
        name: name.to_string(),
        scope: state.scope.kind,
        verdict: SkillState::Unreadable,
        digest: state.files.lock.skills.get(name).map(|locked| locked.digest.to_string()),
        places: vec![place],
        source_gone: false,
    }
}

/// Returns a warning for each agent in the lockfile that is not in the table.
fn unknown_agents(state: &ScopeState<'_>) -> Vec<Warning> {
    let named: BTreeSet<_> = state.files.lock.skills.values().flat_map(|locked| &locked.agents).collect();
    let unknown = named.into_iter().filter(|id| agents::find(id).is_err()).map(|id| {
        let file = state.scope.lockfile.display();
        let told = format!("{file}: there is no agent `{id}`, so its links are not verified");
        Warning::new(problem::AGENT_UNKNOWN.id, told)
    });
    unknown.collect()
}

/// Returns the comparison of `skill` with the lockfile; `None` for what is in a place of a skill and cannot be one.
fn verified(state: &ScopeState<'_>, skill: SkillInScope<'_>, store: Option<&Store>) -> Option<VerifiedSkill> {
    let is_editable = skill.editable.is_some();
    if skill.locked.is_none()
        && skill.entry.is_none()
        && !is_editable
        && skill.homes.iter().all(|home| home.state == SkillState::Missing)
    {
        return None;
    }
    let source_gone = skill.is_source_gone();
    let (name, locked) = (skill.name.to_string(), skill.locked);
    let directory = skill.editable.map(|editable| editable.directory);
    let mut places: Vec<_> = skill
        .homes
        .into_iter()
        .map(|home| match &directory {
            Some(directory) => linked(home, directory),
            None => place(home, None, locked, store),
        })
        .collect();
    // Links that the lockfile does not name are for `doctor`. If agents share a directory, one of them is enough.
    let copies = skill.copies.into_iter().filter_map(|copy| Some((copy.locked_for?, copy)));
    places.extend(copies.map(|(agent, copy)| place(copy, Some(agent), locked, store)));
    let failure = places.iter().map(|place| place.verdict).find(|verdict| verdict.is_failure());
    let verdict = failure.unwrap_or(match locked {
        _ if is_editable => SkillState::Editable,
        Some(_) => SkillState::Ok,
        None => skill.state,
    });
    let digest = locked.map(|locked| locked.digest.to_string());
    Some(VerifiedSkill { name, scope: state.scope.kind, verdict, digest, places, source_gone })
}

/// Returns the result for the link to the `directory` of an editable skill.
fn linked(home: PlaceState, directory: &Path) -> VerifiedPlace {
    let new = VerifiedPlace::new(None, &home.path, home.state);
    match (home.state, home.found) {
        (SkillState::Missing, found) if found != OnDisk::Absent => {
            new.because(format!("`{}` does not exist", directory.display()))
        }
        (SkillState::Elsewhere, OnDisk::OtherLink(target)) => {
            VerifiedPlace { target: Some(target.display().to_string()), ..new }
        }
        (SkillState::Modified, _) => new.because(format!("it is not a link to `{}`", directory.display())),
        _ => new,
    }
}

/// Returns the result for a place of a skill that is not editable.
fn place(
    found: PlaceState,
    agent: Option<&'static str>,
    locked: Option<&Locked>,
    store: Option<&Store>,
) -> VerifiedPlace {
    let new = VerifiedPlace::new(agent, &found.path, found.state);
    if let Some(error) = found.failure {
        return new.because(error.with_causes().to_string());
    }
    match (found.found, found.tree, locked) {
        (OnDisk::Tree(_), Some(tree), Some(locked)) => {
            compare::tree(new, &found.path, &locked.digest, tree, store)
        }
        (OnDisk::OurLink, ..) if agent.is_some() => new,
        (OnDisk::OurLink | OnDisk::Loop, ..) => new.because("it is a link to itself"),
        (OnDisk::OtherLink(target), ..) => {
            VerifiedPlace { target: Some(target.display().to_string()), ..new }
        }
        (OnDisk::Written, ..) => new.because("it is a file that says where the link should lead"),
        (OnDisk::Other, ..) => new.because("it is not a directory"),
        (OnDisk::Absent | OnDisk::Tree(_), ..) => new,
    }
}
