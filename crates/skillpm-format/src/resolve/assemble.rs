//! The solution, made from the selected versions.

use std::collections::{BTreeMap, BTreeSet};

use super::dependencies::{Edge, Needs};
use super::explanation::explain_two;
use super::problem::{RootRequirement, VersionLimit};
use super::provider::{Provider, meets};
use super::search::Answer;
use super::solution::{Asker, Assignment, ChosenVersion, Notice, Selected, Solution, SolveError};
use super::universe::{BoundBy, PlacedState, Target, Universe, index};
use crate::name::SkillName;

/// The ordinals of the selected versions, by the numbers of the skills.
pub(super) type Choice = BTreeMap<u32, u32>;

/// A selected skill, and the parties that require it.
pub(super) type NeededSkill = (u32, BTreeSet<Asker>);

/// Returns the solution with the selected versions, or the two skills in it that have the same name.
pub(super) fn assemble<P: Provider>(universe: &mut Universe<'_, P>, choice: Choice) -> Answer<P> {
    let mut askers = universe.askers(&choice);
    let mut names: BTreeMap<String, NeededSkill> = BTreeMap::new();
    let mut solution = Solution {
        versions: BTreeMap::new(),
        selected: Vec::new(),
        assignment: Assignment::default(),
        notices: Vec::new(),
        unresolved: Vec::new(),
    };
    let mut order: Vec<_> = choice.iter().filter_map(|(n, o)| Some((*n, *o, universe.skill(*n)?))).collect();
    order.sort_by_key(|(_, _, skill)| (skill.registry, &skill.name));
    for (number, ordinal, skill) in order {
        let needed_by = askers.remove(&number).unwrap_or_default();
        // Under another name than its own it is in no other skill's way.
        let has_own_name = skill.registry.is_none()
            || universe.roots_of(number).any(|root| root.key == root.name)
            || needed_by.iter().any(|by| *by != Asker::User);
        let this = (number, needed_by.clone());
        if has_own_name && let Some(other) = names.insert(skill.name.collision_key(), this.clone()) {
            let explanation = explain_two(universe, &choice, &other, &this);
            return Err(SolveError::NoSolution(Box::new(explanation)));
        }
        if let Some(needs) = universe.needs.get(&(number, ordinal)) {
            solution.notices.extend(needs.notices.iter().cloned());
            let edges = needs.edges.iter();
            solution.notices.extend(edges.filter_map(|edge| universe.out_of_range(this.0, edge, &choice)));
        }
        universe.connect((number, ordinal), &choice, &mut solution.assignment);
        if let (Some(registry), Some(release)) = (skill.registry, skill.listing.release(ordinal)) {
            let found = skill.finder.clone().filter(|_| !needed_by.contains(&Asker::User));
            let chosen = ChosenVersion { version: release.version.clone(), needed_by, found };
            solution.versions.insert((registry, skill.name.clone()), chosen);
        }
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

impl<P: Provider> Universe<'_, P> {
    /// Returns the requirements of the user on the skill `number`, if it comes from a registry.
    pub(super) fn roots_of(&self, number: u32) -> impl Iterator<Item = &RootRequirement> {
        let id = self.skill(number).and_then(|skill| Some((skill.registry?, skill.name.clone())));
        self.roots.iter().copied().filter(move |root| Some(root.id()) == id)
    }

    /// Returns what the selected versions need.
    fn selected_needs(&self, choice: &Choice) -> impl Iterator<Item = (u32, u32, &Needs)> {
        let needs = choice.iter().map(|(number, ordinal)| (*number, *ordinal));
        needs.filter_map(|(number, ordinal)| Some((number, ordinal, &**self.needs.get(&(number, ordinal))?)))
    }

    /// Returns the parties that require each skill.
    fn askers(&self, choice: &Choice) -> BTreeMap<u32, BTreeSet<Asker>> {
        let mut askers: BTreeMap<u32, BTreeSet<Asker>> = BTreeMap::new();
        for number in choice.keys() {
            let is_bound = |name| self.bound(name).is_some_and(|bound| bound.by == BoundBy::User);
            let is_placed = self.skill(*number).filter(|skill| skill.registry.is_none());
            if self.roots_of(*number).next().is_some() || is_placed.is_some_and(|skill| is_bound(&skill.name))
            {
                askers.entry(*number).or_default().insert(Asker::User);
            }
        }
        for (number, ordinal, needs) in self.selected_needs(choice) {
            let Some(skill) = self.skill(number) else { continue };
            let by = Asker::Skill { name: skill.name.clone(), version: self.version(number, ordinal) };
            for (needed, _) in &needs.limits {
                askers.entry(*needed).or_default().insert(by.clone());
            }
        }
        askers
    }

    /// Records which skills satisfy the declarations of the version `at`, and that it comes.
    fn connect(&self, at: (u32, u32), choice: &Choice, assignment: &mut Assignment) {
        let Some(skill) = self.skill(at.0) else { return };
        let placed = skill.placed.get(index(at.1));
        if let Some(placed) = placed.filter(|one| !matches!(one.state, PlacedState::Installed(_))) {
            assignment.coming.insert(placed.skill.name.collision_key(), placed.skill.version.clone());
        }
        let Some(needs) = self.needs.get(&at).filter(|needs| !needs.settled) else { return };
        let needed = needs.edges.iter().filter_map(|edge| Some(self.meant(edge, choice)?.0));
        let needed: BTreeSet<SkillName> = needed.collect();
        if placed.is_some_and(|placed| placed.skill.editable) {
            assignment.of_editable.extend(needed.iter().cloned());
        }
        let own = placed.map_or(&skill.name, |placed| &placed.skill.name);
        for name in self.roots_of(at.0).map(|root| &root.key).chain([own]) {
            assignment.edges.insert(name.clone(), needed.iter().map(ToString::to_string).collect());
        }
    }

    /// Returns the notice about the declaration `edge` of the skill `number`, if the skill that satisfies it is out of its
    /// range: it was overridden, or is one that the user requires or has installed.
    fn out_of_range(&self, number: u32, edge: &Edge, choice: &Choice) -> Option<Notice> {
        let (name, version, is_listed) = self.meant(edge, choice)?;
        if edge.range.is_none() || meets(edge.range.as_ref(), version.as_deref()) {
            return None;
        }
        let (dependent, text) = (self.skill(number)?.name.clone(), edge.text.clone());
        Some(match self.problem.overrides.get(&name) {
            Some(range) if is_listed || meets(Some(range), version.as_deref()) => {
                let by = self.version(number, *choice.get(&number)?);
                let range = VersionLimit::of(Some(range)).to_string();
                let version = version.unwrap_or_default();
                Notice::Overridden { dependent, by, text, name, version, range }
            }
            _ => Notice::OutOfRange { dependent, text, version },
        })
    }

    /// Reports whether a name means a skill that none of the versions in `choice` leads to: the search has found it for a
    /// version that it has given up.
    pub(super) fn borrows_from_abandoned(&self, choice: &Choice) -> bool {
        let edges = || self.selected_needs(choice).flat_map(|(_, _, needs)| &needs.edges);
        let found = edges().filter(|edge| !edge.borrowed).map(|edge| (&edge.target, edge.ordinal));
        let found: BTreeSet<_> = found.collect();
        edges().any(|edge| match &edge.target {
            Target::Registry(_) => edge.borrowed && !found.contains(&(&edge.target, None)),
            Target::Place(number) => {
                let ordinal = choice.get(number).copied();
                let placed = ordinal.and_then(|at| self.skill(*number)?.placed.get(index(at)));
                let is_found = placed.is_some_and(|one| matches!(one.state, PlacedState::Found(..)));
                is_found && !found.contains(&(&edge.target, ordinal))
            }
        })
    }

    /// Returns the skill that satisfies the declaration `edge`: its name and version, and whether a registry lists it.
    fn meant(&self, edge: &Edge, choice: &Choice) -> Option<(SkillName, Option<String>, bool)> {
        match &edge.target {
            Target::Place(number) => {
                let placed = self.skill(*number)?.placed.get(index(*choice.get(number)?))?;
                Some((placed.skill.name.clone(), placed.skill.version.clone(), false))
            }
            Target::Registry(id) => {
                let number = self.seen(id);
                let version = number.and_then(|number| self.version(number, *choice.get(&number)?));
                Some((id.1.clone(), version, true))
            }
        }
    }
}
