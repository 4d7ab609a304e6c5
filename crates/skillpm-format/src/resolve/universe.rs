//! The skills that the search has seen so far.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use pubgrub::VersionSet;
use semver::VersionReq;

use super::MAX_SKILLS;
use super::choice::Release;
use super::dependencies::Needs;
use super::dependent::Dependent;
use super::listing::Listing;
use super::ordinals::Ordinals;
use super::problem::{Problem, RegistryId, RootRequirement, SkillId, VersionLimit, WantedBy};
use super::provider::Provider;
use super::solution::{FoundFor, Unresolved};
use crate::name::SkillName;
use crate::requirement::Requirement;
use crate::spec::SourceSpec;

/// The skills that the search has seen so far, numbered in the order in which they were requested.
pub(super) struct Universe<'a, P: Provider> {
    pub(super) problem: &'a Problem,
    pub(super) provider: &'a mut P,
    /// The requirements of the user on skills of registries, in a fixed order.
    pub(super) roots: Vec<&'a RootRequirement>,
    numbers: BTreeMap<SkillId, u32>,
    /// The numbers of the skills outside of registries, by the key under which names are equal.
    places: BTreeMap<String, u32>,
    skills: Vec<Skill<P::Candidate>>,
    /// The skill that a name without a source means, by the key under which names are equal.
    bound: BTreeMap<String, Bound>,
    /// Whether a name without a source can mean a skill that the search has found for another one.
    borrows: bool,
    pub(super) needs: BTreeMap<(u32, u32), Rc<Needs>>,
    /// The number of skills that were found in sources other than registries.
    pub(super) found: usize,
    pub(super) unresolved: Vec<Skipped<P::Error>>,
}

/// A dependency that was skipped, with the number and the ordinal of the version that declares it.
type Skipped<E> = ((u32, u32), Unresolved<E>);

/// A skill, and the candidates for its name: the releases of a registry, or the skills of other sources.
pub(super) struct Skill<C> {
    pub(super) name: SkillName,
    /// The registry; `None` stands for all other sources.
    pub(super) registry: Option<RegistryId>,
    /// Whether the registry has it.
    pub(super) exists: bool,
    pub(super) listing: Listing,
    /// The skills in other sources, by ordinal.
    pub(super) placed: Vec<PlacedSkill<C>>,
    /// The skill for which it was found.
    pub(super) finder: Option<FoundFor>,
}

/// A skill in a source that is no registry.
pub(super) struct PlacedSkill<C> {
    pub(super) skill: Dependent,
    pub(super) state: PlacedState<C>,
}

pub(super) enum PlacedState<C> {
    /// It is installed: the index in [`Problem::installed`].
    Installed(usize),
    /// It comes in place of an installed one.
    Coming(WantedBy),
    /// Another skill depends on it.
    Found(Option<C>, FoundFor),
}

/// The skill to which a name is bound.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) target: Target,
    pub(super) by: BoundBy,
}

/// The origin of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoundBy {
    /// The user requested the skill.
    User,
    /// The skill is installed or comes in any case.
    Problem,
    /// The search has found the skill for a version that it may have given up since.
    Search,
}

/// A skill on which another one depends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Registry(SkillId),
    Place(u32),
}

impl BoundBy {
    fn of(by_user: bool) -> Self {
        if by_user { Self::User } else { Self::Problem }
    }
}

/// Returns `number` as an index.
pub(super) fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the dependencies by name of a release of the skill `name`, except on itself.
fn named_dependencies<'r>(
    release: &'r Release,
    name: &SkillName,
) -> impl Iterator<Item = (&'r SkillName, Option<&'r VersionReq>)> {
    let own = name.collision_key();
    release.dependencies.iter().filter_map(move |declared| match &declared.requirement {
        Ok(Requirement::Named { name, range }) if name.collision_key() != own => Some((name, range.as_ref())),
        _ => None,
    })
}

impl<'a, P: Provider> Universe<'a, P> {
    /// Returns the universe of `problem`, in which only the skills that it states were seen.
    pub(super) fn new(problem: &'a Problem, provider: &'a mut P, borrows: bool) -> Self {
        let mut universe = Self {
            problem,
            provider,
            roots: problem.sorted_roots(),
            numbers: BTreeMap::new(),
            places: BTreeMap::new(),
            skills: Vec::new(),
            bound: BTreeMap::new(),
            borrows,
            needs: BTreeMap::new(),
            found: 0,
            unresolved: Vec::new(),
        };
        for (skill, by) in &problem.coming {
            let (number, _) = universe.place(skill.clone(), PlacedState::Coming(*by));
            universe.bind(&skill.name, Target::Place(number), BoundBy::of(*by == WantedBy::User));
        }
        for (at, one) in problem.installed.iter().enumerate() {
            if universe.bound(&one.name).is_none() {
                let version = one.version.clone();
                let skill =
                    Dependent { version, ..Dependent::new(one.name.clone(), one.place.clone(), None) };
                let (number, _) = universe.place(skill, PlacedState::Installed(at));
                if !one.follows {
                    universe.bind(&one.name, Target::Place(number), BoundBy::of(one.by_user));
                }
            }
        }
        for root in problem.roots.iter().filter(|root| root.key == root.name) {
            universe.bind(&root.key, Target::Registry(root.id()), BoundBy::User);
        }
        for id in &problem.known {
            universe.bind(&id.1, Target::Registry(id.clone()), BoundBy::Problem);
        }
        universe
    }

