//! Writing many trees and files below one directory, at little cost.

#[cfg(not(unix))]
use std::fs;
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::path::Path;

use super::{Base, PathContext, PathError};
use crate::path::MAX_PATH_BYTES;
use crate::tree::Held;

impl Base {
    /// Writes `held` into the new directory `name` below this one. Files get mode 0644 or 0755, less the
    /// umask; nothing that is there is opened or replaced.
    ///
    /// # Errors
    ///
    /// Where something is there already or cannot be written. What was written until then stays: the
    /// caller removes the directory.
    pub fn plant(&self, name: &str, held: &Held) -> Result<(), PathError> {
        self.make_dir(name).map_err(self.failed("create", name))?;
        let (mut path, mut last) = (String::with_capacity(MAX_PATH_BYTES), "");
        for (file, _, bytes) in held.files() {
            for dir in file.path.ancestors() {
                // Files of one directory follow each other: they are sorted.
                let made = last.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
                if !made {
                    join(&mut path, name, dir);
                    self.make_dir(&path).map_err(self.failed("create", &path))?;
                }
            }
            last = file.path.as_str();
            join(&mut path, name, last);
            let mut target = self.create(&path, file.executable).map_err(self.failed("create", &path))?;
            target.write_all(bytes).map_err(self.failed("write", &path))?;
        }
        Ok(())
    }

    /// Writes `parts`, one after the other, into the new file `name`.
    ///
    /// # Errors
    ///
    /// Where it is there already or cannot be written.
    pub fn write_new<'a>(
        &self,
        name: &str,
        parts: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), PathError> {
        let mut target = self.create(name, false).map_err(self.failed("create", name))?;
        let mut parts: Vec<IoSlice<'_>> = parts.into_iter().map(IoSlice::new).collect();
        write_all_of(&mut target, &mut parts).map_err(self.failed("write", name))
    }

    /// Moves the file `from` to `to`, over the file or link that may lie there.
    ///
    /// # Errors
    ///
    /// Where it cannot be moved; a directory lies there, or there is none for it to lie in.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), PathError> {
        #[cfg(unix)]
        let moved = rustix::fs::renameat(self.handle(), from, self.handle(), to).map_err(io::Error::from);
        #[cfg(not(unix))]
        let moved = fs::rename(self.path.join(from), self.path.join(to));
        moved.map_err(self.failed("create", to))
    }

    /// Marks the file at `below` as used now. It is no matter where that cannot be done.
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

    /// The error of an action at `below`. Paths are put together only where something failed.
    pub(super) fn failed(
        &self,
        action: &'static str,
        below: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> PathError {
        move |source| PathError { action, path: self.path.join(below), source }
    }

    /// Creates the directory `name`, which may not be there yet.
    fn make_dir(&self, name: &str) -> io::Result<()> {
        #[cfg(unix)]
        return Ok(rustix::fs::mkdirat(self.handle(), name, rustix::fs::Mode::from_raw_mode(0o777))?);
        #[cfg(not(unix))]
        return fs::create_dir(self.path.join(name));
    }

    /// Opens the new file `name` for writing.
    fn create(&self, name: &str, executable: bool) -> io::Result<File> {
        #[cfg(unix)]
        {
            use rustix::fs::{Mode, OFlags};
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let mode = Mode::from_raw_mode(if executable { 0o755 } else { 0o644 });
            Ok(rustix::fs::openat(self.handle(), name, flags, mode)?.into())
        }
        #[cfg(not(unix))]
        {
            let _ = executable;
            fs::OpenOptions::new().write(true).create_new(true).open(self.path.join(name))
        }
    }
}

/// Lets `write` fill the new file `path`.
///
/// # Errors
///
/// Where it is there already or cannot be written, and what `write` answers.
pub fn write_file<T, E: From<PathError>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let mut file = File::create_new(path).at("create", path)?;
    write(&mut file)
}

/// Writes all of `parts` with as few calls as can be.
fn write_all_of(target: &mut File, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
    // What is empty at the start would look like an end.
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

fn join(path: &mut String, dir: &str, name: &str) {
    path.clear();
    path.push_str(dir);
    path.push('/');
    path.push_str(name);
}
