//! Moves for which a rename is not enough: from one file system to another, and out of a layer of a container, if the
//! system does not rename directories either.
//!
//! What comes is copied beside its place and renamed there, so that readers see nothing of the copying. The copy has a
//! name that is made from that of the place: what a killed process left of one is found again by anyone who knows the
//! place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::place::{remove_tree, rename_new, rename_swap};
use super::tree::sync_filesystem;
use super::{Kind, PathContext, PathError, kind};

const PREFIX: &str = ".skillpm-moving-";

/// Reports whether a rename failed because the two paths are not on one file system.
pub(super) fn is_across(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}

/// Removes what a killed process left when it moved something to or from `path`.
///
/// # Errors
///
/// Fails if it cannot be removed.
pub fn clear_moves(path: &Path) -> Result<(), PathError> {
    remove_tree(&beside(path))
}

/// Returns where the copy is that is made beside `path` when something comes there. While [`super::exchange`] replaces
/// what no rename can, it is whole there, and nothing else may be.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(PREFIX);
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

/// Reports whether what is at `path` is what a killed process left: a copy from a move, or a file that was being
/// written. The names are ours alone.
pub fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(rest) = name.strip_prefix(super::atomic::PREFIX) else { return false };
    let random = rest.len() == 6 && rest.bytes().all(|b| b.is_ascii_alphanumeric());
    name.starts_with(PREFIX) || (random && matches!(kind(path), Ok(Some(Kind::File))))
}

/// [`super::move_new`] by a copy.
pub(super) fn move_new(from: &Path, to: &Path) -> Result<(), PathError> {
    let fresh = copy_beside(from, to)?;
    rename_new(&fresh, to).at("create", to).inspect_err(|_| {
        // The first error is the one to report.
        let _ = remove_tree(&fresh);
    })?;
    // Out of sight first, so that no reader finds half of it; a layer's directories stay put.
    let gone = beside(from);
    remove_tree(&gone)?;
    let rest = if fs::rename(from, &gone).is_ok() { &gone } else { from };
    remove_tree(rest)
}

/// [`super::exchange`] by copies. Where it fails, the copy of the old one that is beside `new` stays: it may
/// be the only one that is whole.
pub(super) fn exchange(new: &Path, old: &Path) -> Result<(), PathError> {
    let back = beside(new);
    let fresh = copy_beside(new, old)?;
    let swapped = copy_beside(old, new).and_then(|_| {
        match rename_swap(&fresh, old) {
            Err(error) if is_across(&error) => replace_in_layer(&fresh, old, &back)?,
            result => result.at("replace", old)?,
        }
        // Both are in their places before any copy goes: what fails after that harms neither.
        rename_swap(&back, new).at("replace", new).inspect_err(|_| {
            // The first error is the one to report.
            let _ = rename_swap(&fresh, old);
        })
    });
    let cleared = remove_tree(&fresh);
    swapped.and(cleared)?;
    remove_tree(&back)
}

/// Moves `fresh` to where `old` is: a directory of a layer, which cannot be renamed but removed, so that there is a
/// moment without it. `back` is a copy of it.
fn replace_in_layer(fresh: &Path, old: &Path, back: &Path) -> Result<(), PathError> {
    let removed = remove_tree(old).and_then(|()| fs::rename(fresh, old).at("replace", old));
    removed.inspect_err(|_| {
        // A part of it may be gone already; the first error is the one to report.
        if remove_tree(old).is_ok() {
            let _ = move_new(back, old);
        }
    })
}

/// Copies what is at `from` beside `to` and returns where; on an error nothing is left of it.
fn copy_beside(from: &Path, to: &Path) -> Result<PathBuf, PathError> {
    let copied = beside(to);
    remove_tree(&copied)?;
    let sync = || to.parent().map_or(Ok(()), sync_filesystem);
    copy(from, &copied).and_then(|()| sync()).inspect_err(|_| {
        // The first error is the one to report.
        let _ = remove_tree(&copied);
    })?;
    Ok(copied)
}

