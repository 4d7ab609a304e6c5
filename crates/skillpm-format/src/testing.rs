//! Trees and skills in memory, for the tests of every crate that reads this file as a module of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::path::SafePath;
use crate::refusal::Limits;
use crate::tree::{FileEntry, FileSet, Memory, Node, Tree, TreeEntry};

/// A file for [`file_set`]: its name, with a `*` behind it where it is executable, and its content.
pub(crate) type File<'a> = (&'a str, &'a [u8]);

/// A skill of `files`.
pub(crate) fn file_set(files: &[File<'_>]) -> FileSet {
    let entry = |(id, (name, content)): (usize, &File<'_>)| {
        let path = SafePath::new(name.trim_end_matches('*')).expect(name);
        FileEntry::new(path, name.ends_with('*'), content.len() as u64, id)
    };
    let content = files.iter().map(|(_, content)| content.to_vec()).collect();
    let entries = files.iter().enumerate().map(entry).collect();
    FileSet::new(entries, Arc::new(Memory(content)), &Limits::default()).expect("a set of files")
}

/// A tree of files (`name`), executables (`name*`) and links (`name@`).
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let mut entries = BTreeMap::new();
    let mut bytes = Vec::new();
    for (id, (name, content)) in files.iter().enumerate() {
        let size = content.len() as u64;
        let (name, node) = match name.strip_suffix('@') {
            Some(name) => (name, Node::Symlink),
            None => (name.trim_end_matches('*'), Node::File { executable: name.ends_with('*'), size }),
        };
        entries.insert(name.to_owned(), TreeEntry { node, id });
        bytes.push(content.as_bytes().to_vec());
    }
    Tree::new(entries, Arc::new(Memory(bytes)))
}
