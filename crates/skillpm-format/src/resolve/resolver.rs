//! The resolver: the first skill found satisfies a dependency.

use std::collections::{BTreeMap, BTreeSet};

use semver::VersionReq;

use super::declared::Declared;
use super::dependent::{Dependent, Required, Resolved};
use super::place::sibling;
use super::provider::{Available, DependencyProvider, Location, Offer, meets};
use super::resolution::{
    Assignment, Conflict, Notice, OnUnresolved, Reason, Resolution, Selected, Unresolved,
};
use crate::name::SkillName;
use crate::requirement::Requirement;
use crate::spec::{Reference, SourceSpec};
use crate::version::VersionRange;

/// The maximum number of skills that one resolution selects, so that an endless chain stops somewhere.
pub const MOST: usize = 256;

/// The input of a resolution.
#[derive(Debug, Default)]
pub struct Problem {
    /// The installed skills, by the key under which names are equal.
    installed: BTreeMap<String, Resolved>,
    /// The skills to be installed in any case.
    coming: BTreeMap<String, Resolved>,
    roots: Vec<Dependent>,
    on_unresolved: OnUnresolved,
}

impl Problem {
    /// Returns a problem without dependencies in which the skills `installed` are present.
    pub fn new(installed: impl IntoIterator<Item = Resolved>) -> Self {
        let installed = installed.into_iter().map(|one| (one.name.collision_key(), one)).collect();
        Self { installed, ..Self::default() }
    }

    /// Returns the same problem with `on_unresolved` as the reaction to a dependency that nothing satisfies.
    #[must_use]
    pub fn on_unresolved(self, on_unresolved: OnUnresolved) -> Self {
        Self { on_unresolved, ..self }
    }

    /// Returns the same problem with the dependencies of `skills`, which the user requests.
    #[must_use]
    pub fn request(mut self, skills: impl IntoIterator<Item = Dependent>) -> Self {
        for skill in skills {
            self.add(skill, Required::ByUser);
        }
        self
    }

    /// Returns the same problem with the dependencies of `skills`, which are installed and change to another version.
    /// The skills that require them stay the same.
    #[must_use]
    pub fn renew(mut self, skills: impl IntoIterator<Item = Dependent>) -> Self {
        for skill in skills {
            let installed = self.installed.get(&skill.name.collision_key());
            let required = installed.map_or(Required::ByUser, |installed| installed.required.clone());
            self.add(skill, required);
        }
        self
    }

    fn add(&mut self, skill: Dependent, required: Required) {
        self.coming.insert(skill.name.collision_key(), skill.resolved(required));
        self.roots.push(skill);
    }
}

/// A resolution, or the dependency that nothing satisfies.
pub type Answer<P> = Result<
    Resolution<<P as DependencyProvider>::Candidate, <P as DependencyProvider>::Error>,
    Unresolved<<P as DependencyProvider>::Candidate, <P as DependencyProvider>::Error>,
>;

/// Resolves `problem`, asking `provider` what sources have. The dependencies of the root that was added last are
/// resolved first.
///
/// # Errors
///
/// Returns the first dependency that nothing satisfies, unless those are skipped.
pub fn resolve<P: DependencyProvider>(problem: Problem, provider: &mut P) -> Answer<P> {
    let Problem { installed, coming, roots, on_unresolved } = problem;
    let assignment = Assignment { coming, ..Assignment::default() };
    let mut resolver =
        Resolver { provider, installed, assignment, selected: Vec::new(), notices: Vec::new() };
    let mut unresolved = Vec::new();
    let mut open: Vec<Open> =
        roots.into_iter().map(|skill| Open { root: skill.name.clone(), skill }).collect();
    while let Some(one) = open.pop() {
        let dependent = &one.skill;
        let first = resolver.selected.len();
        // Also for a skill without dependencies: it may have had some before.
        resolver.assignment.edges.entry(dependent.name.clone()).or_default();
        for declared in &dependent.declared {
            let Err(reason) = resolver.declared(&one, declared) else { continue };
            let (root, text) = (one.root.clone(), declared.text.clone());
            let failed = Unresolved { root, dependent: dependent.name.clone(), text, reason };
            match on_unresolved {
                OnUnresolved::Stop => return Err(failed),
                OnUnresolved::Skip => unresolved.push(failed),
            }
        }
        let found = resolver.selected[first..].iter();
        open.extend(found.map(|selected| Open { root: one.root.clone(), skill: selected.skill.clone() }));
    }
    let Resolver { assignment, selected, notices, .. } = resolver;
    Ok(Resolution { assignment, selected, notices, unresolved })
}

