//! Entries of a directory, with the facts that a traversal needs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::Base;
use crate::tree::Rights;

/// The kind of a directory's entry. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    Directory,
    Symlink,
    File {
        executable: bool,
        size: u64,
        rights: Rights,
    },
    /// The kind with its article.
    Special(&'static str),
}

/// Why the entries of a directory could not be listed, and the name of the entry that caused it.
pub(super) type Unlisted = (Option<OsString>, io::Error);

impl Base {
    /// Passes the entries of the directory at `below` this one to `tell`, in the directory's order, and
    /// returns its permissions. Follows no link on the path; on kernels before 5.6 this holds only for the
    /// last component.
    #[cfg(target_os = "linux")]
    pub(super) fn children(
        &self,
        below: &Path,
        mut tell: impl FnMut(&OsStr, Met),
    ) -> Result<Rights, Unlisted> {
        use std::mem::MaybeUninit;
        use std::os::unix::ffi::OsStrExt as _;

        use rustix::fs::{
            AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, fstat, openat, openat2, statat,
        };
        use rustix::io::Errno;

        let whole = |error: Errno| (None, error.into());
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // A directory that was seen a moment ago may be a link by now.
        let dir = match openat2(self.handle(), below, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // The kernel is old, or a container forbids the call.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::TOOBIG) => {
                openat(self.handle(), below, flags, Mode::empty())
            }
            opened => opened,
        };
        let dir = dir.map_err(whole)?;
        let rights = Rights::of_mode(fstat(&dir).map_err(whole)?.st_mode);
        let mut buffer = [MaybeUninit::uninit(); 8 << 10];
        let mut entries = RawDir::new(&dir, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(whole)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let met = match entry.file_type() {
                FileType::Directory => Met::Directory,
                FileType::Symlink => Met::Symlink,
                // Also if the file system does not report the kind here.
                FileType::RegularFile | FileType::Unknown => {
                    let stat = statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                        .map_err(|error| (Some(name.to_owned()), error.into()))?;
                    let size = u64::try_from(stat.st_size).unwrap_or(0);
                    match FileType::from_raw_mode(stat.st_mode) {
                        FileType::RegularFile => {
                            let rights = Rights::of_mode(stat.st_mode);
                            Met::File { executable: stat.st_mode & 0o111 != 0, size, rights }
                        }
                        FileType::Directory => Met::Directory,
                        FileType::Symlink => Met::Symlink,
                        other => Met::Special(special(other)),
                    }
                }
                other => Met::Special(special(other)),
            };
            tell(name, met);
        }
        Ok(rights)
    }

    /// Passes the entries of the directory at `below` this one to `tell`, in the directory's order, and
    /// returns its permissions.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn children(
        &self,
        below: &Path,
        mut tell: impl FnMut(&OsStr, Met),
    ) -> Result<Rights, Unlisted> {
        let whole = |error| (None, error);
        let dir = self.path.join(below);
        let rights = rights(&std::fs::metadata(&dir).map_err(whole)?);
        for entry in std::fs::read_dir(dir).map_err(whole)? {
            let entry = entry.map_err(whole)?;
            let part = |error| (Some(entry.file_name()), error);
            let kind = entry.file_type().map_err(part)?;
            let met =
                if kind.is_dir() { Met::Directory } else { met(kind, || entry.metadata()).map_err(part)? };
            tell(&entry.file_name(), met);
        }
        Ok(rights)
    }
}

/// Returns what an entry other than a directory is. Asks for `metadata` only for a regular file.
pub(super) fn met(
    kind: std::fs::FileType,
    metadata: impl FnOnce() -> io::Result<std::fs::Metadata>,
) -> io::Result<Met> {
    if kind.is_symlink() {
        return Ok(Met::Symlink);
    }
    if !kind.is_file() {
        return Ok(Met::Special(special_of(kind)));
    }
    let metadata = metadata()?;
    let rights = rights(&metadata);
    Ok(Met::File { executable: is_executable(&metadata), size: metadata.len(), rights })
}

#[cfg(unix)]
fn rights(metadata: &std::fs::Metadata) -> Rights {
    use std::os::unix::fs::PermissionsExt as _;
    Rights::of_mode(metadata.permissions().mode())
}

#[cfg(not(unix))]
fn rights(_metadata: &std::fs::Metadata) -> Rights {
    Rights::ALL
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn special(kind: rustix::fs::FileType) -> &'static str {
    use rustix::fs::FileType;
    match kind {
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

#[cfg(unix)]
fn special_of(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special_of(_kind: std::fs::FileType) -> &'static str {
    "a special file"
}
