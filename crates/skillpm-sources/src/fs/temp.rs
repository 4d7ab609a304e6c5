//! Temporary files.

use std::fs::{self, DirBuilder, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{DirLock, PathContext, PathError};

/// The default directory for temporary files.
const USUAL: &str = "/tmp";
/// The start of the names of temporary directories.
const PREFIX: &str = ".skillpm-";
/// The number of times that a directory is created anew because another process removed it.
const TRIES: usize = 3;

/// Returns a new, empty file without a name: it is removed when it is closed, also after a crash.
///
/// # Errors
///
/// Fails if the directory for temporary files cannot be written to.
pub fn anonymous_temp_file() -> Result<File, PathError> {
    let place = temp_place();
    tempfile::tempfile_in(&place).at("create a temporary file in", &place)
}

/// Returns a new, empty directory for this user alone. It is removed when the value is dropped.
///
/// # Errors
///
/// Fails if the directory for temporary files cannot be written to.
pub fn temp_dir() -> Result<TempDir, PathError> {
    temp_dir_called(PREFIX)
}

fn temp_dir_called(prefix: &str) -> Result<TempDir, PathError> {
    let place = temp_place();
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix(prefix).tempdir_in(&place).at("create a temporary directory in", &place)
}

/// Returns a directory like [`temp_dir`] whose name starts with `prefix`, and the lock that shows that its process still
/// runs: [`clear_held`] removes it once that is gone. There is no lock where the system has none for directories.
///
/// # Errors
///
/// Fails if the directory for temporary files cannot be written to.
pub fn held_temp_dir(prefix: &str) -> Result<(TempDir, Option<DirLock>), PathError> {
    for _ in 0..TRIES {
        let dir = temp_dir_called(prefix)?;
        // Another process may have found it before it was locked, and remove it.
        if let Some(lock) = DirLock::try_acquire(dir.path()) {
            return Ok((dir, Some(lock)));
        }
    }
    Ok((temp_dir_called(prefix)?, None))
}

/// Removes the directories of [`held_temp_dir`] with `prefix` whose process was killed before it could remove them.
pub fn clear_held(prefix: &str) {
    for entry in fs::read_dir(temp_place()).into_iter().flatten().flatten() {
        let dir = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes())
            && is_private_dir(&dir)
            && let Some(_held) = DirLock::try_acquire(&dir)
        {
            // A directory that cannot be removed stays: the next process tries again.
            let _ = super::remove_tree(&dir);
        }
    }
}

/// Creates the directory `path` for this user alone.
///
/// # Errors
///
/// Fails if it already exists or cannot be created.
pub fn create_private_dir(path: &Path) -> Result<(), PathError> {
    let builder = DirBuilder::new();
    #[cfg(unix)]
    let builder = {
        let mut builder = builder;
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
    };
    builder.create(path).at("create", path)
}

/// Reports whether there is a directory at `path` for this user alone, on Unix by its owner and its mode.
fn is_private_dir(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        // In a directory that a group shares, new directories also have the set-group-ID bit.
        if !is_own || metadata.mode() & 0o777 != 0o700 {
            return false;
        }
    }
    metadata.is_dir()
}

/// Reports whether the directory at `path` is empty. A name that is not UTF-8 counts too.
pub fn is_empty_dir(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Returns the directory for temporary files.
pub fn temp_place() -> PathBuf {
    or_the_system_s(tempfile::env::temp_dir())
}

/// Returns `place`, or the system's default if it is empty. An empty `TMPDIR` names no directory: temporary
/// files would be in the working directory, which may be a project that is watched and committed.
fn or_the_system_s(place: PathBuf) -> PathBuf {
    if cfg!(unix) && place.as_os_str().is_empty() { PathBuf::from(USUAL) } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// THREATS: other users cannot read anything of a run.
    #[cfg(unix)]
    #[test]
    fn a_directory_is_for_this_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = temp_dir().expect("a directory");
        let mode = fs::metadata(dir.path()).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    /// Leftovers of a killed process are removed, and those of a running one stay.
    #[cfg(unix)]
    #[test]
    fn directories_of_killed_processes_are_cleared() {
        let prefix = ".skillpm-test-held-";
        let (kept, lock) = held_temp_dir(prefix).expect("a directory");
        let (killed, released) = held_temp_dir(prefix).expect("a directory");
        assert!(lock.is_some() && released.is_some());
        fs::create_dir_all(killed.path().join("a/b")).expect("creates");
        let place = killed.keep();
        clear_held(prefix);
        assert!(place.exists());
        drop(released);
        clear_held(prefix);
        assert!(!place.exists() && kept.path().exists());
    }

    #[cfg(unix)]
    #[test]
    fn an_empty_place_is_none() {
        for (asked, place) in [("", "/tmp"), ("/tmp", "/tmp"), ("tmp", "tmp"), ("/var/tmp", "/var/tmp")] {
            assert_eq!(or_the_system_s(asked.into()), PathBuf::from(place));
        }
    }
}
