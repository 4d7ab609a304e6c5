//! Writes zip archives that depend on nothing but the files in them: the same tree gives the same bytes everywhere.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::refusal::Limits;
use crate::tree::{FileSet, ReadError, Rights};

/// The level of compression. Another level, or another version of the compressor, gives other bytes.
pub(super) const LEVEL: u32 = 9;

/// The largest ratio of the size of an entry, or of a tar archive, to its compressed size: half of what [`Limits`] allow.
pub(super) const MOST_DENSE: u64 = 100;

/// Returns a zip archive of `set`: its files in the order of their paths, with the modes 0644 and 0755 and the time
/// 1980-01-01, and no entries for directories.
///
/// # Errors
///
/// Fails if a file cannot be read.
pub fn write_zip(set: &FileSet) -> Result<Vec<u8>, ReadError> {
    let (bytes, _) = write_zip_to(set, Cursor::new(Vec::new()))?;
    Ok(bytes.into_inner())
}

/// Writes the archive that [`write_zip`] returns into `to`, which is empty. Returns `to`, at its start, and the number of
/// bytes.
///
/// # Errors
///
/// Fails if a file cannot be read, or `to` cannot be written.
pub fn write_zip_to<W: Write + Seek>(set: &FileSet, to: W) -> Result<(W, u64), ReadError> {
    let mut writer = ZipWriter::new(to);
    for file in set.files() {
        let bytes = set.read(file)?;
        let options = options(&bytes)?.unix_permissions(Rights::ALL.mode(file.executable));
        writer.start_file(file.path.as_str(), options).map_err(io::Error::from)?;
        // In one piece: the compressor's output could depend on where its input is divided.
        writer.write_all(&bytes)?;
    }
    let mut to = writer.finish().map_err(io::Error::from)?;
    let size = to.seek(SeekFrom::End(0))?;
    to.rewind()?;
    Ok((to, size))
}

/// Returns how an entry with the content `bytes` is written.
fn options(bytes: &[u8]) -> io::Result<SimpleFileOptions> {
    let options = SimpleFileOptions::default().system(System::Unix).last_modified_time(DateTime::DEFAULT);
    Ok(if bytes.is_empty() || is_too_dense(bytes)? {
        options.compression_method(CompressionMethod::Stored)
    } else {
        options.compression_method(CompressionMethod::Deflated).compression_level(Some(LEVEL.into()))
    })
}

/// Reports whether `bytes` would be so much smaller compressed that readers would refuse the entry as a bomb.
fn is_too_dense(bytes: &[u8]) -> io::Result<bool> {
    let size = bytes.len() as u64;
    if size <= Limits::RATIO_FLOOR {
        return Ok(false);
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(bytes)?;
    let packed = encoder.finish()?.len() as u64;
    Ok(size / packed.max(1) > MOST_DENSE)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::archive::open_zip;
    use crate::archive::tests::shared;
    use crate::path::SafePath;
    use crate::tree::{FileEntry, Memory};

    fn set(files: &[(&str, bool, Vec<u8>)]) -> FileSet {
        let entry = |(id, (path, executable, bytes)): (usize, &(&str, bool, Vec<u8>))| {
            FileEntry::new(SafePath::new(path).expect("safe"), *executable, bytes.len() as u64, id)
        };
        let entries = files.iter().enumerate().map(entry).collect();
        let content = Memory(files.iter().map(|(_, _, bytes)| bytes.clone()).collect());
        FileSet::new(entries, Arc::new(content), &Limits::default()).expect("a set")
    }

    fn files() -> Vec<(&'static str, bool, Vec<u8>)> {
        vec![
            ("SKILL.md", false, b"# Skill\n".repeat(99)),
            ("assets/empty", false, Vec::new()),
            ("assets/zeros", false, vec![0; 3 << 20]),
            ("scripts/run.sh", true, b"#!/bin/sh\n".to_vec()),
            ("scripts/\u{e9}.md", false, b"x".to_vec()),
        ]
    }

    #[test]
    fn an_archive_reads_back_and_depends_on_its_files_only() {
        let (one, mut other) = (files(), files());
        other.reverse();
        let bytes = write_zip(&set(&one)).expect("writes");
        assert_eq!(bytes, write_zip(&set(&other)).expect("writes"));
        let tree = open_zip(shared(&bytes), &Limits::default()).expect("opens").tree;
        let again = tree.skill("", &Limits::default()).expect("a skill");
        assert_eq!(again.digest().expect("reads"), set(&one).digest().expect("reads"));
        assert!(bytes.len() < (3 << 20) + 2000, "only what would look like a bomb is stored");
    }

    /// A digest that changes where the compressor does: artifacts in registries are then no longer made anew.
    #[test]
    fn the_bytes_are_those_of_every_machine() {
        let bytes = write_zip(&set(&files())).expect("writes");
        assert_eq!(
            crate::digest::Digest::of(&bytes).to_string(),
            "sha256:2b3d79f22e172a4022e7545c0d46e44c7da6dd996e5fe722228f2b7351193746"
        );
    }
}
