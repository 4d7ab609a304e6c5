//! The skills that the solver has seen so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semver::VersionReq;

use super::MAX_SKILLS;
use super::listing::Listing;
use super::ordinals::Ordinals;
use super::problem::{Release, ReleaseProvider, SkillId, VersionLimit, VersionProblem};
use crate::name::SkillName;
use crate::requirement::Requirement;
use crate::version::Version;

/// The skills that the solver has seen so far, numbered in the order in which they were requested.
pub(super) struct Universe<'a, P: ReleaseProvider> {
    pub(super) problem: &'a VersionProblem,
    provider: &'a mut P,
    /// The names that are bound to another source, by the key under which names are equal.
    fixed: BTreeMap<String, FixedSkill>,
    numbers: BTreeMap<SkillId, u32>,
    skills: Vec<ListedSkill>,
}

/// A skill and its versions.
pub(super) struct ListedSkill {
    pub(super) id: SkillId,
    /// Whether the registry has it.
    pub(super) exists: bool,
    pub(super) listing: Listing,
}

/// A skill from another source, to which a name is bound.
pub(super) struct FixedSkill {
    pub(super) version: Option<Version>,
}

/// A dependency by name on another skill.
pub(super) struct NamedDependency<'r> {
    pub(super) text: &'r str,
    pub(super) name: &'r SkillName,
    pub(super) range: Option<&'r VersionReq>,
}

/// Returns the dependencies by name of a release of the skill `name`, except on itself.
pub(super) fn named_dependencies<'r>(
    release: &'r Release,
    name: &SkillName,
) -> impl Iterator<Item = NamedDependency<'r>> {
    let own = name.collision_key();
    release.dependencies.iter().filter_map(move |declared| match &declared.requirement {
        Ok(Requirement::Named { name, range }) if name.collision_key() != own => {
            Some(NamedDependency { text: &declared.text, name, range: range.as_ref() })
        }
        _ => None,
    })
}

impl FixedSkill {
    /// Reports whether it is in `limit`. Without a range it is; with one, a skill without a version is not.
    pub(super) fn fits(&self, limit: &VersionLimit) -> bool {
        limit.is_any() || self.version.as_ref().is_some_and(|version| limit.accepts(version))
    }
}

impl<'a, P: ReleaseProvider> Universe<'a, P> {
    /// Returns a universe in which no skill was seen.
    pub(super) fn new(problem: &'a VersionProblem, provider: &'a mut P) -> Self {
        let fixed_skill = |version: &Option<Version>| FixedSkill { version: version.clone() };
        let fixed = problem.fixed.iter().map(|(name, version)| (name.collision_key(), fixed_skill(version)));
        let fixed = fixed.collect();
        Self { problem, provider, fixed, numbers: BTreeMap::new(), skills: Vec::new() }
    }

    /// Returns the skill that `name` is bound to, if it is bound to another source.
    pub(super) fn fixed(&self, name: &SkillName) -> Option<&FixedSkill> {
        self.fixed.get(&name.collision_key())
    }

    /// Returns the skill with the number `number`.
    pub(super) fn skill(&self, number: u32) -> Option<&ListedSkill> {
        self.skills.get(usize::try_from(number).ok()?)
    }

    /// Returns the release of the version `ordinal` of the skill `number`.
    pub(super) fn release(&self, number: u32, ordinal: u32) -> Option<&Release> {
        self.skill(number)?.listing.release(ordinal)
    }

    /// Returns the number of the skill `id`, requesting its versions if it was not seen before.
    ///
    /// # Errors
    ///
    /// Fails for a registry that cannot be read.
    pub(super) fn number(&mut self, id: &SkillId) -> Result<u32, P::Error> {
        if let Some(number) = self.numbers.get(id) {
            return Ok(*number);
        }
        let releases = self.provider.releases(id.0, &id.1)?;
        let exists = releases.is_some();
        let releases = releases.unwrap_or_else(|| Arc::new(Vec::new()));
        let age = self.provider.minimum_age(id.0, &id.1);
        let listing = Listing::new(releases, self.problem.locked.get(id), age);
        let number = u32::try_from(self.skills.len()).unwrap_or(u32::MAX);
        self.skills.push(ListedSkill { id: id.clone(), exists, listing });
        self.numbers.insert(id.clone(), number);
        Ok(number)
    }

    /// Returns the number of the skill `id` if it was seen before.
    pub(super) fn seen(&self, id: &SkillId) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    /// Returns the versions of the skill `number` that can be selected and that `limit` accepts.
    pub(super) fn accepted(&mut self, number: u32, limit: &VersionLimit) -> Ordinals {
        let skill = usize::try_from(number).ok().and_then(|number| self.skills.get_mut(number));
        skill.map_or_else(|| Ordinals::of([]), |skill| skill.listing.accepted(limit))
    }

    /// Returns the preferred version of the skill `number` among `accepted`.
    pub(super) fn preferred(&self, number: u32, accepted: &Ordinals) -> Option<u32> {
        self.skill(number)?.listing.preferred(accepted, self.problem.minimal)
    }

    /// Returns the skills, and the limits on them, that the version `ordinal` of the skill `number` depends on, in an
    /// order that does not depend on that of the declarations. Names that are bound to another source are left out.
    pub(super) fn dependencies(&self, number: u32, ordinal: u32) -> Vec<(SkillId, VersionLimit)> {
        let Some(skill) = self.skill(number) else { return Vec::new() };
        let Some(release) = skill.listing.release(ordinal) else { return Vec::new() };
        let (registry, name) = &skill.id;
        let mut dependencies: Vec<_> = named_dependencies(release, name)
            .filter(|dependency| self.fixed(dependency.name).is_none())
            .map(|dependency| {
                let limit = self.problem.limit(dependency.name, dependency.range);
                ((*registry, dependency.name.clone()), limit)
            })
            .collect();
        dependencies.sort_by_cached_key(|(id, limit)| (id.clone(), limit.to_string()));
        dependencies.dedup();
        dependencies
    }

    /// Asks the provider whether the search may continue.
    ///
    /// # Errors
    ///
    /// Fails if it is to be stopped.
    pub(super) fn check(&mut self) -> Result<(), P::Error> {
        self.provider.check()
    }

    /// Announces those of `skills` that were not seen before.
    pub(super) fn announce<'i>(&mut self, skills: impl IntoIterator<Item = &'i SkillId>) {
        let new: BTreeSet<_> = skills.into_iter().filter(|id| self.seen(id).is_none()).cloned().collect();
        let new: Vec<_> = new.into_iter().collect();
        if !new.is_empty() {
            self.provider.prefetch(&new);
        }
    }

    /// Requests, level by level, the skills that are needed if each requirement gets its preferred version. That is
    /// what the solver requests later, unless there are conflicts, but it requests one skill at a time. Failures are
    /// ignored: the solver may not need the skill.
    pub(super) fn prefetch(&mut self, roots: Vec<(SkillId, VersionLimit)>) {
        let mut visited = BTreeSet::new();
        let mut level = roots;
        while !level.is_empty() && visited.len() < MAX_SKILLS {
            level.retain(|(id, _)| visited.insert(id.clone()));
            self.announce(level.iter().map(|(id, _)| id));
            let mut next = Vec::new();
            for (id, limit) in level {
                let Ok(number) = self.number(&id) else { continue };
                let accepted = self.accepted(number, &limit);
                if let Some(ordinal) = self.preferred(number, &accepted) {
                    next.extend(self.dependencies(number, ordinal));
                }
            }
            level = next;
        }
    }
}
