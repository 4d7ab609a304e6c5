//! Read-only access to paths.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::quick::read_once;
use super::tree::open_no_follow;
use super::{PathContext, PathError};

/// The number of bytes of a file to read first if its start may be enough: more than most frontmatters have.
const PREFIX_PIECE: u64 = 4096;

/// The kind of what is at a path. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, to any target.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

/// Returns the kind of what is at `path`, or `None` if nothing is.
///
/// # Errors
///
/// Fails if the path cannot be examined, for a reason other than absence.
pub fn kind(path: &Path) -> Result<Option<Kind>, PathError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type().into())),
        Err(error) if is_absent(&error) || leads_round(&error) => Ok(None),
        Err(error) => Err(error).at("look at", path),
    }
}

impl From<fs::FileType> for Kind {
    fn from(file_type: fs::FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Directory
        } else if file_type.is_symlink() {
            Self::Symlink
        } else {
            Self::Other
        }
    }
}

/// Reports whether the error means that nothing is there: also if a parent is not a directory.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns when the file at `path` was last written, if the system says so.
pub fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Reports whether `path` is a link that leads to itself, perhaps through other links.
pub fn is_loop(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| leads_round(&error))
}

/// Reports whether the error means that links form a loop.
pub(super) fn leads_round(error: &io::Error) -> bool {
    #[cfg(unix)]
    return rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP);
    #[cfg(not(unix))]
    return error.raw_os_error() == Some(1921);
}

/// Reads the regular file at `path`, following links; `None` if it does not exist.
///
/// # Errors
///
/// Fails if it cannot be read, is not a regular file, or has more than `limit` bytes.
pub fn read_capped(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, PathError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    // A pipe would block forever, and a device may be endless.
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")).at("read", path);
    }
    // One byte more than expected: this detects a file that grew.
    let room = metadata.len().min(limit).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
    let file = fs::File::open(path).at("read", path)?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).at("read", path)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit)).at("read", path);
    }
    Ok(Some(bytes))
}

/// Reads a system file at `path`, such as one in `/proc`: it has no size, is not a pipe and never blocks.
/// Reads at most `limit` bytes. Returns `None` if it cannot be read.
#[cfg(target_os = "linux")]
pub fn read_told(path: &Path, limit: u64) -> Option<Vec<u8>> {
    // Most of it comes with the first read.
    let mut bytes = Vec::with_capacity(4096);
    fs::File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads the regular file at `path` from its start until `enough` returns `true` for the bytes read so far, or to its end;
/// `None` if it does not exist. Does not follow a link at `path`.
///
/// # Errors
///
/// Fails if it cannot be read or is not a regular file, and if `limit` bytes were not enough.
pub fn read_prefix(
    path: &Path,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<Option<Vec<u8>>, PathError> {
    Ok(read_start(path, limit, enough)?.map(|(bytes, _)| bytes))
}

/// Works like [`read_prefix`], and also returns the size of the file in bytes.
pub fn read_start(
    path: &Path,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<Option<(Vec<u8>, u64)>, PathError> {
    let Some((file, metadata)) = open_regular(path)? else { return Ok(None) };
    let bytes = prefix_of(&file, metadata.len(), limit, enough).at("read", path)?;
    Ok(Some((bytes, metadata.len())))
}

/// Opens the regular file at `path`, and returns its metadata too; `None` if it does not exist. Does not follow a link.
pub(super) fn open_regular(path: &Path) -> Result<Option<(fs::File, fs::Metadata)>, PathError> {
    let file = match open_no_follow(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    // Check the open file instead of the path, which may lead elsewhere by now.
    let metadata = file.metadata().at("read", path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")).at("read", path);
    }
    Ok(Some((file, metadata)))
}

/// Does what [`read_prefix`] does, for an open file of `size` bytes.
pub(super) fn prefix_of(
    file: &fs::File,
    size: u64,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_on(file, size, limit, &mut bytes, enough)?;
    Ok(bytes)
}

/// Reads `file`, which has `size` bytes, from its current position until `enough` returns `true` for `bytes`,
/// or to its end.
pub(super) fn read_on(
    file: &fs::File,
    size: u64,
    limit: u64,
    bytes: &mut Vec<u8>,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<()> {
    // One byte more than expected: this detects a file that grew.
    let room = size.min(limit).saturating_add(1);
    // The pieces grow, so that `enough` does not check the same bytes too often.
    let mut piece = PREFIX_PIECE;
    loop {
        let wanted = if bytes.len() as u64 + piece > room { piece.min(room) } else { piece };
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let is_all = read_piece(file, size, wanted, bytes)?;
        if bytes.len() as u64 > limit {
            return Err(too_large(limit));
        }
        if is_all || enough(bytes) {
            return Ok(());
        }
        piece = bytes.len() as u64;
    }
}

/// Reads up to `wanted` more bytes of `file`, which has `size` bytes, and appends them to `bytes`. Returns
/// whether the file has no more.
pub(super) fn read_piece(file: &fs::File, size: u64, wanted: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let until = bytes.len().saturating_add(wanted);
    bytes.reserve_exact(wanted);
    while bytes.len() < until {
        let count = match read_once(file, bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        // A read that does not fill the buffer and reaches the size was the last one.
        if count == 0 || (bytes.len() as u64 == size && bytes.len() < bytes.capacity()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))
}

/// Reads the text file at `path`; `None` if it does not exist.
///
/// # Errors
///
/// Fails as [`read_capped`] does, and if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<Option<String>, PathError> {
    read_capped(path, limit)?
        .map(|bytes| {
            String::from_utf8(bytes)
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
                .at("read", path)
        })
        .transpose()
}

/// Returns the target of the link at `path`, or `None` if there is no link.
///
/// # Errors
///
/// Fails if the path cannot be examined.
pub fn read_link(path: &Path) -> Result<Option<PathBuf>, PathError> {
    match fs::read_link(path) {
        Ok(target) => Ok(Some(target)),
        Err(error) if is_absent(&error) || is_no_link(&error) => Ok(None),
        Err(error) => match kind(path)? {
            Some(Kind::Symlink) => Err(error).at("read", path),
            _ => Ok(None),
        },
    }
}

/// Reports whether the error means that what was read as a link is something else.
fn is_no_link(error: &io::Error) -> bool {
    #[cfg(unix)]
    return rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::INVAL);
    // Other systems need a check of the path.
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Returns the text of `path`, without a copy if it is UTF-8.
pub fn into_text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap_or_else(|odd| odd.to_string_lossy().into_owned())
}

/// Returns `path` with all links resolved, or `None` if it leads to nothing.
///
/// # Errors
///
/// Fails if a part of the path cannot be examined.
pub fn real_path(path: &Path) -> Result<Option<PathBuf>, PathError> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if is_absent(&error) || leads_round(&error) => Ok(None),
        Err(error) => Err(error).at("look at", path),
    }
}

/// Returns `path` with all links resolved; the path itself if it leads to nothing or cannot be examined.
pub fn resolved(path: &Path) -> PathBuf {
    real_path(path).ok().flatten().unwrap_or_else(|| path.to_owned())
}

/// Reports whether `path` leads to something. Returns `false` if it cannot be examined.
pub fn exists(path: &Path) -> bool {
    matches!(real_path(path), Ok(Some(_)))
}

/// Reports whether the directory at `path` may be listed.
pub fn may_be_listed(path: &Path) -> bool {
    fs::read_dir(path).is_ok()
}

/// Returns the names in directory `path`, sorted; empty if there is no directory. Leaves out names that are
/// not UTF-8, which skillpm never writes.
///
/// # Errors
///
/// Fails if the directory cannot be read.
pub fn list_dir(path: &Path) -> Result<Vec<String>, PathError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error).at("read", path),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.at("read", path)?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns the total size in bytes of the files in directory `dir` whose names begin with `prefix`, as far as
/// it can be determined: for progress, while another process writes them.
pub fn bytes_in(dir: &Path, prefix: &str) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()))
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}

