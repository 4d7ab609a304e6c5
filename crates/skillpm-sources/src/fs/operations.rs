//! Creating, moving and removing files and directories.

use std::fs;
use std::io;
use std::path::Path;

use super::{Kind, PathContext, PathError, across, kind};

/// Creates `path` and the directories above it.
///
/// # Errors
///
/// Fails if one cannot be created.
pub fn create_dir_all(path: &Path) -> Result<(), PathError> {
    fs::create_dir_all(path).at("create", path)
}

/// Creates a private directory with a unique name in `parent`. It is removed when the value is dropped.
///
/// # Errors
///
/// Fails if it cannot be created.
pub fn temp_dir_in(parent: &Path, prefix: &str) -> Result<tempfile::TempDir, PathError> {
    tempfile::Builder::new().prefix(prefix).tempdir_in(parent).at("write in", parent)
}

/// Creates the directory `path`, which must not exist.
///
/// # Errors
///
/// Fails if it exists or cannot be created.
pub fn create_dir(path: &Path) -> Result<(), PathError> {
    fs::create_dir(path).at("create", path)
}

/// Moves `from` to `to`, which must not exist. If they are on two file systems, makes a copy beside `to` and
/// moves that. Use [`super::sync_dir`] to make the move outlast a power failure.
///
/// # Errors
///
/// Fails with `AlreadyExists` if something is at `to`, and otherwise with the error of the system.
pub fn move_new(from: &Path, to: &Path) -> Result<(), PathError> {
    match rename_new(from, to) {
        Err(error) if across::is_across(&error) => across::move_new(from, to),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && takes_entries(to.parent()) => {
            Err(error).at("move", from)
        }
        result => result.at("create", to),
    }
}

/// Reports whether the directory `dir` would accept a new entry. If so, a failed move is due to what should
/// move: a directory must be writable itself, and a directory with a sticky bit does not release entries of
/// other users.
fn takes_entries(dir: Option<&Path>) -> bool {
    #[cfg(unix)]
    return dir.is_some_and(|dir| rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok());
    #[cfg(not(unix))]
    {
        let _ = dir;
        false
    }
}

/// Renames `from` to `to`, which must not exist.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) => {}
            result => return Ok(result?),
        }
    }
    if kind(to).map_err(|error| error.source)?.is_some() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

/// Swaps what is at `new` and at `old`, so that no reader ever finds `old` missing or half done, even if the
/// two are on two file systems.
///
/// If the system cannot swap, the old one is moved aside first and is missing for a moment; the journal of
/// the transaction repairs a crash in that moment.
///
/// # Errors
///
/// Fails if either cannot be moved.
pub fn exchange(new: &Path, old: &Path) -> Result<(), PathError> {
    match rename_swap(new, old) {
        Err(error) if across::is_across(&error) => across::exchange(new, old),
        result => result.at("replace", old),
    }
}

/// Swaps two names on one file system.
pub(super) fn rename_swap(new: &Path, old: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
            Err(error) if is_unsupported(error) => {}
            result => return Ok(result?),
        }
    }
    let mut aside = new.as_os_str().to_owned();
    aside.push(".old");
    fs::rename(old, &aside)?;
    if let Err(error) = fs::rename(new, old) {
        // The first error is the one to report.
        let _ = fs::rename(&aside, old);
        return Err(error);
    }
    fs::rename(&aside, new)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn is_unsupported(error: rustix::io::Errno) -> bool {
    matches!(error, rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP)
}

/// Removes the link at `path`; anything else is left alone.
///
/// # Errors
///
/// Fails if it cannot be removed.
pub fn remove_link(path: &Path) -> Result<(), PathError> {
    match kind(path)? {
        Some(Kind::Symlink) => unlink(path).at("remove", path),
        _ => Ok(()),
    }
}

/// Removes anything but a directory.
#[cfg(not(windows))]
fn unlink(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Removes anything but a directory. Links to directories and junctions need the call for directories.
#[cfg(windows)]
fn unlink(path: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|error| fs::remove_dir(path).map_err(|_| error))
}

/// Removes the file, link or tree at `path`. Removes links without following them.
///
/// Makes directories writable for their owner first if they are not, such as those in some tools' caches.
///
/// # Errors
///
/// Fails if something cannot be removed.
pub fn remove_tree(path: &Path) -> Result<(), PathError> {
    let removed = match kind(path)? {
        None => Ok(()),
        Some(Kind::Directory) => match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                make_writable(path);
                fs::remove_dir_all(path)
            }
            result => result,
        },
        Some(_) => unlink(path),
    };
    match removed {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.at("remove", path),
    }
}

/// Removes what is at `path` while other threads of this process may still be writing there, as far as
/// possible within half a second. The next run removes the rest.
pub fn clear_away(path: &Path) {
    for _ in 0..50 {
        if remove_tree(path).is_ok() && matches!(kind(path), Ok(None)) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Denies all users but its owner access to the directory `dir`, if the system supports and permits it.
pub fn make_private(dir: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    }
    #[cfg(not(unix))]
    let _ = dir;
}

/// Lets the owner of the directories at and below `dir` change them, as far as possible.
#[cfg(unix)]
fn make_writable(dir: &Path) {
    make_private(dir);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        // The type of the entry itself: a link is not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

#[cfg(not(unix))]
fn make_writable(_dir: &Path) {}

/// Removes the directory at `path` if it is empty, and returns whether it did.
pub fn remove_dir_if_empty(path: &Path) -> bool {
    // Not empty, or not there: most callers accept both.
    fs::remove_dir(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanging_never_loses_the_old_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let (new, old) = (dir.path().join("new"), dir.path().join("old"));
        for (path, text) in [(&new, "new"), (&old, "old")] {
            fs::create_dir(path).expect("creates");
            fs::write(path.join("f"), text).expect("writes");
        }
        exchange(&new, &old).expect("swaps");
        assert_eq!(fs::read_to_string(old.join("f")).expect("reads"), "new");
        assert_eq!(fs::read_to_string(new.join("f")).expect("reads"), "old");
    }

    #[test]
    fn a_move_does_not_replace() {
        let dir = tempfile::tempdir().expect("a directory");
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir(&from).expect("creates");
        fs::create_dir(&to).expect("creates");
        let error = move_new(&from, &to).expect_err("is there");
        assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
    }

    #[cfg(unix)]
    #[test]
    fn removing_a_link_leaves_what_it_leads_to() {
        let dir = tempfile::tempdir().expect("a directory");
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::create_dir(&real).expect("creates");
        fs::write(real.join("f"), "x").expect("writes");
        std::os::unix::fs::symlink("real", &link).expect("links");
        remove_tree(&link).expect("removes");
        assert!(real.join("f").exists());
    }
}
