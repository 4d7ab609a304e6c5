//! Which versions of skills from registries are newer: decided for all of them at once.

use std::collections::BTreeSet;

use super::ask::SourceAnswer;
use super::find::{Finder, Installed};
use crate::advice::{Opt, Verb, message};
use crate::error::{Error, ErrorKind, Result};
use crate::install::plan::requirement_of;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::dependencies::{Deciding, Keep, VersionRequest, decide};
use crate::ops::fetcher::spec_of;
use crate::source::newest::Files;
use crate::spec::Reference;
use crate::version::{Version, VersionRange};

impl<'a> Finder<'a> {
    /// Decides the versions of `installed`, skills of registries, and returns them with what changes. Others whose
    /// versions have to change with them are among the answer.
    ///
    /// # Errors
    ///
    /// For skills that were named, fails as [`decide`] does.
    pub(super) fn ask_registries(
        &mut self,
        mut installed: Vec<Installed<'a>>,
    ) -> Result<Vec<(Installed<'a>, SourceAnswer)>> {
        if installed.is_empty() {
            return Ok(Vec::new());
        }
        let free: BTreeSet<SkillName> = installed.iter().map(|one| one.name.clone()).collect();
        let requests = match (&self.request.precise, self.request.latest) {
            (Some(version), _) => installed.iter().filter_map(|one| one.in_version(version)).collect(),
            (None, true) => {
                let any = |one: &Installed<'_>| VersionRequest::in_any_version(one.name, &one.entry);
                installed.iter().filter_map(any).collect()
            }
            (None, false) => Vec::new(),
        };
        let Self { request, .. } = self;
        let how = Deciding { keep: Keep::LockedBut(&free), minimal: request.minimal, alone: request.no_deps };
        match decide(&mut self.fetcher.sources, self.files, &requests, how) {
            Ok(warnings) => self.found.warnings.extend(warnings),
            Err(error) => {
                let all: Vec<_> = installed.iter().collect();
                self.fail_all(&all, error)?;
                return Ok(Vec::new());
            }
        }
        for (name, locked, origin, _) in self.fetcher.sources.versions.changed(self.files) {
            if free.contains(name) {
                continue;
            }
            let written = self.files.manifest.skills().get(name).cloned();
            let entry = written.unwrap_or_else(|| Requirement { origin, ..requirement_of(locked) });
            let one = Installed { name, entry, locked };
            self.fetcher.sources.admit(&spec_of(&one.entry))?;
            if self.earlier(&one)? {
                let told =
                    format!("`{name}` has to change its version, and an earlier merge of it is not resolved");
                return Err(Error::new(ErrorKind::Findings, told).hint(message!(
                    "resolve it, or ",
                    Verb::Update.within(self.scope.kind).word(name).flag(Opt::Abort),
                    " undoes it"
                )));
            }
            installed.push(one);
        }
        let answered = installed.into_iter().map(|one| {
            let answer = self.answer(&one);
            (one, answer)
        });
        Ok(answered.collect())
    }

    fn answer(&self, one: &Installed<'_>) -> SourceAnswer {
        let path = one.locked.path.as_deref().unwrap_or_default();
        let Some(version) = self.fetcher.sources.versions.get(&one.entry.origin, path) else {
            // Nothing needs it any more.
            return SourceAnswer { files: Some(Files::Same), ..SourceAnswer::default() };
        };
        let locked = one.locked.revision.as_deref().and_then(|revision| Version::new(revision).ok());
        let is_same =
            locked.as_ref() == Some(version) && one.locked.is_allowed_by(&self.files.manifest, &one.entry);
        let range = one.entry.reference.as_ref().and_then(Reference::range);
        let is_past = range.is_some_and(|range| !range.contains(version))
            && one.locked.overridden_by(&self.files.manifest).is_none();
        SourceAnswer {
            files: Some(if is_same { Files::Same } else { Files::Changed }),
            revision: Some(version.to_string()),
            latest: (is_past && self.request.latest)
                .then(|| Reference::Range(VersionRange::compatible_with(version))),
        }
    }
}

impl Installed<'_> {
    /// Returns the request for exactly `version` of it.
    fn in_version(&self, version: &Version) -> Option<VersionRequest> {
        let name = SkillName::new(self.entry.path.as_deref()?).ok()?;
        let range = Some(VersionRange::exactly(version));
        Some(VersionRequest {
            origin: self.entry.origin.clone(),
            name,
            key: self.name.clone(),
            range,
            within: true,
        })
    }
}
