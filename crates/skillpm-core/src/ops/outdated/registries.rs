//! Skills of registries: the newest versions that fit together, and the newest of all.

use std::collections::BTreeSet;

use super::skill::{OutdatedSkill, Status};
use crate::context::Context;
use crate::error::Result;
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::name::SkillName;
use crate::ops::dependencies::{Deciding, Keep, decide};
use crate::ops::fetcher::Sources;
use crate::ops::policy_check::PolicyCheck;
use crate::source::newest::Query;
use crate::spec::SourceSpec;
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
    let gate = PolicyCheck::new(context, scope, &files.manifest)?;
    let mut sources = Sources::new(context, scope, gate);
    let free: BTreeSet<SkillName> = files.lock.skills.keys().cloned().collect();
    let how = Deciding { keep: Keep::LockedBut(&free), minimal: false, alone: false };
    decide(&mut sources, files, &[], how)?;
    for (row, query) in skills {
        let locked = query.locked;
        let path = locked.path.as_deref().unwrap_or_default();
        let opened = sources.open(&SourceSpec::new(locked.origin.clone()))?;
        let releases = match (&opened.shelf, SkillName::new(path)) {
            (Some(shelf), Ok(name)) => shelf.releases(&name)?,
            _ => None,
        };
        let Some(releases) = releases else {
            row.status = Status::Gone;
            continue;
        };
        let version = locked.revision.as_deref().and_then(|revision| Version::new(revision).ok());
        // What nothing needs any more stays as it is until the next change.
        let newest = sources.versions.get(&locked.origin, path).or(version.as_ref());
        row.status = if newest == version.as_ref() { Status::Current } else { Status::Changed };
        row.newest = newest.map(ToString::to_string);
        row.yanked = releases.iter().any(|one| one.yanked && Some(&one.version) == version.as_ref());
        let plain = releases.iter().filter(|one| !one.yanked && one.version.number().pre.is_empty());
        let latest = plain.map(|one| &one.version).max();
        row.latest = latest.filter(|latest| Some(*latest) > newest).map(ToString::to_string);
    }
    Ok(())
}
