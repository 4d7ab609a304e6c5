//! How the files of a skill differ from those of the locked tree.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::digest::{Digest, HashingWriter};
use crate::store::Store;
use crate::tree::{FileEntry, FileSet, Node, Tree};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DifferentFile")]
pub struct ChangedFile {
    /// The path below the skill's directory.
    pub path: String,
    /// The difference.
    pub change: FileChange,
}

/// The way in which a file differs from the locked one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It has other bytes, or is not a regular file.
    Changed,
    /// It is locked but missing.
    Missing,
    /// It is there and not locked.
    Extra,
    /// The executable bit differs.
    Mode,
}

/// The facts about each file: whether it is executable, and its digest; no digest if it is not a regular file
/// or cannot be read.
pub(crate) type LockedFiles = BTreeMap<String, (bool, Option<Digest>)>;

/// Returns the files of `set` that differ from the tree with the `locked` digest, or `None` if the store does
/// not have that tree.
pub(crate) fn changed(set: &FileSet, locked: &Digest, store: Option<&Store>) -> Option<Vec<ChangedFile>> {
    store.and_then(|store| stored(store, locked)).map(|old| differences(&old, &of_set(set)))
}

/// Returns the files of the tree with `digest`, if the store has it intact.
pub(crate) fn stored(store: &Store, digest: &Digest) -> Option<LockedFiles> {
    let set = store.get(digest).ok()??;
    (set.digest().ok()? == *digest).then(|| of_set(&set))
}

/// Returns the facts about the files of `set`.
pub(crate) fn of_set(set: &FileSet) -> LockedFiles {
    let facts = |file: &FileEntry| (file.path.to_string(), (file.executable, set.digest_of(file).ok()));
    set.files().iter().map(facts).collect()
}

/// Returns the facts about the files of `tree`, which may have content that no skill may have.
pub(crate) fn of_tree(tree: &Tree) -> LockedFiles {
    let known = |entry: crate::tree::TreeEntry| {
        let Node::File { executable, .. } = entry.node else { return (false, None) };
        let mut hasher = HashingWriter::new(io::sink());
        (executable, tree.copy_to(entry, &mut hasher).ok().map(|()| hasher.finish().0))
    };
    tree.entries().map(|(path, entry)| (path.to_owned(), known(entry))).collect()
}

/// Returns the files that differ between `old`, which is locked, and `new`.
pub(crate) fn differences(old: &LockedFiles, new: &LockedFiles) -> Vec<ChangedFile> {
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
