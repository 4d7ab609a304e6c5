//! The skills that skills depend on (`metadata.skill-dependencies`): found where they already are, or
//! fetched, and the versions of skills of registries, all in one search.
//!
//! [`resolve`](crate::resolve) contains the rules. This module states the problem, queries sources for it and applies the
//! result: every verb that brings skills calls [`resolve()`] and takes in what was selected, in that order.

mod declared;
mod installed;
mod messages;
mod problem;
mod provider;
mod settle;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use self::declared::dependencies;
pub(crate) use self::installed::{InstalledOrigins, locked_dependent};
pub(crate) use self::messages::can_be_left_out;
use self::messages::{error_of, unavailable, warning_of};
use self::problem::problem;
pub(crate) use self::problem::{Asked, Deciding, VersionRequest};
use self::provider::SourceProvider;
pub(crate) use self::provider::{HasRoom, Offered};
pub(crate) use self::settle::{dependents_of, keep_locked, request_for_editable, unneeded, write, write_all};
use super::fetcher::{Sources, Versions};
use crate::advice::Warning;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::resolve::{
    Asker, Assignment, ChosenVersion, Dependent, FoundFor, Notice, OnUnresolved, Provider, SkillId, Solution,
    SolveError, solve,
};
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::spec::{Origin, SourceSpec};
use crate::version::Version;

/// The result of a search.
#[derive(Default)]
pub(crate) struct Brought {
    /// Which skill satisfies which dependency.
    pub(crate) assignment: Assignment,
    /// The skills to take in: first the locked ones of registries that change their versions, then new ones.
    pub(crate) skills: Vec<BroughtSkill>,
    /// Warnings for the user.
    pub(crate) warnings: Vec<Warning>,
    /// The unresolved dependencies, if these are skipped.
    pub(crate) unresolved: Vec<Error>,
}

/// A skill that comes because of others.
pub(crate) struct BroughtSkill {
    /// The name.
    pub(crate) name: SkillName,
    /// The files that the source has delivered.
    pub(crate) offered: Offered,
    /// The skill that it was found for; `None` for a locked skill that changes its version so that all fit together.
    pub(crate) found: Option<FoundFor>,
}

/// Why nothing fits together, and the skill that could do without.
pub(crate) struct Unsatisfied {
    /// The skill, one of those that come or change their versions.
    pub(crate) root: Option<SkillName>,
    /// Why.
    pub(crate) error: Error,
}

impl Unsatisfied {
    /// Returns that the skill `name` cannot be installed because of `error`: it was `found` for another one, or changes its
    /// version.
    pub(crate) fn new(name: &SkillName, found: Option<FoundFor>, error: Error) -> Self {
        let Some(FoundFor { by, root }) = found else { return Self { root: Some(name.clone()), error } };
        let error = error.context(format!("`{by}` needs `{name}`, which cannot be installed"));
        Self { root: Some(root), error: can_be_left_out(error) }
    }
}

impl From<Unsatisfied> for Error {
    fn from(unsatisfied: Unsatisfied) -> Self {
        unsatisfied.error
    }
}

impl From<Error> for Unsatisfied {
    fn from(error: Error) -> Self {
        Self { root: None, error }
    }
}

/// Decides the versions of the skills in `requests`, of the other skills of registries in `files`, and of all that they
/// need: the highest that fit, or the lowest, as `how` says. The decision is kept in `sources`, and returned with what a
/// person should know. Sources other than registries are not opened.
pub(crate) fn decide(
    sources: &mut Sources<'_>,
    files: &Files,
    requests: &[VersionRequest],
    how: Deciding<'_>,
) -> Result<Vec<Warning>> {
    let asked = Asked { requests, how, closed: true, ..Asked::default() };
    Ok(attempt(sources, files, &asked)?.warnings)
}

/// Finds all that `asked` needs in what `sources` have, under their policy: the versions of skills of registries, which
/// are kept in `sources`, and the skills that come with those that were asked for.
pub(crate) fn resolve(
    sources: &mut Sources<'_>,
    files: &Files,
    mut asked: Asked<'_>,
) -> std::result::Result<Brought, Unsatisfied> {
    let mut unresolved = Vec::new();
    loop {
        match attempt(sources, files, &asked) {
            Ok(mut brought) => {
                brought.unresolved.extend(unresolved);
                return Ok(brought);
            }
            Err(unsatisfied) => {
                let skips = asked.on_unresolved == OnUnresolved::Skip;
                let is_root = |one: &&mut Dependent| skips && unsatisfied.root.as_ref() == Some(&one.name);
                let Some(root) = asked.incoming.iter_mut().find(is_root) else { return Err(unsatisfied) };
                // It is there anyway, so it stays without what it needs.
                root.declared.clear();
                unresolved.push(unsatisfied.error);
            }
        }
    }
}

