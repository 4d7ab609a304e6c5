//! Moves that a rename cannot do: from one file system to another, and out of a layer of a container, if the
//! system does not rename directories there.
//!
//! The content is copied to a place beside its destination and renamed, so that readers never see a partial
//! copy. The name of the copy is derived from the destination, so that anyone who knows the destination finds
//! the leftovers of a killed process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::operations::{remove_tree, rename_new, rename_swap};
use super::tree::sync_filesystem;
use super::{Kind, PathContext, PathError, is_abandoned, kind};

const PREFIX: &str = ".skillpm-moving-";

/// Reports whether a rename failed because the two paths are on different file systems.
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

/// Returns the path beside `path` for the copy that is to replace it. While [`super::exchange`] replaces what
/// no rename can, this copy is complete, and it may be the only complete one.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(PREFIX);
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

/// Reports whether `path` is a leftover of a killed process: a copy from a move, or something that was being written.
/// Only skillpm uses such names.
pub fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(PREFIX) || is_abandoned(path) || is_of_the_first_version(path, &name)
}

/// Reports whether `path` is a file with a temporary name of version 0.1.0. Its last part was random: a word such as
/// `.skillpm-config` is a name that a person chose.
fn is_of_the_first_version(path: &Path, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".skillpm-") else { return false };
    let is_random = rest.len() == 6
        && rest.bytes().all(|b| b.is_ascii_alphanumeric())
        && !rest.bytes().all(|b| b.is_ascii_lowercase());
    is_random && matches!(kind(path), Ok(Some(Kind::File)))
}

/// Does what [`super::move_new`] does, by copying.
pub(super) fn move_new(from: &Path, to: &Path) -> Result<(), PathError> {
    let fresh = copy_beside(from, to)?;
    rename_new(&fresh, to).at("create", to).inspect_err(|_| {
        // The first error is the one to report.
        let _ = remove_tree(&fresh);
    })?;
    // Moved out of sight first, so that no reader finds half of it; directories of a layer stay put.
    let gone = beside(from);
    remove_tree(&gone)?;
    let rest = if fs::rename(from, &gone).is_ok() { &gone } else { from };
    remove_tree(rest)
}

/// Does what [`super::exchange`] does, by copying. If it fails, the copy of `old` beside `new` stays: it may
/// be the only complete one.
pub(super) fn exchange(new: &Path, old: &Path) -> Result<(), PathError> {
    let back = beside(new);
    let fresh = copy_beside(new, old)?;
    let swapped = copy_beside(old, new).and_then(|_| {
        match rename_swap(&fresh, old) {
            Err(error) if is_across(&error) => replace_in_layer(&fresh, old, &back)?,
            result => result.at("replace", old)?,
        }
        // Both are in place before any copy is removed: a later failure harms neither.
        rename_swap(&back, new).at("replace", new).inspect_err(|_| {
            // The first error is the one to report.
            let _ = rename_swap(&fresh, old);
        })
    });
    let cleared = remove_tree(&fresh);
    swapped.and(cleared)?;
    remove_tree(&back)
}

/// Moves `fresh` to `old`, a directory of a layer. It can be removed but not renamed, so there is a moment
/// without it. `back` is a copy of it.
fn replace_in_layer(fresh: &Path, old: &Path, back: &Path) -> Result<(), PathError> {
    let removed = remove_tree(old).and_then(|()| fs::rename(fresh, old).at("replace", old));
    removed.inspect_err(|_| {
        // A part of it may be gone already; the first error is the one to report.
        if remove_tree(old).is_ok() {
            let _ = move_new(back, old);
        }
    })
}

/// Copies what is at `from` to a place beside `to`. Returns that place. Leaves nothing of the copy on an
/// error.
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

/// Copies a file, link or directory with everything in it and all modes. Replaces nothing that exists.
///
/// # Errors
///
/// Fails for anything else, and if something cannot be read or written; a part of the copy stays then.
pub fn copy(from: &Path, to: &Path) -> Result<(), PathError> {
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

/// Creates the directory `to`, with no more access for others than `from` grants.
fn create_dir_like(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        let mode = fs::metadata(from)?.permissions().mode();
        // The owner must be able to write the content.
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
        for name in [".skillpm-abc123", ".skillpm-abc", ".skillpm-config", ".skillpm-tmp-a", "pdf"] {
            fs::write(at(name), "").expect("writes");
        }
        for name in [".skillpm-moving-pdf", ".skillpm-tx", ".skillpm-xyz789"] {
            fs::create_dir(at(name)).expect("creates");
        }
        let found: Vec<_> = names(dir.path()).into_iter().filter(|name| is_leftover(&at(name))).collect();
        assert_eq!(found, [".skillpm-abc123", ".skillpm-moving-pdf", ".skillpm-tmp-a"]);
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
