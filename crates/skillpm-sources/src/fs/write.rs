//! Writing many files below one directory, at little cost.

#[cfg(not(unix))]
use std::fs;
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::path::Path;

use super::{Base, PathContext, PathError};

impl Base {
    /// Writes `parts`, one after the other, into the new file `name`.
    ///
    /// # Errors
    ///
    /// Fails if it is there already or cannot be written.
    pub fn write_new<'a>(
        &self,
        name: &str,
        parts: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), PathError> {
        let mut target = self.create(name).map_err(self.failed("create", name))?;
        let mut parts: Vec<IoSlice<'_>> = parts.into_iter().map(IoSlice::new).collect();
        write_all_of(&mut target, &mut parts).map_err(self.failed("write", name))
    }

    /// Moves the file `from` to `to`, replacing a file or link there.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be moved, if `to` is a directory, or if the directory of `to` does not exist.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), PathError> {
        #[cfg(unix)]
        let moved = rustix::fs::renameat(self.handle(), from, self.handle(), to).map_err(io::Error::from);
        #[cfg(not(unix))]
        let moved = fs::rename(self.path.join(from), self.path.join(to));
        moved.map_err(self.failed("create", to))
    }

    /// Marks the file at `below` as used now. Ignores a failure.
    pub fn touch(&self, below: &Path) {
        #[cfg(unix)]
        {
            use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_NOW, utimensat};
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            let times = Timestamps { last_access: now, last_modification: now };
            let _ = utimensat(self.handle(), below, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
        #[cfg(not(unix))]
        super::touch(&self.path.join(below));
    }

    /// Returns the error of an action at `below`. The full path is built only for an error.
    pub(super) fn failed(
        &self,
        action: &'static str,
        below: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> PathError {
        move |source| PathError { action, path: self.path.join(below), source }
    }

    /// Opens the new file `name` for writing.
    fn create(&self, name: &str) -> io::Result<File> {
        #[cfg(unix)]
        {
            use rustix::fs::{Mode, OFlags};
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            Ok(rustix::fs::openat(self.handle(), name, flags, Mode::from_raw_mode(0o644))?.into())
        }
        #[cfg(not(unix))]
        {
            fs::OpenOptions::new().write(true).create_new(true).open(self.path.join(name))
        }
    }
}

/// Creates the file `path` and fills it with `write`.
///
/// # Errors
///
/// Fails if it already exists or cannot be written, and with the error of `write`.
pub fn write_file<T, E: From<PathError>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let mut file = File::create_new(path).at("create", path)?;
    write(&mut file)
}

/// Writes all of `parts` with as few calls as possible.
fn write_all_of(target: &mut File, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
    // An empty part at the start would look like the end.
    IoSlice::advance_slices(&mut parts, 0);
    while !parts.is_empty() {
        match target.write_vectored(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut parts, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
