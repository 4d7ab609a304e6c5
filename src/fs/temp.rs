//! Temporary files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{PathContext, PathError};

/// Where temporary files lie if nobody says otherwise.
const USUAL: &str = "/tmp";

/// Returns a new, empty file that has no name: it is gone when it is closed, also after a crash.
///
/// # Errors
///
/// Where the directory for temporary files cannot be written to.
pub fn anonymous_temp_file() -> Result<File, PathError> {
    let place = temp_place();
    tempfile::tempfile_in(&place).at("create a temporary file in", &place)
}

/// Returns a new, empty directory for this user alone; it goes when the value is dropped.
///
/// # Errors
///
/// Where the directory for temporary files cannot be written to.
pub fn temp_dir() -> Result<TempDir, PathError> {
    let place = temp_place();
    dir_in(&place).at("create a temporary directory in", &place)
}

/// [`temp_dir`] for `bytes` that are soon read and soon gone: in memory, where the system has room for that, programs
/// may be started there, and nobody said where temporary files lie. To make and to remove a few files on a disk takes
/// longer than a short script does.
///
/// # Errors
///
/// As [`temp_dir`].
pub fn brief_temp_dir(bytes: u64) -> Result<TempDir, PathError> {
    #[cfg(target_os = "linux")]
    if temp_place() == Path::new(USUAL)
        && memory::has_room(bytes)
        // Where it cannot be written to, there is the other place.
        && let Ok(dir) = dir_in(Path::new(memory::PLACE))
    {
        return Ok(dir);
    }
    let _ = bytes;
    temp_dir()
}

fn dir_in(place: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix(".skillpm-").tempdir_in(place)
}

/// Files in memory.
#[cfg(target_os = "linux")]
mod memory {
    use rustix::fs::{FsWord, StatVfsMountFlags, statfs, statvfs};

    /// Where they lie.
    pub(super) const PLACE: &str = "/dev/shm";
    /// How many bytes may lie there for one purpose.
    const MOST: u64 = 1 << 20;
    /// How many must be left there for others.
    const SPARE: u64 = 16 << 20;
    /// The number of the file system whose files lie in memory.
    const KIND: FsWord = 0x0102_1994;

    /// Whether `bytes` may lie there, and a program among them be started.
    pub(super) fn has_room(bytes: u64) -> bool {
        bytes <= MOST
            && statfs(PLACE).is_ok_and(|at| at.f_type == KIND)
            && statvfs(PLACE).is_ok_and(|at| {
                !at.f_flag.contains(StatVfsMountFlags::NOEXEC)
                    && !at.f_flag.contains(StatVfsMountFlags::RDONLY)
                    && at.f_bavail.saturating_mul(at.f_frsize) >= bytes.saturating_add(SPARE)
            })
    }
}

/// The directory for temporary files.
pub(super) fn temp_place() -> PathBuf {
    or_the_system_s(tempfile::env::temp_dir())
}

/// An empty `TMPDIR` names no directory: below it, things would lie in the working directory, which may be a
/// project that is watched and committed.
fn or_the_system_s(place: PathBuf) -> PathBuf {
    if cfg!(unix) && place.as_os_str().is_empty() { PathBuf::from(USUAL) } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// THREATS: other users read nothing of a run.
    #[cfg(unix)]
    #[test]
    fn a_directory_is_for_this_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        for dir in [temp_dir().expect("a directory"), brief_temp_dir(1).expect("a directory")] {
            let mode = std::fs::metadata(dir.path()).expect("is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", dir.path().display());
        }
    }

    /// What is large, or would fill it, lies on the disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_for_what_is_small() {
        assert!(!memory::has_room((1 << 20) + 1));
        let dir = brief_temp_dir(u64::MAX).expect("a directory");
        assert_eq!(dir.path().parent(), Some(temp_place().as_path()));
    }

    #[cfg(unix)]
    #[test]
    fn an_empty_place_is_none() {
        for (asked, place) in [("", "/tmp"), ("/tmp", "/tmp"), ("tmp", "tmp"), ("/var/tmp", "/var/tmp")] {
            assert_eq!(or_the_system_s(asked.into()), PathBuf::from(place));
        }
    }
}
