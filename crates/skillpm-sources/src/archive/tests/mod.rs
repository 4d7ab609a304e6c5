mod accepted;
mod hostile_tar;
mod hostile_zip;
mod malo;
mod properties;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use super::{Parts, check_size, gzip, kind, tar, zip};
use crate::fs::{SharedFile, anonymous_temp_file};
use crate::refusal::{Limits, Refusal};
use crate::tree::{Node, ReadError};

/// Returns a file with these bytes.
pub(super) fn shared(bytes: &[u8]) -> Arc<SharedFile> {
    let mut file = anonymous_temp_file().expect("a temporary file");
    file.write_all(bytes).expect("written");
    Arc::new(SharedFile::from_file(file).expect("open"))
}

/// The files that were read: kind and content by name.
type Files = BTreeMap<String, (Node, Vec<u8>)>;

/// Opens an archive of any kind as the public functions do, but returns the parts.
fn parts(bytes: &[u8], limits: &Limits) -> Result<Parts, ReadError> {
    let file = shared(bytes);
    check_size(&file, limits)?;
    match kind::of(bytes) {
        Some(kind::Kind::Gzip) => tar::open(gzip::unpack(&file, limits)?.into(), limits, "a tar archive"),
        Some(kind::Kind::Tar) => tar::open(file, limits, "a tar archive"),
        _ => zip::open(file, limits),
    }
}

/// Opens an archive and reads all of its content.
fn files(bytes: &[u8], limits: &Limits) -> Result<Files, ReadError> {
    let parts = parts(bytes, limits)?;
    let mut files = Files::new();
    for (name, entry) in &parts.entries {
        let mut content = Vec::new();
        parts.content.copy_to(entry.id, &mut content)?;
        files.insert(name.clone(), (entry.node, content));
    }
    Ok(files)
}

/// Returns why an archive is refused.
fn refusal_within(bytes: &[u8], limits: &Limits) -> Option<Refusal> {
    match files(bytes, limits) {
        Ok(_) => None,
        Err(ReadError::Refused(refusal)) => Some(refusal),
        Err(ReadError::Io(error)) => panic!("the machine failed: {error}"),
    }
}

/// Returns why an archive is refused with the default limits.
fn refusal(bytes: &[u8]) -> Option<Refusal> {
    refusal_within(bytes, &Limits::default())
}

/// Asserts that each archive is refused with exactly this refusal. Each text is the id of a threat, or a
/// description of the archive.
fn assert_refused(cases: Vec<(&str, Vec<u8>, Refusal)>) {
    for (id, bytes, expected) in cases {
        assert_eq!(refusal(&bytes), Some(expected), "{id}");
    }
}
