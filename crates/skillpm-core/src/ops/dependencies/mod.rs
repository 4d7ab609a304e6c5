//! The skills that skills depend on (`metadata.skill-dependencies`): found where they already are, or
//! fetched.
//!
//! [`resolve`](crate::resolve) contains the rules. This module queries sources for it and applies its result:
//! every verb that brings skills states a [`Problem`], has it resolved by [`resolve()`], and takes in what
//! was selected, in that order.

mod declared;
mod elsewhere;
mod installed;
mod messages;
mod provider;
mod settle;
mod versions;

pub(super) use self::declared::dependencies;
pub(super) use self::installed::Installed;
pub(super) use self::messages::can_be_left_out;
use self::messages::{error_of, overridden, warning_of};
pub(super) use self::provider::Offered;
use self::provider::{HasRoom, SourceProvider};
pub(super) use self::settle::{dependents_of, keep_locked, request_for_editable, unneeded, write, write_all};
pub(super) use self::versions::{Deciding, Keep, VersionRequest, decide};
use super::fetcher::Sources;
use super::policy_check::skill_file;
use crate::advice::Warning;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::install::plan::requirement_of;
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::resolve::graph::dependents;
use crate::resolve::{self, Assignment, Dependent, Problem, Required, Resolution, Resolved, Selected};
use crate::scope::ScopeKind;
use crate::skill;
use crate::spec::SourceSpec;
use crate::tree::FileSet;

/// The resolution of a problem.
#[derive(Default)]
pub(super) struct Brought {
    /// Which skill satisfies which dependency.
    pub(super) assignment: Assignment,
    /// The skills that are to be fetched, in the order in which they were found.
    pub(super) selected: Vec<Selected<Offered>>,
    /// Warnings for the user.
    pub(super) warnings: Vec<Warning>,
    /// What could not be resolved, if the problem skips that.
    pub(super) unresolved: Vec<Error>,
}

/// A skill that cannot be installed because nothing satisfies its dependencies, and the reason.
pub(super) struct Unsatisfied {
    /// The skill, one of those that the problem was stated for.
    pub(super) root: SkillName,
    /// Why.
    pub(super) error: Error,
}

impl From<Unsatisfied> for Error {
    fn from(unsatisfied: Unsatisfied) -> Self {
        unsatisfied.error
    }
}

/// Resolves `problem` with what `sources` have, under their policy. If `has_room` is given, only skills that
/// it finds room for are selected.
///
/// # Errors
///
/// Fails for a source that cannot be opened, is refused or has no such skill; if skills depend on different
/// skills of one name; and if there are too many. Nothing fails if the problem skips what cannot be resolved.
pub(super) fn resolve(
    sources: &mut Sources<'_>,
    problem: Problem,
    has_room: Option<HasRoom<'_>>,
) -> std::result::Result<Brought, Unsatisfied> {
    let scope = sources.scope.kind;
    let mut provider = SourceProvider::new(&mut *sources, has_room);
    let resolution = resolve::resolve(problem, &mut provider).map_err(|unresolved| {
        let root = unresolved.root.clone();
        Unsatisfied { root, error: error_of(unresolved) }
    })?;
    let Resolution { assignment, selected, notices, unresolved } = resolution;
    let warnings = notices.iter().filter_map(|notice| match overridden(sources, notice) {
        // What was decided together was told then.
        Some((dependent, warning)) => (!sources.versions.has(dependent)).then_some(warning),
        None => Some(warning_of(notice, scope)),
    });
    let mut warnings: Vec<Warning> = warnings.collect();
    warnings.extend(sources.take_warnings());
    let unresolved = unresolved.into_iter().map(error_of).collect();
    Ok(Brought { assignment, selected, warnings, unresolved })
}

/// Returns a problem without dependencies, in a scope where the skills in `files` are installed.
pub(super) fn problem(files: &Files) -> Problem {
    let kept = files.kept();
    let by = dependents(&files.lock.skills);
    let resolved = |name: &SkillName| {
        let Requirement { origin, path, reference, .. } = files.entry(name, &kept)?;
        let locked = files.lock.skills.get(name);
        let path = locked.map_or(path, |locked| locked.path.clone());
        let is_requested = files.manifest.asks_for(name) || files.manifest_text.is_none();
        let required = if is_requested {
            Required::ByUser
        } else {
            let by = by.get(name).into_iter().flatten().filter(|by| kept.contains(*by));
            Required::ByDependents(by.cloned().collect())
        };
        Some(Resolved {
            name: name.clone(),
            place: SourceSpec { origin, path, reference, skill: None },
            version: locked.and_then(|locked| locked.version.clone()),
            required,
        })
    };
    Problem::new(kept.iter().filter_map(resolved))
}

/// Returns the skill that is installed as `locked` and has the files `set`, in order to resolve its
/// dependencies. Returns `None` if it cannot be loaded.
///
/// # Errors
///
/// Fails for a file that cannot be read.
pub(super) fn locked_dependent(
    name: &SkillName,
    locked: &Locked,
    set: &FileSet,
) -> Result<Option<Dependent>> {
    let Some(file) = skill_file(set) else { return Ok(None) };
    let document = Document::from_bytes(set.read(file)?);
    let Ok(loaded) = skill::load_in(&document, Some(name.as_str())) else { return Ok(None) };
    let Requirement { origin, path, reference, .. } = requirement_of(locked);
    let place = SourceSpec { origin, path, reference, skill: None };
    let dependent = Dependent::new(name.clone(), place, Some(&loaded.meta));
    Ok(Some(Dependent { revision: locked.revision.clone(), ..dependent }))
}

/// Returns the warnings about `dependent`, which stays as it is, for skills of `assignment` that are out of
/// its ranges.
pub(super) fn out_of_range_for(
    scope: ScopeKind,
    assignment: &Assignment,
    dependent: &Dependent,
) -> Vec<Warning> {
    assignment.out_of_range_for(dependent).iter().map(|notice| warning_of(notice, scope)).collect()
}
