//! Completing the announcements of a killed writer.
//!
//! An entry of the log is the point of no return: once it has its place, the records and events that it announces will get
//! theirs, even if the writer is killed. They wait, whole and synced, among the staged files. So one version never gets two
//! digests in the log: a second package finds the first one published.

use std::collections::BTreeMap;

use super::dir_staging::{PREFIX, ensure_parent, leftovers};
use super::error::damaged;
use super::{Event, LogChange, MAX_FILE, Objects as _, ReadFiles as _, Record, RegistryDir, files};
use crate::error::Result;
use crate::fs::{self, Kind};

/// Gives what the last entry of the log announces its place, if a killed writer left it without one. The caller holds the
/// lock, and derives the skills whose markers are there.
pub(super) fn resume(dir: &RegistryDir) -> Result<()> {
    // Markers come before the entry, and go when everything is done.
    if dir.pending()?.is_empty() {
        return Ok(());
    }
    // A damaged entry announces nothing; `verify` reports it.
    let Ok(Some(entry)) = dir.log_entry(dir.log_length()?) else { return Ok(()) };
    let is_absent = |path: &str| Ok::<_, crate::error::Error>(dir.kind(path)?.is_none());
    let (mut records, mut events) = (Vec::new(), Vec::new());
    for change in entry.changes {
        match change {
            LogChange::Publish { name, version, digest } => {
                let path = files::record(&name, &version);
                if is_absent(&path)? {
                    records.push((path, digest));
                }
            }
            // An unknown change cannot be written.
            LogChange::Event { event: Event::Unknown, .. } | LogChange::Unknown => {}
            LogChange::Event { name, number, event } => {
                let path = files::event(&name, number);
                if is_absent(&path)? {
                    events.push((path, event.to_bytes()));
                }
            }
        }
    }
    if records.is_empty() && events.is_empty() {
        return Ok(());
    }
    let staged = staged_records(dir)?;
    let mut changed = Vec::new();
    for (path, digest) in records {
        // Without its staged file the record is not known.
        if let Some((_, now)) = staged.get(&path).filter(|(of, _)| *of == digest) {
            move_in(dir, now, &path, &mut changed)?;
        }
    }
    for (at, (path, bytes)) in events.into_iter().enumerate() {
        let now = format!("{}/{PREFIX}event.{at}", files::PENDING);
        fs::remove_tree(&dir.path_of(&now))?;
        dir.base.write_new(&now, [&bytes[..]])?;
        fs::sync_filesystem(&dir.path_of(files::PENDING))?;
        move_in(dir, &now, &path, &mut changed)?;
    }
    fs::sync_filesystem(&dir.path_of(files::PENDING))?;
    if cfg!(not(target_os = "linux")) {
        for parent in changed {
            fs::sync_dir(&dir.path_of(&parent))?;
        }
    }
    Ok(())
}

/// Returns the records among the staged files: by the path that each is for, its digest and where it is now.
fn staged_records(dir: &RegistryDir) -> Result<BTreeMap<String, (crate::digest::Digest, String)>> {
    let mut found = BTreeMap::new();
    for entry in leftovers(dir)? {
        let now = format!("{}/{entry}", files::PENDING);
        // Archives and half files are no records.
        if let Ok(Some(bytes)) = dir.get(&now, MAX_FILE)
            && let Ok(record) = Record::read(&bytes)
        {
            found.insert(files::record(&record.name, &record.version), (record.digest, now));
        }
    }
    Ok(found)
}

fn move_in(dir: &RegistryDir, now: &str, path: &str, changed: &mut Vec<String>) -> Result<()> {
    ensure_parent(dir, path)?;
    if dir.kind(now)? != Some(Kind::File) {
        return Err(damaged(now, &"it is not a regular file"));
    }
    fs::move_new(&dir.path_of(now), &dir.path_of(path))?;
    changed.push(path.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned()));
    Ok(())
}
