//! `outdated`: finds the skills that have changed in their sources, without a download.

mod skill;

pub use self::skill::OutdatedSkill;
use super::list::{closed, failures};
use crate::advice::{Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::fetcher::Sources;
use crate::name::SkillName;
use crate::scope::health::problem;
use crate::scope::not_installed::{no_longer_asked, not_locked, unknown};
use crate::scope::state::{Depth, Files, ScopeState, SkillInScope};
use crate::scope::transaction::Transaction;
use crate::scope::{Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::updates::{How, Status, UpdateCandidate, check, errors_and_warnings, names, not_asked};

/// A request for skills that have changed in their sources.
#[derive(Debug, Clone, Default)]
pub struct OutdatedRequest {
    /// The skills; all if empty.
    pub names: Vec<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
}

/// The outcome: the state of the skills in their sources.
#[derive(Debug, Default)]
pub struct OutdatedOutcome {
    /// The requested skills, project before user, then by name.
    pub skills: Vec<OutdatedSkill>,
    /// Where skills are now that are no longer where they were, and why newer ones do not come.
    pub notes: Vec<Warning>,
    /// Whether they were named.
    pub named: bool,
    /// Why sources could not be queried.
    pub failures: Vec<Error>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// Queries the sources of the installed skills for their current versions. Changes nothing, and downloads
/// nothing if an id or a tag is enough.
///
/// # Errors
///
/// Fails for a manifest, lockfile or policy that cannot be read, and for a name that is not installed. A
/// source that cannot be queried is not an error: the outcome says why, and contains the others.
pub fn outdated(context: &Context, request: &OutdatedRequest) -> Result<OutdatedOutcome> {
    let settings = &context.settings;
    let mut outcome = OutdatedOutcome { named: !request.names.is_empty(), ..OutdatedOutcome::default() };
    let scopes = Scopes::new(settings, request.scope)?;
    let read = |scope| ScopeState::read(settings, scope, Depth::Metadata);
    let states = scopes.there.iter().map(read).collect::<Result<Vec<_>>>()?;
    let known = || {
        let files = states.iter().map(|state| &state.files);
        files.flat_map(Files::names)
    };
    for name in &request.names {
        if known().all(|known| known.as_str() != name) {
            return Err(unknown(context, request.scope, (&Verb::Outdated.call(), name)));
        }
    }
    for state in &states {
        outcome.warnings.extend(Transaction::cut_off(state.scope));
        let closed = closed(state.scope, request.scope)?;
        let is_open = closed.is_none();
        outcome.warnings.extend(closed);
        let mut sources = Sources::new(context, state.scope, &state.files.manifest)?;
        let how = How { past: true, ..How::default() };
        let names = names(&state.files, &request.names);
        let check = check(context, state.scope, &state.files, names, (&mut sources, &how));
        outcome.warnings.extend(check.warnings);
        outcome.notes.extend(not_asked(&check.candidates));
        if request.names.is_empty() {
            let is_told = |name: &SkillName| check.candidates.iter().any(|told| told.name == name);
            let left = state.no_longer_asked().into_iter().filter(|name| !is_told(name));
            outcome.warnings.extend(left.map(|name| no_longer_asked(state.scope.kind, &name)));
        }
        for candidate in &check.candidates {
            let mut skill = if is_open { state.skill(candidate.name)? } else { None };
            outcome.warnings.extend(skill.iter_mut().flat_map(failures));
            outcome.add(state.scope, candidate, skill.as_ref());
        }
        let (failures, found) = errors_and_warnings(check.failures, &check.candidates);
        outcome.failures.extend(failures);
        outcome.warnings.extend(found);
    }
    outcome.warnings.extend(scopes.missing.into_iter().map(Warning::from));
    Ok(outcome)
}

impl OutdatedOutcome {
    /// Adds `candidate`, which is in `scope` as `skill` says.
    fn add(&mut self, scope: &Scope, candidate: &UpdateCandidate<'_>, skill: Option<&SkillInScope<'_>>) {
        let mut row = OutdatedSkill::of(candidate, scope.kind);
        row.disabled = skill.is_some_and(SkillInScope::is_disabled);
        row.modified = skill.is_some_and(SkillInScope::is_modified);
        match candidate.status {
            Status::NoLongerAsked => {
                return self.warnings.push(no_longer_asked(scope.kind, candidate.name));
            }
            Status::NotInstalled => {
                return self.warnings.push(not_locked(scope, candidate.name));
            }
            Status::LockedOtherwise => {
                return self.warnings.push(locked_otherwise(scope.kind, candidate));
            }
            Status::Editable => {
                row.path.clone_from(&candidate.entry.path);
                (row.requested, row.locked) = (None, None);
            }
            _ => {}
        }
        self.notes.extend(candidate.note(scope.kind));
        self.skills.push(row);
    }
}

/// Returns the warning about a skill whose locked version comes from another place than the one in the manifest.
fn locked_otherwise(scope: ScopeKind, candidate: &UpdateCandidate<'_>) -> Warning {
    let is_same = candidate.locked.is_some_and(|locked| locked.origin == candidate.entry.origin);
    let other = if is_same { "place in its source" } else { "source" };
    let told = message!(
        format_args!("`{}` is locked from a {other} other than the one in the manifest: ", candidate.name),
        Verb::Install.within(scope),
        " resolves it"
    );
    Warning::new(problem::LOCKED_OTHERWISE.id, told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::ops::diff::{DiffRequest, diff};

    /// A hint without `-g` would act on the project.
    #[test]
    fn what_is_missing_is_installed_in_its_own_scope() {
        let world = World::new();
        let text = "[skills]\npdf = { path = \"pdf\" }\n";
        for (scope, manifest, command) in [
            (ScopeKind::Project, "skillpm.toml", "`install`"),
            (ScopeKind::User, "../home/.config/skillpm/skillpm.toml", "`install` with `scope=user`"),
        ] {
            world.write(manifest, text);
            let expected = [format!("`pdf` is not installed yet: {command} installs it")];
            let scope = Some(scope);
            let request = OutdatedRequest { scope, ..OutdatedRequest::default() };
            let told = outdated(&world.context(), &request).expect("works").warnings;
            assert_eq!(told, expected);
            let request = DiffRequest { scope, ..DiffRequest::default() };
            let told = diff(&world.context(), &request).expect("works").warnings;
            assert_eq!(told, expected);
        }
    }
}
