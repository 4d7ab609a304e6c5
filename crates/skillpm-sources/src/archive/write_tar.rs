//! Writes reproducible `.tar.gz` archives: the same files always make the same bytes.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::write::{LEVEL, MOST_DENSE};
use crate::refusal::Limits;
use crate::tree::{FileSet, ReadError, Rights};

/// The unit of a tar archive, in bytes.
const BLOCK: usize = 512;
/// The longest name that fits into a header, in bytes.
const SHORT_NAME: usize = 100;
/// 1980-01-01, as in the zip archives of packages, in seconds since 1970.
const TIME: u64 = 315_532_800;
/// The type of a member that is a file.
const FILE: u8 = b'0';
/// The type of a member that extends the header of the next one.
const EXTENDED: u8 = b'x';

/// Returns a tar archive of `set` in one gzip member: its files below the directory `root` in the order of their paths,
/// with the modes 0644 and 0755, the time 1980-01-01 and no owner, and no entries for directories.
///
/// # Errors
///
/// Fails if a file cannot be read.
pub fn write_tar_gz(set: &FileSet, root: &str) -> Result<Vec<u8>, ReadError> {
    let tar = write_tar(set, root)?;
    let packed = gzip(&tar, Compression::new(LEVEL))?;
    let is_too_dense =
        tar.len() as u64 > Limits::RATIO_FLOOR && tar.len() as u64 / packed.len() as u64 > MOST_DENSE;
    // Readers would refuse it as a bomb.
    Ok(if is_too_dense { gzip(&tar, Compression::none())? } else { packed })
}

fn write_tar(set: &FileSet, root: &str) -> Result<Vec<u8>, ReadError> {
    let mut tar = Vec::new();
    for file in set.files() {
        let path = format!("{root}/{}", file.path.as_str());
        let bytes = set.read(file)?;
        if path.len() > SHORT_NAME || !path.is_ascii() {
            append(&mut tar, "path", record("path", &path).as_bytes(), 0o644, EXTENDED);
        }
        append(&mut tar, &path, &bytes, Rights::ALL.mode(file.executable), FILE);
    }
    tar.resize(tar.len() + 2 * BLOCK, 0);
    Ok(tar)
}

/// Appends a member: its header and `bytes`, filled up to whole blocks.
fn append(tar: &mut Vec<u8>, name: &str, bytes: &[u8], mode: u32, kind: u8) {
    tar.extend(header(name, bytes.len(), mode, kind));
    tar.extend(bytes);
    tar.resize(tar.len().next_multiple_of(BLOCK), 0);
}

/// Returns the header of a member with `size` bytes. A name that does not fit is cut: an extended header has all of it.
fn header(name: &str, size: usize, mode: u32, kind: u8) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        for (place, byte) in header[at..].iter_mut().zip(bytes) {
            *place = *byte;
        }
    };
    let short = &name.as_bytes()[..name.len().min(SHORT_NAME)];
    put(0, short);
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, format!("{TIME:011o}\0").as_bytes());
    // The checksum is computed with spaces in its own place.
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    header[148..156].copy_from_slice(sum.as_bytes());
    header
}

/// Returns a record of an extended header. Its length, at its start, counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut size = rest.len();
    while size != rest.len() + size.to_string().len() {
        size = rest.len() + size.to_string().len();
    }
    format!("{size}{rest}")
}

fn gzip(bytes: &[u8], level: Compression) -> io::Result<Vec<u8>> {
    // In one piece: the compressor's output could depend on where its input is divided.
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::archive::open_tar_gz;
    use crate::archive::tests::shared;
    use crate::path::SafePath;
    use crate::tree::{FileEntry, Memory};

    fn set(files: &[(String, bool, Vec<u8>)]) -> FileSet {
        let entry = |(id, (path, executable, bytes)): (usize, &(String, bool, Vec<u8>))| {
            FileEntry::new(SafePath::new(path).expect("safe"), *executable, bytes.len() as u64, id)
        };
        let entries = files.iter().enumerate().map(entry).collect();
        let content = Memory(files.iter().map(|(_, _, bytes)| bytes.clone()).collect());
        FileSet::new(entries, Arc::new(content), &Limits::default()).expect("a set")
    }

    fn files() -> Vec<(String, bool, Vec<u8>)> {
        let mut files = vec![
            ("SKILL.md".to_owned(), false, b"# Skill\n".repeat(99)),
            ("assets/empty".to_owned(), false, Vec::new()),
            ("scripts/run.sh".to_owned(), true, b"#!/bin/sh\n".to_vec()),
            ("scripts/\u{e9}.md".to_owned(), false, vec![b'x'; 512]),
        ];
        // Around the longest name of a header, and where the length of a record gains a digit.
        files.extend([84, 85, 86, 87, 90, 95, 96, 97, 200].map(|size| {
            let name = format!("references/{}", "n".repeat(size));
            (name, false, size.to_string().into_bytes())
        }));
        files
    }

    #[test]
    fn an_archive_reads_back_and_depends_on_its_files_only() {
        let (one, mut other) = (files(), files());
        other.reverse();
        let bytes = write_tar_gz(&set(&one), "pdf").expect("writes");
        assert_eq!(bytes, write_tar_gz(&set(&other), "pdf").expect("writes"));
        let tree = open_tar_gz(&shared(&bytes), &Limits::default()).expect("opens").tree;
        let again = tree.skill("pdf", &Limits::default()).expect("a skill");
        assert_eq!(again.digest().expect("reads"), set(&one).digest().expect("reads"));
    }

    #[test]
    fn what_would_look_like_a_bomb_is_not_compressed() {
        let zeros = [("SKILL.md".to_owned(), false, vec![0; 3 << 20])];
        let bytes = write_tar_gz(&set(&zeros), "pdf").expect("writes");
        assert!(open_tar_gz(&shared(&bytes), &Limits::default()).is_ok());
    }

    /// A digest that changes where the compressor does: what was pinned by digest in other registries is then gone.
    #[test]
    fn the_bytes_are_those_of_every_machine() {
        let bytes = write_tar_gz(&set(&files()), "pdf").expect("writes");
        assert_eq!(
            crate::digest::Digest::of(&bytes).to_string(),
            "sha256:4fe5a2309ca191e7b9ba2a9825fd059474af76c0923f3ac5529594ee1a1d78eb"
        );
    }
}
