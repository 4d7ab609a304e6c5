//! Comparison of one tree on disk with the locked one.

use std::path::Path;

use super::outcome::{UnlockedCode, VerifiedPlace};
use crate::digest::Digest;
use crate::fs::{self, is_empty_dir};
use crate::scope::differences::{differences, of_set, of_tree, stored};
use crate::scope::trees::OnDiskTree;
use crate::store::Store;
use crate::tree::ReadError;
use crate::tree::leftovers::is_code;

/// The directory of what Python compiled: it runs a module from there if its time and size are those of the script.
const COMPILED: &str = "__pycache__";

/// Completes `place`, where `tree` was read, with the files that differ from the tree with the `locked` digest, and with the
/// leftovers of tools in it.
pub(super) fn tree(
    place: VerifiedPlace,
    path: &Path,
    locked: &Digest,
    tree: Result<OnDiskTree, ReadError>,
    store: Option<&Store>,
) -> VerifiedPlace {
    let (place, new) = match tree {
        Ok(OnDiskTree { digest, files, leftovers, .. }) => {
            let code = code(path, &leftovers, |script| files.get(script).is_some());
            let place = VerifiedPlace { leftovers, code, ..place };
            if digest == *locked {
                return place;
            }
            (VerifiedPlace { found: Some(digest.to_string()), ..place }, of_set(&files))
        }
        Err(error) => {
            let place = place.because(reason(&error));
            let Ok(tree) = fs::tree_of(path) else { return place };
            let leftovers = tree.leftovers();
            let code = code(path, &leftovers, |script| tree.get(script).is_some());
            (VerifiedPlace { leftovers, code, ..place }, of_tree(&tree.without_leftovers(|_| false)))
        }
    };
    let files = store.and_then(|store| stored(store, locked)).map(|old| differences(&old, &new));
    VerifiedPlace { files, ..place }
}

/// Returns the code among the `leftovers` in the directory `dir` of a skill. `is_script` reports whether the skill has a
/// script with this path.
fn code(dir: &Path, leftovers: &[String], is_script: impl Fn(&str) -> bool) -> Vec<UnlockedCode> {
    let mut found = Vec::new();
    for leftover in leftovers.iter().filter(|leftover| is_code(leftover)) {
        let modules = match leftover.strip_suffix(COMPILED) {
            Some(above) if above.is_empty() || above.ends_with('/') => {
                compiled(dir, leftover, above, &is_script)
            }
            _ => Vec::new(),
        };
        if modules.is_empty() && !is_empty_dir(&dir.join(leftover)) {
            found.push(UnlockedCode { path: leftover.clone(), shadows: None });
        }
        found.extend(modules);
    }
    found
}

/// Returns the modules that Python compiled into the directory `cache`, for the scripts in the directory `above`.
fn compiled(dir: &Path, cache: &str, above: &str, is_script: impl Fn(&str) -> bool) -> Vec<UnlockedCode> {
    let names = fs::list_dir(&dir.join(cache)).unwrap_or_default();
    let module = |name: String| {
        let script = name.split('.').next().map(|stem| format!("{above}{stem}.py"));
        UnlockedCode { path: format!("{cache}/{name}"), shadows: script.filter(|script| is_script(script)) }
    };
    names.into_iter().map(module).collect()
}

/// Returns why a tree could not be read as a skill.
fn reason(error: &ReadError) -> String {
    match error {
        ReadError::Refused(refusal) => refusal.to_string(),
        ReadError::Io(error) => {
            let cause = error.get_ref().and_then(|inner| inner.source());
            let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("{error}{cause}")
        }
    }
}
