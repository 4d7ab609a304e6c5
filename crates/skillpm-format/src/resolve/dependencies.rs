//! The dependencies of one version of a skill: the skills that its declarations mean.

use std::rc::Rc;

use semver::VersionReq;

use super::MAX_FOUND;
use super::declared::Declared;
use super::dependent::{Dependent, comes_from};
use super::problem::{OnUnresolved, Reach, RegistryId, SkillId, VersionLimit};
use super::provider::{Available, Location, Offer, Provider};
use super::sibling::sibling;
use super::solution::{FoundFor, Notice, SolveError, Unresolved};
use super::universe::{Bound, BoundBy, PlacedState, Target, Universe, index};
use crate::name::SkillName;
use crate::requirement::Requirement;
use crate::spec::{Reference, SourceSpec};
use crate::version::VersionRange;

/// The dependencies of one version of a skill.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// The skills that it depends on, each with the accepted versions, in an order that does not depend on that of the
    /// declarations.
    pub(super) limits: Vec<(u32, VersionLimit)>,
    /// Which skills satisfy its declarations.
    pub(super) edges: Vec<Edge>,
    /// Whether its dependencies are those that the lockfile names, not those that it declares.
    pub(super) settled: bool,
    /// Whether it has to do with what is installed and stays.
    pub(super) touches_installed: bool,
    pub(super) notices: Vec<Notice>,
}

/// A declaration, and the skill that satisfies it.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) target: Target,
    pub(super) text: String,
    pub(super) range: Option<VersionReq>,
    /// Whether it names a skill that another declaration has found.
    pub(super) borrowed: bool,
    /// The ordinal of the skill outside of registries that the declaration itself leads to.
    pub(super) ordinal: Option<u32>,
}

/// The examination of a version of a skill.
struct Examination<'d> {
    /// The number and the ordinal of the version.
    at: (u32, u32),
    dependent: &'d Dependent,
    registry: Option<RegistryId>,
    /// Whether its other dependencies are those that the lockfile names.
    settled: bool,
    finder: FoundFor,
    targets: Vec<(Target, VersionLimit)>,
    edges: Vec<Edge>,
    notices: Vec<Notice>,
}

impl Examination<'_> {
    fn is_own(&self, name: &SkillName) -> bool {
        name.collision_key() == self.dependent.name.collision_key()
    }

    /// Lets one of the accepted skills outside of registries satisfy the declaration `text`.
    fn take(&mut self, accepted: (u32, VersionLimit), text: &str) {
        let (number, limit) = accepted;
        let ordinal = match limit {
            VersionLimit::At(ordinal, _) => Some(ordinal),
            VersionLimit::Range(_) => None,
        };
        self.targets.push((Target::Place(number), limit));
        self.connect(Target::Place(number), text, None).ordinal = ordinal;
    }

    /// Lets `target` satisfy the declaration `text`.
    fn connect(&mut self, target: Target, text: &str, range: Option<&VersionReq>) -> &mut Edge {
        let (text, range) = (text.to_owned(), range.cloned());
        self.edges.push_mut(Edge { target, text, range, borrowed: false, ordinal: None })
    }
}

