//! The file format of an index.
//!
//! ```text
//! "skillpm index\n"  version  crc32 of all that follows
//! version of skillpm: another one may read trees otherwise
//! moment of the newest entry
//! root of the scope
//! count of trees, for each: path, digest, device, count of nodes, bytes of nodes
//!     for each node: path, mode, size, modified, changed, inode
//! ```
//!
//! Numbers are little-endian, texts are preceded by their length. Anything else is not an index, which only
//! costs some hashing.

use std::collections::BTreeMap;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::bytes::{Reader, put_moment, put_stat, put_text};
use crate::digest::Digest;
use crate::fs::{FileStat, Moment};
use crate::tree::leftovers::leftover_in;

const MAGIC: &[u8] = b"skillpm index\n";
/// The version of the format, raised with any change.
const VERSION: u32 = 4;
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// The cached facts about one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// The digest of its files.
    pub(super) digest: Digest,
    /// The file system that holds the whole tree.
    device: u64,
    /// The metadata of its files and directories, in encoded form.
    nodes: Nodes,
    count: u32,
}

/// A slice of shared bytes: the bytes of a file with thousands of trees are not copied.
#[derive(Debug, Clone)]
struct Nodes {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Deref for Nodes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

impl PartialEq for Nodes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Nodes {}

impl From<Vec<u8>> for Nodes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), bytes: Arc::new(bytes) }
    }
}

/// The content of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    /// The time at which the newest entry was made.
    pub(super) newest: Moment,
    /// The scope's root: two roots could share a file.
    pub(super) root: Vec<u8>,
    /// The trees, by the path that leads to them.
    pub(super) trees: BTreeMap<Vec<u8>, IndexEntry>,
}

impl IndexEntry {
    /// Returns the entry of a tree with `digest` and the metadata `seen`, or `None` if it is on several file
    /// systems.
    pub(super) fn new(digest: Digest, seen: &[(String, FileStat)]) -> Option<Self> {
        let device = seen.first()?.1.device;
        let mut nodes = Vec::new();
        for (path, stat) in seen {
            if stat.device != device {
                return None;
            }
            put_text(&mut nodes, path.as_bytes())?;
            put_stat(&mut nodes, stat);
        }
        Some(Self { digest, device, nodes: nodes.into(), count: u32::try_from(seen.len()).ok()? })
    }

    /// Reports whether the tree contains a `.git`, which the digest does not cover.
    pub(super) fn has_repository(&self) -> bool {
        self.nodes().any(|(path, _)| path == b".git" || path.ends_with(b"/.git"))
    }

    /// Returns the leftovers in the tree. Trees whose own files have such names are not cached.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let names = self.nodes().filter_map(|(path, stat)| {
            let path = std::str::from_utf8(path).ok()?;
            (leftover_in(path, !stat.is_file()) == Some(path)).then(|| path.to_owned())
        });
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    }

    /// Returns the metadata: paths below the tree, with an empty path for the tree itself.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&[u8], FileStat)> {
        let mut rest = Reader(&self.nodes);
        std::iter::from_fn(move || Some((rest.text()?, rest.stat(self.device)?)))
    }
}

impl Content {
    /// Returns the bytes of the file.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        put_text(&mut body, PROGRAM.as_bytes())?;
        put_moment(&mut body, self.newest);
        put_text(&mut body, &self.root)?;
        body.extend(u32::try_from(self.trees.len()).ok()?.to_le_bytes());
        for (path, entry) in &self.trees {
            put_text(&mut body, path)?;
            body.extend(entry.digest.as_bytes());
            body.extend(entry.device.to_le_bytes());
            body.extend(entry.count.to_le_bytes());
            body.extend(u32::try_from(entry.nodes.len()).ok()?.to_le_bytes());
            body.extend(&*entry.nodes);
        }
        let head = [MAGIC, &VERSION.to_le_bytes(), &crc32fast::hash(&body).to_le_bytes()].concat();
        Some([head, body].concat())
    }

    /// Parses the bytes of a file. Returns `None` for anything that [`Content::encode`] does not write.
    pub(super) fn decode(bytes: Vec<u8>) -> Option<Self> {
        let bytes = Arc::new(bytes);
        let mut rest = Reader(bytes.strip_prefix(MAGIC)?);
        if rest.u32()? != VERSION || rest.u32()? != crc32fast::hash(rest.0) {
            return None;
        }
        if rest.text()? != PROGRAM.as_bytes() {
            return None;
        }
        let (newest, root) = (rest.moment()?, rest.text()?.to_owned());
        let mut trees: Vec<(Vec<u8>, IndexEntry)> = Vec::new();
        for _ in 0..rest.u32()? {
            let path = rest.text()?;
            let digest = rest.digest()?;
            let (device, count, length) = (rest.u64()?, rest.u32()?, rest.u32()?);
            let start = bytes.len() - rest.0.len();
            check_nodes(rest.take(usize::try_from(length).ok()?)?, device, count)?;
            let nodes = Nodes { bytes: Arc::clone(&bytes), range: start..bytes.len() - rest.0.len() };
            // Sorted, without duplicates: equal content gives an equal file.
            if trees.last().is_some_and(|(last, _)| last.as_slice() >= path) {
                return None;
            }
            trees.push((path.to_owned(), IndexEntry { digest, device, nodes, count }));
        }
        let is_all = rest.0.is_empty();
        is_all.then(|| Self { newest, root, trees: trees.into_iter().collect() })
    }
}