/// Copies a file, link or directory with the modes of all. Nothing that is there is replaced.
fn copy(from: &Path, to: &Path) -> Result<(), PathError> {
    match kind(from)? {
        Some(Kind::Directory) => {
            create_dir_like(from, to).at("create", to)?;
            for entry in fs::read_dir(from).at("read", from)? {
                let name = entry.at("read", from)?.file_name();
                copy(&from.join(&name), &to.join(&name))?;
            }
            Ok(())
        }
        Some(Kind::Symlink) => super::link::copy(from, to).at("link", to),
        Some(Kind::File) => fs::copy(from, to).at("write", to).map(drop),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")).at("copy", from),
    }
}

/// Creates the directory `to`, into which nobody else may look who may not into `from`.
fn create_dir_like(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        let mode = fs::metadata(from)?.permissions().mode();
        // What is to be in it is written by its owner.
        fs::DirBuilder::new().mode((mode & 0o777) | 0o700).create(to)
    }
    #[cfg(not(unix))]
    {
        let _ = from;
        fs::create_dir(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, text: &str) {
        fs::create_dir_all(dir.join("sub")).expect("creates");
        fs::write(dir.join("sub/f"), text).expect("writes");
    }

    fn read(dir: &Path) -> String {
        fs::read_to_string(dir.join("sub/f")).expect("reads")
    }

    fn names(dir: &Path) -> Vec<String> {
        super::super::list_dir(dir).expect("lists")
    }

    #[test]
    fn copies_do_what_renames_do_and_leave_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let (a, b) = (dir.path().join("x/a"), dir.path().join("y/b"));
        write(&a, "one");
        fs::create_dir(dir.path().join("y")).expect("creates");
        move_new(&a, &b).expect("moves");
        assert_eq!((read(&b), names(&dir.path().join("x"))), ("one".to_owned(), vec![]));
        write(&a, "two");
        let error = move_new(&a, &b).expect_err("nothing is replaced");
        assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((read(&a), read(&b)), ("two".to_owned(), "one".to_owned()));
        exchange(&a, &b).expect("swaps");
        assert_eq!((read(&a), read(&b)), ("one".to_owned(), "two".to_owned()));
        assert_eq!(
            (names(&dir.path().join("x")), names(&dir.path().join("y"))),
            (vec!["a".to_owned()], vec!["b".to_owned()])
        );
    }

    #[test]
    fn leftovers_have_names_of_their_own() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        for name in [".skillpm-abc123", ".skillpm-abc", "pdf"] {
            fs::write(at(name), "").expect("writes");
        }
        for name in [".skillpm-moving-pdf", ".skillpm-tx", ".skillpm-xyz789"] {
            fs::create_dir(at(name)).expect("creates");
        }
        let found: Vec<_> = names(dir.path()).into_iter().filter(|name| is_leftover(&at(name))).collect();
        assert_eq!(found, [".skillpm-abc123", ".skillpm-moving-pdf"]);
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_links_travel_and_leftovers_are_cleared() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        write(&a, "one");
        fs::set_permissions(a.join("sub/f"), fs::Permissions::from_mode(0o755)).expect("chmod");
        fs::set_permissions(a.join("sub"), fs::Permissions::from_mode(0o700)).expect("chmod");
        std::os::unix::fs::symlink("sub/f", a.join("l")).expect("links");
        write(&beside(&b), "left by a killed process");
        move_new(&a, &b).expect("moves");
        assert_eq!(fs::read_link(b.join("l")).expect("a link"), Path::new("sub/f"));
        assert_eq!(fs::metadata(b.join("sub/f")).expect("there").permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::metadata(b.join("sub")).expect("there").permissions().mode() & 0o777, 0o700);
        write(&beside(&b), "left by a killed process");
        clear_moves(&b).expect("clears");
        assert_eq!(names(dir.path()), ["b"]);
    }
}
