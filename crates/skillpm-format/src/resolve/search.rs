//! The search for a solution, by the PubGrub algorithm.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;

use pubgrub::{Dependencies, DependencyProvider, PackageResolutionStatistics, PubGrubError, VersionSet};

use super::MAX_SKILLS;
use super::assemble::{Choice, assemble};
use super::explanation::explain;
use super::ordinals::Ordinals;
use super::problem::{Problem, Reach, VersionLimit, WantedBy};
use super::provider::Provider;
use super::solution::{Solution, SolveError};
use super::universe::{PlacedState, Universe};

/// The maximum number of decisions, so that every search ends. Decisions become slower with the number of conflicts: a
/// caller that reads registries of strangers also limits the time, in [`Provider::check`].
pub const MAX_STEPS: usize = 50_000;

/// A solution, or the reason why it does not exist.
pub type Answer<P> =
    Result<Solution<<P as Provider>::Candidate, <P as Provider>::Error>, SolveError<<P as Provider>::Error>>;

/// Selects one version of each skill that `problem` needs, asking `provider` what sources have.
///
/// # Errors
///
/// Fails if the provider fails, if a source does not have a dependency, if no choice of versions satisfies all
/// requirements, if two skills would have the same name, and if a limit is exceeded.
pub fn solve<P: Provider>(problem: &Problem, provider: &mut P) -> Answer<P> {
    solve_within(problem, provider, MAX_STEPS)
}

/// Does the same as [`solve`] with at most `max_steps` decisions.
///
/// PubGrub takes what a version needs as a fact, but a name without a source may mean a skill that was found for a version
/// that the search has given up since. Only then it searches again: with the versions of the solution as the locked ones, so
/// that it gives up none of them, or, without a solution, with names that mean what they mean by themselves.
pub(super) fn solve_within<P: Provider>(problem: &Problem, provider: &mut P, max_steps: usize) -> Answer<P> {
    match attempt(problem, provider, max_steps, true) {
        (Ok(solution), true) => {
            let mut again = problem.clone();
            let versions = solution.versions.iter();
            again.locked.extend(versions.map(|(id, chosen)| (id.clone(), chosen.version.clone())));
            match attempt(&again, provider, max_steps, true) {
                (Ok(sound), false) => Ok(sound),
                _ => attempt(problem, provider, max_steps, false).0.or(Ok(solution)),
            }
        }
        (Err(error), true) => attempt(problem, provider, max_steps, false).0.or(Err(error)),
        (answer, false) => answer,
    }
}

/// Searches once, and reports whether the answer rests on a version that was given up. With `borrows`, a name without a
/// source can mean a skill that was found for another one.
fn attempt<P: Provider>(
    problem: &Problem,
    provider: &mut P,
    max_steps: usize,
    borrows: bool,
) -> (Answer<P>, bool) {
    let search = Search::new(Universe::new(problem, provider, borrows), max_steps);
    let result = pubgrub::resolve(&search, Package::Root, 0u32);
    let Search { universe, stopped, .. } = search;
    let mut universe = universe.into_inner();
    match result {
        Ok(selected) => {
            let skills = selected.into_iter().filter_map(|(package, ordinal)| match package {
                Package::Skill(number) => Some((number, ordinal)),
                Package::Root | Package::Manifest => None,
            });
            let choice: Choice = skills.collect();
            let is_doubtful = universe.borrows_from_abandoned(&choice);
            (assemble(&mut universe, choice), is_doubtful)
        }
        Err(PubGrubError::NoSolution(tree)) => {
            let explanation = Box::new(explain(tree, &mut universe));
            let mut edges = universe.needs.values().flat_map(|needs| &needs.edges);
            (Err(SolveError::NoSolution(explanation)), edges.any(|edge| edge.borrowed))
        }
        Err(_) => (Err(stopped.into_inner().unwrap_or(SolveError::TooHard)), false),
    }
}

/// A package in the sense of PubGrub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Package {
    /// The skills to install in any case.
    Root,
    /// The installed skills, and the user's requirements on registries.
    Manifest,
    /// The skill with this number.
    Skill(u32),
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Manifest => f.write_str("manifest"),
            Self::Skill(number) => write!(f, "skill {number}"),
        }
    }
}

/// The sign that the search stopped. The reason is in [`Search::stopped`], as it need not be an error type.
#[derive(Debug, thiserror::Error)]
#[error("the search was stopped")]
pub(super) struct Stopped;

/// The state of a search.
struct Search<'a, P: Provider> {
    universe: RefCell<Universe<'a, P>>,
    /// The ranks of the skills of registries that the user requires.
    ranks: RefCell<BTreeMap<u32, usize>>,
    /// The skills that were selected at some time.
    tried: RefCell<BTreeSet<u32>>,
    steps_left: Cell<usize>,
    stopped: RefCell<Option<SolveError<P::Error>>>,
}

/// Skills, each with the accepted versions.
type Limits = Vec<(u32, VersionLimit)>;

impl<'a, P: Provider> Search<'a, P> {
    fn new(universe: Universe<'a, P>, steps_left: usize) -> Self {
        Self {
            universe: RefCell::new(universe),
            ranks: RefCell::default(),
            tried: RefCell::default(),
            steps_left: Cell::new(steps_left),
            stopped: RefCell::new(None),
        }
    }

