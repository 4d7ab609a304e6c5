//! Tar archives as `tar --format=ustar` makes them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Tree;

/// The files of `tree` in a tar archive, each path below `prefix`.
pub fn tar(tree: &Tree, prefix: &str) -> Vec<u8> {
    let mut archive = Vec::new();
    for (path, bytes, executable) in tree.files() {
        archive.extend(header(
            &format!("{prefix}{path}"),
            bytes.len(),
            if executable { 0o755 } else { 0o644 },
        ));
        archive.extend(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

/// `bytes` in one gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// The files of `tree` as `tar.gz`.
pub fn tar_gz(tree: &Tree) -> Vec<u8> {
    gzip(&tar(tree, ""))
}

fn header(path: &str, size: usize, mode: u32) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    assert!(path.len() < 100, "a short path");
    put(0, path);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{size:011o}"));
    put(136, "14544376200");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}
