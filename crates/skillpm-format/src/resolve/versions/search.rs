//! The search for a solution, by the PubGrub algorithm.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;

use pubgrub::{Dependencies, DependencyProvider, PackageResolutionStatistics, PubGrubError, VersionSet};

use super::MAX_SKILLS;
use super::assemble::assemble;
use super::explanation::explain;
use super::ordinals::Ordinals;
use super::problem::{ReleaseProvider, RootRequirement, SkillId, VersionLimit, VersionProblem};
use super::solution::{Solution, VersionError};
use super::universe::Universe;

/// The maximum number of decisions, so that every search ends. Decisions become slower with the number of conflicts: a
/// caller that reads registries of strangers also limits the time, in [`ReleaseProvider::check`].
pub const MAX_STEPS: usize = 50_000;

/// Selects one version of each skill that `problem` needs, asking `provider` what registries list.
///
/// # Errors
///
/// Fails if the provider fails, if no choice of versions satisfies all requirements, if two skills would have
/// the same name, and if a limit is exceeded.
pub fn solve<P: ReleaseProvider>(
    problem: &VersionProblem,
    provider: &mut P,
) -> Result<Solution, VersionError<P::Error>> {
    solve_within(problem, provider, MAX_STEPS)
}

/// Does the same as [`solve`] with at most `max_steps` decisions.
pub(super) fn solve_within<P: ReleaseProvider>(
    problem: &VersionProblem,
    provider: &mut P,
    max_steps: usize,
) -> Result<Solution, VersionError<P::Error>> {
    let mut universe = Universe::new(problem, provider);
    let mut roots = problem.sorted_roots();
    roots.retain(|root| universe.fixed(&root.name).is_none());
    let limits = |root: &&RootRequirement| (root.id(), problem.limit(&root.name, root.range.as_ref()));
    universe.prefetch(roots.iter().map(limits).collect());
    let mut ranks = BTreeMap::new();
    for (rank, root) in roots.iter().enumerate() {
        let number = universe.number(&root.id()).map_err(VersionError::Provider)?;
        ranks.entry(number).or_insert(rank);
    }
    let search = Search::new(universe, roots.iter().map(limits).collect(), ranks, max_steps);
    let result = pubgrub::resolve(&search, Package::Root, 0u32);
    let Search { universe, stopped, .. } = search;
    let mut universe = universe.into_inner();
    match result {
        Ok(selected) => assemble(&universe, &roots, &selected),
        Err(PubGrubError::NoSolution(tree)) => {
            Err(VersionError::NoSolution(Box::new(explain(tree, &mut universe, &roots))))
        }
        Err(_) => Err(stopped.into_inner().unwrap_or(VersionError::TooHard)),
    }
}

/// A package in the sense of PubGrub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Package {
    /// Everything outside of the registries, whose dependencies are the root requirements.
    Root,
    /// The skill with this number.
    Skill(u32),
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Skill(number) => write!(f, "skill {number}"),
        }
    }
}

/// The sign that the search stopped. The reason is in [`Search::stopped`], as it need not be an error type.
#[derive(Debug, thiserror::Error)]
#[error("the search was stopped")]
pub(super) struct Stopped;

/// The state of a search.
pub(super) struct Search<'a, P: ReleaseProvider> {
    universe: RefCell<Universe<'a, P>>,
    roots: Vec<(SkillId, VersionLimit)>,
    /// The ranks of the skills that are required from outside.
    ranks: BTreeMap<u32, usize>,
    /// The skills that were selected at some time.
    tried: RefCell<BTreeSet<u32>>,
    steps_left: Cell<usize>,
    stopped: RefCell<Option<VersionError<P::Error>>>,
}

impl<'a, P: ReleaseProvider> Search<'a, P> {
    fn new(
        universe: Universe<'a, P>,
        roots: Vec<(SkillId, VersionLimit)>,
        ranks: BTreeMap<u32, usize>,
        steps_left: usize,
    ) -> Self {
        Self {
            universe: RefCell::new(universe),
            roots,
            ranks,
            tried: RefCell::default(),
            steps_left: Cell::new(steps_left),
            stopped: RefCell::new(None),
        }
    }

