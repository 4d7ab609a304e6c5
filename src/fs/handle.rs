//! A directory that is open.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fd::{AsFd, OwnedFd};

use crate::workers;

/// How many threads beside the one that opened a directory have a handle of their own.
const OTHERS: usize = 7;

/// An open directory. Threads that share a handle wait for each other in the kernel, which counts its users at every
/// file that is opened below it; so each of several workers opens it once more, at its first use.
#[derive(Debug)]
pub(super) struct Handle {
    first: OwnedFd,
    /// The seat of the thread that opened it.
    seat: usize,
    others: [OnceLock<Option<OwnedFd>>; OTHERS],
}

impl Handle {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    ///
    /// Where it is not there or cannot be opened.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let first = directory(rustix::fs::CWD, path)?;
        Ok(Self { first, seat: workers::seat(), others: Default::default() })
    }

    /// The handle of this thread; that of the one who opened it, where it cannot be opened once more.
    pub(super) fn get(&self) -> &OwnedFd {
        let seat = workers::seat();
        if seat == self.seat {
            return &self.first;
        }
        let other = self.others[seat % OTHERS].get_or_init(|| directory(&self.first, Path::new(".")).ok());
        other.as_ref().unwrap_or(&self.first)
    }
}

/// Opens the directory at `path`, seen from `from`.
///
/// # Errors
///
/// Where it is not there or cannot be opened.
pub(super) fn directory(from: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    // Anything else is refused before it is opened: a pipe would block.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(from, path, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    /// What is opened below it is the same in every thread, though each has a handle of its own.
    #[test]
    fn each_worker_has_its_own() {
        let dir = tempfile::tempdir().expect("a directory");
        let handle = Handle::open(dir.path()).expect("opens");
        let (here, there) = std::thread::scope(|scope| {
            let there = scope.spawn(|| {
                workers::take_seat(3, 4);
                (handle.get().as_raw_fd(), rustix::fs::fstat(handle.get()).expect("is open").st_ino)
            });
            (
                (handle.get().as_raw_fd(), rustix::fs::fstat(&handle.first).expect("is open").st_ino),
                there.join(),
            )
        });
        let there = there.expect("no panic");
        assert_ne!(here.0, there.0);
        assert_eq!(here.1, there.1);
    }
}
