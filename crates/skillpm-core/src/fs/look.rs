//! Looking without touching.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::quick::read_once;
use super::tree::open_no_follow;
use super::{PathContext, PathError};

/// The amount of a file that is read at first where its start may be enough: more than most frontmatters.
const PREFIX_PIECE: u64 = 4096;

/// What is at a path. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whatever it leads to.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

/// Returns what is at `path`, or `None` if nothing is.
///
/// # Errors
///
/// Fails if the path cannot be examined for another reason than its absence.
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

/// Reports whether the error means that there is nothing: also where a parent is no directory.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reports whether a link is at `path` that leads, perhaps through others, to itself: to nothing at all.
pub fn is_loop(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| leads_round(&error))
}

/// Reports whether the error means that links lead to each other.
pub(super) fn leads_round(error: &io::Error) -> bool {
    #[cfg(unix)]
    return rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP);
    #[cfg(not(unix))]
    return error.raw_os_error() == Some(1921);
}

/// Reads the regular file at `path`, following links, or returns `None` if there is none.
///
/// # Errors
///
/// Fails if it cannot be read, is no regular file, or has more than `limit` bytes.
pub fn read_capped(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, PathError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    // A pipe would block for ever, and a device may have no end.
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")).at("read", path);
    }
    // One byte more than there should be: a file that grew shows it.
    let room = metadata.len().min(limit).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
    let file = fs::File::open(path).at("read", path)?;
    file.take(limit + 1).read_to_end(&mut bytes).at("read", path)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit)).at("read", path);
    }
    Ok(Some(bytes))
}

/// Reads what the system says at `path`, such as a file of `/proc`: it has no size, is no pipe and never blocks. Up to
/// `limit` bytes; `None` if it says nothing.
#[cfg(target_os = "linux")]
pub fn read_told(path: &Path, limit: u64) -> Option<Vec<u8>> {
    // Most of it comes at once.
    let mut bytes = Vec::with_capacity(4096);
    fs::File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads the regular file at `path` from its start until `enough` says so of the bytes read so far, or to its end;
/// `None` if there is none. A link at `path` is not followed.
///
/// # Errors
///
/// Fails if it cannot be read or is no regular file, and where `limit` bytes were not enough.
pub fn read_prefix(
    path: &Path,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<Option<Vec<u8>>, PathError> {
    Ok(read_start(path, limit, enough)?.map(|(bytes, _)| bytes))
}

/// Works like [`read_prefix`], with the size of the file in bytes.
///
/// # Errors
///
/// Fails as [`read_prefix`] does.
pub fn read_start(
    path: &Path,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<Option<(Vec<u8>, u64)>, PathError> {
    let Some((file, metadata)) = open_regular(path)? else { return Ok(None) };
    let bytes = prefix_of(&file, metadata.len(), limit, enough).at("read", path)?;
    Ok(Some((bytes, metadata.len())))
}

/// Opens the regular file at `path`, and returns what the system knows about it; `None` if there is none. A link is not
/// followed.
pub(super) fn open_regular(path: &Path) -> Result<Option<(fs::File, fs::Metadata)>, PathError> {
    let file = match open_no_follow(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    // What was opened is asked, not the path: it may lead elsewhere by now.
    let metadata = file.metadata().at("read", path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")).at("read", path);
    }
    Ok(Some((file, metadata)))
}

/// [`read_prefix`] of an open file of `size` bytes.
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

/// Reads on from where `file`, of `size` bytes, stands, until `enough` says so of what is in `bytes`, or to
/// its end.
///
/// # Errors
///
/// Fails if it cannot be read, and where `limit` bytes were not enough.
pub(super) fn read_on(
    file: &fs::File,
    size: u64,
    limit: u64,
    bytes: &mut Vec<u8>,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<()> {
    // One byte more than there should be: a file that grew shows it.
    let room = size.min(limit).saturating_add(1);
    // Growing pieces, so that `enough` is not asked about the same bytes too often.
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

/// Reads the next `wanted` bytes of `file`, of `size` bytes, behind those in `bytes`, or what there is of
/// them; returns whether the file has no more.
pub(super) fn read_piece(file: &fs::File, size: u64, wanted: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let until = bytes.len().saturating_add(wanted);
    bytes.reserve_exact(wanted);
    while bytes.len() < until {
        let count = match read_once(file, bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        // What does not fill the room and comes to the size was all: it is not asked for more.
        if count == 0 || (bytes.len() as u64 == size && bytes.len() < bytes.capacity()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))
}

/// Reads the text file at `path`, or returns `None` if there is none.
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
    // Elsewhere it is examined.
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Returns the text of `path`, without a copy where it is text.
pub fn into_text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap_or_else(|odd| odd.to_string_lossy().into_owned())
}

/// Returns `path` with all links followed, or `None` if it leads to nothing.
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

/// Returns the names in directory `path`, sorted; nothing where there is no directory. Names that
/// are not UTF-8 cannot be names of ours and are left out.
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

/// Returns how many bytes the files in directory `dir` have whose name begins with `prefix`, as far as that can be
/// determined: for progress, while somebody else writes them.
pub fn bytes_in(dir: &Path, prefix: &str) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()))
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}

/// Reports whether the file at `path`, links not followed, changes who somebody is who runs it.
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

/// Reports whether everybody may read the file at `path`, links not followed, or list and enter the directory there.
/// Where it cannot be examined, it is not for everybody.
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

/// Reports whether there is a regular file at `path`, links followed, that this user may start.
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
