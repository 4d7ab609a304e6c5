//! Names of entries, and the map of entries by name.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::path::PathError;
use crate::refusal::Refusal;
use crate::tree::{Node, TreeEntry};

/// One entry as a reader found it.
pub(super) struct Item {
    /// The name, without a trailing slash and without a leading `./`.
    pub(super) name: String,
    /// The kind of the entry; `None` for a directory.
    pub(super) node: Option<Node>,
    /// The handle of its content.
    pub(super) id: usize,
}

/// Returns `bytes` as a name, or [`Refusal::NameEncoding`] if they are not UTF-8.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes).map_err(|_| Refusal::NameEncoding(String::from_utf8_lossy(bytes).into_owned()))
}

/// The name of an archive's root in the archive.
const ROOT: &str = ".";

/// Refuses a name that could lead out of a directory or deceive a person who reads it.
///
/// All other rules for paths apply only to the chosen skill and are checked there.
pub(super) fn check(name: &str, is_directory: bool) -> Result<(), Refusal> {
    let below = below_root(name);
    if is_directory && below == ROOT {
        return Ok(());
    }
    harmless(below).map_err(|reason| Refusal::Name { name: name.to_owned(), reason })
}

/// Returns `name` without the leading `./`: packing a directory from inside (`tar -C dir .`) puts it in front
/// of every name, and lists the directory itself as `.`.
pub(super) fn below_root(mut name: &str) -> &str {
    while let Some(below) = name.strip_prefix("./") {
        name = below;
    }
    name
}

fn harmless(name: &str) -> Result<(), PathError> {
    let bytes = name.as_bytes();
    if bytes.first() == Some(&b'/') {
        return Err(PathError::Absolute);
    }
    if let Some(byte) = bytes.iter().find(|byte| byte.is_ascii_control()) {
        return Err(PathError::Invisible(u32::from(*byte)));
    }
    if bytes.contains(&b'\\') {
        return Err(PathError::Backslash);
    }
    if bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        return Err(PathError::Colon);
    }
    for component in name.split('/') {
        match component {
            "" => return Err(PathError::Empty),
            "." | ".." => return Err(PathError::Dots),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the entries by name, without the directories.
pub(super) fn assemble(mut items: Vec<Item>) -> Result<BTreeMap<String, TreeEntry>, Refusal> {
    items.sort_by(|a, b| compare(&a.name, &b.name));
    for pair in items.windows(2) {
        check_neighbours(&pair[0], &pair[1])?;
    }
    check_normal_forms(&items)?;
    let files =
        items.into_iter().filter_map(|item| Some((item.name, TreeEntry { node: item.node?, id: item.id })));
    Ok(files.collect())
}

/// Compares names so that the names below a name follow it immediately: `a`, `a/b`, `a-b`.
fn compare(a: &str, b: &str) -> Ordering {
    let key = |byte: u8| if byte == b'/' { 0 } else { byte };
    a.bytes().map(key).cmp(b.bytes().map(key))
}

fn check_neighbours(one: &Item, next: &Item) -> Result<(), Refusal> {
    if one.name == next.name {
        return Err(if one.node.is_some() == next.node.is_some() {
            Refusal::Duplicate(next.name.clone())
        } else {
            Refusal::FileAndDirectory(next.name.clone())
        });
    }
    let below = next.name.strip_prefix(one.name.as_str()).is_some_and(|rest| rest.starts_with('/'));
    if one.node.is_some() && below {
        return Err(Refusal::FileAndDirectory(one.name.clone()));
    }
    Ok(())
}

/// Refuses two normalization forms of one name: systems differ in what they make of them.
fn check_normal_forms(items: &[Item]) -> Result<(), Refusal> {
    let mut others: BTreeMap<String, &str> = BTreeMap::new();
    for Item { name, .. } in items {
        if is_nfc_quick(name.chars()) != IsNormalized::Yes {
            others.insert(name.nfc().collect(), name);
        }
    }
    if others.is_empty() {
        return Ok(());
    }
    for Item { name, .. } in items {
        let composed: String = name.nfc().collect();
        match others.get(&composed) {
            Some(other) if other != name => {
                return Err(Refusal::Collision((*other).to_owned(), name.clone()));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str) -> Item {
        let node = (!name.ends_with('/')).then_some(Node::Symlink);
        Item { name: name.trim_end_matches('/').to_owned(), node, id: 0 }
    }

    fn all(names: &[&str]) -> Result<Vec<String>, Refusal> {
        assemble(names.iter().map(|name| item(name)).collect()).map(|map| map.into_keys().collect())
    }

    #[test]
    fn names_that_are_two_things_are_refused() {
        assert_eq!(all(&["b", "a-b", "a/", "a/b"]), Ok(vec!["a-b".into(), "a/b".into(), "b".into()]));
        assert_eq!(all(&["A", "a"]), Ok(vec!["A".into(), "a".into()]));
        let twice = |name: &str| Err(Refusal::Duplicate(name.into()));
        assert_eq!(all(&["x", "a", "a"]), twice("a"));
        assert_eq!(all(&["a/", "x", "a/"]), twice("a"));
        let both = |name: &str| Err(Refusal::FileAndDirectory(name.into()));
        assert_eq!(all(&["a", "a-b", "a/b/c"]), both("a"));
        assert_eq!(all(&["a/b", "a/b/c/"]), both("a/b"));
        assert_eq!(all(&["a/", "a"]), both("a"));
    }

    /// The root is only a directory, and `.` is only accepted at the start.
    #[test]
    fn names_from_the_root() {
        for (name, below) in [("./x", "x"), ("././a/b", "a/b"), ("./..x", "..x"), (".x", ".x")] {
            assert_eq!((check(name, false), below_root(name)), (Ok(()), below), "{name}");
        }
        for root in [".", "./.", "././."] {
            assert_eq!((check(root, true), below_root(root)), (Ok(()), "."), "{root}");
            let refused = Refusal::Name { name: root.to_owned(), reason: PathError::Dots };
            assert_eq!(check(root, false), Err(refused));
        }
        for (name, reason) in [
            ("", PathError::Empty),
            ("./", PathError::Empty),
            ("./a//b", PathError::Empty),
            ("..", PathError::Dots),
            ("./..", PathError::Dots),
            ("./../x", PathError::Dots),
            ("a/.", PathError::Dots),
            ("a/./b", PathError::Dots),
            (".//x", PathError::Absolute),
            ("./C:x", PathError::Colon),
            (".\\x", PathError::Backslash),
        ] {
            for is_directory in [false, true] {
                let refused = Refusal::Name { name: name.to_owned(), reason };
                assert_eq!(check(name, is_directory), Err(refused), "{name}");
            }
        }
    }

    #[test]
    fn two_spellings_of_one_name_are_refused() {
        for names in [["é", "e\u{301}"], ["e\u{301}", "é"], ["e\u{323}\u{301}", "e\u{301}\u{323}"]] {
            assert!(matches!(all(&names), Err(Refusal::Collision(..))), "{names:?}");
        }
        assert!(all(&["e\u{301}", "e", "x"]).is_ok());
    }
}
