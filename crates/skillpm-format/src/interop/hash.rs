//! The hashes by which other tools identify a skill.
//!
//! They distinguish versions and prove nothing against an attacker: in the npm tool's hash, names and contents follow
//! each other without a separator, so two different trees can have the same hash. skillpm locks its own digest.

use std::collections::BTreeMap;

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::order::{self, OrderError};
use crate::tree::{FileSet, Node, ReadError, Tree, TreeEntry};

/// Directories that the npm tool skips when it computes hashes.
const NOT_HASHED: [&str; 2] = [".git", "node_modules"];

/// The reason why there is no hash.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// The order of the files is not known.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The content could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Returns the `computedHash` of directory `dir` of `tree`: SHA-256 over the path and the bytes of each regular file,
/// in the order of [`order::sort`], as 64 lower-case hexadecimal digits.
///
/// # Errors
///
/// Fails on names whose order is not known, and on content that cannot be read.
pub fn computed_hash(tree: &Tree, dir: &str) -> Result<String, HashError> {
    let mut files: BTreeMap<String, TreeEntry> = BTreeMap::new();
    for (path, entry) in tree.below(dir) {
        let mut above = path.split('/').rev().skip(1);
        if matches!(entry.node, Node::File { .. }) && !above.any(|part| NOT_HASHED.contains(&part)) {
            // The tool treats every backslash as a Windows separator, on all systems.
            let name = path.replace('\\', "/");
            if files.contains_key(&name) {
                return Err(OrderError::Alike(name.clone(), path.to_owned()).into());
            }
            files.insert(name, entry);
        }
    }
    let mut names: Vec<&str> = files.keys().map(String::as_str).collect();
    order::sort(&mut names)?;
    let mut hasher = Sha256::new();
    for name in names {
        hasher.update(name);
        if let Some(entry) = files.get(name) {
            hasher.update(bytes(tree, *entry)?);
        }
    }
    Ok(hex(&hasher.finalize()))
}

/// Returns the `wellKnownDigest` of directory `dir` of `tree`, a skill of a site whose index has no digests: SHA-256
/// over the path and the bytes of each file, a zero after each, in JavaScript's order.
///
/// # Errors
///
/// Fails on content that cannot be read.
pub fn site_digest(tree: &Tree, dir: &str) -> Result<String, HashError> {
    let mut files: Vec<_> =
        tree.below(dir).filter(|(_, entry)| matches!(entry.node, Node::File { .. })).collect();
    files.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    let mut hasher = Sha256::new();
    for (path, entry) in files {
        hasher.update(path);
        hasher.update([0]);
        hasher.update(bytes(tree, entry)?);
        hasher.update([0]);
    }
    Ok(format!("sha256:{}", hex(&hasher.finalize())))
}

/// Returns the id that git gives directory `dir` of `tree` (SHA-1), by which `gh` and the user's lockfile identify a
/// version. Returns `None` for an empty directory, which git does not store.
///
/// # Errors
///
/// Fails on content that cannot be read.
pub fn git_tree_id(tree: &Tree, dir: &str) -> Result<Option<String>, ReadError> {
    let mut top = Directory::default();
    for (path, entry) in tree.below(dir) {
        let mode = match entry.node {
            Node::File { executable: true, .. } => "100755",
            Node::File { executable: false, .. } => "100644",
            Node::Symlink => "120000",
            // Git does not store these.
            Node::Special(_) => continue,
        };
        let id = object_id("blob", &bytes(tree, entry)?);
        top.insert(path, mode, id);
    }
    Ok((!top.0.is_empty()).then(|| hex(&top.id())))
}

/// Returns the id of a skill like [`git_tree_id`]. If its source had links, git's own id differs.
///
/// # Errors
///
/// Fails on content that cannot be read.
pub fn git_set_id(set: &FileSet) -> Result<Option<String>, ReadError> {
    let mut top = Directory::default();
    for file in set.files() {
        let mode = if file.executable { "100755" } else { "100644" };
        top.insert(file.path.as_str(), mode, object_id("blob", &set.read(file)?));
    }
    Ok((!top.0.is_empty()).then(|| hex(&top.id())))
}

