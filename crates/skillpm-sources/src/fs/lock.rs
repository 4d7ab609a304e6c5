//! One writer at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use super::{PathContext, PathError};

/// An advisory lock on a directory, held until it is dropped or its process ends.
///
/// The directory itself is locked (`flock`), so nothing is left behind and a killed owner leaves no stale
/// lock. File systems without such locks (some network ones) provide none; work continues without one.
#[derive(Debug)]
pub struct DirLock {
    file: Option<File>,
}

impl DirLock {
    /// Waits until no other process holds `dir`, which is created if missing. Calls `on_wait` once if another
    /// process holds it.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be created or opened.
    pub fn acquire(dir: &Path, on_wait: impl Fn()) -> Result<Self, PathError> {
        loop {
            let Some(file) = open(dir)? else { continue };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    on_wait();
                    if let Err(error) = file.lock() {
                        return unsupported(error, dir);
                    }
                }
                Err(TryLockError::Error(error)) => return unsupported(error, dir),
            }
            // Between opening and locking, the directory may have been removed and created again.
            if same_directory(&file, dir) {
                return Ok(Self { file: Some(file) });
            }
        }
    }

    /// Reports whether `dir` is still the locked directory: another one, or a link, may have replaced it.
    pub fn is_at(&self, dir: &Path) -> bool {
        self.file.as_ref().is_none_or(|file| same_directory(file, dir))
    }

    /// Works like [`DirLock::acquire`], but any number of processes may hold a shared lock at once.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be created or opened.
    pub fn shared(dir: &Path) -> Result<Self, PathError> {
        loop {
            let Some(file) = open(dir)? else { continue };
            if let Err(error) = file.lock_shared() {
                return unsupported(error, dir);
            }
            if same_directory(&file, dir) {
                return Ok(Self { file: Some(file) });
            }
        }
    }

    /// Takes the lock if no other process holds it in either way, without waiting.
    pub fn try_acquire(dir: &Path) -> Option<Self> {
        let file = File::open(dir).ok()?;
        file.try_lock().ok()?;
        same_directory(&file, dir).then_some(Self { file: Some(file) })
    }
}

/// An advisory lock on a file, held until it is dropped or its process ends.
///
/// The file stays. Unlike a [`DirLock`] it also works on network file systems that lock only files that are open for
/// writing. File systems without locks provide none; work continues without one.
#[derive(Debug)]
pub struct FileLock {
    _file: Option<File>,
}

impl FileLock {
    /// Waits until no other process holds the file `path`, which is created if missing. Calls `on_wait` once if another
    /// process holds it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened for writing; a link is not followed.
    pub fn acquire(path: &Path, on_wait: impl Fn()) -> Result<Self, PathError> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed(),
        );
        let file = options.open(path).at("open", path)?;
        let locked = match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                on_wait();
                file.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        match locked {
            Ok(()) => Ok(Self { _file: Some(file) }),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Self { _file: None }),
            Err(error) => Err(error).at("lock", path),
        }
    }
}

/// Opens `dir`, which is created if missing. Returns `None` if its last owner removed it just now.
fn open(dir: &Path) -> Result<Option<File>, PathError> {
    fs::create_dir_all(dir).at("create", dir)?;
    match File::open(dir) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("open", dir),
    }
}

fn unsupported(error: io::Error, dir: &Path) -> Result<DirLock, PathError> {
    // EBADF: some network file systems lock only files that are open for writing.
    if error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(9) {
        return Ok(DirLock { file: None });
    }
    Err(error).at("lock", dir)
}

#[cfg(unix)]
/// Reports whether the open `file` is what is at `dir`.
pub(super) fn same_directory(file: &File, dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(dir)) {
        (Ok(held), Ok(there)) => held.dev() == there.dev() && held.ino() == there.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
pub(super) fn same_directory(_file: &File, _dir: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_excludes_others_and_lets_go_when_dropped() {
        let dir = tempfile::tempdir().expect("a directory");
        let held = DirLock::acquire(dir.path(), || panic!("the lock is free")).expect("locks");
        assert!(DirLock::try_acquire(dir.path()).is_none());
        drop(held);
        let (one, two) =
            (DirLock::shared(dir.path()).expect("locks"), DirLock::shared(dir.path()).expect("locks"));
        assert!(DirLock::try_acquire(dir.path()).is_none());
        drop((one, two));
        assert!(DirLock::try_acquire(dir.path()).is_some());
    }

    #[test]
    fn a_file_is_held_by_one_and_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("lock");
        let held = FileLock::acquire(&path, || panic!("the lock is free")).expect("locks");
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| FileLock::acquire(&path, || sender.send(()).expect("is heard")).expect("locks"));
            receiver.recv().expect("the other one waits");
            drop(held);
        });
        assert_eq!(fs::read(&path).expect("stays"), b"");
        assert!(FileLock::acquire(&path.join("below"), || ()).is_err());
    }

    #[test]
    fn a_missing_directory_is_created() {
        let dir = tempfile::tempdir().expect("a directory");
        let inner = dir.path().join("a/b");
        assert!(DirLock::try_acquire(&inner).is_none());
        DirLock::acquire(&inner, || ()).expect("locks");
        assert!(inner.is_dir());
    }
}
