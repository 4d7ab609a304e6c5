//! Skills of registries: the newest versions that fit together, and the newest of all.

use std::collections::BTreeSet;

use super::skill::{OutdatedSkill, Status};
use crate::admission::PolicySubject;
use crate::context::Context;
use crate::error::Result;
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::name::SkillName;
use crate::ops::dependencies::{Deciding, Keep, decide};
use crate::ops::fetcher::Sources;
use crate::resolve::versions::{Release, ReleaseFacts, ReleaseRules};
use crate::source::newest::Query;
use crate::spec::{Origin, SourceSpec};
use crate::version::Version;

/// Completes the rows `skills` of skills of registries, each with its query.
///
/// # Errors
///
/// Fails for a registry that cannot be read or is refused, and if no versions fit together.
pub(super) fn compare(
    context: &Context,
    scope: &Scope,
    files: &Files,
    skills: &mut [(&mut OutdatedSkill, &Query<'_>)],
) -> Result<()> {
    if skills.is_empty() {
        return Ok(());
    }
    let mut sources = Sources::new(context, scope, &files.manifest)?;
    let free: BTreeSet<SkillName> = files.lock.skills.keys().cloned().collect();
    let how = Deciding { keep: Keep::LockedBut(&free), minimal: false, alone: false };
    decide(&mut sources, files, &[], how)?;
    for (row, query) in skills {
        let locked = query.locked;
        let path = locked.path.as_deref().unwrap_or_default();
        let opened = sources.open(&SourceSpec::new(locked.origin.clone()))?;
        let name = SkillName::new(path);
        let releases = match (&opened.shelf, &name) {
            (Some(shelf), Ok(name)) => shelf.releases(name)?,
            _ => None,
        };
        let (Some(releases), Ok(name)) = (releases, name) else {
            row.status = Status::Gone;
            continue;
        };
        let version = locked.revision.as_deref().and_then(|revision| Version::new(revision).ok());
        // What nothing needs any more stays as it is until the next change.
        let newest = sources.versions.get(&locked.origin, path).or(version.as_ref());
        row.status = if newest == version.as_ref() { Status::Current } else { Status::Changed };
        row.newest = newest.map(ToString::to_string);
        row.yanked = releases.iter().any(|one| one.yanked && Some(&one.version) == version.as_ref());
        let age = sources.minimum_age(&locked.origin, path);
        let highest = |age| {
            let rules = ReleaseRules { age, ..ReleaseRules::default() };
            rules.highest(releases.iter().map(Release::facts))
        };
        let latest = highest(age).map(|one| one.version);
        row.latest = latest.filter(|latest| Some(*latest) > newest).map(ToString::to_string);
        if row.status == Status::Current
            && let Some(young) = highest(None).filter(|one| Some(one.version) > latest.max(newest))
        {
            row.held_back = held_back(&sources, &locked.origin, &name, young);
        }
    }
    Ok(())
}

/// Returns why the release `young` of the skill `name` of `origin` is not taken yet, and from which day on it can be.
fn held_back(
    sources: &Sources<'_>,
    origin: &Origin,
    name: &SkillName,
    young: ReleaseFacts<'_>,
) -> Option<String> {
    let path = Some(name.as_str());
    let day = young.published.zip(sources.minimum_age(origin, name.as_str()));
    let so =
        day.map(|(published, age)| format!(", so it can be taken from {} on", age.old_enough_on(published)));
    let subject = PolicySubject { origin, path, reference: None };
    let reason = sources.gate.too_young(subject, young.published, &so.unwrap_or_default())?;
    Some(format!("{} {reason}", young.version))
}
