//! Which skills' files the paths of a request mean.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::engine::load::{self, SKILL_FILE};
use crate::engine::sources;
use crate::error::{Error, Result};
use crate::fs::{self, Kind, Walk};
use crate::refusal::Limits;
use crate::source::discover::{self, MAX_DEPTH, SKIPPED};

/// A skill's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillPath {
    /// Where it is.
    pub(super) at: PathBuf,
    /// Below the path as it was typed.
    pub(super) shown: PathBuf,
}

/// Returns the files that `paths` mean, seen from `cwd`, each once: a file itself, a skill's own,
/// and those of all skills in another directory, by the bytes of their paths.
///
/// # Errors
///
/// A path that is not there, cannot be read, or holds no skill.
pub(super) fn skill_paths(cwd: &Path, paths: &[PathBuf]) -> Result<Vec<SkillPath>> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for typed in paths {
        let at = cwd.join(typed);
        for below in below(typed, &at)? {
            // Joining nothing would add a slash.
            let join =
                |path: &Path| if below.as_os_str().is_empty() { path.to_owned() } else { path.join(&below) };
            let file = join(&at);
            if seen.insert(identity(&file)?) {
                found.push(SkillPath { at: file, shown: join(typed) });
            }
        }
    }
    Ok(found)
}

/// The skills' files at `at`, as paths below it; an empty path is `at` itself.
fn below(typed: &Path, at: &Path) -> Result<Vec<PathBuf>> {
    let shown = typed.display();
    let named_right = at.file_name().is_some_and(|name| name.eq_ignore_ascii_case(SKILL_FILE));
    let kind = fs::real_path(at)?.as_deref().map(fs::kind).transpose()?.flatten();
    match kind {
        Some(Kind::Directory) if !named_right => in_directory(typed, at),
        _ if named_right && fs::kind(at)?.is_some() => Ok(vec![PathBuf::new()]),
        None => Err(Error::usage(format!("`{shown}` does not exist")).hint("check the path for slips")),
        Some(_) => Err(Error::usage(format!("`{shown}` is no skill: its name is not `{SKILL_FILE}`"))
            .hint("name a skill's directory, its `SKILL.md`, or a directory with skills in it")),
    }
}

fn in_directory(typed: &Path, at: &Path) -> Result<Vec<PathBuf>> {
    let below = |file: PathBuf| Some(file.strip_prefix(at).ok()?.to_owned());
    if let Some(file) = load::skill_file(at)? {
        return Ok(below(file).into_iter().collect());
    }
    let shown = typed.display();
    let walk = Walk { skip: SKIPPED, depth: MAX_DEPTH, entries: Limits::default().archive_entries };
    let tree = fs::scan(at, walk)
        .map_err(|error| Error::from(error).context(format!("`{shown}` cannot be searched for skills")))?;
    let found = discover::discover_in(&tree, "");
    let mut files: BTreeSet<_> =
        found.iter().map(|found| Path::new(&found.path).join(&found.file_name)).collect();
    // The walk follows no links; agents follow those in their directories, and so do we.
    for entry in sources::entries(at)? {
        files.extend(load::skill_file(&entry.dir)?.and_then(below));
    }
    if files.is_empty() {
        return Err(Error::usage(format!("`{shown}` holds no skill: there is no `{SKILL_FILE}` in it"))
            .hint(format!("a skill is a directory with a `{SKILL_FILE}`; `skillpm create NAME` makes one")));
    }
    Ok(files.into_iter().collect())
}

/// What tells two files apart however they are reached. The file itself may be a link to nothing.
fn identity(file: &Path) -> Result<PathBuf> {
    let dir = file.parent().unwrap_or(Path::new(""));
    let dir = fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned());
    Ok(dir.join(file.file_name().unwrap_or_default()))
}
