//! Skills of registries: the versions of what was chosen, and of what is installed and changes with it.

use std::collections::BTreeSet;

use super::ingest::Ingest;
use super::{As, Fetched};
use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::error::Result;
use crate::install::plan::requirement_of;
use crate::install::state::Files;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::dependencies::{Deciding, Keep, VersionRequest, decide};
use crate::ops::fetcher::{Sources, spec_of};
use crate::ops::install::chosen::Chosen;
use crate::ops::install::request::InstallRequest;
use crate::resolve::Dependent;
use crate::source;
use crate::source::discover::Candidate;
use crate::spec::{DEFAULT_REGISTRY, Origin, Reference, SourceSpec};
use crate::version::{Version, VersionRange};

impl Fetched<'_> {
    /// Returns `chosen` with the skills of registries in the versions that fit together. Each of these is alone in its
    /// source, whose reference is the range that the manifest is to state.
    ///
    /// # Errors
    ///
    /// Fails as [`decide`] does.
    pub(super) fn choose_versions(
        &mut self,
        request: &InstallRequest,
        chosen: Vec<Chosen>,
        files: &Files,
    ) -> Result<Vec<Chosen>> {
        if !chosen.iter().any(|one| one.spec.origin.has_versions()) {
            return Ok(chosen);
        }
        let chosen: Vec<Chosen> = chosen
            .into_iter()
            .flat_map(|one| one.apart(|spec, name| written_range(files, spec, name)))
            .collect();
        let alias = request.alias.as_deref();
        let requests: Vec<_> = chosen.iter().filter_map(|one| request_for(one, alias)).collect();
        let how = Deciding { keep: Keep::Locked, minimal: request.minimal, alone: request.no_deps };
        let warnings = decide(&mut self.sources, files, &requests, how)?;
        self.warnings.extend(warnings);
        self.warn_of_others(files, &requests);
        let versions = &self.sources.versions;
        let at_version = |mut one: Chosen| {
            for candidate in one.candidates.iter_mut().filter(|_| one.spec.origin.has_versions()) {
                let decided = versions.get(&one.spec.origin, &candidate.path);
                if let Some(decided) = decided {
                    candidate.revision = Some(decided.to_string());
                }
                let version = candidate.revision.as_deref().and_then(|text| Version::new(text).ok());
                if let (None, Some(version)) = (&one.spec.reference, version) {
                    one.spec.reference = Some(Reference::Range(VersionRange::compatible_with(&version)));
                }
            }
            one
        };
        Ok(chosen.into_iter().map(at_version).collect())
    }

    /// Warns of other registries in the manifest of `files` that have a skill of the name of one of `requests`, unless
    /// the manifest already requests it: somebody may have meant that one. They are not asked: the name may be private.
    fn warn_of_others(&mut self, files: &Files, requests: &[VersionRequest]) {
        for VersionRequest { origin, name, .. } in requests {
            if files.manifest.asks_for(name) {
                continue;
            }
            for (other, registry) in files.manifest.registries().iter() {
                let spec = SourceSpec::new(registry.clone());
                let is_same = spec.origin == *origin || self.is_same_place(&spec.origin, origin);
                if is_same || other == DEFAULT_REGISTRY {
                    continue;
                }
                // A registry that nobody asked for may be absent, and nothing is taken from it.
                let Ok(opened) = self.sources.open(&spec) else { continue };
                let has_it = opened.shelf.as_ref().is_some_and(|shelf| shelf.is_known(name));
                if has_it {
                    let told = message!(
                        format_args!(
                            "`{name}` comes from `{}`; the registry `{other}` has a skill of that name too: ",
                            origin.typed()
                        ),
                        Verb::Install.call().word(format!("{other}:{name}")),
                        " installs that one instead"
                    );
                    self.warnings.push(Warning::new(codes::NAME_IN_OTHER_REGISTRY, told));
                }
            }
        }
    }

    /// Reports whether two registries are one directory, written in two ways.
    fn is_same_place(&self, one: &Origin, other: &Origin) -> bool {
        let Sources { context, scope, .. } = &self.sources;
        let place = |origin| source::real_place(&context.settings, scope.as_root(), origin).ok().flatten();
        place(one).is_some_and(|one| place(other) == Some(one))
    }

    /// Takes in the installed skills whose versions change so that all fit together, and returns their names.
    ///
    /// # Errors
    ///
    /// Fails as [`Fetched::add`] does.
    pub(super) fn take_changed(&mut self, files: &Files, intake: &Ingest) -> Result<BTreeSet<SkillName>> {
        let mut names = BTreeSet::new();
        for (name, locked, origin, version) in self.sources.versions.changed(files) {
            if self.by_key.contains_key(&name.collision_key()) {
                continue;
            }
            let spec = SourceSpec { origin, ..spec_of(&requirement_of(locked)) };
            let opened = self.sources.open_outside(&SourceSpec::new(spec.origin.clone()))?;
            let path = locked.path.clone().unwrap_or_default();
            let candidates = vec![Candidate::listed_as(path, version.to_string())];
            let chosen = Chosen { spec, opened, candidates, named: true, missed: Vec::new() };
            let alias = locked.alias_of.is_some().then_some(name.as_str());
            self.add(As { alias, editable: false }, &chosen, intake)?;
            if let Some(at) = self.by_key.get(&name.collision_key())
                && let Some(wanted) = self.wanted.get_mut(*at)
            {
                // The manifest states the same range as before, or does not mention it.
                wanted.requirement = None;
            }
            names.insert(name.clone());
        }
        Ok(names)
    }

    /// Returns the skills that were taken in: those that were requested, and those in `changed`.
    pub(super) fn take_came(&mut self, changed: &BTreeSet<SkillName>) -> (Vec<Dependent>, Vec<Dependent>) {
        let came = std::mem::take(&mut self.came);
        came.into_iter().partition(|dependent| !changed.contains(&dependent.name))
    }
}

impl Chosen {
    /// Returns each skill of a registry as chosen alone, in a version of `range` if none was typed.
    fn apart(self, range: impl Fn(&SourceSpec, &str) -> Option<Reference>) -> Vec<Self> {
        if !self.spec.origin.has_versions() {
            return vec![self];
        }
        let Self { spec, opened, candidates, named, missed } = self;
        let alone = |candidate: Candidate| {
            let reference = spec.reference.clone().or_else(|| range(&spec, &candidate.path));
            Self {
                spec: SourceSpec { reference, ..spec.clone() },
                opened: opened.clone(),
                candidates: vec![candidate],
                named,
                missed: missed.clone(),
            }
        };
        candidates.into_iter().map(alone).collect()
    }
}

/// Returns the range that the manifest states for the skill `name` of the registry `spec`.
fn written_range(files: &Files, spec: &SourceSpec, name: &str) -> Option<Reference> {
    let is_it = |entry: &&Requirement| entry.origin == spec.origin && entry.path.as_deref() == Some(name);
    files.manifest.skills().values().find(is_it).and_then(|entry| entry.reference.clone())
}

fn request_for(chosen: &Chosen, alias: Option<&str>) -> Option<VersionRequest> {
    let candidate = chosen.candidates.first().filter(|_| chosen.spec.origin.has_versions())?;
    let name = SkillName::new(&candidate.path).ok()?;
    Some(VersionRequest {
        origin: chosen.spec.origin.clone(),
        key: alias.and_then(|alias| SkillName::new(alias).ok()).unwrap_or_else(|| name.clone()),
        name,
        range: chosen.spec.reference.as_ref().and_then(Reference::range).cloned(),
        within: false,
    })
}
