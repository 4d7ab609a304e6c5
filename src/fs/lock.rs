//! One writer at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use super::{PathContext, PathError};

/// An advisory lock on a directory, held until it is dropped or its process ends.
///
/// The directory itself is locked (`flock`), so nothing is left behind and a killed owner leaves
/// no stale lock. File systems without such locks (some network ones) give none; work goes on
/// without.
#[derive(Debug)]
pub struct DirLock {
    _file: Option<File>,
}

impl DirLock {
    /// Waits until no other process holds `dir`, which is created if it is not there. `on_wait` is
    /// called once if another process holds it.
    ///
    /// # Errors
    ///
    /// Where the directory cannot be created or opened.
    pub fn acquire(dir: &Path, on_wait: impl Fn()) -> Result<Self, PathError> {
        loop {
            fs::create_dir_all(dir).at("create", dir)?;
            let file = match File::open(dir) {
                Ok(file) => file,
                // Its last owner removed it just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error).at("open", dir),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    on_wait();
                    if let Err(error) = file.lock() {
                        return Self::unsupported(error, dir);
                    }
                }
                Err(TryLockError::Error(error)) => return Self::unsupported(error, dir),
            }
            // Between opening and locking, the directory may have been removed and made anew.
            if same_directory(&file, dir) {
                return Ok(Self { _file: Some(file) });
            }
        }
    }

    fn unsupported(error: io::Error, dir: &Path) -> Result<Self, PathError> {
        // EBADF: some network file systems lock only what is open for writing.
        if error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(9) {
            return Ok(Self { _file: None });
        }
        Err(error).at("lock", dir)
    }
}

#[cfg(unix)]
fn same_directory(file: &File, dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(dir)) {
        (Ok(held), Ok(there)) => held.dev() == there.dev() && held.ino() == there.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_directory(_file: &File, _dir: &Path) -> bool {
    true
}
