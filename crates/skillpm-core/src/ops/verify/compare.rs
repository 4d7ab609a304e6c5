//! Comparison of one tree on disk with the locked one.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::outcome::{ChangedFile, FileChange, UnlockedCode, VerifiedPlace};
use crate::digest::{Digest, HashingWriter};
use crate::fs::{self, is_empty_dir};
use crate::scope::trees::OnDiskTree;
use crate::store::Store;
use crate::tree::leftovers::is_code;
use crate::tree::{FileSet, Node, ReadError, Tree};

/// The directory of what Python compiled: it runs a module from there if its time and size are those of the script.
const COMPILED: &str = "__pycache__";

/// The facts about each file: whether it is executable, and its digest; no digest if it is not a regular file
/// or cannot be read.
type LockedFiles = BTreeMap<String, (bool, Option<Digest>)>;

/// Completes `place`, where `tree` was read, with the files that differ from the tree with the `locked` digest, and with
/// what tools left in it.
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
    let files = store.and_then(|store| known(store, locked)).map(|old| differences(&old, &new));
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

/// Returns the files of `set` that differ from the tree with the `locked` digest, or `None` if the store does
/// not have that tree.
pub(in crate::ops) fn changed(
    set: &FileSet,
    locked: &Digest,
    store: Option<&Store>,
) -> Option<Vec<ChangedFile>> {
    store.and_then(|store| known(store, locked)).map(|old| differences(&old, &of_set(set)))
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

/// Returns the files of the tree with `digest`, if the store has it intact.
fn known(store: &Store, digest: &Digest) -> Option<LockedFiles> {
    let set = store.get(digest).ok()??;
    (set.digest().ok()? == *digest).then(|| of_set(&set))
}

fn of_set(set: &FileSet) -> LockedFiles {
    let digest = |file| {
        let mut hasher = HashingWriter::new(io::sink());
        set.copy_to(file, &mut hasher).ok().map(|()| hasher.finish().0)
    };
    set.files().iter().map(|file| (file.path.to_string(), (file.executable, digest(file)))).collect()
}

/// Works like [`of_set`], for a tree with content that no skill may have.
fn of_tree(tree: &Tree) -> LockedFiles {
    let known = |entry: crate::tree::TreeEntry| {
        let Node::File { executable, .. } = entry.node else { return (false, None) };
        let mut hasher = HashingWriter::new(io::sink());
        (executable, tree.copy_to(entry, &mut hasher).ok().map(|()| hasher.finish().0))
    };
    tree.entries().map(|(path, entry)| (path.to_owned(), known(entry))).collect()
}

fn differences(old: &LockedFiles, new: &LockedFiles) -> Vec<ChangedFile> {
    let changed = old.iter().filter_map(|(path, (executable, digest))| {
        let change = match new.get(path) {
            None => FileChange::Missing,
            Some((_, other)) if other != digest => FileChange::Changed,
            Some((other, _)) if other != executable => FileChange::Mode,
            Some(_) => return None,
        };
        Some(ChangedFile { path: path.clone(), change })
    });
    let extra = new.keys().filter(|path| !old.contains_key(*path));
    let extra = extra.map(|path| ChangedFile { path: path.clone(), change: FileChange::Extra });
    let mut all: Vec<_> = changed.chain(extra).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}
