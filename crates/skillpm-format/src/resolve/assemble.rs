//! The solution, made from the selected versions.

use std::collections::{BTreeMap, BTreeSet};

use super::dependencies::Edge;
use super::explanation::explain_two;
use super::problem::VersionLimit;
use super::provider::{Provider, meets};
use super::search::Answer;
use super::solution::{Asker, Assignment, ChosenVersion, Notice, Selected, Solution, SolveError};
use super::universe::{BoundBy, PlacedState, Target, Universe};
use crate::name::SkillName;

/// The ordinals of the selected versions, by the numbers of the skills.
pub(super) type Choice = BTreeMap<u32, u32>;

/// A selected skill, and the parties that require it.
pub(super) type NeededSkill = (u32, BTreeSet<Asker>);

/// Returns the solution with the selected versions, or the two skills in it that have the same name.
pub(super) fn assemble<P: Provider>(universe: &mut Universe<'_, P>, choice: Choice) -> Answer<P> {
    let askers = askers(universe, &choice);
    if let Some((first, second)) = two_of_one_name(universe, &choice, &askers) {
        return Err(SolveError::NoSolution(Box::new(explain_two(universe, &choice, &first, &second))));
    }
    let mut solution = Solution {
        versions: BTreeMap::new(),
        selected: Vec::new(),
        assignment: Assignment::default(),
        notices: Vec::new(),
        unresolved: Vec::new(),
    };
    let mut order: Vec<(&u32, &u32)> = choice.iter().collect();
    order.sort_by_key(|(number, _)| {
        universe.skill(**number).map(|skill| (skill.registry, skill.name.clone()))
    });
    for (number, ordinal) in order {
        solution.notices.extend(notices_of(universe, *number, *ordinal, &choice));
        connect(universe, *number, *ordinal, &choice, &mut solution.assignment);
        solution.versions.extend(chosen(universe, *number, *ordinal, &askers));
    }
    let unresolved = std::mem::take(&mut universe.unresolved).into_iter();
    let chosen = unresolved.filter(|((number, ordinal), _)| choice.get(number) == Some(ordinal));
    solution.unresolved = chosen.map(|(_, one)| one).collect();
    for (number, ordinal) in choice {
        if let Some((skill, candidate, found)) = universe.take(number, ordinal) {
            solution.assignment.selected.insert(skill.name.clone());
            solution.selected.push(Selected { skill, candidate, found });
        }
    }
    Ok(solution)
}

/// Returns the version `ordinal` of the skill `number` as a part of a solution, if it comes from a registry.
fn chosen<P: Provider>(
    universe: &Universe<'_, P>,
    number: u32,
    ordinal: u32,
    askers: &BTreeMap<u32, BTreeSet<Asker>>,
) -> Option<(super::SkillId, ChosenVersion)> {
    let skill = universe.skill(number)?;
    let release = skill.listing.release(ordinal)?;
    let needed_by = askers.get(&number).cloned().unwrap_or_default();
    let found = skill.finder.clone().filter(|_| !needed_by.contains(&Asker::User));
    let version = ChosenVersion { version: release.version.clone(), needed_by, found };
    Some(((skill.registry?, skill.name.clone()), version))
}

/// Returns the parties that require each skill.
fn askers<P: Provider>(universe: &Universe<'_, P>, choice: &Choice) -> BTreeMap<u32, BTreeSet<Asker>> {
    let mut askers: BTreeMap<u32, BTreeSet<Asker>> = BTreeMap::new();
    for number in choice.keys().filter(|number| universe.is_by_user(**number)) {
        askers.entry(*number).or_default().insert(Asker::User);
    }
    for (number, ordinal) in choice {
        let Some(needs) = universe.needs.get(&(*number, *ordinal)) else { continue };
        let Some(skill) = universe.skill(*number) else { continue };
        let by = Asker::Skill { name: skill.name.clone(), version: universe.version(*number, *ordinal) };
        for (needed, _) in &needs.limits {
            askers.entry(*needed).or_default().insert(by.clone());
        }
    }
    askers
}

/// Records which skills satisfy the declarations of the version `ordinal` of the skill `number`, and that it comes.
fn connect<P: Provider>(
    universe: &Universe<'_, P>,
    number: u32,
    ordinal: u32,
    choice: &Choice,
    assignment: &mut Assignment,
) {
    let Some(skill) = universe.skill(number) else { return };
    let placed = skill.placed.get(super::universe::index(ordinal));
    let dependent = placed.map(|one| &one.skill);
    if let Some(dependent) = dependent.filter(|_| !placed.is_some_and(|one| one.state.is_installed())) {
        assignment.coming.insert(dependent.name.collision_key(), dependent.version.clone());
    }
    let Some(needs) = universe.needs.get(&(number, ordinal)).filter(|needs| !needs.settled) else { return };
    let needed: BTreeSet<SkillName> =
        needs.edges.iter().filter_map(|edge| Some(universe.meant(edge, choice)?.0)).collect();
    if dependent.is_some_and(|dependent| dependent.editable) {
        assignment.of_editable.extend(needed.iter().cloned());
    }
    for name in universe.names_of(number, dependent) {
        assignment.edges.insert(name, needed.iter().map(ToString::to_string).collect());
    }
}

