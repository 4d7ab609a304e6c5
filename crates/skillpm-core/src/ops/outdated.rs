//! `outdated`: finds the skills that have changed in their sources, without a download.

mod skill;

use std::collections::BTreeMap;

pub use self::skill::OutdatedSkill;
use super::absent::{no_longer_asked, not_installed, not_yet_installed};
use super::fetcher::Sources;
use super::list::{ListRequest, ListedSkill, installed};
use crate::advice::{Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::install::health::problem;
use crate::install::scope::{Scope, ScopeKind, Scopes};
use crate::install::state::Files;
use crate::name::SkillName;
pub use crate::updates::Status;
use crate::updates::{How, UpdateCandidate, check, names, not_asked, told};

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
    /// Why sources could not be queried.
    pub failures: Vec<Error>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl OutdatedOutcome {
    /// Returns the kind of failure to exit with, if any: network failures come first.
    pub fn failed(&self) -> Option<ErrorKind> {
        let network = |error: &&Error| error.kind() == ErrorKind::Network;
        self.failures.iter().find(network).or(self.failures.first()).map(Error::kind)
    }
}

/// Queries the sources of the installed skills for their current versions. Changes nothing, and downloads
/// nothing if an id or a tag is enough.
///
/// # Errors
///
/// Fails for a manifest, lockfile or policy that cannot be read, and for a name that is not installed. A
/// source that cannot be queried is not an error: the outcome says why, and contains the others.
pub fn outdated(context: &Context, request: &OutdatedRequest) -> Result<OutdatedOutcome> {
    let listed = installed(context, &ListRequest { scope: request.scope })?;
    let mut outcome = OutdatedOutcome { warnings: listed.warnings, ..OutdatedOutcome::default() };
    let mut known = Vec::new();
    let mut scopes = Vec::new();
    // `list` has reported the missing ones.
    for scope in Scopes::new(&context.settings, request.scope)?.there {
        let files = Files::read(&scope)?;
        known.extend(files.manifest.skills().keys().chain(files.lock.skills.keys()).cloned());
        scopes.push((scope, files));
    }
    for name in &request.names {
        if known.iter().all(|known| known.as_str() != name) {
            return Err(not_installed(request.scope, name, known.iter().map(SkillName::as_str)));
        }
    }
    for (scope, files) in &scopes {
        let here = listed.skills.iter().filter(|skill| skill.scope == scope.kind);
        let here: BTreeMap<&str, &ListedSkill> = here.map(|skill| (skill.name.as_str(), skill)).collect();
        let mut sources = Sources::new(context, scope, &files.manifest)?;
        let how = How { past: true, ..How::default() };
        let names = names(files, &request.names);
        let check = check(context, scope, files, names, (&mut sources, &how));
        outcome.warnings.extend(check.warnings);
        outcome.notes.extend(not_asked(&check.candidates));
        for candidate in &check.candidates {
            outcome.add(scope, candidate, here.get(candidate.name.as_str()).copied());
        }
        let (failures, found) = told(check.failures, &check.candidates);
        outcome.failures.extend(failures);
        outcome.warnings.extend(found);
    }
    Ok(outcome)
}

impl OutdatedOutcome {
    /// Adds `candidate`, which is in `scope` as `listed` says.
    fn add(&mut self, scope: &Scope, candidate: &UpdateCandidate<'_>, listed: Option<&ListedSkill>) {
        let mut row = OutdatedSkill::of(candidate, scope.kind);
        row.disabled = listed.is_some_and(|skill| skill.disabled);
        match candidate.status {
            Status::NoLongerAsked => {
                return self.warnings.push(no_longer_asked(scope.kind, candidate.name));
            }
            Status::NotInstalled => {
                return self.warnings.push(not_yet_installed(scope.kind, candidate.name));
            }
            Status::LockedOtherwise => {
                return self.warnings.push(locked_otherwise(scope.kind, candidate));
            }
            Status::Editable => {
                row.path = listed.and_then(|skill| skill.path.clone());
                row.modified = listed.is_some_and(|skill| skill.modified);
                (row.requested, row.locked) = (None, None);
            }
            _ => row.modified = listed.is_some_and(|skill| skill.modified),
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
