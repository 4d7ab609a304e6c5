//! Ownership of files and directories, and their identity.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::look::{is_absent, open_regular};
use super::{Moment, PathContext, PathError};

/// The identity of a directory, which distinguishes it from another one that replaces it at the same path. It
/// does not include the device number: some file systems get another one each time they are mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The inode number, if the file system has such numbers.
    pub inode: Option<u64>,
    /// When the directory was created, if that is recorded: inode numbers are reused.
    pub created: Option<Moment>,
}

/// Why another user controls a directory or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exposure {
    /// It belongs neither to this user nor to root. Holds the owner's user id.
    #[error("it belongs to another user, number {0}")]
    Foreign(u32),
    /// The mode lets all users write.
    #[error("every user may write to it")]
    Writable,
}

/// The current state of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Own {
    /// The identity of the directory.
    pub identity: Identity,
    /// Why others control its content, if they do.
    pub exposure: Option<Exposure>,
}

impl Own {
    /// Examines the directory at `path`; `None` if it does not exist. Does not follow a link.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be examined.
    pub fn of(path: &Path) -> Result<Option<Self>, PathError> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error).at("look at", path),
        };
        if !metadata.is_dir() {
            return Ok(None);
        }
        let created = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let created = created.and_then(|since| {
            Some(Moment { seconds: since.as_secs().try_into().ok()?, nanoseconds: since.subsec_nanos() })
        });
        #[cfg(unix)]
        let inode = Some(std::os::unix::fs::MetadataExt::ino(&metadata));
        #[cfg(not(unix))]
        let inode = None;
        let identity = Identity { inode, created };
        Ok(Some(Self { identity, exposure: exposure(&metadata) }))
    }
}

/// Returns why another user controls the file or directory at `path`; `None` if only this user does. For a link only the
/// owner counts: its mode means nothing.
///
/// # Errors
///
/// Fails if it cannot be examined.
pub fn exposure_of(path: &Path) -> Result<Option<Exposure>, PathError> {
    Ok(exposure(&fs::symlink_metadata(path).at("look at", path)?))
}

/// Reports whether every user may replace the entries of the directory at `path`: its mode lets all write,
/// and has no sticky bit.
///
/// # Errors
///
/// Fails if it cannot be examined.
pub fn is_open_to_all(path: &Path) -> Result<bool, PathError> {
    let metadata = fs::symlink_metadata(path).at("look at", path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Ok(metadata.mode() & 0o1002 == 0o002)
    }
    #[cfg(not(unix))]
    {
        drop(metadata);
        Ok(false)
    }
}

/// Reports whether users other than this one and root may read or write the file at `path`; `false` if it does not exist.
/// Follows a link.
///
/// # Errors
///
/// Fails if it cannot be examined.
pub fn is_exposed(path: &Path) -> Result<bool, PathError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(false),
        Err(error) => return Err(error).at("look at", path),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Ok(metadata.mode() & 0o077 != 0 || exposure(&metadata).is_some())
    }
    #[cfg(not(unix))]
    {
        drop(metadata);
        Ok(false)
    }
}

/// Reads a file that only this user or root can have written; `None` if it does not exist. Does not follow a link.
///
/// # Errors
///
/// Fails if it cannot be read, is not a regular file, has more than `limit` bytes, belongs to another user, or is writable
/// by others.
pub fn read_own(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, PathError> {
    let refused = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidData, reason)).at("read", path);
    let Some((file, metadata)) = open_regular(path)? else { return Ok(None) };
    if let Some(Exposure::Foreign(user)) = exposure(&metadata) {
        return refused(Exposure::Foreign(user).to_string());
    }
    if others_may_write(&metadata) {
        return refused("users other than its owner may write it".to_owned());
    }
    // One byte more than expected, so that the first read finds the end.
    let room = metadata.len().min(limit).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes).at("read", path)?;
    if bytes.len() as u64 > limit {
        return refused(format!("it has more than {limit} bytes"));
    }
    Ok(Some(bytes))
}

#[cfg(unix)]
fn exposure(metadata: &fs::Metadata) -> Option<Exposure> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = metadata.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Some(Exposure::Foreign(owner));
    }
    // A sticky bit keeps others from replacing entries, not from adding them.
    (!metadata.is_symlink() && metadata.mode() & 0o002 != 0).then_some(Exposure::Writable)
}

#[cfg(unix)]
fn others_may_write(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.mode() & 0o022 != 0
}

#[cfg(not(unix))]
fn exposure(_metadata: &fs::Metadata) -> Option<Exposure> {
    None
}

#[cfg(not(unix))]
fn others_may_write(_metadata: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
    }

    #[test]
    fn a_directory_that_all_may_write_into_is_exposed() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("d");
        fs::create_dir(&path).expect("creates");
        let own = || Own::of(&path).expect("looks").expect("there");
        for (mode, exposed, open) in [(0o755, false, false), (0o777, true, true), (0o1777, true, false)] {
            chmod(&path, mode);
            assert_eq!(own().exposure.is_some(), exposed, "{mode:o}");
            assert_eq!(is_open_to_all(&path).expect("looks"), open, "{mode:o}");
        }
        let before = own().identity;
        assert_eq!(own().identity, before);
        fs::rename(&path, dir.path().join("old")).expect("moves");
        fs::create_dir(&path).expect("creates");
        assert_ne!(own().identity, before);
        fs::write(dir.path().join("f"), "").expect("writes");
        assert_eq!(Own::of(&dir.path().join("f")).expect("looks"), None);
        assert_eq!(Own::of(&dir.path().join("gone")).expect("looks"), None);
    }

    #[test]
    fn a_link_is_not_exposed_by_its_mode() {
        let dir = tempfile::tempdir().expect("a directory");
        let (file, link) = (dir.path().join("f"), dir.path().join("link"));
        fs::write(&file, "").expect("writes");
        std::os::unix::fs::symlink("f", &link).expect("links");
        chmod(&file, 0o646);
        assert_eq!(exposure_of(&file).expect("looks"), Some(Exposure::Writable));
        assert_eq!(exposure_of(&link).expect("looks"), None);
        chmod(&file, 0o664);
        assert_eq!(exposure_of(&file).expect("looks"), None, "what a group may write is left to the user");
        assert!(exposure_of(&dir.path().join("gone")).is_err());
    }

    #[test]
    fn only_an_own_file_is_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        assert_eq!(read_own(&path, 9).expect("nothing"), None);
        fs::write(&path, "text").expect("writes");
        for (mode, fine) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
            chmod(&path, mode);
            assert_eq!(read_own(&path, 9).is_ok(), fine, "{mode:o}");
        }
        chmod(&path, 0o600);
        assert!(read_own(&path, 3).is_err());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("f", &link).expect("links");
        assert!(read_own(&link, 9).is_err());
        assert!(read_own(dir.path(), 9).is_err());
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("makes");
        assert!(read_own(&pipe, 9).is_err(), "and does not wait");
    }
}
