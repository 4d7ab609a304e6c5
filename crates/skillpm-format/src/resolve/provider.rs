//! What the resolver asks of those who can look into sources.

use semver::VersionReq;

use super::dependent::Dependent;
use crate::name::SkillName;
use crate::spec::SourceSpec;
use crate::version::Version;

/// Tells the resolver what sources have. It may open them for that, and fetches no more than it takes to tell.
pub trait DependencyProvider {
    /// What it takes to fetch a skill that was offered.
    type Candidate;
    /// Why a source cannot be asked, or has no such skill.
    type Error;

    /// Offers the skill `name` of the source that `dependent` comes from, in a version of `range`.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be asked or is refused.
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
    /// Fails for an address that is of no use to `dependent`.
    fn locate(&mut self, dependent: &Dependent, spec: &SourceSpec) -> Result<SourceSpec, Self::Error>;

    /// Returns the one skill at `location`, which `dependent` depends on.
    ///
    /// # Errors
    ///
    /// Fails for a source that cannot be asked or is refused, and where it has no skill there, or several.
    fn at(
        &mut self,
        dependent: &Dependent,
        location: &Location<'_>,
    ) -> Result<Available<Self::Candidate>, Self::Error>;

    /// Returns whether agents see a skill `name` of somewhere else, so that nothing is missing without one here.
    fn is_elsewhere(&mut self, name: &SkillName) -> bool;

    /// Returns whether the skill `name` can be put in its place.
    ///
    /// # Errors
    ///
    /// Fails for a place that cannot be looked at.
    fn has_room_for(&mut self, name: &SkillName) -> Result<bool, Self::Error>;
}

/// Where a dependency is.
#[derive(Debug, Clone)]
pub struct Location<'a> {
    /// The source, and the directory or skill in it.
    pub spec: SourceSpec,
    /// The locked revision at which the source is read; `None` reads it as it is now.
    pub revision: Option<&'a str>,
}

/// What a source has of a name.
#[derive(Debug)]
pub enum Offer<C> {
    /// One skill that fits.
    Fits(Box<Available<C>>),
    /// None that fits.
    Not(Has),
}

/// What a source has instead of a skill that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Has {
    /// One skill of the name, in this version, where it declares one.
    Version(Option<String>),
    /// Several skills of the name.
    Several,
    /// No skill of the name.
    Nothing,
}

/// A skill that a source has.
#[derive(Debug)]
pub struct Available<C> {
    /// The skill, as one whose own dependencies are to be resolved.
    pub skill: Dependent,
    /// What it takes to fetch it.
    pub candidate: C,
}

/// Returns whether `version` is in `range`. No range takes every skill, and a range none without a version.
pub fn meets(range: Option<&VersionReq>, version: Option<&str>) -> bool {
    range.is_none_or(|range| {
        version.and_then(|text| Version::new(text).ok()).is_some_and(|v| range.matches(v.number()))
    })
}
