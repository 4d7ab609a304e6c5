//! Replacing one file atomically.

use std::fs;
use std::io::{Read as _, Write};
use std::path::Path;

use super::{PathContext, PathError, pending, real_path};

/// Writes `bytes` to `path` so that readers see the old or the new content, and a crash leaves one of the
/// two: writes, syncs and renames a sibling, then syncs the directory.
///
/// A link at `path` stays a link: its target is replaced. An existing file keeps its mode.
///
/// # Errors
///
/// Fails if the directory does not exist or cannot be written. The old content is then untouched.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    replace(path, bytes, copy_mode, |_| Ok(true)).map(drop)
}

/// Works like [`write_atomic`], but only if `path` still holds `old`, or is still missing if that is `None`: what another
/// program wrote in the meantime stays. That is checked directly before the rename. Returns whether `bytes` are there now.
pub fn write_over(path: &Path, old: Option<&[u8]>, bytes: &[u8]) -> Result<bool, PathError> {
    replace(path, bytes, copy_mode, |path| holds(path, old))
}

/// Reports whether the file at `path`, or at the target of a link there, holds `bytes`; `None` stands for a missing file.
///
/// # Errors
///
/// Fails if it cannot be read.
pub fn holds(path: &Path, bytes: Option<&[u8]>) -> Result<bool, PathError> {
    let Some(bytes) = bytes else { return Ok(super::kind(path)?.is_none()) };
    // A file that is longer by a byte is another one.
    let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    match fs::File::open(path) {
        Ok(file) => {
            let mut there = Vec::with_capacity(bytes.len());
            file.take(len.saturating_add(1)).read_to_end(&mut there).at("read", path)?;
            Ok(there == bytes)
        }
        Err(error) if super::look::is_absent(&error) => Ok(false),
        Err(error) => Err(error).at("read", path),
    }
}

/// Works like [`write_atomic`], but only this user can read the file afterwards, independent of its mode before.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    // A temporary file has the mode 0600.
    replace(path, bytes, |_, _| Ok(()), |_| Ok(true)).map(drop)
}

/// Replaces the file at `path`, or at the target of a link there, by a temporary file with `bytes`, after `prepare` has
/// set the temporary file's mode, and if `is_wanted` says so at last. Returns whether it did.
fn replace(
    path: &Path,
    bytes: &[u8],
    prepare: impl FnOnce(&Path, &fs::File) -> std::io::Result<()>,
    is_wanted: impl FnOnce(&Path) -> Result<bool, PathError>,
) -> Result<bool, PathError> {
    let real = real_path(path)?;
    let path = real.as_deref().unwrap_or(path);
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = pending::file_in(directory).at("write in", directory)?;
    file.write_all(bytes).at("write", path)?;
    prepare(path, file.as_file()).at("write", path)?;
    file.as_file().sync_all().at("write", path)?;
    if !is_wanted(path)? {
        return Ok(false);
    }
    file.persist(path).map_err(|error| error.error).at("replace", path)?;
    sync_dir(directory)?;
    Ok(true)
}

/// Writes `bytes` to a file that the user named: writes into a device or a pipe, and replaces anything else
/// as [`write_atomic`] does.
pub fn write_out(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    // The target of `/dev/stdout` has no path.
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let file = fs::OpenOptions::new().write(true).open(path);
        return file.and_then(|mut file| file.write_all(bytes)).at("write", path);
    }
    write_atomic(path, bytes)
}

/// Moves the file `from`, which is synced, over the file `to`, with the effect of [`write_atomic`], but
/// without a file beside `to` that a killed process could leave there.
pub fn replace_file(from: &Path, to: &Path) -> Result<(), PathError> {
    let real = real_path(to)?;
    let place = real.as_deref().unwrap_or(to);
    fs::File::open(from).and_then(|file| copy_mode(place, &file)).at("write", place)?;
    match fs::rename(from, place) {
        Err(error) if super::across::is_across(&error) => {
            // Only this case needs a file beside it.
            write_atomic(place, &fs::read(from).at("read", from)?)?;
            fs::remove_file(from).at("remove", from)
        }
        result => {
            result.at("replace", place)?;
            place.parent().map_or(Ok(()), sync_dir)
        }
    }
}

/// Works like [`replace_file`], but the old file `to` becomes `from`.
///
/// # Errors
///
/// Fails as [`write_atomic`] does, and if `to` does not exist.
pub fn exchange_file(from: &Path, to: &Path) -> Result<(), PathError> {
    let real = real_path(to)?;
    let place = real.as_deref().unwrap_or(to);
    fs::File::open(from).and_then(|file| copy_mode(place, &file)).at("write", place)?;
    super::exchange(from, place)?;
    place.parent().map_or(Ok(()), sync_dir)
}

