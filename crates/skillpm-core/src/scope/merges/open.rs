//! Whether the conflicts that a merge left are resolved.

use std::path::Path;

use super::{Disputed, Unresolved};
use crate::error::Result;
use crate::lockfile::Locked;
use crate::merge::Conflict;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::spec::is_object_id;
use crate::tree::FileSet;

/// The name of the user's side in markers.
pub(crate) const OURS: &str = "your edits";
/// The number of digits that identify a commit or a digest.
pub(crate) const DIGITS: usize = 7;

/// Returns what markers call the version `locked`.
pub(crate) fn label(locked: &Locked) -> String {
    let revision = locked.revision.as_deref().map(|revision| revision.trim_start_matches("sha256:"));
    match revision {
        Some(id) if is_object_id(id) => format!("{} at {}", locked.origin, &id[..DIGITS]),
        Some(version) => format!("{} at {version}", locked.origin),
        None => locked.origin.to_string(),
    }
}

/// Returns the paths of `record` that are still unresolved in `files`, the skill as it is now: those with markers, and
/// those beside which the user's version is still kept. Until that file goes, the merge can be taken back.
pub(crate) fn open<'a>(
    record: &'a Unresolved,
    locked: &Locked,
    files: &FileSet,
) -> Result<Vec<&'a Disputed>> {
    let markers = [format!("<<<<<<< {OURS}"), format!(">>>>>>> {}", label(locked))];
    let mut open = Vec::new();
    for disputed in &record.paths {
        let is_kept = || disputed.kept.as_ref().is_some_and(|kept| files.get(kept.as_str()).is_some());
        let is_open = match disputed.conflict {
            Conflict::Lines => match files.get(disputed.path.as_str()) {
                Some(file) => has_markers(&files.read(file)?, &markers) || is_kept(),
                None => false,
            },
            Conflict::Binary | Conflict::Name => is_kept(),
            // Nothing in the files shows whether it was looked at.
            Conflict::DeletedHere | Conflict::DeletedThere => false,
        };
        if is_open {
            open.push(disputed);
        }
    }
    Ok(open)
}

/// Reports whether the skill `name` at `directory` still has unresolved conflicts of an update.
pub(crate) fn has_conflicts(
    scope: &Scope,
    name: &SkillName,
    locked: &Locked,
    directory: &Path,
) -> Result<bool> {
    let Some(record) = Unresolved::read(scope, name, locked)? else { return Ok(false) };
    Ok(!open(&record, locked, &scope.index.trees().read(directory)?.files)?.is_empty())
}

fn has_markers(bytes: &[u8], markers: &[String]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        markers.iter().any(|marker| line == marker.as_bytes())
    })
}
