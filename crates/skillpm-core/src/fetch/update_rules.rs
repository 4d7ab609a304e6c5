//! The rules of a verb for updates: the policy, and one choice of versions.

use std::collections::BTreeSet;

use super::dependencies::{Deciding, VersionRequest, decide};
use super::fetcher::{Sources, moved_to};
use crate::admission::PolicySubject;
use crate::advice::Warning;
use crate::error::Result;
use crate::name::SkillName;
use crate::scope::state::Files;
use crate::spec::SourceSpec;
use crate::updates::{Aim, How, Releases, Rules, UpdateCandidate};
use crate::version::VersionRange;

impl Rules for Sources<'_> {
    fn admit(&mut self, subject: PolicySubject<'_>) -> Result<()> {
        self.gate.source(subject)
    }

    fn held_back(&mut self, subject: PolicySubject<'_>, revision: Option<&str>) -> Result<Option<String>> {
        self.gate.held_back(self.context, subject, revision)
    }

    fn too_young(&self, subject: PolicySubject<'_>, published: Option<i64>, so: &str) -> Option<String> {
        self.gate.too_young(subject, published, so)
    }

    fn decide(&mut self, files: &Files, asked: &[&UpdateCandidate<'_>], how: &How) -> Result<Vec<Warning>> {
        let free: BTreeSet<SkillName> = asked.iter().map(|one| one.name.clone()).collect();
        let requests: Vec<_> = asked.iter().filter_map(|one| request(one, &how.aim)).collect();
        let how = Deciding { free: Some(&free), minimal: how.minimal, alone: how.alone };
        decide(self, files, &requests, how)
    }

    fn releases(&mut self, candidate: &UpdateCandidate<'_>) -> Result<Releases> {
        let origin = &candidate.entry.origin;
        let path = candidate.locked.and_then(|locked| locked.path.as_deref()).unwrap_or_default();
        let opened = self.open(&SourceSpec::new(origin.clone()))?;
        let list = match (&opened.shelf, SkillName::new(path)) {
            (Some(shelf), Ok(name)) => shelf.releases(&name)?,
            _ => None,
        };
        Ok(Releases {
            list,
            decided: self.versions.get(origin, path).cloned(),
            age: self.minimum_age(origin, path),
        })
    }

    fn moved_to(&mut self, candidate: &UpdateCandidate<'_>) -> Option<String> {
        let own = candidate.entry.name.as_deref().unwrap_or(candidate.name.as_str());
        let opened = match &candidate.newest {
            Some(revision) => self.open_locked(&candidate.entry.origin, Some(revision)),
            // A policy on its age concerns those who install it.
            None => self.open_now(&candidate.entry.origin, candidate.entry.reference.as_ref()),
        };
        moved_to(&opened.ok()?, candidate.locked?.path.as_deref(), own)
    }
}

/// Returns what is requested of the registry of `candidate` besides what the manifest states.
pub(crate) fn request(candidate: &UpdateCandidate<'_>, aim: &Aim) -> Option<VersionRequest> {
    let entry = &candidate.entry;
    let (range, within) = match aim {
        // Without a range there is nothing to go past.
        Aim::Latest if entry.reference.is_some() => (None, false),
        Aim::Newest | Aim::Latest => return None,
        Aim::Exactly(version) => (Some(VersionRange::exactly(version)), true),
    };
    let name = SkillName::new(entry.path.as_deref()?).ok()?;
    Some(VersionRequest { origin: entry.origin.clone(), name, key: candidate.name.clone(), range, within })
}