    /// Returns the skill that `name` is bound to.
    pub(super) fn bound(&self, name: &SkillName) -> Option<&Bound> {
        self.bound.get(&name.collision_key())
    }

    /// Binds `name` to `target`, unless it is bound.
    pub(super) fn bind(&mut self, name: &SkillName, target: Target, by: BoundBy) {
        if by != BoundBy::Search || self.borrows {
            self.bound.entry(name.collision_key()).or_insert(Bound { target, by });
        }
    }

    /// Returns the number of the skills outside of registries that are called `name`, if there are any.
    pub(super) fn place_of(&self, name: &SkillName) -> Option<u32> {
        self.places.get(&name.collision_key()).copied()
    }

    /// Adds `skill`, which is outside of registries, and returns its number and ordinal.
    pub(super) fn place(&mut self, skill: Dependent, state: PlacedState<P::Candidate>) -> (u32, u32) {
        let number = self.place_of(&skill.name).unwrap_or_else(|| {
            let number = self.push(Skill {
                name: skill.name.clone(),
                registry: None,
                exists: true,
                listing: Listing::new(Arc::default(), (None, None), None),
                placed: Vec::new(),
                finder: None,
            });
            self.places.insert(skill.name.collision_key(), number);
            number
        });
        let placed = &mut self.skills[index(number)].placed;
        placed.push(PlacedSkill { skill, state });
        (number, u32::try_from(placed.len() - 1).unwrap_or(u32::MAX))
    }

    fn push(&mut self, skill: Skill<P::Candidate>) -> u32 {
        self.skills.push(skill);
        u32::try_from(self.skills.len() - 1).unwrap_or(u32::MAX)
    }

    /// Returns the skill with the number `number`.
    pub(super) fn skill(&self, number: u32) -> Option<&Skill<P::Candidate>> {
        self.skills.get(index(number))
    }

    /// Returns all skills outside of registries that were seen, with their numbers and ordinals.
    pub(super) fn placed(&self) -> impl Iterator<Item = (u32, u32, &PlacedSkill<P::Candidate>)> {
        (0..).zip(&self.skills).flat_map(|(number, skill)| {
            (0..).zip(&skill.placed).map(move |(ordinal, placed)| (number, ordinal, placed))
        })
    }

    /// Returns the skills outside of registries whose state is one that `is_meant`, each limited to itself.
    pub(super) fn numbers_of(
        &self,
        is_meant: impl Fn(&PlacedState<P::Candidate>) -> bool,
    ) -> Vec<(u32, VersionLimit)> {
        let meant = self.placed().filter(|(_, _, placed)| is_meant(&placed.state));
        meant.map(|(number, ordinal, _)| self.only(number, ordinal)).collect()
    }

    /// Takes the data to fetch the skill `ordinal` of those with the number `number` out of the universe.
    pub(super) fn take(&mut self, number: u32, ordinal: u32) -> Option<(Dependent, P::Candidate, FoundFor)> {
        let placed = self.skills.get_mut(index(number))?.placed.get_mut(index(ordinal))?;
        match &mut placed.state {
            PlacedState::Found(candidate, finder) => {
                Some((placed.skill.clone(), candidate.take()?, finder.clone()))
            }
            _ => None,
        }
    }

    /// Returns the version `ordinal` of the skill `number`, as text.
    pub(super) fn version(&self, number: u32, ordinal: u32) -> Option<String> {
        let skill = self.skill(number)?;
        match skill.placed.get(index(ordinal)) {
            Some(placed) => placed.skill.version.clone(),
            None => skill.listing.release(ordinal).map(|release| release.version.to_string()),
        }
    }

    /// Returns where the version `ordinal` of the skill `number` comes from.
    pub(super) fn source(&self, number: u32, ordinal: u32) -> Option<SourceSpec> {
        let skill = self.skill(number)?;
        match (skill.registry, skill.placed.get(index(ordinal))) {
            (Some(registry), _) => {
                let path = Some(skill.name.to_string());
                Some(SourceSpec { path, ..SourceSpec::new(self.provider.origin(registry)) })
            }
            (None, Some(placed)) => Some(placed.skill.place.clone()),
            (None, None) => None,
        }
    }