/// Reports whether the file at `path` has a set-user-ID or set-group-ID bit. Does not follow links.
///
/// # Errors
///
/// Fails if it cannot be examined.
pub fn is_set_id(path: &Path) -> Result<bool, PathError> {
    let metadata = fs::symlink_metadata(path).at("look at", path)?;
    #[cfg(unix)]
    return Ok(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o6000 != 0);
    #[cfg(not(unix))]
    {
        let _ = metadata;
        Ok(false)
    }
}

/// Reports whether all users may read the file at `path`, or list and enter the directory there. Does not follow links.
/// Returns `false` if it cannot be examined.
pub fn is_public(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    #[cfg(unix)]
    {
        let needed = if metadata.is_dir() { 0o005 } else { 0o004 };
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & needed == needed
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Reports whether nobody but root can change the file at `path`: it, what links lead to, and all directories above these
/// are root's, and neither groups nor others may write there. Returns `false` if something cannot be examined, and on
/// systems without such permissions.
pub fn is_of_root_alone(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let is_safe = |path: &Path| {
            let link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.uid() == 0);
            link && fs::metadata(path)
                .is_ok_and(|metadata| metadata.uid() == 0 && metadata.mode() & 0o022 == 0)
        };
        fs::canonicalize(path).is_ok_and(|real| path.ancestors().chain(real.ancestors()).all(is_safe))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Reports whether what is at `path` is read-only by its mode, even for its owner. Follows links. Returns `false`
/// if it cannot be examined.
pub fn is_read_only(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
}

/// Reports whether there is a regular file at `path` that this user may execute. Follows links.
pub fn may_execute(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    #[cfg(unix)]
    return is_file && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    is_file
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_prefix_is_read_until_it_is_enough() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        assert!(read_prefix(&path, 9, |_| true).expect("no error").is_none());
        assert!(read_prefix(&path.join("below"), 9, |_| true).expect("no error").is_none());
        fs::write(&path, vec![b'x'; 50_000]).expect("writes");
        let length = |limit, wanted: usize| {
            let read = read_prefix(&path, limit, |bytes| bytes.len() >= wanted);
            read.map(|bytes| bytes.expect("is there").len())
        };
        assert_eq!(length(1 << 20, 1).expect("reads"), 4096);
        assert_eq!(length(1 << 20, 5000).expect("reads"), 8192);
        assert_eq!(length(50_000, usize::MAX).expect("reads"), 50_000);
        let error = length(49_999, usize::MAX).expect_err("too large");
        assert_eq!(error.source.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(length(4096, 1).expect("the limit is for what is read"), 4096);
        let asked = Cell::new(0);
        read_prefix(&path, 1 << 20, |_| asked.replace(asked.get() + 1) > 99).expect("reads");
        assert_eq!(asked.get(), 4, "the pieces grow");
    }

    #[cfg(unix)]
    #[test]
    fn a_prefix_of_a_link_a_directory_or_a_pipe_is_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let (link, pipe) = (dir.path().join("link"), dir.path().join("pipe"));
        fs::write(dir.path().join("f"), "x").expect("writes");
        std::os::unix::fs::symlink("f", &link).expect("links");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        for path in [&link, &pipe, dir.path()] {
            assert!(read_prefix(path, 9, |_| true).is_err(), "{}", path.display());
        }
    }
}
