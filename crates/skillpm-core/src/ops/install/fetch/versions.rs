//! Skills of registries: each is chosen alone, in the version that was decided.

use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::fetch::dependencies::{Offered, VersionRequest};
use crate::fetch::fetcher::{Sources, Versions};
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::install::chosen::Chosen;
use crate::scope::state::Files;
use crate::source;
use crate::source::discover::Candidate;
use crate::spec::{DEFAULT_REGISTRY, Origin, Reference, SourceSpec};
use crate::version::{Version, VersionRange};

/// Returns warnings of other registries in the manifest of `files` that have a skill of the name of one of `requests`,
/// unless the manifest already requests it: that one may have been meant. They are not asked: the name may be private.
pub(super) fn others_with_the_name(
    sources: &mut Sources<'_>,
    files: &Files,
    requests: &[VersionRequest],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for VersionRequest { origin, name, .. } in requests {
        if files.manifest.asks_for(name) {
            continue;
        }
        for (other, registry) in files.manifest.registries().iter() {
            let spec = SourceSpec::new(registry.clone());
            let is_same = spec.origin == *origin || is_same_place(sources, &spec.origin, origin);
            if is_same || other == DEFAULT_REGISTRY {
                continue;
            }
            // A registry that was not requested may be absent, and nothing is installed from it.
            let Ok(opened) = sources.open(&spec) else { continue };
            if opened.shelf.as_ref().is_some_and(|shelf| shelf.is_known(name)) {
                let told = message!(
                    format_args!(
                        "`{name}` comes from `{}`; the registry `{other}` has a skill of that name too: ",
                        origin.typed()
                    ),
                    Verb::Install.call().word(format!("{other}:{name}")).flag(Opt::Force),
                    " installs that one instead"
                );
                warnings.push(Warning::new(codes::NAME_IN_OTHER_REGISTRY, told));
            }
        }
    }
    warnings
}

/// Reports whether two registries are one directory, written in two ways.
fn is_same_place(sources: &Sources<'_>, one: &Origin, other: &Origin) -> bool {
    let Sources { context, scope, .. } = sources;
    let place = |origin| source::real_place(&context.settings, scope.as_root(), origin).ok().flatten();
    place(one).is_some_and(|one| place(other) == Some(one))
}

impl Chosen {
    /// Reports whether a version of it has to be decided.
    pub(super) fn is_released(&self) -> bool {
        self.candidates.first().is_some_and(|one| self.spec.origin.released(Some(&one.path)).is_some())
    }

    /// Returns the one skill that `offered` has delivered.
    pub(super) fn offered(offered: Offered) -> Self {
        let Offered { spec, opened, candidate } = offered;
        Self { spec, opened, candidates: vec![candidate], named: true, missed: Vec::new() }
    }

    /// Returns each skill of a registry as chosen alone, in a version of the range in the manifest if none was typed.
    pub(super) fn apart(self, files: &Files) -> Vec<Self> {
        if !self.is_released() {
            return vec![self];
        }
        let Self { spec, opened, candidates, named, missed } = self;
        let alone = |candidate: Candidate| {
            let range = || written_range(files, &spec, &candidate.path);
            let reference = spec.reference.clone().or_else(range);
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

    /// Chooses the version that was decided. The reference is the range that the manifest is to state.
    pub(super) fn decide(&mut self, versions: &Versions) {
        for candidate in &mut self.candidates {
            if let Some(decided) = versions.get(&self.spec.origin, &candidate.path) {
                candidate.revision = Some(decided.to_string());
            }
            let version = candidate.revision.as_deref().and_then(|text| Version::new(text).ok());
            if let (None, Some(version)) = (&self.spec.reference, version) {
                self.spec.reference = Some(Reference::Range(VersionRange::compatible_with(&version)));
            }
        }
    }
}

/// Returns the range that the manifest states for the skill `name` of the registry `spec`.
fn written_range(files: &Files, spec: &SourceSpec, name: &str) -> Option<Reference> {
    let is_it = |entry: &&Requirement| entry.origin == spec.origin && entry.path.as_deref() == Some(name);
    files.manifest.skills().values().find(is_it).and_then(|entry| entry.reference.clone())
}

/// Returns the requests for the skills of registries in `chosen`, which get the name `alias` if there is one.
pub(super) fn requests(chosen: &[Chosen], alias: Option<&str>) -> Vec<VersionRequest> {
    let of_registries = chosen.iter().filter(|one| one.is_released());
    let request = |one: &Chosen| {
        let name = SkillName::new(&one.candidates.first()?.path).ok()?;
        Some(VersionRequest {
            origin: one.spec.origin.clone(),
            key: alias.and_then(|alias| SkillName::new(alias).ok()).unwrap_or_else(|| name.clone()),
            name,
            range: one.spec.reference.as_ref().and_then(Reference::range).cloned(),
            within: false,
        })
    };
    of_registries.filter_map(request).collect()
}