    /// Returns the limit to the version `ordinal` of the skills `number`, which are outside of registries.
    pub(super) fn only(&self, number: u32, ordinal: u32) -> (u32, VersionLimit) {
        let source = self.source(number, ordinal).map(|source| source.to_string());
        (number, VersionLimit::At(ordinal, source.unwrap_or_default()))
    }

    /// Returns the number of the skill `id`, requesting its releases if it was not seen before.
    pub(super) fn number(&mut self, id: &SkillId) -> Result<u32, P::Error> {
        if let Some(number) = self.numbers.get(id) {
            return Ok(*number);
        }
        let releases = self.provider.releases(id.0, &id.1)?;
        let exists = releases.is_some();
        let age = self.provider.minimum_age(id.0, &id.1);
        let stays = (self.problem.locked.get(id), self.problem.last.get(id));
        let listing = Listing::new(releases.unwrap_or_default(), stays, age);
        let (registry, name) = (Some(id.0), id.1.clone());
        let number = self.push(Skill { name, registry, exists, listing, placed: Vec::new(), finder: None });
        self.numbers.insert(id.clone(), number);
        Ok(number)
    }

    /// Returns the number of the skill `id` if it was seen before.
    pub(super) fn seen(&self, id: &SkillId) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    /// Records for which skill the skill `number` was found first.
    pub(super) fn found_for(&mut self, number: u32, finder: &FoundFor) {
        if let Some(skill) = self.skills.get_mut(index(number)) {
            skill.finder.get_or_insert_with(|| finder.clone());
        }
    }

    /// Returns the versions of the skill `number` that can be selected and that `limit` accepts.
    pub(super) fn accepted(&mut self, number: u32, limit: &VersionLimit) -> Ordinals {
        let Some(skill) = self.skills.get_mut(index(number)) else { return Ordinals::empty() };
        match limit {
            VersionLimit::At(ordinal, _) => Ordinals::singleton(*ordinal),
            VersionLimit::Range(_) if skill.registry.is_none() => Ordinals::full(),
            VersionLimit::Range(_) => skill.listing.accepted(limit),
        }
    }

    /// Returns the preferred version of the skill `number` among `accepted`. Outside of registries that is the first one:
    /// the installed one, or the one found first.
    pub(super) fn preferred(&self, number: u32, accepted: &Ordinals) -> Option<u32> {
        let skill = self.skill(number)?;
        match skill.registry {
            Some(_) => skill.listing.preferred(accepted, self.problem.minimal),
            None => (0..).zip(&skill.placed).map(|(at, _)| at).find(|at| accepted.contains(at)),
        }
    }

    /// Returns the requirements of the user on skills of registries.
    pub(super) fn root_limits(&self) -> Vec<(SkillId, VersionLimit)> {
        let limit =
            |root: &&RootRequirement| (root.id(), self.problem.limit(&root.name, root.range.as_ref()));
        self.roots.iter().map(limit).collect()
    }

    /// Returns the skills of its registry, and the limits on them, that the version `ordinal` of the skill `number` depends
    /// on by name.
    fn of_its_registry(&self, number: u32, ordinal: u32) -> Vec<(SkillId, VersionLimit)> {
        let Some(skill) = self.skill(number).filter(|_| !self.problem.alone) else { return Vec::new() };
        let Some((registry, release)) = skill.registry.zip(skill.listing.release(ordinal)) else {
            return Vec::new();
        };
        let is_there =
            |name: &SkillName| matches!(self.bound(name), Some(Bound { target: Target::Place(_), .. }));
        let dependencies = named_dependencies(release, &skill.name).filter(|(name, _)| !is_there(name));
        let limited = |(name, range): (&SkillName, Option<&VersionReq>)| {
            ((registry, name.clone()), self.problem.limit(name, range))
        };
        dependencies.map(limited).collect()
    }

    /// Announces those of `skills` that were not seen before.
    pub(super) fn announce<'i>(&mut self, skills: impl IntoIterator<Item = &'i SkillId>) {
        let new: BTreeSet<_> =
            skills.into_iter().filter(|id| !self.numbers.contains_key(*id)).cloned().collect();
        let new: Vec<_> = new.into_iter().collect();
        if !new.is_empty() {
            self.provider.prefetch(&new);
        }
    }

    /// Requests, level by level, the skills of registries that are needed if each requirement gets its preferred version.
    /// That is what the search requests later, unless there are conflicts, but it requests one skill at a time. Failures
    /// are ignored: the search may not need the skill.
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
                    next.extend(self.of_its_registry(number, ordinal));
                }
            }
            next.sort_by_cached_key(|(id, limit)| (id.clone(), limit.to_string()));
            level = next;
        }
    }
}
