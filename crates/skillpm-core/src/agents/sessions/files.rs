//! The files of sessions.

use std::path::{Path, PathBuf};

use super::{LeftOut, SessionRecords, Wanted};
use crate::agents::resolve;
use crate::fs::{self, Kind, PathError};
use crate::settings::Settings;
use crate::workers;

/// Files and the number of directories that cannot be read.
pub(super) type Files = (Vec<PathBuf>, usize);

/// Reads all wanted files, side by side.
pub(super) fn of_files(
    (files, unreadable): Files,
    wanted: Wanted<'_>,
    read: impl Fn(&Path) -> Result<SessionRecords, PathError> + Sync,
    left_out: &mut LeftOut,
) -> Vec<SessionRecords> {
    left_out.files += unreadable;
    let files: Vec<_> = files.into_iter().filter(|file| may_have(wanted, file)).collect();
    let mut records = Vec::new();
    for read in workers::map(&files, 1, || (), |(), file| read(file)) {
        match read {
            Ok(read) => records.push(read),
            Err(_) => left_out.files += 1,
        }
    }
    records
}

/// Reports whether a file may have wanted records: it is only ever appended to.
fn may_have(wanted: Wanted<'_>, file: &Path) -> bool {
    let seconds = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
    let changed = fs::modified(file).and_then(seconds).map(|time| time.as_millis());
    let changed = changed.and_then(|time| i64::try_from(time).ok());
    wanted.since.is_none_or(|since| changed.is_none_or(|changed| changed >= since))
}

/// Returns the files below `dirs`, as rules write them, with one of these endings: those of each sorted, and at most `depth`
/// directories deep. Follows no links.
pub(super) fn files_below(dirs: &[&str], depth: usize, endings: &[&str], settings: &Settings) -> Files {
    let mut files = Files::default();
    for dir in dirs.iter().filter_map(|dir| resolve(dir, settings)) {
        let start = files.0.len();
        add_files(&dir, depth, endings, &mut files);
        files.0[start..].sort();
    }
    files
}

fn add_files(dir: &Path, depth: usize, endings: &[&str], files: &mut Files) {
    let entries = fs::entries(dir).unwrap_or_else(|error| {
        files.1 += usize::from(!error.is_absent());
        Vec::new()
    });
    for (name, kind) in entries {
        let path = dir.join(name);
        let ending = path.extension().and_then(|ending| ending.to_str());
        match kind {
            Kind::File if ending.is_some_and(|ending| endings.contains(&ending)) => files.0.push(path),
            Kind::Directory if depth > 0 => add_files(&path, depth - 1, endings, files),
            _ => {}
        }
    }
}
