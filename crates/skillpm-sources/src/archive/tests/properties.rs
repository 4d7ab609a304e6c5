//! Properties of all archives.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::open;
use super::{files, shared};
use crate::digest::Digest;
use crate::refusal::Limits;
use crate::tree::ReadError;
use skillpm_testing::archive::{ZipEntry, deflated, gzip, member, stored, tar, zip};

type Tree = BTreeMap<String, (bool, Vec<u8>)>;

/// Returns trees in which no directory of a file is itself a file.
fn trees() -> impl Strategy<Value = Tree> {
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        (any::<u8>(), 0..700_000_usize).prop_map(|(byte, len)| vec![byte; len]),
    ];
    prop::collection::btree_map("([d-f]/){0,3}[a-c]{1,2}", (any::<bool>(), content), 0..8)
}

fn mode(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

fn zipped(tree: &Tree, entry: impl Fn(&str, &[u8]) -> ZipEntry) -> Vec<u8> {
    let entries: Vec<_> = tree
        .iter()
        .map(|(name, (executable, content))| entry(name, content).mode(0o100_000 | mode(*executable)))
        .collect();
    zip(&entries)
}

fn tarred(tree: &Tree) -> Vec<u8> {
    let members: Vec<_> = tree
        .iter()
        .map(|(name, (executable, content))| member(b'0', name, content).mode(mode(*executable)))
        .collect();
    tar(&members)
}

/// Runs of one byte deflate far better than any file of a skill.
fn limits() -> Limits {
    Limits { ratio: u64::MAX, ..Limits::default() }
}

fn digest(bytes: &[u8]) -> Result<Digest, ReadError> {
    open(shared(bytes), &limits())?.tree.skill("", &limits())?.digest()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_tree_has_one_digest_in_every_kind_of_archive(tree in trees()) {
        let expected = digest(&zipped(&tree, |name, content| stored(name, content))).expect("accepted");
        let streamed = zipped(&tree, |name, content| deflated(name, content).streamed());
        prop_assert_eq!(digest(&zipped(&tree, |name, content| deflated(name, content))).expect("accepted"), expected);
        prop_assert_eq!(digest(&streamed).expect("accepted"), expected);
        if !tree.is_empty() {
            prop_assert_eq!(digest(&tarred(&tree)).expect("accepted"), expected);
            prop_assert_eq!(digest(&gzip(&tarred(&tree))).expect("accepted"), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_damaged_archive_is_refused_or_gives_the_same_content(
        contents in prop::collection::vec("[ab]{0,40}", 1..4),
        at in any::<Index>(),
        bit in 0..8_u32,
    ) {
        let tree: Tree =
            contents.iter().enumerate().map(|(at, text)| (format!("d/{at}"), (false, text.clone().into_bytes()))).collect();
        for mut bytes in [
            zipped(&tree, |name, content| stored(name, content)),
            zipped(&tree, |name, content| deflated(name, content).streamed()),
            gzip(&tarred(&tree)),
        ] {
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            if let Ok(files) = files(&bytes, &limits()) {
                let found: Vec<_> = files.iter().map(|(name, (_, content))| (name, content)).collect();
                let expected: Vec<_> = tree.iter().map(|(name, (_, content))| (name, content)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        start in prop::sample::select(vec![&b"PK\x03\x04"[..], b"PK\x05\x06", b"\x1F\x8B\x08", b""]),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        magic in any::<bool>(),
    ) {
        let mut bytes = [start, &bytes].concat();
        if magic && bytes.len() > 265 {
            bytes[257..265].copy_from_slice(b"ustar\x0000");
        }
        let _ = open(shared(&bytes), &limits()).map(|archive| archive.tree.skill("", &limits()));
    }
}
