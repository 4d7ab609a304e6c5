//! The malo suite: archives on which readers disagree.
//!
//! Its directories prescribe the verdict: `accept`, `reject` and `malicious` are binding. For `iffy`, our
//! choice is listed here, as is every deviation. `SKILLPM_TESTDATA` names the directory of the suite.

#![expect(clippy::disallowed_methods, reason = "the suite is outside of every room of the program")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::inflate::{InflateError, inflate};
use super::{Files, refusal};
use crate::digest::Digest;
use crate::fs::SharedFile;
use crate::refusal::Limits;
use crate::tree::Node;

/// The archives of `iffy` that are accepted, and why. All others are refused.
const IFFY_ACCEPTED: &[(&str, &str)] = &[
    ("zip/nosubdir.zip", "directories without an entry: git archive and GitHub leave some out"),
    ("zip/crc_zero_nonempty.zip", "the checksum is right, it just happens to be zero"),
    ("zip/crc_collision_empty_nonempty.zip", "both checksums are right"),
    ("zip/crc_collision_two_nonempty.zip", "both checksums are right"),
    ("tar/name_no_nul.tar", "a name that fills its field is legal, and git archive writes such"),
    ("tar/gnu_magic.tar", "GNU tar writes this by default; no field of it is read in two ways"),
    ("tar/pax_path_nonzero_fixed.tar", "the same shape as accept/pax_extended_header.tar"),
    ("tar/pax_path_second_block.tar", "the record lies whole in its block"),
    ("deflate/nonzero_padding.deflate", "the padding bits of a stored block mean nothing"),
];

/// Why the rest of `iffy` is refused, by the start of the name: one row for each file.
const IFFY_REFUSED: &[(&str, &str)] = &[
    ("zip/8bitcomment", "an end record in the comment"),
    ("zip/comment_cdsize", "the two headers differ"),
    ("zip/store_cdsize", "the two headers differ"),
    ("zip/data_descriptor", "a descriptor that contradicts the directory, or has no signature or flag"),
    ("zip/extra3byte", "an extra field that is cut off"),
    ("zip/non_ascii_original_name", "a name that is not UTF-8, with a second name beside it"),
    ("zip/prefix", "bytes in front of the archive"),
    ("zip/suffix_not_comment", "bytes behind the archive"),
    ("zip/trailing_slash_attr_mismatch", "a directory with content"),
    ("zip/zip64_eocd_extensible_data", "data of an unknown kind in the end record"),
    ("zip/zip64_extra_too", "a zip64 field with more or fewer values than the header asks for"),
    ("tar/backslash_name", "a separator on one system only"),
    ("tar/empty_name", "no name"),
    ("tar/no_magic", "a format from before the standard, in which fields mean other things"),
    ("tar/pax_empty_path", "to some readers an empty name, to some the one in the header"),
    ("tar/pax_record_leading_zero_length", "a length that is octal to some readers"),
    ("tar/pax_sparse_basic", "a sparse file"),
    ("tar/pax_utf16", "a name in another encoding, or one with NULs"),
    ("tar/regular_nul", "a type from before the standard: a directory to some readers"),
    ("tar/sparse", "a sparse file of GNU tar"),
    ("tar/unknown", "a type that readers skip or extract, as they like"),
];

/// Archives that are accepted although the suite calls them malicious, and why.
const OVERRULED: &[(&str, &str)] = &[(
    "tar/prefix_empty_name_dot.tar",
    "the directory `.`, as people get it who pack one from inside: it is the root, of which nothing is written",
)];

fn suite() -> Option<PathBuf> {
    let Some(root) = std::env::var_os("SKILLPM_TESTDATA") else {
        eprintln!("skipped: SKILLPM_TESTDATA is unset");
        return None;
    };
    Some(Path::new(&root).join("malo"))
}

fn bytes(path: &Path) -> Vec<u8> {
    let file = SharedFile::open(path).expect("opens");
    let mut bytes = vec![0; usize::try_from(file.len()).expect("small")];
    file.read_exact_at(&mut bytes, 0).expect("reads");
    bytes
}

/// Returns the paths of the files of a format and a class, sorted.
fn cases(root: &Path, format: &str, class: &str) -> Vec<PathBuf> {
    let dir = root.join(format).join(class);
    let mut paths: Vec<_> =
        dir.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == format));
    paths.sort();
    assert!(!paths.is_empty(), "{}", dir.display());
    paths
}

/// Returns why a file of the suite is refused.
fn verdict(path: &Path, format: &str) -> Option<String> {
    let bytes = bytes(path);
    if format != "deflate" {
        return refusal(&bytes).map(|refusal| refusal.to_string());
    }
    match inflate(&mut bytes.as_slice(), bytes.len() as u64, 1 << 20, &mut |_| Ok(())) {
        Ok(_) => None,
        Err(InflateError::Io(error)) => panic!("the machine failed: {error}"),
        Err(error) => Some(format!("{error:?}")),
    }
}

/// Checks the members of an accepted archive against the description beside it.
fn check_description(path: &Path) {
    let description = path.with_extension("json");
    if !description.is_file() {
        return;
    }
    let description: Value = serde_json::from_slice(&bytes(&description)).expect("JSON");
    let files: Files = super::files(&bytes(path), &Limits::default()).expect("accepted");
    for member in description["expected"].as_array().expect("a list") {
        let found = files.get(member["member"].as_str().expect("a name"));
        match member["type"].as_str() {
            Some("file") => {
                let (node, content) = found.expect("it is there");
                assert!(matches!(node, Node::File { size, .. } if Some(*size) == member["size"].as_u64()));
                assert_eq!(Some(Digest::of(content).hex().as_str()), member["sha256"].as_str());
            }
            Some("symlink") => {
                let target = member["linkname"].as_str().expect("a target").as_bytes().to_vec();
                assert_eq!(found, Some(&(Node::Symlink, target)));
            }
            other => assert_eq!(other, Some("directory"), "{}", path.display()),
        }
    }
}

#[test]
fn the_suite_is_followed() {
    let Some(root) = suite() else { return };
    let mut wrong = Vec::new();
    for format in ["zip", "tar", "deflate"] {
        for class in ["accept", "reject", "malicious"] {
            for path in cases(&root, format, class) {
                let verdict = verdict(&path, format);
                let id = format!("{format}/{}", path.file_name().expect("a name").to_string_lossy());
                let is_overruled = OVERRULED.iter().any(|(name, _)| *name == id);
                if verdict.is_none() != (class == "accept" || is_overruled) {
                    wrong.push(format!("{}: {verdict:?}", path.display()));
                } else if class == "accept" && format == "tar" {
                    check_description(&path);
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn each_iffy_archive_has_a_choice() {
    let Some(root) = suite() else { return };
    let mut wrong = Vec::new();
    for format in ["zip", "tar", "deflate"] {
        for path in cases(&root, format, "iffy") {
            let id = format!("{format}/{}", path.file_name().expect("a name").to_string_lossy());
            let accept = IFFY_ACCEPTED.iter().any(|(name, _)| *name == id);
            let refuse = IFFY_REFUSED.iter().any(|(start, _)| id.starts_with(start));
            let verdict = verdict(&path, format);
            if accept == refuse || verdict.is_none() != accept {
                wrong.push(format!("{id}: {verdict:?}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
