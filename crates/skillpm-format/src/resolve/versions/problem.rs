//! The input of the solver.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use semver::VersionReq;

use crate::name::SkillName;
use crate::resolve::declared::Declared;
use crate::text;
use crate::version::Version;

/// A day, in seconds.
pub(super) const DAY: i64 = 86_400;

/// A registry, as its index in [`VersionProblem::registries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryId(pub usize);

/// A skill of a registry.
pub type SkillId = (RegistryId, SkillName);

/// One version that a registry lists.
#[derive(Debug, Clone)]
pub struct Release {
    /// The version.
    pub version: Version,
    /// The dependencies that it declares.
    pub dependencies: Vec<Declared>,
    /// Whether it was withdrawn: it is not selected unless it is locked.
    pub yanked: bool,
    /// The time of publication, in seconds since 1970, if the registry states it.
    pub published: Option<i64>,
}

/// A provider of the versions that registries list.
pub trait ReleaseProvider {
    /// The reason why a registry cannot be read, or why the search is to be stopped.
    type Error;

    /// Returns the versions of the skill `name` in `registry`, in any order. Returns `None` if the registry has no such
    /// skill. The solver keeps what is returned, so a skill is requested once unless the request fails.
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

    /// Announces `skills`, whose versions the solver will probably request next. A provider can fetch them in parallel.
    /// Failures are reported by [`Self::releases`], if the solver requests the skill.
    fn prefetch(&mut self, skills: &[SkillId]) {
        let _ = skills;
    }

    /// Reports whether the search may continue; it is called before each decision. A provider can limit the time of the
    /// search, which may be long for a problem that somebody made to be hard, and can stop it if the user interrupts.
    ///
    /// # Errors
    ///
    /// Fails if the search is to be stopped.
    fn check(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The party that requires a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// The user.
    User,
    /// A skill.
    Skill {
        /// Its name.
        name: SkillName,
        /// Its version, if it has one.
        version: Option<Version>,
    },
}

/// A skill that is required from outside of the registries: by the user, or by a skill from another source.
#[derive(Debug, Clone)]
pub struct RootRequirement {
    /// The registry that the skill is taken from.
    pub registry: RegistryId,
    /// The name of the skill.
    pub name: SkillName,
    /// The accepted versions; `None` accepts all but pre-releases.
    pub range: Option<VersionReq>,
    /// The party that requires it.
    pub by: Asker,
    /// The requirement as written, for messages.
    pub text: String,
}

/// The versions that an override accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionLimit {
    /// Only this version. Without build metadata it also accepts versions that differ only in that.
    Exact(Version),
    /// The versions in a range.
    Range(VersionReq),
}

/// The minimum age of a release.
#[derive(Debug, Clone, Copy)]
pub struct ReleaseAge {
    /// The current time, in seconds since 1970.
    pub now: i64,
    /// The minimum age, in seconds.
    pub minimum: i64,
}

/// The input of the solver.
#[derive(Debug, Clone, Default)]
pub struct VersionProblem {
    /// The registries, as messages name them.
    pub registries: Vec<String>,
    /// The skills that are required from outside of the registries, in any order.
    pub roots: Vec<RootRequirement>,
    /// The locked versions. They are preferred while they fit, even if they are yanked or too young.
    pub locked: BTreeMap<SkillId, Version>,
    /// The names that are bound to another source, with the version there if it has one. They satisfy every dependency;
    /// a version outside of the range is a notice.
    pub fixed: BTreeMap<SkillName, Option<Version>>,
    /// The limits that replace all ranges of a skill, including the user's.
    pub overrides: BTreeMap<SkillName, VersionLimit>,
    /// Whether the lowest versions are selected instead of the highest.
    pub minimal: bool,
}

impl VersionLimit {
    /// Returns the limit for a requirement with `range`; `None` accepts all but pre-releases.
    pub(super) fn of(range: Option<&VersionReq>) -> Self {
        Self::Range(range.cloned().unwrap_or(VersionReq::STAR))
    }

    /// Reports whether it accepts `version`.
    pub fn accepts(&self, version: &Version) -> bool {
        let number = version.number();
        match self {
            Self::Range(range) => range.matches(number),
            Self::Exact(exact) if exact.number().build.is_empty() => {
                exact.number().cmp_precedence(number).is_eq()
            }
            Self::Exact(exact) => exact == version,
        }
    }

    /// Reports whether it accepts every version but pre-releases.
    pub(super) fn is_any(&self) -> bool {
        matches!(self, Self::Range(range) if range.comparators.is_empty())
    }
}

/// Writes the range without spaces, as in requirements: `>=1.2,<2`.
impl fmt::Display for VersionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(version) => write!(f, "{version}"),
            Self::Range(range) => f.write_str(&range.to_string().replace(", ", ",")),
        }
    }
}

impl ReleaseAge {
    /// Reports whether a release is too young. `published` is in seconds since 1970; a release without a time of
    /// publication counts as too young.
    pub(super) fn refuses(self, published: Option<i64>) -> bool {
        published.is_none_or(|time| self.old_enough_at(time) > self.now)
    }

    /// Returns the time at which a release from the time `published` is old enough. Both are in seconds since 1970.
    pub(super) fn old_enough_at(self, published: i64) -> i64 {
        published.saturating_add(self.minimum)
    }

    /// Returns the first day, as `2026-12-04`, on all of which a release from the time `published`, in seconds since
    /// 1970, is old enough.
    pub fn old_enough_on(self, published: i64) -> String {
        let time = self.old_enough_at(published).saturating_add(DAY - 1);
        let day = text::timestamp(time, 0);
        day.split('T').next().unwrap_or_default().to_owned()
    }
}

impl RootRequirement {
    /// Returns the required skill.
    pub(super) fn id(&self) -> SkillId {
        (self.registry, self.name.clone())
    }
}

impl VersionProblem {
    /// Returns the limit on the skill `name` for a requirement with `range`: the override, if there is one.
    pub(super) fn limit(&self, name: &SkillName, range: Option<&VersionReq>) -> VersionLimit {
        self.overrides.get(name).cloned().unwrap_or_else(|| VersionLimit::of(range))
    }

    /// Returns the requirements in an order that does not depend on theirs.
    pub(super) fn sorted_roots(&self) -> Vec<&RootRequirement> {
        let mut roots: Vec<_> = self.roots.iter().collect();
        roots.sort_by_cached_key(|root| {
            let range = root.range.as_ref().map(ToString::to_string);
            (root.name.clone(), root.registry, root.by.clone(), range, root.text.clone())
        });
        roots
    }
}
