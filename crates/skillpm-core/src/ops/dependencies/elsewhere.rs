//! What installed skills of repositories, directories and other sources need of registries.

use semver::VersionReq;

use super::installed::outside;
use super::locked_dependent;
use crate::engine::load::{frontmatter, skill_file};
use crate::install::plan::requirement_of;
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::ops::fetcher::{Sources, spec_of};
use crate::requirement::Requirement;
use crate::resolve::Dependent;
use crate::resolve::versions::Asker;
use crate::skill;
use crate::spec::{Origin, SourceSpec};
use crate::store::Store;
use crate::version::{Version, VersionRange};

/// What a skill from elsewhere needs, and what may come from a registry.
pub(super) struct Need {
    /// The name of the skill that declares it.
    pub(super) dependent: SkillName,
    /// The same, for messages.
    pub(super) by: Asker,
    /// The declaration as written.
    pub(super) text: String,
    /// The name of the skill that is needed.
    pub(super) name: SkillName,
    /// The registry that is named; `None` means the skill of that name, wherever it comes from.
    pub(super) origin: Option<Origin>,
    /// The accepted versions.
    pub(super) range: Option<VersionReq>,
}

/// Returns what the skills in `files` that come from elsewhere than a registry declare to need: by name, and from
/// registries. Skills whose files are not on this machine declare nothing: what they need is examined when they are
/// fetched.
pub(super) fn declared_elsewhere(sources: &Sources<'_>, files: &Files) -> Vec<Need> {
    let mut needs = Vec::new();
    for (dependent, version) in dependents(sources, files) {
        let by = Asker::Skill { name: dependent.name.clone(), version };
        for declared in &dependent.declared {
            let found = match &declared.requirement {
                Ok(Requirement::Named { name, range }) => Some((name.clone(), None, range.clone())),
                Ok(Requirement::Source(spec)) if spec.origin.has_versions() => {
                    of_registry(sources, &dependent.place, spec)
                }
                _ => None,
            };
            let Some((name, origin, range)) = found.filter(|(name, ..)| *name != dependent.name) else {
                continue;
            };
            let (by, text) = (by.clone(), declared.text.clone());
            needs.push(Need { dependent: dependent.name.clone(), by, text, name, origin, range });
        }
    }
    needs
}

/// Returns the skill that `spec`, which a skill at `place` declares, means, with its registry and the accepted versions.
fn of_registry(
    sources: &Sources<'_>,
    place: &SourceSpec,
    spec: &SourceSpec,
) -> Option<(SkillName, Option<Origin>, Option<VersionReq>)> {
    let spec = outside(sources.context, sources.scope, place, spec).ok()?;
    let name = SkillName::new(spec.path.as_deref().or(spec.skill.as_deref())?).ok()?;
    let range = spec.reference.as_ref().and_then(|reference| reference.range());
    Some((name, Some(spec.origin), range.map(VersionRange::parsed).cloned()))
}

/// Returns the skills in `files` that may need something and come from elsewhere than a registry, with their versions.
fn dependents(sources: &Sources<'_>, files: &Files) -> Vec<(Dependent, Option<Version>)> {
    let editable = files.manifest.skills().iter().filter(|(_, entry)| entry.editable);
    let mut all: Vec<_> = editable
        .filter_map(|(name, entry)| Some((installed(sources, name, spec_of(entry))?, None)))
        .collect();
    let kept = files.kept();
    for (name, locked) in &files.lock.skills {
        let is_editable = files.manifest.skills().get(name).is_some_and(|entry| entry.editable);
        let may_need = !locked.origin.has_versions() && !locked.dependencies.is_empty();
        if !is_editable && may_need && kept.contains(name) {
            let version = locked.version.as_deref().and_then(|version| Version::new(version).ok());
            all.extend(stored(sources, name, locked).map(|dependent| (dependent, version)));
        }
    }
    all
}

/// Returns the skill that is `locked` as it is in the store, or else as it is installed.
fn stored(sources: &Sources<'_>, name: &SkillName, locked: &Locked) -> Option<Dependent> {
    let store = Store::new(&sources.context.settings).ok();
    let set = store.and_then(|store| store.get(&locked.digest).ok().flatten());
    match set.map(|set| locked_dependent(name, locked, &set)) {
        Some(Ok(dependent)) => dependent,
        _ => installed(sources, name, spec_of(&requirement_of(locked))),
    }
}

/// Returns the skill from `place` as it is installed.
fn installed(sources: &Sources<'_>, name: &SkillName, place: SourceSpec) -> Option<Dependent> {
    let document = frontmatter(&skill_file(&sources.scope.skill_dir(name)).ok()??).ok()?;
    let loaded = skill::load_in(&document, Some(name.as_str())).ok()?;
    Some(Dependent::new(name.clone(), place, Some(&loaded.meta)))
}
