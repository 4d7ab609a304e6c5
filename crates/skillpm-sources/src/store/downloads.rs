//! The downloads, in the cache directory: one directory, called a room, for each kind of source.
//!
//! Files in them may be deleted at any time; each source checks what it finds in its room. This module treats all rooms
//! alike: a room holds files and repositories, which are added and removed as a whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::archive;
use crate::error::Result;
use crate::fs::{self, DirLock, Kind, SharedFile, Usage, usage};
use crate::refusal::Limits;

/// The directory next to the rooms that holds cached facts about trees, which are not downloads and do not interest
/// users. The number increases with every change to its format.
pub const INDEXES: &str = "index-v1";

/// The prefix of files that are being downloaded.
const DOWNLOAD_PREFIX: &str = ".download-";
/// The prefix of directories that are being removed.
const GONE_PREFIX: &str = "gone-";

/// A downloaded file or repository.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The path.
    pub path: PathBuf,
    /// The size and age.
    pub usage: Usage,
}

/// Returns the names of the rooms in the cache directory `cache`.
///
/// # Errors
///
/// Fails if the directory cannot be read.
pub fn rooms(cache: &Path) -> Result<Vec<String>> {
    let names = fs::list_dir(cache)?;
    Ok(names.into_iter().filter(|name| !name.starts_with(GONE_PREFIX) && name != INDEXES).collect())
}

/// Returns all units in the directory `room`, sorted by path.
///
/// # Errors
///
/// Fails if a directory cannot be read.
pub fn units(room: &Path) -> Result<Vec<Unit>> {
    let mut units = Vec::new();
    let mut open = vec![room.to_owned()];
    while let Some(path) = open.pop() {
        match fs::kind(&path)? {
            None => {}
            Some(Kind::Directory) if !is_repository(&path)? => {
                open.extend(fs::list_dir(&path)?.iter().map(|name| path.join(name)));
            }
            Some(_) => units.push(Unit { usage: usage(&path)?, path }),
        }
    }
    units.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(units)
}

/// Reports whether `dir` is a repository, or the directory of one; its parts are worthless on their own.
fn is_repository(dir: &Path) -> Result<bool> {
    for place in [dir.to_owned(), dir.join("repository")] {
        if fs::kind(&place.join("HEAD"))?.is_some() && fs::kind(&place.join("objects"))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Unit {
    /// Reports whether it is the rest of an interrupted download that is older than `age`; no running download is.
    pub fn is_rest(&self, age: Duration) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(DOWNLOAD_PREFIX) && self.usage.is_older_than(age) || fs::is_abandoned(&self.path)
    }

    /// Reports whether it is an archive, by its name.
    pub fn is_archive(&self) -> bool {
        self.path.extension().is_some_and(|ending| ending == "zip")
    }

    /// Returns why it is worthless, if that is known: an archive that cannot be opened.
    pub fn damage(&self) -> Option<String> {
        if !self.is_archive() {
            return None;
        }
        match SharedFile::open(&self.path) {
            Err(error) => Some(error.to_string()),
            Ok(file) => {
                archive::open(Arc::new(file), &Limits::default()).err().map(|error| error.to_string())
            }
        }
    }
}

/// Removes `path`, which is below the cache directory `cache`, in one step; returns `false` if a process is using it.
/// If this process is killed meanwhile, it leaves a directory that [`gone`] lists for clearing the cache.
///
/// # Errors
///
/// Fails if it cannot be removed.
pub fn take(cache: &Path, path: &Path) -> Result<bool> {
    let is_dir = fs::kind(path)? == Some(Kind::Directory);
    let lock = if is_dir { DirLock::try_acquire(path) } else { None };
    if is_dir && lock.is_none() {
        return Ok(false);
    }
    let gone = fs::temp_dir_in(cache, GONE_PREFIX)?;
    fs::move_new(path, &gone.path().join("it"))?;
    fs::remove_tree(gone.path())?;
    // Only rooms, and directories that sources create again.
    for parent in path.ancestors().skip(1).take_while(|parent| *parent != cache && parent.starts_with(cache))
    {
        fs::remove_dir_if_empty(parent);
    }
    Ok(true)
}

/// Returns the directories that a process was removing when it was killed.
///
/// # Errors
///
/// Fails if the directory cannot be read.
pub fn gone(cache: &Path) -> Result<Vec<PathBuf>> {
    let names = fs::list_dir(cache)?;
    Ok(names.iter().filter(|name| name.starts_with(GONE_PREFIX)).map(|name| cache.join(name)).collect())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests arrange files")]

    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        std::fs::write(path, text).expect("writes");
    }

    fn paths(room: &Path) -> Vec<String> {
        let shown = |unit: Unit| unit.path.strip_prefix(room).expect("below").display().to_string();
        units(room).expect("reads").into_iter().map(shown).collect()
    }

    #[test]
    fn a_repository_is_one_thing() {
        let dir = tempfile::tempdir().expect("a directory");
        let room = dir.path().join("git");
        for file in ["a/repository/HEAD", "a/repository/objects/pack/x.pack", "b.git/HEAD", "b.git/objects/x"]
        {
            write(&room.join(file), "x");
        }
        write(&room.join("other/deep/file"), "x");
        assert_eq!(paths(&room), ["a", "b.git", "other/deep/file"]);
        assert_eq!(rooms(dir.path()).expect("reads"), ["git"]);
        assert!(rooms(&dir.path().join("gone")).expect("nothing").is_empty());
        let held = DirLock::acquire(&room.join("a"), || ()).expect("locks");
        assert!(!take(dir.path(), &room.join("a")).expect("looks"), "a process is at work in it");
        drop(held);
        for unit in units(&room).expect("reads") {
            assert!(take(dir.path(), &unit.path).expect("removes"));
        }
        assert!(fs::list_dir(dir.path()).expect("reads").is_empty(), "empty rooms go too");
    }

    #[test]
    fn what_a_killed_process_left_is_no_room() {
        let dir = tempfile::tempdir().expect("a directory");
        write(&dir.path().join("gone-abc/it/x"), "x");
        assert!(rooms(dir.path()).expect("reads").is_empty());
        assert_eq!(gone(dir.path()).expect("reads"), [dir.path().join("gone-abc")]);
    }

    #[test]
    fn archives_that_cannot_be_opened_are_damaged() {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, damaged) in [("x.zip", true), ("x.json", false)] {
            write(&dir.path().join(name), "<html>");
            let unit = Unit { path: dir.path().join(name), usage: Usage::default() };
            assert_eq!(unit.damage().is_some(), damaged, "{name}");
        }
    }
}