/// A skill whose dependencies are not resolved yet.
struct Open {
    /// The requested skill that this one is needed for.
    root: SkillName,
    skill: Dependent,
}

struct Resolver<'p, P: DependencyProvider> {
    provider: &'p mut P,
    installed: BTreeMap<String, Resolved>,
    assignment: Assignment,
    selected: Vec<Selected<P::Candidate>>,
    notices: Vec<Notice>,
}

/// The reason why a step of the resolver with the provider `P` fails.
type Stop<P> = Reason<<P as DependencyProvider>::Candidate, <P as DependencyProvider>::Error>;

impl<P: DependencyProvider> Resolver<'_, P> {
    /// Resolves one dependency of the skill `of`.
    fn declared(&mut self, of: &Open, declared: &Declared) -> Result<(), Stop<P>> {
        let Declared { text, requirement } = declared;
        match requirement {
            Ok(Requirement::Named { name, range }) => self.named(of, text, name, range.as_ref()),
            Ok(Requirement::Source(spec)) => self.source(of, text, spec),
            Err(error) => {
                let (dependent, error) = (of.skill.name.clone(), error.clone());
                self.notices.push(Notice::Malformed { dependent, text: text.clone(), error });
                Ok(())
            }
        }
    }

    /// Resolves the dependency on `name`: with a skill that is there or to be installed, otherwise with one from the
    /// source of the skill `of`.
    fn named(
        &mut self,
        of: &Open,
        text: &str,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<(), Stop<P>> {
        let dependent = &of.skill;
        if let Some(known) = self.known(name).cloned() {
            self.satisfy(dependent, text, range, &known);
            return Ok(());
        }
        match self.provider.named(dependent, name, range).map_err(Reason::Source)? {
            Offer::Fits(available) => self.select(of, *available),
            Offer::Not(has) => {
                if !self.provider.is_elsewhere(name) {
                    let source = dependent.place.origin.clone();
                    let (dependent, text) = (dependent.name.clone(), text.to_owned());
                    self.notices.push(Notice::Missing { dependent, text, source, has });
                }
                Ok(())
            }
        }
    }

    /// Resolves the dependency on the skill in the source `spec`, as written.
    fn source(&mut self, of: &Open, text: &str, spec: &SourceSpec) -> Result<(), Stop<P>> {
        let dependent = &of.skill;
        let location = if let Some(spec) = sibling(&dependent.place, spec) {
            Location { spec, revision: dependent.revision.as_deref() }
        } else {
            let spec = self.provider.locate(dependent, spec).map_err(Reason::Source)?;
            Location { spec, revision: None }
        };
        if let Some(known) = self.known_in_registry(&location.spec).cloned() {
            let range = location.spec.reference.as_ref().and_then(Reference::range);
            self.satisfy(dependent, text, range.map(VersionRange::parsed), &known);
            return Ok(());
        }
        if let Some(known) = self.known_from(&location.spec).map(|known| known.name.clone()) {
            self.connect(dependent, &known);
            return Ok(());
        }
        let available = self.provider.at(dependent, &location).map_err(Reason::Source)?;
        let Some(known) = self.known(&available.skill.name).cloned() else {
            return self.select(of, available);
        };
        let spec = location.spec;
        if known.is_from(&available.skill.place) {
            self.connect(dependent, &known.name);
            return Ok(());
        }
        let Required::ByDependents(by) = &known.required else {
            self.notices.push(Notice::RequestedStays {
                dependent: dependent.name.clone(),
                spec: Box::new(spec),
                kept: known.name.clone(),
                place: Box::new(known.place.clone()),
            });
            self.connect(dependent, &known.name);
            return Ok(());
        };
        let others = by.iter().filter(|by| **by != dependent.name && self.still_depends(by, &known.name));
        let by: Vec<SkillName> = others.cloned().collect();
        if by.is_empty() {
            return self.select(of, available);
        }
        Err(Reason::Conflict(Box::new(Conflict { kept: known, by, rejected: available, spec })))
    }

    /// Lets the skill `known` satisfy the dependency `text` of `dependent`, with a notice if it is outside the `range`.
    fn satisfy(&mut self, dependent: &Dependent, text: &str, range: Option<&VersionReq>, known: &Resolved) {
        if !meets(range, known.version.as_deref()) {
            let (text, version) = (text.to_owned(), known.version.clone());
            self.notices.push(Notice::OutOfRange { dependent: dependent.name.clone(), text, version });
        }
        self.connect(dependent, &known.name);
    }

    /// Selects a skill for the skill `of`, if there is room for it.
    fn select(&mut self, of: &Open, available: Available<P::Candidate>) -> Result<(), Stop<P>> {
        let dependent = &of.skill;
        let Available { skill, candidate } = available;
        let name = skill.name.clone();
        if !self.provider.has_room_for(&name).map_err(Reason::Source)? {
            self.notices.push(Notice::NoRoom { dependent: dependent.name.clone(), name });
            return Ok(());
        }
        self.connect(dependent, &name);
        let required = Required::ByDependents(BTreeSet::from([dependent.name.clone()]));
        self.assignment.coming.insert(name.collision_key(), skill.resolved(required));
        self.assignment.selected.insert(name.clone());
        if self.assignment.selected.len() > MOST {
            return Err(Reason::TooMany(name));
        }
        let (by, root) = (dependent.name.clone(), of.root.clone());
        self.selected.push(Selected { skill, candidate, by, root });
        Ok(())
    }

    /// Returns the skill with the name `name` that is to be installed or is installed.
    fn known(&self, name: &SkillName) -> Option<&Resolved> {
        let key = name.collision_key();
        self.assignment.coming.get(&key).or_else(|| self.installed.get(&key))
    }

    /// Returns the skill of a registry that `spec` means, in any version, if it is to be installed or is installed under
    /// its own name.
    fn known_in_registry(&self, spec: &SourceSpec) -> Option<&Resolved> {
        let name = spec.path.as_deref().or(spec.skill.as_deref()).filter(|_| spec.origin.has_versions())?;
        let known = self.known(&SkillName::new(name).ok()?)?;
        (known.place.origin == spec.origin && known.place.path.as_deref() == Some(name)).then_some(known)
    }

    /// Returns the skill from `spec` that is to be installed, or is installed and stays.
    fn known_from(&self, spec: &SourceSpec) -> Option<&Resolved> {
        let coming = &self.assignment.coming;
        let stays = self.installed.iter().filter(|(key, _)| !coming.contains_key(*key));
        coming.values().chain(stays.map(|(_, one)| one)).find(|one| one.is_from(spec))
    }

    /// Reports whether `by` still depends on `name`: it does not change its version, or the new version depends on it
    /// too.
    fn still_depends(&self, by: &SkillName, name: &SkillName) -> bool {
        let is_coming = self.assignment.coming.contains_key(&by.collision_key());
        !is_coming || self.assignment.of(by).is_some_and(|needed| needed.contains(name.as_str()))
    }

    /// Records that `name` satisfies a dependency of `dependent`.
    fn connect(&mut self, dependent: &Dependent, name: &SkillName) {
        if *name == dependent.name {
            return;
        }
        let Assignment { coming, edges, of_editable, .. } = &mut self.assignment;
        edges.entry(dependent.name.clone()).or_default().insert(name.to_string());
        let key = name.collision_key();
        let known = coming.get_mut(&key).or_else(|| self.installed.get_mut(&key));
        if let Some(Resolved { required: Required::ByDependents(by), .. }) = known {
            by.insert(dependent.name.clone());
        }
        if dependent.editable {
            of_editable.insert(name.clone());
        }
    }
}