impl<P: Provider> Universe<'_, P> {
    /// Returns what the version `ordinal` of the skill `number` needs. Sources are opened for that once.
    pub(super) fn examine(&mut self, number: u32, ordinal: u32) -> Result<Rc<Needs>, SolveError<P::Error>> {
        if let Some(known) = self.needs.get(&(number, ordinal)) {
            return Ok(Rc::clone(known));
        }
        let needs = if self.problem.alone { Needs::default() } else { self.examined(number, ordinal)? };
        let needs = Rc::new(needs);
        self.needs.insert((number, ordinal), Rc::clone(&needs));
        Ok(needs)
    }

    fn examined(&mut self, number: u32, ordinal: u32) -> Result<Needs, SolveError<P::Error>> {
        let Some((dependent, root)) = self.dependent(number, ordinal) else { return Ok(Needs::default()) };
        let locked = self.settled(number, ordinal);
        let mut examination = Examination {
            at: (number, ordinal),
            dependent: &dependent,
            registry: self.skill(number).and_then(|skill| skill.registry),
            settled: locked.is_some(),
            finder: FoundFor { by: dependent.name.clone(), root },
            targets: Vec::new(),
            edges: Vec::new(),
            notices: Vec::new(),
        };
        for declared in &dependent.declared {
            match self.declared(&mut examination, declared) {
                Err(SolveError::Provider(error)) => {
                    self.unavailable(&examination, declared.text.clone(), error)?;
                }
                done => done?,
            }
        }
        for name in locked.iter().flatten() {
            if let Some(number) = self.installed_as(name) {
                let (number, limit) = self.only(number, 0);
                examination.targets.push((Target::Place(number), limit));
            }
        }
        self.settle(examination)
    }

    /// Leaves out the declaration `text`, which cannot be satisfied because of `error`, unless that stops the search.
    fn unavailable(
        &mut self,
        examination: &Examination<'_>,
        text: String,
        error: P::Error,
    ) -> Result<(), SolveError<P::Error>> {
        // An installed skill stays, and is examined when a new version is fetched.
        if examination.settled {
            return Ok(());
        }
        let (root, dependent) = (examination.finder.root.clone(), examination.dependent.name.clone());
        let unresolved = Unresolved { root, dependent, text, error };
        match self.problem.on_unresolved {
            OnUnresolved::Stop => Err(SolveError::Unresolved(Box::new(unresolved))),
            OnUnresolved::Skip => {
                self.unresolved.push((examination.at, unresolved));
                Ok(())
            }
        }
    }

    /// Returns the version `ordinal` of the skill `number` with its declarations, and the requested skill that it is needed
    /// for.
    fn dependent(&mut self, number: u32, ordinal: u32) -> Option<(Dependent, SkillName)> {
        let skill = self.skill(number)?;
        let (name, finder) = (skill.name.clone(), skill.finder.clone());
        if let Some(placed) = skill.placed.get(index(ordinal)) {
            let dependent = placed.skill.clone();
            return match &placed.state {
                PlacedState::Found(_, finder) => Some((dependent, finder.root.clone())),
                PlacedState::Installed(at) if self.problem.installed.get(*at)?.limits => {
                    Some((self.provider.installed(&name).unwrap_or(dependent), name))
                }
                PlacedState::Installed(_) | PlacedState::Coming(_) => Some((dependent, name)),
            };
        }
        let release = skill.listing.release(ordinal)?;
        let (declared, version) = (release.dependencies.clone(), Some(release.version.to_string()));
        let place = self.source(number, ordinal)?;
        let root = finder.map_or_else(|| name.clone(), |finder| finder.root);
        Some((Dependent { version, declared, ..Dependent::new(name, place, None) }, root))
    }

    /// Returns the names of the skills that the version `ordinal` of the skill `number` depends on according to the
    /// lockfile, if it stays as it is.
    fn settled(&self, number: u32, ordinal: u32) -> Option<Vec<SkillName>> {
        let skill = self.skill(number)?;
        let Some(registry) = skill.registry else {
            let PlacedState::Installed(at) = skill.placed.get(index(ordinal))?.state else { return None };
            return Some(self.problem.installed.get(at)?.dependencies.clone());
        };
        let settled = self.problem.settled.get(&(registry, skill.name.clone()))?;
        let is_it = skill.listing.release(ordinal)?.version == settled.version;
        is_it.then(|| settled.dependencies.clone())
    }

    /// Returns the number of the skill that is installed as `name` from outside of registries, unless another one comes.
    fn installed_as(&self, name: &SkillName) -> Option<u32> {
        let number = self.place_of(name)?;
        let first = self.skill(number)?.placed.first()?;
        matches!(first.state, PlacedState::Installed(_)).then_some(number)
    }

    /// Finds the skill that one declaration means.
    fn declared(
        &mut self,
        examination: &mut Examination<'_>,
        declared: &Declared,
    ) -> Result<(), SolveError<P::Error>> {
        match &declared.requirement {
            Ok(Requirement::Named { name, .. }) if examination.is_own(name) => Ok(()),
            Ok(Requirement::Named { name, range }) => {
                self.named(examination, &declared.text, name, range.as_ref())
            }
            Ok(Requirement::Source(spec)) => self.source_of(examination, &declared.text, spec),
            Err(error) => {
                let (dependent, text) = (examination.dependent.name.clone(), declared.text.clone());
                examination.notices.push(Notice::Malformed { dependent, text, error: error.clone() });
                Ok(())
            }
        }
    }

    /// Finds the skill `name`: one that is there or selected, otherwise one from the source of the dependent.
    fn named(
        &mut self,
        examination: &mut Examination<'_>,
        text: &str,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<(), SolveError<P::Error>> {
        let bound = self.bound(name).cloned();
        match (bound, examination.registry) {
            (Some(Bound { target: Target::Place(_), .. }), None) if examination.settled => {}
            (Some(Bound { target: Target::Place(number), by }), _) => {
                let limit = VersionLimit::of(None);
                examination.targets.push((Target::Place(number), limit));
                examination.connect(Target::Place(number), text, range).borrowed = by == BoundBy::Search;
            }
            (_, Some(registry)) => {
                let id = (registry, name.clone());
                self.limit(examination, id, text, range)?;
            }
            // A skill that the user requests satisfies dependencies on any version, also by a pre-release.
            (Some(Bound { target, by: BoundBy::User }), None) if range.is_none() => {
                examination.connect(target, text, None);
            }
            (Some(Bound { target: Target::Registry(id), by }), None) => {
                if let Some(edge) = self.limit(examination, id, text, range)? {
                    edge.borrowed = by == BoundBy::Search;
                }
            }
            (None, None) if examination.settled || self.is_closed() => {}
            (None, None) => {
                let offer =
                    self.provider.named(examination.dependent, name, range).map_err(SolveError::Provider)?;
                match (offer, self.installed_as(name)) {
                    (Offer::Fits(available), installed) => {
                        self.find(examination, text, *available, installed.is_none())?;
                    }
                    (Offer::Not(_), Some(number)) => {
                        examination.targets.push((Target::Place(number), VersionLimit::of(None)));
                        examination.connect(Target::Place(number), text, range);
                    }
                    (Offer::Not(_), None) if self.provider.is_elsewhere(name) => {}
                    (Offer::Not(has), None) => examination.notices.push(Notice::Missing {
                        dependent: examination.dependent.name.clone(),
                        text: text.to_owned(),
                        source: examination.dependent.place.origin.clone(),
                        has,
                    }),
                }
            }
        }
        Ok(())
    }

    /// Finds the skill in the source `spec`, as written.
    fn source_of(
        &mut self,
        examination: &mut Examination<'_>,
        text: &str,
        spec: &SourceSpec,
    ) -> Result<(), SolveError<P::Error>> {
        let dependent = examination.dependent;
        let location = if let Some(spec) = sibling(&dependent.place, spec) {
            Location { spec, revision: dependent.revision.as_deref() }
        } else {
            let spec = self.provider.locate(dependent, spec).map_err(SolveError::Provider)?;
            Location { spec, revision: None }
        };
        let spec = &location.spec;
        let registry = self.provider.registry(&spec.origin).map_err(SolveError::Provider)?;
        let name = spec.path.as_deref().or(spec.skill.as_deref()).and_then(|name| SkillName::new(name).ok());
        if let (Some(registry), Some(name)) = (registry, name) {
            let target = Target::Registry((registry, name.clone()));
            let range = spec.reference.as_ref().and_then(Reference::range).map(VersionRange::parsed);
            match self.bound(&name).cloned() {
                _ if examination.is_own(&name) => {}
                Some(Bound { target: other, by: BoundBy::User }) if other != target => {
                    self.stay(examination, text, location.spec, &name, other);
                }
                Some(Bound { by: BoundBy::User, .. }) if range.is_none() => {
                    examination.connect(target, text, None);
                }
                _ => {
                    self.limit(examination, (registry, name), text, range)?;
                }
            }
            return Ok(());
        }
        let known = self.placed().find(|(_, _, one)| comes_from(&one.skill.name, &one.skill.place, spec));
        if let Some((number, ordinal, _)) = known {
            let is_own = self.skill(number).is_some_and(|skill| examination.is_own(&skill.name));
            if !examination.settled && !is_own {
                examination.take(self.only(number, ordinal), text);
            }
            return Ok(());
        }
        if examination.settled || (self.is_closed() && registry.is_none()) {
            return Ok(());
        }
        let available = self.provider.at(dependent, &location).map_err(SolveError::Provider)?;
        let name = available.skill.name.clone();
        match self.bound(&name).cloned() {
            _ if examination.is_own(&name) => {}
            Some(Bound { target, by: BoundBy::User }) if !self.is_at(&target, &available.skill) => {
                self.stay(examination, text, location.spec, &name, target);
            }
            _ => self.find(examination, text, available, false)?,
        }
        Ok(())
    }

    /// Reports whether `target` is a skill outside of registries that comes from the same place as `skill`.
    fn is_at(&self, target: &Target, skill: &Dependent) -> bool {
        let Target::Place(number) = target else { return false };
        self.ordinal_at(*number, skill).is_some()
    }

    /// Returns the ordinal of the skill that comes from the same place as `skill`, of those with the number `number`.
    fn ordinal_at(&self, number: u32, skill: &Dependent) -> Option<u32> {
        let placed = &self.skill(number)?.placed;
        let is_it = |one: &Dependent| comes_from(&one.name, &one.place, &skill.place);
        (0..).zip(placed).find(|(_, one)| is_it(&one.skill)).map(|(ordinal, _)| ordinal)
    }

    /// Lets the skill `available`, or with `any` another one of its name, satisfy the declaration `text`, if there is room
    /// for it.
    fn find(
        &mut self,
        examination: &mut Examination<'_>,
        text: &str,
        available: Available<P::Candidate>,
        any: bool,
    ) -> Result<(), SolveError<P::Error>> {
        let Available { skill, candidate } = available;
        let name = skill.name.clone();
        let number = self.place_of(&name);
        if let Some((number, ordinal)) = number.and_then(|one| Some((one, self.ordinal_at(one, &skill)?))) {
            examination.take(self.only(number, ordinal), text);
            return Ok(());
        }
        if !self.has_room(examination, &name)? {
            return Ok(());
        }
        self.found += 1;
        if self.found > MAX_FOUND {
            return Err(SolveError::TooMany { name, what: "skills outside of registries", limit: MAX_FOUND });
        }
        let state = PlacedState::Found(Some(candidate), examination.finder.clone());
        let (number, ordinal) = self.place(skill, state);
        self.bind(&name, Target::Place(number), BoundBy::Search);
        let accepted = if any { (number, VersionLimit::of(None)) } else { self.only(number, ordinal) };
        examination.targets.push((Target::Place(number), accepted.1));
        examination.connect(Target::Place(number), text, None).ordinal = Some(ordinal);
        Ok(())
    }

    /// Reports whether there is room for the skill `name`, and adds a notice if not.
    fn has_room(
        &mut self,
        examination: &mut Examination<'_>,
        name: &SkillName,
    ) -> Result<bool, SolveError<P::Error>> {
        let has_room = self.provider.has_room_for(name).map_err(SolveError::Provider)?;
        if !has_room {
            let (dependent, name) = (examination.dependent.name.clone(), name.clone());
            examination.notices.push(Notice::NoRoom { dependent, name });
        }
        Ok(has_room)
    }

    /// Limits the skill `id` of a registry to the versions in `range`, or to those that an override allows. Returns `None`
    /// if there is no room for it.
    fn limit<'w>(
        &mut self,
        examination: &'w mut Examination<'_>,
        id: SkillId,
        text: &str,
        range: Option<&VersionReq>,
    ) -> Result<Option<&'w mut Edge>, SolveError<P::Error>> {
        if self.bound(&id.1).is_none() && !self.has_room(examination, &id.1)? {
            return Ok(None);
        }
        let limit = self.problem.limit(&id.1, range);
        let target = Target::Registry(id);
        examination.targets.push((target.clone(), limit));
        Ok(Some(examination.connect(target, text, range)))
    }

    /// Lets `target`, the skill `name` that the user requested, stay although the declaration `text` means `spec`.
    fn stay(
        &mut self,
        examination: &mut Examination<'_>,
        text: &str,
        spec: SourceSpec,
        name: &SkillName,
        target: Target,
    ) {
        if examination.settled {
            return;
        }
        let place = match &target {
            Target::Place(number) => self.source(*number, 0),
            Target::Registry((registry, name)) => {
                let path = Some(name.to_string());
                Some(SourceSpec { path, ..SourceSpec::new(self.provider.origin(*registry)) })
            }
        };
        examination.notices.push(Notice::RequestedStays {
            dependent: examination.dependent.name.clone(),
            place: Box::new(place.unwrap_or_else(|| spec.clone())),
            spec: Box::new(spec),
            name: name.clone(),
        });
        if let Target::Place(_) = target {
            examination.targets.push((target.clone(), VersionLimit::of(None)));
        }
        examination.connect(target, text, None);
    }

    /// Returns what was found, with the numbers of the skills of registries.
    fn settle(&mut self, mut examination: Examination<'_>) -> Result<Needs, SolveError<P::Error>> {
        let mut targets = std::mem::take(&mut examination.targets);
        targets.sort_by_cached_key(|(target, limit)| (target.clone(), limit.to_string()));
        targets.dedup();
        let ids = targets.iter().filter_map(|(target, _)| match target {
            Target::Registry(id) => Some(id),
            Target::Place(_) => None,
        });
        self.announce(ids);
        let touches_installed = examination.registry.is_none()
            && targets.iter().any(|(target, limit)| match target {
                Target::Registry(_) => true,
                Target::Place(number) => self.replaces_installed(*number, limit),
            });
        let mut limits = Vec::with_capacity(targets.len());
        for (target, limit) in targets {
            let number = match target {
                Target::Place(number) => number,
                Target::Registry(ref id) => match self.number(id) {
                    Ok(number) => {
                        self.found_for(number, &examination.finder);
                        self.bind(&id.1, target.clone(), BoundBy::Search);
                        number
                    }
                    Err(error) => {
                        let (left_out, edges) =
                            examination.edges.drain(..).partition::<Vec<_>, _>(|edge| edge.target == target);
                        examination.edges = edges;
                        let text = left_out.into_iter().map(|edge| edge.text).next().unwrap_or_default();
                        self.unavailable(&examination, text, error)?;
                        continue;
                    }
                },
            };
            limits.push((number, limit));
        }
        let Examination { edges, settled, notices, .. } = examination;
        Ok(Needs { limits, edges, settled, touches_installed, notices })
    }

    /// Reports whether sources other than registries stay closed.
    fn is_closed(&self) -> bool {
        self.problem.reach == Reach::Registries
    }

    /// Reports whether `limit` excludes a skill that is installed, of those with the number `number`.
    fn replaces_installed(&self, number: u32, limit: &VersionLimit) -> bool {
        let VersionLimit::At(at, _) = limit else { return false };
        let placed = self.skill(number).map(|skill| &skill.placed[..]).unwrap_or_default();
        let mut installed =
            (0..).zip(placed).filter(|(_, one)| matches!(one.state, PlacedState::Installed(_)));
        installed.any(|(ordinal, _)| ordinal != *at)
    }
}
