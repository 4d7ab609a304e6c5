//! The versions of skills of registries that a command takes.

use std::collections::BTreeMap;

use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::scope::state::Files;
use crate::spec::Origin;
use crate::version::Version;

/// The versions that were decided, by the registry and the name of the skill in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Versions(BTreeMap<(Origin, SkillName), Version>);

impl Versions {
    /// Returns the decision `versions`.
    pub(crate) fn new(versions: BTreeMap<(Origin, SkillName), Version>) -> Self {
        Self(versions)
    }

    /// Returns the version of the skill `name` of the registry `origin`, if it is needed.
    pub(crate) fn get(&self, origin: &Origin, name: &str) -> Option<&Version> {
        self.0.get(&(origin.clone(), SkillName::new(name).ok()?))
    }

    /// Returns the version that replaces what is `locked`, if another one was decided.
    fn instead_of(&self, locked: &Locked) -> Option<&Version> {
        let version = self.get(&locked.origin, locked.path.as_deref()?)?;
        let old = locked.revision.as_deref().and_then(|revision| Version::new(revision).ok());
        (old.as_ref() != Some(version)).then_some(version)
    }

    /// Returns the skills that are locked in `files` and change, each with its registry and version from now on.
    pub(crate) fn changed<'f>(&self, files: &'f Files) -> Vec<(&'f SkillName, &'f Locked, Origin, Version)> {
        let change = |(name, locked): (&'f SkillName, &'f Locked)| {
            if let Some(version) = self.instead_of(locked) {
                return Some((name, locked, locked.origin.clone(), version.clone()));
            }
            let stays = self.get(&locked.origin, locked.path.as_deref()?).is_some();
            // A mere dependency may have to come from another registry now.
            let is_free = locked.released().is_some() && !stays && !files.manifest.asks_for(name);
            let mut elsewhere = self.0.iter().filter(|((_, other), _)| is_free && other == name);
            elsewhere.next().map(|((origin, _), version)| (name, locked, origin.clone(), version.clone()))
        };
        files.lock.skills.iter().filter_map(change).collect()
    }
}
