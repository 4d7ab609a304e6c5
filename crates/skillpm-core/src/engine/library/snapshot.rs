//! All skills, as they were at one point in time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::lookup::{LookupError, UnknownSkill};
use crate::engine::diagnostic::{Diagnostic, key};
use crate::engine::discover::{Discovery, discover_named, discover_with};
use crate::engine::skill::Skill;
use crate::engine::sources::Source;
use crate::fs;
use crate::name::SkillName;
use crate::profile::{Duplicates, LoadProfile};

/// The skills that a library found. A snapshot never changes.
#[derive(Debug)]
pub struct Snapshot {
    sources: Vec<Source>,
    found: Discovery,
    /// Which of two skills with the same name is used.
    duplicates: Duplicates,
    /// The index of each name in the skills that are used, built on first use.
    names: OnceLock<BTreeMap<Box<str>, usize>>,
}

impl Snapshot {
    /// Returns the current skills of `sources`, found under `profile`.
    pub fn of(sources: &[Source], profile: &LoadProfile) -> Result<Self, LookupError> {
        let found = discover_with(sources, profile)?;
        Ok(Self::new(sources.to_vec(), found, profile.duplicates))
    }

    /// Returns the skills of `sources` that decide which one is called `name`; perhaps all.
    pub fn around(sources: &[Source], profile: &LoadProfile, name: &str) -> Result<Self, LookupError> {
        let found = discover_named(sources, profile, name)?;
        Ok(Self::new(sources.to_vec(), found, profile.duplicates))
    }

    pub(super) fn new(sources: Vec<Source>, found: Discovery, duplicates: Duplicates) -> Self {
        Self { sources, found, duplicates, names: OnceLock::new() }
    }

    /// Returns one skill of each name, in the order of the sources, then by the bytes of their paths.
    pub fn skills(&self) -> &[Arc<Skill>] {
        &self.found.skills
    }

    /// Returns the skills that are hidden by others with the same name, in the same order.
    pub fn shadowed(&self) -> &[Arc<Skill>] {
        &self.found.shadowed
    }

    /// Returns the problems, and other facts worth knowing.
    pub fn diagnostics(&self) -> &[Arc<Diagnostic>] {
        &self.found.diagnostics
    }

    /// Returns all problems: the [`Self::diagnostics`], then the tolerated deviations of the skills that are used and
    /// of those that they hide.
    pub fn told(&self) -> Vec<Arc<Diagnostic>> {
        let deviations = self.skills().iter().chain(self.shadowed()).flat_map(|skill| skill.told());
        self.diagnostics().iter().cloned().chain(deviations.map(Arc::new)).collect()
    }

    /// Returns the sources that were searched, in order.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns the skill `name`. The name is only compared and never becomes a path.
    ///
    /// The result is the skill whose frontmatter has this name; otherwise, if the name has a colon, the possibly hidden
    /// skill that it selects as `source:name` or `source:path`; otherwise a skill in a directory of that name. The path is
    /// that of the skill's directory below the source, with slashes, because a source may have several skills of one name.
    ///
    /// # Errors
    ///
    /// Fails if no skill has this name, with the names of all skills, or if the skill cannot be loaded.
    pub fn get(&self, name: &str) -> Result<&Arc<Skill>, LookupError> {
        let by_name = self.names().get(&*key(name)).map(|at| &self.found.skills[*at]);
        let found = by_name
            .or_else(|| self.in_source(name))
            .or_else(|| self.by_directory(name))
            .or_else(|| self.by_link(name));
        found.ok_or_else(|| {
            if let Some(diagnostic) = self.broken(name).next() {
                return Arc::clone(diagnostic).into();
            }
            let for_people = self.names_of(Skill::is_for_people);
            Box::new(UnknownSkill::new(name, self.names_of(|_| true)).with_for_people(for_people)).into()
        })
    }

    fn names_of(&self, is_wanted: impl Fn(&Skill) -> bool) -> BTreeSet<String> {
        let wanted = self.skills().iter().filter(|skill| is_wanted(skill));
        wanted.map(|skill| skill.meta.name.clone()).collect()
    }

    fn names(&self) -> &BTreeMap<Box<str>, usize> {
        self.names.get_or_init(|| {
            let names = self.skills().iter().enumerate();
            names.map(|(at, skill)| (key(&skill.meta.name).into(), at)).collect()
        })
    }

    /// Returns the skill that is requested as `source:name` or `source:path`.
    fn in_source(&self, text: &str) -> Option<&Arc<Skill>> {
        self.sources.iter().find_map(|source| {
            let name = source.inside(text)?;
            let inside = || {
                let all = self.skills().iter().chain(self.shadowed());
                all.filter(|skill| skill.source == source.name)
            };
            let called = inside().filter(|skill| key(&skill.meta.name) == key(name));
            // The name means the skill that wins within this source, as if there were no other sources.
            let rank = |skill: &&Arc<Skill>| (!self.is_used(skill), skill.rank_in(source));
            let called = match self.duplicates {
                Duplicates::Last => called.rev().min_by_key(rank),
                _ => called.min_by_key(rank),
            };
            called
                .or_else(|| inside().find(|skill| skill.path_below(source).is_some_and(|path| path == name)))
        })
    }

    fn is_used(&self, skill: &Arc<Skill>) -> bool {
        let used = self.names().get(&*key(&skill.meta.name));
        used.is_some_and(|at| Arc::ptr_eq(&self.found.skills[*at], skill))
    }

    /// Returns a skill in a directory of that name, such as one that was installed under an alias.
    fn by_directory(&self, name: &str) -> Option<&Arc<Skill>> {
        let mut all = self.skills().iter().chain(self.shadowed());
        all.find(|skill| skill.dir.file_name().is_some_and(|dir| dir == name))
    }

    /// Returns the skill that a link of that name in a source leads to.
    fn by_link(&self, name: &str) -> Option<&Arc<Skill>> {
        let name = SkillName::new(name).ok()?;
        self.sources.iter().find_map(|source| {
            let real = fs::real_path(&source.dir.join(name.as_str())).ok().flatten()?;
            self.skills().iter().chain(self.shadowed()).find(|skill| skill.real == real)
        })
    }

    /// Returns the skills in directories of that name that cannot be loaded.
    pub(in crate::engine) fn broken<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Diagnostic>> {
        self.diagnostics().iter().filter(move |diagnostic| diagnostic.is_of_directory(name))
    }

    /// Reports whether it contains exactly the skills that were `found` in `sources`.
    pub(super) fn is_of(&self, sources: &[Source], found: &Discovery) -> bool {
        let same = |ours: &[Arc<Skill>], theirs: &[Arc<Skill>]| {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
        };
        let told =
            |diagnostics: &[Arc<Diagnostic>]| diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>();
        self.sources == sources
            && same(self.skills(), &found.skills)
            && same(self.shadowed(), &found.shadowed)
            && told(self.diagnostics()) == told(&found.diagnostics)
    }
}
