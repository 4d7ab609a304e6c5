//! The requests of the search to code that can look into sources.

use std::sync::Arc;

use semver::VersionReq;

use super::choice::{Release, ReleaseAge};
use super::dependent::Dependent;
use super::problem::{RegistryId, SkillId};
use crate::name::SkillName;
use crate::spec::{Origin, SourceSpec};
use crate::version::Version;

/// A provider that reports to the search what sources have. It may open them, and fetches no more than it needs.
pub trait Provider {
    /// The data needed to fetch an offered skill.
    type Candidate;
    /// The reason why a source cannot be read or has no such skill, or why the search is to be stopped.
    type Error;

    /// Returns the registry at `origin`, however it is written. Returns `None` for a source of another kind.
    ///
    /// # Errors
    ///
    /// Fails for a path that cannot be examined.
    fn registry(&mut self, origin: &Origin) -> Result<Option<RegistryId>, Self::Error>;

    /// Returns the source that `registry` is, as messages name it.
    fn origin(&self, registry: RegistryId) -> Origin;

    /// Returns the releases of the skill `name` in `registry`, in any order. Returns `None` if the registry has no such
    /// skill. The search keeps what is returned, so a skill is requested once unless the request fails.
    ///
    /// # Errors
    ///
    /// Fails for a registry that cannot be read.
    fn releases(
        &mut self,
        registry: RegistryId,
        name: &SkillName,
    ) -> Result<Option<Arc<Vec<Release>>>, Self::Error>;

    /// Returns the minimum age of the releases of the skill `name` in `registry`; `None` accepts releases of any age.
    fn minimum_age(&mut self, registry: RegistryId, name: &SkillName) -> Option<ReleaseAge> {
        let _ = (registry, name);
        None
    }

    /// Announces `skills`, whose releases the search will probably request next. A provider can fetch them in parallel.
    /// Failures are reported by [`Self::releases`], if the search requests the skill.
    fn prefetch(&mut self, skills: &[SkillId]) {
        let _ = skills;
    }

    /// Reports whether the search may continue; it is called before each decision. A provider can limit the time of the
    /// search, which may be long for a problem that was made to be hard, and can stop it if the user interrupts.
    ///
    /// # Errors
    ///
    /// Fails if the search is to be stopped.
    fn check(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Returns the skill `name`, which is installed and stays, with its declarations. Returns `None` if its files are not
    /// on this machine.
    fn installed(&mut self, name: &SkillName) -> Option<Dependent>;

    /// Offers the skill `name` of the source that `dependent` comes from, in a version of `range`.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be read or is refused.
    fn named(
        &mut self,
        dependent: &Dependent,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<Offer<Self::Candidate>, Self::Error>;

    /// Returns the address of `spec`, which `dependent` declares and which does not lead to a sibling of it.
    ///
    /// # Errors
    ///
    /// Fails for an address that `dependent` cannot use.
    fn locate(&mut self, dependent: &Dependent, spec: &SourceSpec) -> Result<SourceSpec, Self::Error>;

    /// Returns the one skill at `location`, which `dependent` depends on.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be read or is refused, and if it has no skill there, or several.
    fn at(
        &mut self,
        dependent: &Dependent,
        location: &Location<'_>,
    ) -> Result<Available<Self::Candidate>, Self::Error>;

    /// Reports whether agents see a skill `name` from elsewhere, so that nothing is missing without one here.
    fn is_elsewhere(&mut self, name: &SkillName) -> bool;

    /// Reports whether there is room for the skill `name` in its place.
    ///
    /// # Errors
    ///
    /// Fails for a place that cannot be examined.
    fn has_room_for(&mut self, name: &SkillName) -> Result<bool, Self::Error>;
}

/// The location of a dependency.
#[derive(Debug, Clone)]
pub struct Location<'a> {
    /// The source, and the directory or skill in it.
    pub spec: SourceSpec,
    /// The locked revision at which the source is read; `None` reads its current state.
    pub revision: Option<&'a str>,
}

/// The offer of a source for a name.
#[derive(Debug)]
pub enum Offer<C> {
    /// One skill that fits.
    Fits(Box<Available<C>>),
    /// No skill that fits.
    Not(Has),
}

/// The offer of a source without a fitting skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Has {
    /// One skill with the name, in this version if it declares one.
    Version(Option<String>),
    /// Several skills with the name.
    Several,
    /// No skill with the name.
    Nothing,
}

/// A skill that a source has.
#[derive(Debug)]
pub struct Available<C> {
    /// The skill, as one whose own dependencies are to be resolved.
    pub skill: Dependent,
    /// The data needed to fetch it.
    pub candidate: C,
}

/// Reports whether `version` is in `range`. Without a range every skill is accepted; with one, a skill without a
/// version is not.
pub fn meets(range: Option<&VersionReq>, version: Option<&str>) -> bool {
    range.is_none_or(|range| {
        version.and_then(|text| Version::new(text).ok()).is_some_and(|v| range.matches(v.number()))
    })
}