/// Searches once.
fn attempt(
    sources: &mut Sources<'_>,
    files: &Files,
    asked: &Asked<'_>,
) -> std::result::Result<Brought, Unsatisfied> {
    let scope = sources.scope.kind;
    let mut provider = SourceProvider::new(sources, files, asked.has_room);
    let problem = problem(&mut provider, files, asked)?;
    if problem.roots.is_empty() && problem.known.is_empty() && problem.coming.is_empty() {
        return Ok(Brought::default());
    }
    let solution = solve(&problem, &mut provider).map_err(|error| {
        let comes = |name: &SkillName| asked.incoming.iter().any(|one| one.name == *name);
        let is_free = |name: &SkillName| asked.how.free.is_some_and(|free| free.contains(name));
        let root = match &error {
            SolveError::Unresolved(one) => Some(&one.root).filter(|root| comes(root) || is_free(root)),
            SolveError::NoSolution(explanation) => explanation.skills.iter().find(|name| comes(name)),
            _ => None,
        };
        Unsatisfied { root: root.cloned(), error: error_of(error) }
    })?;
    let Solution { versions, selected, assignment, notices, unresolved } = solution;
    let is_new = |one: &BroughtSkill| !problem.coming.iter().any(|(skill, _)| skill.name == one.name);
    let selected = selected.into_iter();
    let mut brought = Brought {
        assignment,
        skills: selected
            .map(|one| BroughtSkill { name: one.skill.name, offered: one.candidate, found: Some(one.found) })
            .filter(is_new)
            .collect(),
        warnings: std::mem::take(&mut provider.warnings),
        unresolved: unresolved.into_iter().map(unavailable).collect(),
    };
    let told = notices.iter().filter(|notice| !is_in_force(files, notice));
    brought.warnings.extend(told.map(|notice| warning_of(notice, scope)));
    let mut decided = BTreeMap::new();
    for ((registry, name), chosen) in &versions {
        for origin in provider.spellings(*registry) {
            decided.insert((origin.clone(), name.clone()), chosen.version.clone());
        }
    }
    let decided = Versions::new(decided);
    if !asked.closed {
        let is_requested =
            |id: &SkillId| problem.roots.iter().any(|root| root.key == id.1 && root.id() == *id);
        let new = versions.iter().filter(|(id, chosen)| {
            let is_locked = files.lock.skills.get(&id.1).is_some_and(|locked| locked.released().is_some());
            let is_needed = chosen.needed_by.iter().any(|by| *by != Asker::User);
            is_needed && !is_locked && !is_requested(id)
        });
        bring_releases(&mut provider, (files, asked), &decided, new, &mut brought)?;
    }
    provider.sources.versions = decided;
    brought.warnings = provider.sources.tell(std::mem::take(&mut brought.warnings));
    brought.warnings.extend(provider.sources.take_warnings());
    Ok(brought)
}

/// Fetches the skills of registries that change their versions with what was `decided`, and the `new` ones.
fn bring_releases<'v>(
    provider: &mut SourceProvider<'_, '_>,
    (files, asked): (&Files, &Asked<'_>),
    decided: &Versions,
    new: impl Iterator<Item = (&'v SkillId, &'v ChosenVersion)>,
    brought: &mut Brought,
) -> std::result::Result<(), Unsatisfied> {
    // The verb ingests the skills that the user requests.
    let is_requested =
        |name: &SkillName| asked.by_user && asked.requests.iter().any(|request| request.key == *name);
    let changed = decided.changed(files).into_iter().filter(|(name, ..)| !is_requested(name));
    let mut wanted: Vec<(SkillName, Origin, String, Version, Option<FoundFor>)> = changed
        .map(|(name, locked, origin, version)| {
            (name.clone(), origin, locked.path.clone().unwrap_or_default(), version, None)
        })
        .collect();
    for ((registry, name), chosen) in new {
        if let Some(found) = &chosen.found {
            brought.assignment.select(name, &chosen.version);
            let (origin, version) = (provider.origin(*registry), chosen.version.clone());
            wanted.push((name.clone(), origin, name.to_string(), version, Some(found.clone())));
        }
    }
    for origin in wanted.iter().map(|(_, origin, ..)| origin).collect::<BTreeSet<_>>() {
        let ours = wanted.iter().filter(|(_, other, ..)| other == origin);
        let versions: Vec<_> = ours.map(|(_, _, path, version, _)| (path, version.to_string())).collect();
        let versions: Vec<_> =
            versions.iter().map(|(path, version)| (path.as_str(), Some(version.as_str()))).collect();
        // An unavailable skill is reported for the skill itself.
        if let Ok(opened) = provider.sources.open_outside(&SourceSpec::new(origin.clone())) {
            let _ = opened.prefetch(&versions);
        }
    }
    let mut skills = Vec::with_capacity(wanted.len());
    for (name, origin, path, version, found) in wanted {
        match provider.release(origin, &path, &version) {
            Ok(offered) => skills.push(BroughtSkill { name, offered, found }),
            Err(error) => return Err(Unsatisfied::new(&name, found, error)),
        }
    }
    // Those from other sources come last.
    skills.append(&mut brought.skills);
    brought.skills = skills;
    Ok(())
}

/// Reports whether `notice` is about an override whose skills are locked in these versions: it was reported before.
fn is_in_force(files: &Files, notice: &Notice) -> bool {
    let Notice::Overridden { dependent, by: Some(by), name, version, .. } = notice else { return false };
    let is_locked = |name: &SkillName, version: &str| {
        files.lock.skills.get(name).and_then(|locked| locked.revision.as_deref()) == Some(version)
    };
    is_locked(dependent, by) && is_locked(name, version)
}

/// Returns the warnings about `dependent`, which stays as it is, for skills of `assignment` that are out of its ranges.
pub(crate) fn out_of_range_for(
    scope: ScopeKind,
    assignment: &Assignment,
    dependent: &Dependent,
) -> Vec<Warning> {
    assignment.out_of_range_for(dependent).iter().map(|notice| warning_of(notice, scope)).collect()
}