/// The contents of a directory, by the names that git sorts by: those of directories end with a slash.
#[derive(Default)]
struct Directory(BTreeMap<String, Child>);

enum Child {
    File(&'static str, [u8; 20]),
    Directory(Directory),
}

impl Directory {
    fn insert(&mut self, path: &str, mode: &'static str, id: [u8; 20]) {
        match path.split_once('/') {
            None => drop(self.0.insert(path.to_owned(), Child::File(mode, id))),
            Some((first, rest)) => {
                let child = self.0.entry(format!("{first}/"));
                if let Child::Directory(below) = child.or_insert_with(|| Child::Directory(Self::default())) {
                    below.insert(rest, mode, id);
                }
            }
        }
    }

    fn id(&self) -> [u8; 20] {
        let mut content = Vec::new();
        for (name, child) in &self.0 {
            let (mode, id) = match child {
                Child::File(mode, id) => (*mode, *id),
                Child::Directory(below) => ("40000", below.id()),
            };
            content.extend(mode.bytes().chain([b' ']).chain(name.trim_end_matches('/').bytes()).chain([0]));
            content.extend(id);
        }
        object_id("tree", &content)
    }
}

fn object_id(kind: &str, content: &[u8]) -> [u8; 20] {
    let mut hasher = Sha1::new();
    hasher.update(format!("{kind} {}\0", content.len()));
    hasher.update(content);
    hasher.finalize().into()
}

fn bytes(tree: &Tree, entry: TreeEntry) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    tree.copy_to(entry, &mut bytes)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::testing::tree;

    /// The digest that the npm tool itself wrote for a site of the older discovery.
    #[test]
    fn the_digest_of_a_skill_of_a_site() {
        let files = [
            ("docx/SKILL.md", "---\nname: docx\ndescription: Reads.\n---\n"),
            ("docx/a_b.md", "a_b.md"),
            ("docx/B/a.md", "B/a.md"),
            ("docx/metadata.json", "metadata.json"),
        ];
        let digest = site_digest(&tree(&files), "docx").expect("reads");
        assert_eq!(digest, "sha256:b03f32375b0b4fec51f29abb321668f96f66d8b75524e578afeb8512292b9365");
    }

    #[test]
    fn backslashes_count_as_slashes() {
        let hash = |name: &str| computed_hash(&tree(&[(name, "x"), ("b", "y")]), "").expect("hashes");
        assert_eq!(hash("a\\c"), hash("a/c"));
        assert!(computed_hash(&tree(&[("a\\c", ""), ("a/c", "")]), "").is_err());
    }

    #[test]
    fn names_and_bytes_follow_each_other() {
        let tree = tree(&[
            ("s/SKILL.md", "S"),
            ("s/a/README.md*", "R"),
            ("s/b", "B"),
            ("s/link@", "b"),
            ("s/.git/HEAD", "no"),
            ("s/x/node_modules/p/i.js", "no"),
            ("s/node_modules", "a file"),
            ("other", "no"),
        ]);
        let expected = Digest::of(b"a/README.mdRbBnode_modulesa fileSKILL.mdS").hex();
        assert_eq!(computed_hash(&tree, "s").expect("hashes"), expected);
    }

    /// `git init; git add .; git write-tree` of the same files.
    #[test]
    fn the_tree_id_is_that_of_git() {
        let files = tree(&[
            ("SKILL.md", "# Skill\n"),
            ("a-b/x", "1\n"),
            ("a.txt", "2\n"),
            ("a/run.sh*", "#!/bin/sh\n"),
            ("a/link@", "run.sh"),
        ]);
        assert_eq!(
            git_tree_id(&files, "").expect("reads").as_deref(),
            Some("f69d08908dcddb34d1842781c020163316faa6a1")
        );
        assert_eq!(git_tree_id(&tree(&[]), "").expect("reads"), None);
        let files =
            tree(&[("SKILL.md", "# Skill\n"), ("a-b/x", "1\n"), ("a.txt", "2\n"), ("a/run.sh*", "x")]);
        let set = files.skill("", &crate::refusal::Limits::default()).expect("a skill");
        assert_eq!(git_set_id(&set).expect("reads"), git_tree_id(&files, "").expect("reads"));
    }
}
