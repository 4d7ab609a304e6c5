//! The solution, made from the selected versions.

use std::collections::{BTreeMap, BTreeSet};

use pubgrub::SelectedDependencies;

use super::explanation::explain_two;
use super::problem::{Asker, ReleaseProvider, RootRequirement, SkillId, VersionLimit};
use super::search::Package;
use super::solution::{ChosenVersion, Solution, SourceDependency, TwoRegistries, VersionError};
use super::universe::{Universe, named_dependencies};
use crate::requirement::Requirement;
use crate::resolve::resolution::Notice;

/// Returns the solution with the selected versions, or the two skills in it that have the same name.
pub(super) fn assemble<P: ReleaseProvider>(
    universe: &Universe<'_, P>,
    roots: &[&RootRequirement],
    selected: &SelectedDependencies<Package, u32>,
) -> Result<Solution, VersionError<P::Error>> {
    let skills = selected.iter().filter_map(|(package, ordinal)| match package {
        Package::Root => None,
        Package::Skill(number) => Some((*number, *ordinal)),
    });
    let mut notices = root_notices(universe);
    let mut versions = BTreeMap::new();
    for (number, ordinal) in skills {
        versions.extend(chosen(universe, number, ordinal));
    }
    for (id, chosen) in &versions {
        notices.extend(notices_of(universe, id, chosen));
        notices.extend(overridden(universe, id, &versions));
    }
    let askers = askers(universe, roots, &versions);
    for (id, by) in askers {
        if let Some(chosen) = versions.get_mut(&id) {
            chosen.needed_by = by;
        }
    }
    match two_of_one_name(&versions) {
        None => Ok(Solution { versions, notices }),
        Some((first, second)) => {
            let explanation = explain_two(universe.problem, &first, &second);
            Err(VersionError::TwoRegistries(Box::new(TwoRegistries { first, second, explanation })))
        }
    }
}

/// Returns the version `ordinal` of the skill `number` as a part of a solution, without the parties that require it.
fn chosen<P: ReleaseProvider>(
    universe: &Universe<'_, P>,
    number: u32,
    ordinal: u32,
) -> Option<(SkillId, ChosenVersion)> {
    let skill = universe.skill(number)?;
    let (index, release) = (skill.listing.index(ordinal)?, skill.listing.release(ordinal)?);
    let sources = release.dependencies.iter().filter_map(|declared| match &declared.requirement {
        Ok(Requirement::Source(spec)) => {
            Some(SourceDependency { text: declared.text.clone(), spec: spec.clone() })
        }
        _ => None,
    });
    let named = named_dependencies(release, &skill.id.1);
    let version = ChosenVersion {
        version: release.version.clone(),
        index,
        needed_by: BTreeSet::new(),
        dependencies: named.map(|dependency| dependency.name.clone()).collect(),
        sources: sources.collect(),
    };
    Some((skill.id.clone(), version))
}

/// Returns the parties that require each skill.
fn askers<P: ReleaseProvider>(
    universe: &Universe<'_, P>,
    roots: &[&RootRequirement],
    versions: &BTreeMap<SkillId, ChosenVersion>,
) -> BTreeMap<SkillId, BTreeSet<Asker>> {
    let mut askers: BTreeMap<SkillId, BTreeSet<Asker>> = BTreeMap::new();
    for root in roots {
        askers.entry(root.id()).or_default().insert(root.by.clone());
    }
    for ((registry, name), chosen) in versions {
        let by = Asker::Skill { name: name.clone(), version: Some(chosen.version.clone()) };
        for dependency in &chosen.dependencies {
            if universe.fixed(dependency).is_none() {
                askers.entry((*registry, dependency.clone())).or_default().insert(by.clone());
            }
        }
    }
    askers
}

/// Returns the notices about requirements from outside on names that are bound to another source.
fn root_notices<P: ReleaseProvider>(universe: &Universe<'_, P>) -> Vec<Notice> {
    let roots = universe.problem.sorted_roots();
    let outside = roots.iter().filter_map(|root| {
        let Asker::Skill { name: dependent, .. } = &root.by else { return None };
        let fixed = universe.fixed(&root.name)?;
        let limit = universe.problem.limit(&root.name, root.range.as_ref());
        let notice = || Notice::OutOfRange {
            dependent: dependent.clone(),
            text: root.text.clone(),
            version: fixed.version.as_ref().map(ToString::to_string),
        };
        (!fixed.fits(&limit)).then(notice)
    });
    outside.collect()
}

/// Returns the notices about the declarations of the selected version of the skill `id`.
fn notices_of<P: ReleaseProvider>(
    universe: &Universe<'_, P>,
    id: &SkillId,
    chosen: &ChosenVersion,
) -> Vec<Notice> {
    let skill = universe.seen(id).and_then(|number| universe.skill(number));
    let Some(release) = skill.and_then(|skill| skill.listing.at(chosen.index)) else { return Vec::new() };
    let malformed = release.dependencies.iter().filter_map(|declared| {
        let error = declared.requirement.as_ref().err()?.clone();
        Some(Notice::Malformed { dependent: id.1.clone(), text: declared.text.clone(), error })
    });
    let outside = named_dependencies(release, &id.1).filter_map(|dependency| {
        let fixed = universe.fixed(dependency.name)?;
        let limit = universe.problem.limit(dependency.name, dependency.range);
        let notice = || Notice::OutOfRange {
            dependent: id.1.clone(),
            text: dependency.text.to_owned(),
            version: fixed.version.as_ref().map(ToString::to_string),
        };
        (!fixed.fits(&limit)).then(notice)
    });
    malformed.chain(outside).collect()
}

/// Returns the notices about the ranges that the selected version of the skill `id` declares and that an override
/// replaces with another version.
fn overridden<P: ReleaseProvider>(
    universe: &Universe<'_, P>,
    id: &SkillId,
    versions: &BTreeMap<SkillId, ChosenVersion>,
) -> Vec<Notice> {
    let listing = universe.seen(id).and_then(|number| universe.skill(number)).map(|skill| &skill.listing);
    let chosen = versions.get(id);
    let Some((release, chosen)) = chosen.and_then(|chosen| Some((listing?.at(chosen.index)?, chosen))) else {
        return Vec::new();
    };
    let replaced = named_dependencies(release, &id.1).filter_map(|dependency| {
        let limit = universe.problem.overrides.get(dependency.name)?;
        let version = &versions.get(&(id.0, dependency.name.clone()))?.version;
        let declared = VersionLimit::of(dependency.range);
        (!declared.accepts(version)).then(|| Notice::Overridden {
            dependent: id.1.clone(),
            by: chosen.version.clone(),
            text: dependency.text.to_owned(),
            name: dependency.name.clone(),
            version: version.clone(),
            range: limit.to_string(),
        })
    });
    replaced.collect()
}

type AskedSkill = (SkillId, BTreeSet<Asker>);

/// Returns the first two skills whose names are equal.
fn two_of_one_name(versions: &BTreeMap<SkillId, ChosenVersion>) -> Option<(AskedSkill, AskedSkill)> {
    let mut names: BTreeMap<String, &SkillId> = BTreeMap::new();
    let asked =
        |id: &SkillId| (id.clone(), versions.get(id).map(|one| one.needed_by.clone()).unwrap_or_default());
    versions.keys().find_map(|id| {
        let other = names.insert(id.1.collision_key(), id)?;
        Some((asked(other), asked(id)))
    })
}