/// Returns the notices about the declarations of the version `ordinal` of the skill `number`.
fn notices_of<P: Provider>(
    universe: &Universe<'_, P>,
    number: u32,
    ordinal: u32,
    choice: &Choice,
) -> Vec<Notice> {
    let Some(skill) = universe.skill(number) else { return Vec::new() };
    let Some(needs) = universe.needs.get(&(number, ordinal)) else { return Vec::new() };
    let outside = needs.edges.iter().filter_map(|edge| {
        let (name, version, is_listed) = universe.meant(edge, choice)?;
        // A range that a registry's skill is out of was overridden, except by a version that the user requires.
        if edge.range.is_none() || meets(edge.range.as_ref(), version.as_deref()) {
            return None;
        }
        let (dependent, text) = (skill.name.clone(), edge.text.clone());
        match universe.problem.overrides.get(&name) {
            Some(range) if is_listed || meets(Some(range), version.as_deref()) => {
                let (by, range) =
                    (universe.version(number, ordinal), VersionLimit::of(Some(range)).to_string());
                let version = version.unwrap_or_default();
                Some(Notice::Overridden { dependent, by, text, name, version, range })
            }
            _ => Some(Notice::OutOfRange { dependent, text, version }),
        }
    });
    needs.notices.iter().cloned().chain(outside).collect()
}

/// Returns the first two skills whose names are equal.
fn two_of_one_name<P: Provider>(
    universe: &Universe<'_, P>,
    choice: &Choice,
    askers: &BTreeMap<u32, BTreeSet<Asker>>,
) -> Option<(NeededSkill, NeededSkill)> {
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let asked = |number: u32| (number, askers.get(&number).cloned().unwrap_or_default());
    let mut order: Vec<u32> = choice.keys().copied().collect();
    order.sort_by_key(|number| universe.skill(*number).map(|skill| (skill.registry, skill.name.clone())));
    order.into_iter().find_map(|number| {
        let skill = universe.skill(number)?;
        let is_listed = skill.registry.is_some();
        let needed = |by: &BTreeSet<Asker>| by.iter().any(|by| *by != Asker::User);
        // Under another name it is in nobody's way.
        if is_listed && !universe.is_under_own_name(number) && !askers.get(&number).is_some_and(needed) {
            return None;
        }
        let other = names.insert(skill.name.collision_key(), number)?;
        Some((asked(other), asked(number)))
    })
}

impl<P: Provider> Universe<'_, P> {
    /// Reports whether a name means a skill that none of the versions in `choice` leads to: the search has found it for a
    /// version that it has given up.
    pub(super) fn borrows_from_abandoned(&self, choice: &Choice) -> bool {
        let edges = || {
            let needs = choice.iter().filter_map(|(number, ordinal)| self.needs.get(&(*number, *ordinal)));
            needs.flat_map(|needs| &needs.edges)
        };
        let found = edges().filter(|edge| !edge.borrowed).map(|edge| (&edge.target, edge.ordinal));
        let found: BTreeSet<_> = found.collect();
        edges().any(|edge| match &edge.target {
            Target::Registry(_) => edge.borrowed && !found.contains(&(&edge.target, None)),
            Target::Place(number) => {
                let ordinal = choice.get(number).copied();
                let placed =
                    ordinal.and_then(|at| self.skill(*number)?.placed.get(super::universe::index(at)));
                let is_found = placed.is_some_and(|one| matches!(one.state, PlacedState::Found(..)));
                is_found && !found.contains(&(&edge.target, ordinal))
            }
        })
    }

    /// Returns the skill that satisfies the declaration `edge`: its name and version, and whether a registry lists it.
    fn meant(&self, edge: &Edge, choice: &Choice) -> Option<(SkillName, Option<String>, bool)> {
        match &edge.target {
            Target::Place(number) => {
                let ordinal = choice.get(number)?;
                let placed = self.skill(*number)?.placed.get(super::universe::index(*ordinal))?;
                Some((placed.skill.name.clone(), placed.skill.version.clone(), false))
            }
            Target::Registry(id) => {
                let number = self.seen(id);
                let version = number.and_then(|number| self.version(number, *choice.get(&number)?));
                Some((id.1.clone(), version, true))
            }
        }
    }

    /// Returns the names under which the skill `number` is installed.
    fn names_of(&self, number: u32, placed: Option<&super::Dependent>) -> BTreeSet<SkillName> {
        let Some(skill) = self.skill(number) else { return BTreeSet::new() };
        let own = placed.map_or_else(|| skill.name.clone(), |placed| placed.name.clone());
        let is_it = |root: &&&super::RootRequirement| {
            Some(root.registry) == skill.registry && root.name == skill.name
        };
        let keys = self.roots.iter().filter(is_it).map(|root| root.key.clone());
        keys.chain([own]).collect()
    }

    /// Reports whether the user requires the skill `number`.
    fn is_by_user(&self, number: u32) -> bool {
        let Some(skill) = self.skill(number) else { return false };
        match skill.registry {
            Some(registry) => {
                self.roots.iter().any(|root| root.registry == registry && root.name == skill.name)
            }
            None => self.bound(&skill.name).is_some_and(|bound| bound.by == BoundBy::User),
        }
    }

    /// Reports whether the user requires the skill `number` of a registry under its own name.
    fn is_under_own_name(&self, number: u32) -> bool {
        let Some(skill) = self.skill(number) else { return false };
        let is_it = |root: &&super::RootRequirement| {
            Some(root.registry) == skill.registry && root.name == skill.name && root.key == root.name
        };
        self.roots.iter().any(is_it)
    }
}

impl<C> PlacedState<C> {
    fn is_installed(&self) -> bool {
        matches!(self, Self::Installed(_))
    }
}