    /// Returns the skills that the version `ordinal` of `package` depends on, each with its limit, and whether it depends
    /// on what is installed.
    fn limits(&self, package: Package, ordinal: u32) -> Result<(Limits, bool), SolveError<P::Error>> {
        let mut universe = self.universe.borrow_mut();
        match package {
            Package::Root => {
                let is_wanted = |state: &PlacedState<_>| match state {
                    PlacedState::Coming(by) => *by != WantedBy::Coming,
                    _ => false,
                };
                let coming = universe.numbers_of(is_wanted);
                Ok((coming, universe.problem.reach != Reach::Lazy))
            }
            Package::Manifest => {
                let roots = universe.root_limits();
                universe.prefetch(roots.clone());
                let mut limits = Vec::with_capacity(roots.len());
                for (rank, (id, limit)) in roots.into_iter().enumerate() {
                    let number = universe.number(&id).map_err(SolveError::Provider)?;
                    self.ranks.borrow_mut().entry(number).or_insert(rank);
                    limits.push((number, limit));
                }
                let installed = &universe.problem.installed;
                let is_asked = |state: &PlacedState<_>| matches!(state, PlacedState::Installed(at) if installed[*at].by_user);
                limits.extend(universe.numbers_of(is_asked));
                Ok((limits, false))
            }
            Package::Skill(number) => {
                let mut tried = self.tried.borrow_mut();
                tried.insert(number);
                if let Some(skill) = universe.skill(number).filter(|_| tried.len() > MAX_SKILLS) {
                    let name = skill.name.clone();
                    return Err(SolveError::TooMany {
                        name,
                        what: "skills of registries",
                        limit: MAX_SKILLS,
                    });
                }
                let needs = universe.examine(number, ordinal)?;
                Ok((needs.limits.clone(), needs.touches_installed && universe.problem.reach == Reach::Lazy))
            }
        }
    }
}

impl<P: Provider> DependencyProvider for Search<'_, P> {
    type P = Package;
    type V = u32;
    type VS = Ordinals;
    type Priority = (Reverse<u8>, u32, Reverse<usize>);
    type M = Infallible;
    type Err = Stopped;

    /// Decides locked requirements first, then other locked skills, so that they change as little as possible, and then
    /// the other requirements, so that they get the best versions. Among the rest, skills with many conflicts come
    /// first, which finds a solution or its absence sooner. Skills outside of registries come last: each has one version,
    /// and to ask for what it needs may take long.
    fn prioritize(
        &self,
        package: &Package,
        _: &Ordinals,
        statistics: &PackageResolutionStatistics,
    ) -> Self::Priority {
        let Package::Skill(number) = package else { return (Reverse(0), 0, Reverse(0)) };
        let universe = self.universe.borrow();
        let Some(skill) = universe.skill(*number) else { return (Reverse(0), 0, Reverse(0)) };
        let order = usize::try_from(*number).unwrap_or(usize::MAX);
        match (self.ranks.borrow().get(number), skill.listing.is_locked()) {
            _ if skill.registry.is_none() => (Reverse(5), 0, Reverse(order)),
            (Some(rank), true) => (Reverse(1), 0, Reverse(*rank)),
            (None, true) => (Reverse(2), 0, Reverse(order)),
            (Some(rank), false) => (Reverse(3), 0, Reverse(*rank)),
            (None, false) => (Reverse(4), statistics.conflict_count(), Reverse(order)),
        }
    }

    fn choose_version(&self, package: &Package, accepted: &Ordinals) -> Result<Option<u32>, Stopped> {
        Ok(match package {
            Package::Root | Package::Manifest => Some(0).filter(|ordinal| accepted.contains(ordinal)),
            Package::Skill(number) => self.universe.borrow().preferred(*number, accepted),
        })
    }

    fn get_dependencies(
        &self,
        package: &Package,
        ordinal: &u32,
    ) -> Result<Dependencies<Package, Ordinals, Infallible>, Stopped> {
        let (limits, is_whole) = self.limits(*package, *ordinal).map_err(|error| {
            *self.stopped.borrow_mut() = Some(error);
            Stopped
        })?;
        let mut universe = self.universe.borrow_mut();
        let mut sets: Vec<(Package, Ordinals)> = Vec::new();
        if is_whole {
            sets.push((Package::Manifest, Ordinals::singleton(0)));
        }
        for (number, limit) in &limits {
            let set = (Package::Skill(*number), universe.accepted(*number, limit));
            // Equal limits are next to each other, except for limits that only accept the same versions.
            if sets.last() != Some(&set) {
                sets.push(set);
            }
        }
        Ok(Dependencies::Available(sets.into_iter().collect()))
    }

    fn should_cancel(&self) -> Result<(), Stopped> {
        let checked = match self.steps_left.get().checked_sub(1) {
            None => Err(SolveError::TooHard),
            Some(left) => {
                self.steps_left.set(left);
                self.universe.borrow_mut().provider.check().map_err(SolveError::Provider)
            }
        };
        checked.map_err(|error| {
            *self.stopped.borrow_mut() = Some(error);
            Stopped
        })
    }
}
