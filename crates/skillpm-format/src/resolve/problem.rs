//! The input of the search.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use semver::VersionReq;

use super::dependent::{Dependent, Installed};
use crate::name::SkillName;
use crate::version::Version;

/// A registry, as a number that the provider gives to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryId(pub usize);

/// A skill of a registry.
pub type SkillId = (RegistryId, SkillName);

/// A skill of a registry that the user requires.
#[derive(Debug, Clone)]
pub struct RootRequirement {
    /// The registry that the skill is taken from.
    pub registry: RegistryId,
    /// The name of the skill in it.
    pub name: SkillName,
    /// The name under which it is installed.
    pub key: SkillName,
    /// The accepted versions; `None` accepts all but pre-releases.
    pub range: Option<VersionReq>,
    /// The requirement as written, for messages.
    pub text: String,
}

/// The versions that a requirement accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionLimit {
    /// The versions in a range.
    Range(VersionReq),
    /// The skill with this ordinal, of those outside of registries that have its name, with its source for messages.
    At(u32, String),
}

/// A locked skill of a registry that stays as it is in its locked version.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The locked version.
    pub version: Version,
    /// The names of the skills that it depends on, according to the lockfile.
    pub dependencies: Vec<SkillName>,
}

/// The reaction to an unsatisfied dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnresolved {
    /// Fail: there is no solution.
    #[default]
    Stop,
    /// Solve without it, and report it.
    Skip,
}

/// The origin of a new skill's requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedBy {
    /// The user requested it.
    User,
    /// Skills that stay as they are depend on it.
    Staying,
    /// At most skills that come depend on it: it comes if one of them still does.
    Coming,
}

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// To all that is required and needed.
    #[default]
    Everything,
    /// To what comes, and to what is installed and required only if that has to do with it.
    Lazy,
    /// To all that registries tell. Other sources stay closed, and what only they could tell is left out.
    Registries,
}

/// The input of the search.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// The skills of registries that the user requires, in any order.
    pub roots: Vec<RootRequirement>,
    /// The preferred versions of skills of registries. They are taken while they fit, even if they are yanked or too
    /// young.
    pub locked: BTreeMap<SkillId, Version>,
    /// The installed versions of other skills of registries. One that is yanked or too young stays where no other fits.
    pub last: BTreeMap<SkillId, Version>,
    /// The skills of registries that are installed under their own names.
    pub known: BTreeSet<SkillId>,
    /// Those that depend on the locked skills as long as their versions do not change.
    pub settled: BTreeMap<SkillId, Settled>,
    /// The other installed skills. One satisfies every dependency on its name; a version outside of the range is a notice.
    pub installed: Vec<Installed>,
    /// Skills from outside of registries that come in place of installed ones of their names, each with who wants it.
    pub coming: Vec<(Dependent, WantedBy)>,
    /// The ranges that replace all ranges of a skill, including the user's.
    pub overrides: BTreeMap<SkillName, VersionReq>,
    /// Whether the lowest versions are selected instead of the highest.
    pub minimal: bool,
    /// Whether what skills need is left out.
    pub alone: bool,
    /// How far the search goes.
    pub reach: Reach,
    /// The reaction to an unsatisfied dependency.
    pub on_unresolved: OnUnresolved,
}

impl VersionLimit {
    /// Returns the limit for a requirement with `range`; `None` accepts all but pre-releases.
    pub(super) fn of(range: Option<&VersionReq>) -> Self {
        Self::Range(range.cloned().unwrap_or(VersionReq::STAR))
    }

    /// Reports whether it accepts `version`.
    pub fn accepts(&self, version: &Version) -> bool {
        match self {
            Self::Range(range) => range.matches(version.number()),
            Self::At(..) => true,
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
            Self::Range(range) => f.write_str(&range.to_string().replace(", ", ",")),
            Self::At(_, source) => f.write_str(source),
        }
    }
}

impl RootRequirement {
    /// Returns the required skill.
    pub fn id(&self) -> SkillId {
        (self.registry, self.name.clone())
    }
}

impl Problem {
    /// Returns the limit on the skill `name` for a requirement with `range`: the override, if there is one.
    pub(super) fn limit(&self, name: &SkillName, range: Option<&VersionReq>) -> VersionLimit {
        VersionLimit::of(self.overrides.get(name).or(range))
    }

    /// Returns the requirements in an order that does not depend on theirs.
    pub(super) fn sorted_roots(&self) -> Vec<&RootRequirement> {
        let mut roots: Vec<_> = self.roots.iter().collect();
        roots.sort_by_cached_key(|root| {
            let range = root.range.as_ref().map(ToString::to_string);
            (root.name.clone(), root.registry, range, root.text.clone(), root.key.clone())
        });
        roots
    }
}
