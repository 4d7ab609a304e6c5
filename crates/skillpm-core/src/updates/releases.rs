//! Skills of registries: the version that was decided, and what else the registry lists.

use super::candidate::{Latest, Status, UpdateCandidate};
use super::rules::{Aim, How, Releases, Rules};
use crate::admission::PolicySubject;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::resolve::{Release, ReleaseAge, ReleaseFacts, ReleaseRules};
use crate::scope::state::Files;
use crate::spec::Reference;
use crate::version::{Version, VersionRange};

/// Completes `candidate`, whose registry lists `releases`.
pub(super) fn complete(
    candidate: &mut UpdateCandidate<'_>,
    files: &Files,
    releases: &Releases,
    (rules, how): (&dyn Rules, &How),
) {
    let (Some(list), Some(locked)) = (&releases.list, candidate.locked) else {
        candidate.status = Status::Gone;
        return;
    };
    let version = locked.revision.as_deref().and_then(|revision| Version::new(revision).ok());
    // An unneeded skill stays as it is until the next change.
    let newest = releases.decided.as_ref().or(version.as_ref());
    candidate.status = if newest == version.as_ref() { Status::Current } else { Status::Changed };
    candidate.newest = newest.map(ToString::to_string);
    let is_locked = |one: &&Release| Some(&one.version) == version.as_ref();
    candidate.yanked = list.iter().find(is_locked).and_then(|one| one.yanked.clone());
    let highest = |age| {
        let rules = ReleaseRules { age, ..ReleaseRules::default() };
        rules.highest(list.iter().map(Release::facts))
    };
    let admitted = highest(releases.age).map(|one| one.version);
    let latest = match how.aim {
        // The decision goes past the range where it can.
        Aim::Latest => newest.filter(|newest| is_past(&candidate.entry, locked, files, newest)),
        _ => admitted.filter(|latest| how.past && Some(*latest) > newest),
    };
    candidate.latest =
        latest.map(|version| Latest { name: version.to_string(), reference: compatible_with(version) });
    if candidate.status == Status::Current
        && let Some(young) = highest(None).filter(|one| Some(one.version) > admitted.max(newest))
    {
        candidate.held_back = held_back(candidate, rules, young, releases.age);
    }
}

/// Reports whether `version` is out of the range of `entry`, and no override excuses that.
fn is_past(entry: &Requirement, locked: &Locked, files: &Files, version: &Version) -> bool {
    let range = entry.reference.as_ref().and_then(Reference::range);
    locked.overridden_by(&files.manifest).is_none() && range.is_some_and(|range| !range.contains(version))
}

fn compatible_with(version: &Version) -> Reference {
    Reference::Range(VersionRange::compatible_with(version))
}

/// Returns the manifest entry that admits the decided `version` of what is `locked`, if `entry` does not.
pub(crate) fn admitting(
    entry: &Requirement,
    locked: &Locked,
    files: &Files,
    version: &Version,
) -> Option<Requirement> {
    let reference = Some(compatible_with(version));
    is_past(entry, locked, files, version).then(|| Requirement { reference, ..entry.clone() })
}

/// Returns why the release `young` is not taken yet, and from which day on it can be.
fn held_back(
    candidate: &UpdateCandidate<'_>,
    rules: &dyn Rules,
    young: ReleaseFacts<'_>,
    age: Option<ReleaseAge>,
) -> Option<String> {
    let subject = PolicySubject {
        origin: &candidate.entry.origin,
        path: candidate.entry.path.as_deref(),
        reference: None,
    };
    let day = young.published.zip(age);
    let so =
        day.map(|(published, age)| format!(", so it can be taken from {} on", age.old_enough_on(published)));
    let reason = rules.too_young(subject, young.published, &so.unwrap_or_default())?;
    Some(format!("{} {reason}", young.version))
}