/// Checks that `bytes` are `count` nodes; the first is the root.
fn check_nodes(bytes: &[u8], device: u64, count: u32) -> Option<()> {
    let mut rest = Reader(bytes);
    for at in 0..count {
        let path = rest.text()?;
        rest.stat(device)?;
        let is_below = || path.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."));
        if path.is_empty() != (at == 0) || path.contains(&0) || at > 0 && !is_below() {
            return None;
        }
    }
    (count > 0 && rest.0.is_empty()).then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moment() -> impl Strategy<Value = Moment> {
        (any::<i64>(), 0..1_000_000_000_u32)
            .prop_map(|(seconds, nanoseconds)| Moment { seconds, nanoseconds })
    }

    fn stat() -> impl Strategy<Value = FileStat> {
        (any::<u64>(), any::<u32>(), any::<u64>(), moment(), moment()).prop_map(
            |(inode, mode, size, modified, changed)| FileStat {
                device: 7,
                inode,
                mode,
                size,
                modified,
                changed,
            },
        )
    }

    fn content() -> impl Strategy<Value = Content> {
        let below = proptest::collection::vec(("[a-zé]{1,5}(/[a-z.]{3,9}x){0,3}", stat()), 0..5);
        let tree = (stat(), below, any::<[u8; 32]>()).prop_map(|(root, below, digest)| {
            let seen: Vec<_> = std::iter::once((String::new(), root)).chain(below).collect();
            IndexEntry::new(Digest::from_bytes(digest), &seen).expect("one file system")
        });
        let path = proptest::collection::vec(any::<u8>(), 0..30);
        let trees = proptest::collection::btree_map(path.clone(), tree, 0..5);
        (moment(), path, trees).prop_map(|(newest, root, trees)| Content { newest, root, trees })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(content in content()) {
            let bytes = content.encode().expect("small enough");
            let read = Content::decode(bytes.clone()).expect("whole");
            prop_assert_eq!(read.encode(), Some(bytes));
            prop_assert_eq!(read, content);
        }

        /// A damaged or foreign cache is rejected.
        #[test]
        fn a_changed_byte_or_a_cut_is_no_index(content in content(), at: prop::sample::Index, bit in 0..8_u8) {
            let mut bytes = content.encode().expect("small enough");
            let at = at.index(bytes.len());
            prop_assert_eq!(Content::decode(bytes[..at].to_vec()), None);
            bytes[at] ^= 1 << bit;
            prop_assert_eq!(Content::decode(bytes), None);
        }

        /// A right checksum proves nothing: the rest is read without a panic, and only accepted if it would be written the
        /// same.
        #[test]
        fn hostile_bytes_are_read_safely(content in content(), at: prop::sample::Index, noise: [u8; 4]) {
            let mut bytes = content.encode().expect("small enough");
            let head = MAGIC.len() + 8;
            let at = head + at.index(bytes.len() - head);
            for (byte, noise) in bytes[at..].iter_mut().zip(noise) {
                *byte = noise;
            }
            let sum = crc32fast::hash(&bytes[head..]).to_le_bytes();
            bytes[head - 4..head].copy_from_slice(&sum);
            if let Some(read) = Content::decode(bytes.clone()) {
                for entry in read.trees.values() {
                    prop_assert_eq!(entry.nodes().count(), entry.count as usize);
                }
                prop_assert_eq!(read.encode(), Some(bytes));
            }
        }

        #[test]
        fn noise_is_no_index(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(Content::decode(noise), None);
        }
    }

    #[test]
    fn no_path_leads_out_of_a_tree() {
        let stat = FileStat {
            device: 1,
            inode: 1,
            mode: 1,
            size: 1,
            modified: Moment { seconds: 1, nanoseconds: 1 },
            changed: Moment { seconds: 1, nanoseconds: 1 },
        };
        let decoded = |second: &str| {
            let seen = [(String::new(), stat), (second.to_owned(), stat)];
            let entry = IndexEntry::new(Digest::of(b""), &seen).expect("one file system");
            let trees = [(b"/p".to_vec(), entry)].into();
            let content = Content { newest: stat.modified, root: b"/".to_vec(), trees };
            Content::decode(content.encode().expect("small")).is_some()
        };
        assert!(decoded("a/b"));
        for path in ["", "/a", "a//b", "a/", "..", "a/../b", "./a", "a\0b"] {
            assert!(!decoded(path), "{path:?}");
        }
    }
}