/// Makes the renames in `directory` outlast a power failure.
///
/// # Errors
///
/// Fails if the directory cannot be opened or synced.
pub fn sync_dir(directory: &Path) -> Result<(), PathError> {
    if cfg!(unix) {
        fs::File::open(directory).and_then(|directory| directory.sync_all()).at("sync", directory)?;
    }
    Ok(())
}

/// Gives `file` the mode of the file at `path`, or the mode of a new file: a temporary file has 0600, which
/// is wrong for files that a team shares.
#[cfg(unix)]
fn copy_mode(path: &Path, file: &fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let new = fs::Permissions::from_mode(0o644);
    file.set_permissions(fs::metadata(path).map_or(new, |metadata| metadata.permissions()))
}

#[cfg(not(unix))]
fn copy_mode(_path: &Path, _file: &fs::File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_when_the_new_one_cannot_be_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let missing = dir.path().join("missing/file");
        assert!(write_atomic(&missing, b"x").is_err());
        let path = dir.path().join("file");
        write_atomic(&path, b"one").expect("writes");
        write_atomic(&path, b"two").expect("replaces");
        assert_eq!(fs::read(&path).expect("reads"), b"two");
        assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1, "no sibling is left");
    }

    #[test]
    fn what_another_program_wrote_meanwhile_is_not_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        assert!(!write_over(&path, Some(b"one"), b"two").expect("looks"));
        assert!(!path.exists());
        assert!(write_over(&path, None, b"one").expect("writes"));
        for (old, new, now) in [
            (None, &b"two"[..], &b"one"[..]),
            (Some(&b"on"[..]), b"two", b"one"),
            (Some(b"one "), b"two", b"one"),
            (Some(b"one"), b"two", b"two"),
        ] {
            let written = write_over(&path, old, new).expect("looks");
            assert_eq!((written, fs::read(&path).expect("reads")), (new == now, now.to_vec()));
        }
        assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1, "no sibling is left");
    }

    /// A device behind a link stays a device; root could replace it.
    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to() {
        let dir = tempfile::tempdir().expect("a directory");
        let link = dir.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).expect("links");
        write_out(&link, b"x").expect("writes");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        let full = write_out(Path::new("/dev/full"), b"x").expect_err("is full");
        assert_eq!(full.source.kind(), std::io::ErrorKind::StorageFull);
        let file = dir.path().join("file");
        write_out(&file, b"x").expect("writes");
        assert_eq!(fs::read(&file).expect("reads"), b"x");
    }

    /// A file that holds `one`, with a mode of its own, and a link to it.
    #[cfg(unix)]
    struct Linked {
        dir: tempfile::TempDir,
        link: std::path::PathBuf,
    }

    #[cfg(unix)]
    impl Linked {
        fn new() -> Self {
            use std::os::unix::fs::PermissionsExt as _;
            let dir = tempfile::tempdir().expect("a directory");
            let [file, link] = ["file", "link"].map(|name| dir.path().join(name));
            fs::write(&file, "one").expect("writes");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("chmod");
            std::os::unix::fs::symlink("file", &link).expect("links");
            Self { dir, link }
        }

        /// Creates another file, which holds `two`.
        fn from(&self) -> std::path::PathBuf {
            let from = self.dir.path().join("from");
            fs::write(&from, "two").expect("writes");
            from
        }

        /// Asserts that the file behind the link holds `two` now, and that nothing else changed.
        #[track_caller]
        fn assert_written(&self) {
            use std::os::unix::fs::PermissionsExt as _;
            let file = self.dir.path().join("file");
            assert!(fs::symlink_metadata(&self.link).expect("there").file_type().is_symlink());
            assert_eq!(fs::read(&file).expect("reads"), b"two");
            assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_are_kept() {
        let linked = Linked::new();
        write_atomic(&linked.link, b"two").expect("replaces");
        linked.assert_written();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_are_kept_by_a_move_too() {
        let linked = Linked::new();
        let from = linked.from();
        replace_file(&from, &linked.link).expect("replaces");
        linked.assert_written();
        assert!(!from.exists());
    }

    #[cfg(unix)]
    #[test]
    fn an_exchange_of_files_keeps_both_and_the_mode() {
        let linked = Linked::new();
        let from = linked.from();
        exchange_file(&from, &linked.link).expect("swaps");
        linked.assert_written();
        assert_eq!(fs::read(&from).expect("reads"), b"one");
    }
}
