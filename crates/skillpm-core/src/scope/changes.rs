//! The paths that a change creates, replaces or deletes: what `--dry-run` and `--json` say about any verb.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::attributes;
use super::checked_dirs::CheckedDirs;
use super::plan::{ChangedFiles, Plan};
use super::step::Step;
use crate::fs;
use crate::scope::Scope;
use crate::settings::Settings;

/// A path and what happens to it. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathChange {
    /// The path. For a directory it stands for everything in it.
    pub path: PathBuf,
    /// The change.
    pub change: PathEffect,
    /// The path as it is shown in the working directory.
    #[serde(skip)]
    pub shown: String,
}

impl PathChange {
    /// Returns the change of `path`, which is in `scope`.
    pub fn new(settings: &Settings, scope: &Scope, path: PathBuf, change: PathEffect) -> Self {
        Self { shown: scope.shown(settings, &path), path, change }
    }
}

/// The change of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathEffect {
    /// Nothing was there.
    Created,
    /// Something else is there afterwards.
    Replaced,
    /// Nothing is there afterwards.
    Deleted,
}

/// The changes of paths in the order of a plan, before any of them is made.
#[derive(Debug, Default)]
struct Paths {
    /// For each path, whether something was there before and is there afterwards.
    changes: BTreeMap<PathBuf, (bool, bool)>,
}

impl Paths {
    fn add(&mut self, path: PathBuf, is_there: bool) {
        let before = matches!(fs::kind(&path), Ok(Some(_)));
        self.changes.entry(path).or_insert((before, is_there)).1 = is_there;
    }

    fn into_list(self, settings: &Settings, scope: &Scope) -> Vec<PathChange> {
        let change = |(path, states)| {
            let change = match states {
                (false, false) => return None,
                (false, true) => PathEffect::Created,
                (true, true) => PathEffect::Replaced,
                (true, false) => PathEffect::Deleted,
            };
            Some(PathChange::new(settings, scope, path, change))
        };
        self.changes.into_iter().filter_map(change).collect()
    }
}

/// Returns the paths that `plan` changes in `scope`, sorted. Nothing has been changed yet.
pub(crate) fn of_plan(settings: &Settings, scope: &Scope, plan: &Plan) -> Vec<PathChange> {
    of_steps(settings, scope, &plan.steps, plan.files(), ChangedFiles::default())
}

/// Returns the paths that `steps` change in `scope`, with manifest and lockfile where `files` says so; those in `gone`
/// are removed.
pub(crate) fn of_steps(
    settings: &Settings,
    scope: &Scope,
    steps: &[Step],
    files: ChangedFiles,
    gone: ChangedFiles,
) -> Vec<PathChange> {
    let places = CheckedDirs::new(scope, settings);
    let mut paths = Paths::default();
    for step in steps {
        let (place, name) = step.place();
        let Ok(path) = places.of(&place, name) else { continue };
        let stays = match step {
            Step::Put { .. } | Step::Link { .. } | Step::Edit { .. } | Step::Relink { .. } => true,
            Step::Remove { .. } | Step::Unlink { .. } | Step::Disable { .. } | Step::Enable { .. } => false,
        };
        paths.add(path, stays);
        if let Some(other) = step.goes_to().and_then(|place| places.of(&place, name).ok()) {
            paths.add(other, true);
        }
    }
    if files.manifest {
        paths.add(scope.manifest.clone(), !gone.manifest);
    }
    if files.lockfile {
        paths.add(scope.lockfile.clone(), !gone.lockfile);
    }
    if empties(&scope.skills_dir(), &paths)
        && let Some((file, stays)) = attributes::without_ours(&scope.work_dir())
    {
        paths.add(file, stays.is_some());
    }
    paths.into_list(settings, scope)
}

/// Reports whether nothing is left in `dir` after the changes `paths`.
fn empties(dir: &Path, paths: &Paths) -> bool {
    let below = || paths.changes.iter().filter(|(path, _)| path.parent() == Some(dir));
    // Usually nothing goes, and the directory need not be read.
    if below().next().is_none() || below().any(|(_, (_, stays))| *stays) {
        return false;
    }
    let Ok(names) = fs::list_dir(dir) else { return false };
    !names.is_empty() && names.iter().all(|name| paths.changes.contains_key(&dir.join(name)))
}
