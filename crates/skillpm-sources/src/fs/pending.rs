//! Files and directories that are being written: they have a temporary name beside their final one.
//!
//! A killed process leaves them there. The process that writes one holds a lock on it until it ends, so another
//! process can tell what was abandoned from what is still being written, also if the two are in different containers.
//! Nothing else in skillpm makes such names, and nothing else removes what has one.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{NamedTempFile, TempDir};

use super::lock::same_directory;
use super::{Kind, PathContext, PathError, kind, remove_tree};
use crate::tree::leftovers::PENDING;

/// The age after which something is abandoned on a file system without locks: no process writes for that long.
const AGE: Duration = Duration::from_hours(24);

/// A directory with a temporary name. It is removed when the value is dropped.
#[derive(Debug)]
pub struct PendingDir {
    dir: TempDir,
    /// The lock, which outlives the directory.
    _held: Option<File>,
}

impl PendingDir {
    /// Creates a private directory in `parent`. Removes what killed processes left there first.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be created.
    pub fn new_in(parent: &Path) -> Result<Self, PathError> {
        clear_abandoned(parent);
        loop {
            let dir = tempfile::Builder::new().prefix(PENDING).tempdir_in(parent).at("write in", parent)?;
            match File::open(dir.path()) {
                Ok(handle) if is_held(&handle, dir.path()) => return Ok(Self { dir, _held: Some(handle) }),
                // Another process took it for abandoned before it was locked.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // Windows does not open directories: there the age decides.
                Err(_) => return Ok(Self { dir, _held: None }),
            }
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Creates a file in the directory `dir` that only this user can read. Removes what killed processes left there first.
pub(super) fn file_in(dir: &Path) -> io::Result<NamedTempFile> {
    clear_abandoned(dir);
    loop {
        let file = tempfile::Builder::new().prefix(PENDING).tempfile_in(dir)?;
        // Windows does not let others in while it is open, and a lock would keep readers out after the renaming.
        if cfg!(windows) || is_held(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
}

/// Locks `handle`, which was just created at `path`. Returns `false` if another process took it for abandoned.
fn is_held(handle: &File, path: &Path) -> bool {
    match handle.try_lock() {
        Ok(()) => same_directory(handle, path),
        Err(TryLockError::WouldBlock) => false,
        // The file system has no locks.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Reports whether `path` has a temporary name, whether its process still runs or not.
pub fn is_pending(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PENDING.as_bytes()))
}

/// Reports whether a killed process left what is at `path`.
pub fn is_abandoned(path: &Path) -> bool {
    is_pending(path) && Abandoned::claim(path).is_some()
}

/// Returns what killed processes left in the directory `dir`, sorted.
pub fn abandoned(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = pending(dir).filter(|path| is_abandoned(path)).collect();
    found.sort();
    found
}

/// Removes what killed processes left in the directory `dir`, as far as possible.
pub fn clear_abandoned(dir: &Path) {
    for path in pending(dir) {
        // A leftover does no harm, and the next process tries again.
        let _ = remove_abandoned(&path);
    }
}

/// Removes `path` if a killed process left it.
///
/// # Errors
///
/// Fails if it cannot be removed.
pub fn remove_abandoned(path: &Path) -> Result<(), PathError> {
    let Some(_claim) = is_pending(path).then(|| Abandoned::claim(path)).flatten() else { return Ok(()) };
    remove_tree(path)
}

fn pending(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_pending(path))
}

/// The claim to something that a killed process left: no other process claims it meanwhile.
struct Abandoned {
    _held: Option<File>,
}

impl Abandoned {
    /// Claims what is at `path`, unless a process holds it.
    fn claim(path: &Path) -> Option<Self> {
        let is_dir = match kind(path) {
            Ok(Some(Kind::Directory)) => true,
            Ok(Some(Kind::File)) => false,
            _ => return None,
        };
        let handle = match open(path) {
            Ok(handle) => handle,
            Err(_) if cfg!(windows) && is_dir => return is_old(path).then_some(Self { _held: None }),
            Err(_) => return None,
        };
        match handle.try_lock() {
            Ok(()) => same_directory(&handle, path).then_some(Self { _held: Some(handle) }),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Error(_)) => is_old(path).then_some(Self { _held: None }),
        }
    }
}

/// Opens what is at `path`. Network file systems lock only what is open for writing, which a directory cannot be.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    let open = |write| fs::OpenOptions::new().read(true).write(write).custom_flags(flags).open(path);
    open(true).or_else(|_| open(false))
}

/// Opens what is at `path`, which fails while another process has it open.
#[cfg(windows)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;
    // So that it can be removed while this handle keeps others out.
    const FILE_SHARE_DELETE: u32 = 4;
    fs::OpenOptions::new().read(true).write(true).share_mode(FILE_SHARE_DELETE).open(path)
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > AGE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{list_dir, write_atomic, write_small};

    fn left(dir: &Path, name: &str) -> PathBuf {
        let path = dir.join(format!("{PENDING}{name}"));
        fs::write(&path, "half").expect("writes");
        path
    }

    #[test]
    fn what_a_killed_process_left_goes_with_the_next_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        for is_small in [true, false] {
            left(dir.path(), "a");
            fs::create_dir_all(dir.path().join(format!("{PENDING}b/below"))).expect("creates");
            let written = if is_small { write_small(&file, b"x") } else { write_atomic(&file, b"x") };
            written.expect("writes");
            assert_eq!(list_dir(dir.path()).expect("reads"), ["file"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_being_written_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let (file, below) =
            (file_in(dir.path()).expect("creates"), PendingDir::new_in(dir.path()).expect("creates"));
        for path in [file.path(), below.path()] {
            assert!(is_pending(path) && !is_abandoned(path));
            remove_abandoned(path).expect("leaves it");
        }
        write_atomic(&dir.path().join("other"), b"x").expect("writes");
        assert!(abandoned(dir.path()).is_empty());
        assert_eq!(list_dir(dir.path()).expect("reads").len(), 3);
        // The end of the process ends the lock.
        let path = file.into_temp_path();
        assert_eq!(abandoned(dir.path()), [path.to_path_buf()]);
        drop((path, below));
        assert_eq!(list_dir(dir.path()).expect("reads"), ["other"]);
    }

    /// Only files and directories with such a name are removed, and a link is not followed.
    #[cfg(unix)]
    #[test]
    fn what_others_made_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in [".skillpm-config", ".skillpm-tmp", "x.skillpm-tmp-abc123"] {
            fs::write(dir.path().join(name), "mine").expect("writes");
        }
        fs::create_dir(dir.path().join("mine")).expect("creates");
        std::os::unix::fs::symlink("mine", dir.path().join(format!("{PENDING}link"))).expect("links");
        let before = list_dir(dir.path()).expect("reads");
        clear_abandoned(dir.path());
        assert_eq!(list_dir(dir.path()).expect("reads"), before);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_cannot_be_written_goes_too() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let path = left(dir.path(), "a");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("chmod");
        clear_abandoned(dir.path());
        assert!(!path.exists());
    }

    /// Many threads write the same file, and each clears the others' leftovers: none loses its own.
    #[test]
    fn nobody_loses_what_is_being_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|_| write_atomic(&file, b"x").expect("writes")));
            }
        });
        assert_eq!(list_dir(dir.path()).expect("reads"), ["file"]);
    }
}