    fn stop(&self, reason: VersionError<P::Error>) -> Stopped {
        *self.stopped.borrow_mut() = Some(reason);
        Stopped
    }

    /// Returns the skills that the version `ordinal` of `package` depends on, each with its limit.
    fn limits(&self, package: Package, ordinal: u32) -> Result<Vec<(SkillId, VersionLimit)>, Stopped> {
        let Package::Skill(number) = package else { return Ok(self.roots.clone()) };
        let universe = self.universe.borrow();
        let mut tried = self.tried.borrow_mut();
        tried.insert(number);
        match universe.skill(number) {
            Some(skill) if tried.len() > MAX_SKILLS => {
                Err(self.stop(VersionError::TooMany(skill.id.1.clone())))
            }
            _ => Ok(universe.dependencies(number, ordinal)),
        }
    }
}

impl<P: ReleaseProvider> DependencyProvider for Search<'_, P> {
    type P = Package;
    type V = u32;
    type VS = Ordinals;
    type Priority = (Reverse<u8>, u32, Reverse<usize>);
    type M = Infallible;
    type Err = Stopped;

    /// Decides locked requirements first, then other locked skills, so that they change as little as possible, and then
    /// the other requirements, so that they get the best versions. Among the rest, skills with many conflicts come
    /// first, which finds a solution or its absence sooner.
    fn prioritize(
        &self,
        package: &Package,
        _: &Ordinals,
        statistics: &PackageResolutionStatistics,
    ) -> Self::Priority {
        let Package::Skill(number) = package else { return (Reverse(0), 0, Reverse(0)) };
        let is_locked = self.universe.borrow().skill(*number).is_some_and(|skill| skill.listing.is_locked());
        let order = usize::try_from(*number).unwrap_or(usize::MAX);
        match (self.ranks.get(number), is_locked) {
            (Some(rank), true) => (Reverse(1), 0, Reverse(*rank)),
            (None, true) => (Reverse(2), 0, Reverse(order)),
            (Some(rank), false) => (Reverse(3), 0, Reverse(*rank)),
            (None, false) => (Reverse(4), statistics.conflict_count(), Reverse(order)),
        }
    }

    fn choose_version(&self, package: &Package, accepted: &Ordinals) -> Result<Option<u32>, Stopped> {
        Ok(match package {
            Package::Root => Some(0).filter(|ordinal| accepted.contains(ordinal)),
            Package::Skill(number) => self.universe.borrow().preferred(*number, accepted),
        })
    }

    fn get_dependencies(
        &self,
        package: &Package,
        ordinal: &u32,
    ) -> Result<Dependencies<Package, Ordinals, Infallible>, Stopped> {
        let limits = self.limits(*package, *ordinal)?;
        let mut universe = self.universe.borrow_mut();
        universe.announce(limits.iter().map(|(id, _)| id));
        let mut sets: Vec<(Package, Ordinals)> = Vec::new();
        for (id, limit) in &limits {
            let number = universe.number(id).map_err(|error| self.stop(VersionError::Provider(error)))?;
            let set = (Package::Skill(number), universe.accepted(number, limit));
            // Equal limits are next to each other, except for limits that only accept the same versions.
            if sets.last() != Some(&set) {
                sets.push(set);
            }
        }
        Ok(Dependencies::Available(sets.into_iter().collect()))
    }

    fn should_cancel(&self) -> Result<(), Stopped> {
        let left = self.steps_left.get().checked_sub(1).ok_or_else(|| self.stop(VersionError::TooHard))?;
        self.steps_left.set(left);
        let checked = self.universe.borrow_mut().check();
        checked.map_err(|error| self.stop(VersionError::Provider(error)))
    }
}
