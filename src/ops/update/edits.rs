//! What the user changed: how it is merged, and whether an earlier merge is done.

use crate::error::{Error, ErrorKind, Result};
use crate::install::merges::{Disputed, Unresolved};
use crate::lockfile::Locked;
use crate::merge::{Conflict, Labels, Merged, Outcome, Prefer, Versions, merge_for};
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::spec::is_object_id;
use crate::tree::FileSet;

/// What markers call the user's side.
const OURS: &str = "your edits";
/// So many digits of a commit or a digest tell it apart.
pub(super) const DIGITS: usize = 7;

/// What markers call the version `locked`.
fn label(locked: &Locked) -> String {
    let revision = locked.revision.as_deref().map(|revision| revision.trim_start_matches("sha256:"));
    match revision {
        Some(id) if is_object_id(id) => format!("{} at {}", locked.origin, &id[..DIGITS]),
        Some(version) => format!("{} at {version}", locked.origin),
        None => locked.origin.to_string(),
    }
}

/// Merges what the user made of `base` into `theirs`, which is `locked` from now on.
///
/// # Errors
///
/// Files that cannot be read; a result that no skill may be.
pub(super) fn merged(
    name: &SkillName,
    versions: &Versions<'_>,
    locked: &Locked,
    prefer: Option<Prefer>,
) -> Result<Merged> {
    let theirs = label(locked);
    let labels = Labels { ours: OURS, theirs: &theirs };
    merge_for(versions, &labels, &Limits::default(), prefer)
        .map_err(|error| Error::from(error).context(format!("the edits of `{name}` cannot be merged")))
}

/// The paths of `merged` that somebody has to look at.
pub(super) fn disputed(merged: &Merged) -> Vec<Disputed> {
    let disputed = |file: &crate::merge::MergedFile| match file.outcome {
        Outcome::Conflict(conflict) => {
            Some(Disputed { path: file.path.clone(), conflict, kept: file.kept.clone() })
        }
        _ => None,
    };
    merged.files.iter().filter_map(disputed).collect()
}

/// The paths of `record` that nobody has settled in `lies`, the skill as it is now: those with markers,
/// and those of which the user's file is still kept beside one that has none.
///
/// # Errors
///
/// Files that cannot be read.
pub(super) fn open<'a>(record: &'a Unresolved, locked: &Locked, lies: &FileSet) -> Result<Vec<&'a Disputed>> {
    let markers = [format!("<<<<<<< {OURS}"), format!(">>>>>>> {}", label(locked))];
    let mut open = Vec::new();
    for disputed in &record.paths {
        let is_open = match disputed.conflict {
            Conflict::Lines => match lies.get(disputed.path.as_str()) {
                Some(file) => has_markers(&lies.read(file)?, &markers),
                None => false,
            },
            Conflict::Binary | Conflict::Name => {
                disputed.kept.as_ref().is_some_and(|kept| lies.get(kept.as_str()).is_some())
            }
            // Nothing in the files could say that somebody has looked at it.
            Conflict::DeletedHere | Conflict::DeletedThere => false,
        };
        if is_open {
            open.push(disputed);
        }
    }
    Ok(open)
}

fn has_markers(bytes: &[u8], markers: &[String]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        markers.iter().any(|marker| line == marker.as_bytes())
    })
}

/// The error for a skill with an earlier merge that has `open` paths.
pub(super) fn unresolved(name: &SkillName, open: &[&Disputed]) -> Error {
    Error::new(ErrorKind::Findings, unresolved_text(name, open)).hint(how_to_resolve(name))
}

/// What is wrong with such a skill.
pub(super) fn unresolved_text(name: &SkillName, open: &[&Disputed]) -> String {
    let paths: Vec<_> = open.iter().map(|disputed| format!("`{}`", disputed.path)).collect();
    format!("an earlier update of `{name}` has to be finished first: look at {}", paths.join(", "))
}

/// What to do about it.
pub(super) fn how_to_resolve(name: &SkillName) -> String {
    format!(
        "edit the files until no marker and no kept file is left; or take one side with `skillpm update {name} --ours` or `--theirs`, or go back with `skillpm update {name} --abort`"
    )
}
