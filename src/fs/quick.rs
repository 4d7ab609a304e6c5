//! Reading many small files and directories at little cost.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[cfg(unix)]
use super::handle::Handle;
use super::look::{is_absent, leads_round, read_on, read_piece};
use super::{FileStat, Kind, PathContext, PathError};

/// How much of a file is read at first, and up to where then, if its start may be enough. The first is more than
/// nearly every frontmatter: of thousands of files, copying the rest of a page of each takes longer than reading
/// on in a few.
const STARTS: [usize; 2] = [1024, 4096];

/// How much room in a buffer is likely to be enough for a file.
#[cfg(unix)]
const SOME: usize = 8 << 10;

/// What a read into a buffer came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// The buffer holds all of the file.
    Read,
    /// Nothing is there.
    Absent,
    /// Something is there that was not read: a link, no regular file, or one above the limit.
    Other,
}

/// A directory below which many files are read: it is found once, not for each of them.
#[derive(Debug)]
pub struct Base {
    pub(super) path: PathBuf,
    #[cfg(unix)]
    handle: Handle,
}

impl Base {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    ///
    /// Where it is not there or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, PathError> {
        Ok(Self {
            path: path.to_owned(),
            #[cfg(unix)]
            handle: Handle::open(path).at("open", path)?,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory, as the system knows it.
    #[cfg(unix)]
    pub(super) fn handle(&self) -> &rustix::fd::OwnedFd {
        self.handle.get()
    }

    /// Reads the regular file at `below` this directory into `buffer`, whose old content goes. A
    /// link at the end of the path is not followed.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened or read.
    pub fn read_into(&self, below: &Path, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
        buffer.clear();
        self.append(below, limit, buffer)
    }

    /// As [`Base::read_into`], but behind what `buffer` holds.
    ///
    /// # Errors
    ///
    /// As [`Base::read_into`].
    pub(super) fn append(&self, below: &Path, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
        match self.open_below(below) {
            Ok(file) => fill(file, limit, buffer).map_err(self.failed("read", below)),
            Err(error) if is_absent(&error) => Ok(Looked::Absent),
            Err(error) => not_opened(error, &self.path.join(below)),
        }
    }

    /// Reads the regular file at `below` this directory into `buffer`, whose old content goes, from its start
    /// until `enough` says so of the bytes read so far, or to its end, and returns what was known of the
    /// file when it was opened, as far as this system tells enough. A link at the end of the path is not
    /// followed.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened or read, and where `limit` bytes were not enough.
    pub fn read_start(
        &self,
        below: &Path,
        limit: u64,
        buffer: &mut Vec<u8>,
        enough: impl Fn(&[u8]) -> bool,
    ) -> Result<(Looked, Option<FileStat>), PathError> {
        buffer.clear();
        let failed = |action| move |source| self.failed(action, below)(source);
        let file = match self.open_below(below) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok((Looked::Absent, None)),
            Err(error) => return Ok((not_opened(error, &self.path.join(below))?, None)),
        };
        // What was opened is asked, not the path: it may lead elsewhere by now.
        let Some((size, stat)) = known_of(&file).map_err(failed("look at"))? else {
            return Ok((Looked::Other, None));
        };
        if buffer.capacity() > STARTS[0] {
            // A long one made it grow, and what it has room for is read.
            *buffer = Vec::new();
        }
        for room in STARTS {
            let wanted = room.saturating_sub(buffer.len());
            let is_all = read_piece(&file, size, wanted, buffer).map_err(failed("read"))?;
            if is_all || enough(buffer) {
                return Ok((Looked::Read, stat));
            }
        }
        read_on(&file, size, limit, buffer, enough).map_err(failed("read"))?;
        Ok((Looked::Read, stat))
    }

    /// Adds the `size` bytes of the regular file at `below` to `buffer`; `false`, and nothing is added, where it
    /// is not as expected. A link at the end of the path is not followed.
    pub(super) fn append_expected(&self, below: &Path, size: u64, buffer: &mut Vec<u8>) -> bool {
        let Ok(size) = usize::try_from(size) else { return false };
        let Ok(file) = self.open_below(below) else { return false };
        let start = buffer.len();
        // One byte more than there should be: a file that grew shows it.
        buffer.reserve_exact(size.saturating_add(1));
        let spare = buffer.capacity() - start;
        let is_expected = matches!(read_once(&file, buffer), Ok(count) if count == size) && spare > size;
        if !is_expected {
            buffer.truncate(start);
        }
        is_expected
    }

    /// Returns what lies at `below` this directory, or `None` where nothing does. A link at the end of
    /// the path is not followed.
    ///
    /// # Errors
    ///
    /// Where it cannot be looked at for another reason than its absence.
    pub fn kind(&self, below: &Path) -> Result<Option<Kind>, PathError> {
        #[cfg(unix)]
        match rustix::fs::statat(self.handle(), below, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
                rustix::fs::FileType::RegularFile => Kind::File,
                rustix::fs::FileType::Directory => Kind::Directory,
                rustix::fs::FileType::Symlink => Kind::Symlink,
                _ => Kind::Other,
            })),
            Err(error) => {
                let source = io::Error::from(error);
                let absent = is_absent(&source) || leads_round(&source);
                if absent { Ok(None) } else { Err(source).at("look at", &self.path.join(below)) }
            }
        }
        #[cfg(not(unix))]
        super::kind(&self.path.join(below))
    }

    /// Reads the target of the link at `below` this directory; `None` where there is none, or it is no UTF-8.
    pub fn link_text(&self, below: &str) -> Option<String> {
        #[cfg(unix)]
        return rustix::fs::readlinkat(self.handle(), below, Vec::new()).ok()?.into_string().ok();
        #[cfg(not(unix))]
        return std::fs::read_link(self.path.join(below)).ok()?.into_os_string().into_string().ok();
    }

    #[cfg(unix)]
    fn open_below(&self, below: impl rustix::path::Arg) -> io::Result<fs::File> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(self.handle(), below, flags, Mode::empty())?.into())
    }

    #[cfg(not(unix))]
    fn open_below(&self, below: &Path) -> io::Result<fs::File> {
        super::tree::open_no_follow(&self.path.join(below))
    }
}

/// As [`Base::append`], of the file at `path`.
pub(super) fn append_at(path: &Path, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
    match super::tree::open_no_follow(path) {
        Ok(file) => fill(file, limit, buffer).at("read", path),
        Err(error) => not_opened(error, path),
    }
}

/// What it means that the file at `path` could not be opened.
fn not_opened(error: io::Error, path: &Path) -> Result<Looked, PathError> {
    if is_absent(&error) {
        return Ok(Looked::Absent);
    }
    // Why a link is not opened has as many names as there are systems: the link is asked.
    match super::kind(path) {
        Ok(Some(Kind::File) | None) | Err(_) => Err(error).at("read", path),
        Ok(Some(_)) => Ok(Looked::Other),
    }
}

/// Reads once, behind what `buffer` holds and no more than it has room for.
#[cfg(unix)]
pub(super) fn read_once(file: &fs::File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::read(file, rustix::buffer::spare_capacity(buffer))?)
}

/// Reads once, behind what `buffer` holds and no more than it has room for.
#[cfg(not(unix))]
pub(super) fn read_once(mut file: &fs::File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let start = buffer.len();
    buffer.resize(buffer.capacity(), 0);
    let read = file.read(&mut buffer[start..]);
    buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
    read
}

/// The size of a regular file; `None` for anything else. It asks for no more than that, which is
/// what [`fs::File::metadata`] does.
#[cfg(unix)]
fn size_of(file: &fs::File) -> io::Result<Option<u64>> {
    let stat = rustix::fs::fstat(file)?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    Ok(u64::try_from(stat.st_size).ok().filter(|_| is_file))
}

/// The size of a regular file; `None` for anything else.
#[cfg(not(unix))]
fn size_of(file: &fs::File) -> io::Result<Option<u64>> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some(metadata.len()))
}

/// The size of a regular file and all that is known of it; `None` for anything else.
#[cfg(unix)]
fn known_of(file: &fs::File) -> io::Result<Option<(u64, Option<FileStat>)>> {
    let stat = rustix::fs::fstat(file)?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let size = u64::try_from(stat.st_size).ok().filter(|_| is_file);
    Ok(size.map(|size| (size, FileStat::of(&stat))))
}

/// The size of a regular file; `None` for anything else.
#[cfg(not(unix))]
fn known_of(file: &fs::File) -> io::Result<Option<(u64, Option<FileStat>)>> {
    Ok(size_of(file)?.map(|size| (size, None)))
}

fn fill(file: fs::File, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Looked> {
    if fills(&file, limit, buffer) {
        return Ok(Looked::Read);
    }
    let Some(size) = size_of(&file)?.filter(|size| *size <= limit) else { return Ok(Looked::Other) };
    // One byte more than there is: the read that ends it is the first one.
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let start = buffer.len();
    buffer.reserve(size.saturating_add(1));
    let filled = read_once(&file, buffer)?;
    if filled != size {
        // It was cut off, or it grew or shrank since it was looked at.
        file.take((limit + 1).saturating_sub(filled as u64)).read_to_end(buffer)?;
    }
    Ok(if (buffer.len() - start) as u64 > limit { Looked::Other } else { Looked::Read })
}

/// Reads all of `file` behind what `buffer` holds, if there is room for it already: reading at its end costs less
/// than asking for its size. `false`, and nothing is added, where that shows nothing.
///
/// Only what has places can be read so, which neither pipes nor directories have, and a device is endless or empty.
#[cfg(unix)]
fn fills(file: &fs::File, limit: u64, buffer: &mut Vec<u8>) -> bool {
    use rustix::buffer::spare_capacity;
    use rustix::io::pread;

    let (start, room) = (buffer.len(), buffer.capacity() - buffer.len());
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let read = if room < SOME { 0 } else { pread(file, spare_capacity(buffer), 0).unwrap_or(0) };
    let is_all = read > 0
        && read < room
        && read <= most
        && matches!(pread(file, spare_capacity(buffer), read as u64), Ok(0));
    if !is_all {
        buffer.truncate(start);
    }
    is_all
}

/// Elsewhere the size is asked for.
#[cfg(not(unix))]
fn fills(_file: &fs::File, _limit: u64, _buffer: &mut Vec<u8>) -> bool {
    false
}

/// Returns what lies in directory `path`, in the order of the directory; links are not followed.
///
/// # Errors
///
/// Where it is no directory or cannot be read.
pub fn entries(path: &Path) -> Result<Vec<(OsString, Kind)>, PathError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).at("read", path)? {
        let entry = entry.at("read", path)?;
        let kind = entry.file_type().at("look at", path)?;
        found.push((entry.file_name(), kind.into()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_buffer_holds_one_file_after_the_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        let base = Base::open(dir.path()).expect("opens");
        let mut buffer = Vec::new();
        let mut read_into = |path: &str, limit| {
            let looked = base.read_into(Path::new(path), limit, &mut buffer).expect("reads");
            (looked, String::from_utf8(buffer.clone()).expect("text"))
        };
        for text in ["a long text", "", "short"] {
            fs::write(&path, text).expect("writes");
            assert_eq!(read_into("f", 11), (Looked::Read, text.to_owned()));
        }
        assert_eq!(read_into("f", 4).0, Looked::Other);
        assert_eq!(read_into(".", 4).0, Looked::Other);
        for gone in ["gone", "f/below"] {
            assert_eq!(read_into(gone, 4).0, Looked::Absent);
        }
        assert!(Base::open(&path.join("gone")).is_err());
    }

    /// What is asked about grows as it does where a file is read from its start at once: what is said of one that
    /// is too large depends on it.
    #[test]
    fn a_start_is_read_until_it_is_enough() {
        let dir = tempfile::tempdir().expect("a directory");
        let base = Base::open(dir.path()).expect("opens");
        let mut buffer = Vec::new();
        let mut asked = |size: usize, wanted: usize| {
            fs::write(dir.path().join("f"), vec![b'x'; size]).expect("writes");
            let lengths = std::cell::RefCell::new(Vec::new());
            let enough = |bytes: &[u8]| {
                lengths.borrow_mut().push(bytes.len());
                bytes.len() >= wanted
            };
            let (looked, _) = base.read_start(Path::new("f"), 1 << 20, &mut buffer, enough).expect("reads");
            assert_eq!(looked, Looked::Read);
            lengths.into_inner()
        };
        assert_eq!(asked(50_000, 1), [1024]);
        assert_eq!(asked(50_000, 10_000), [1024, 4096, 8192, 16384]);
        assert_eq!(asked(50_000, 1025), [1024, 4096]);
        assert_eq!(asked(2000, 9999), [1024], "then there is no more");
        for all in [0, 1, 1023] {
            assert_eq!(asked(all, 9999), [0; 0], "all of it is there");
        }
    }

    /// Files that fit and such that do not, one after the other: the room in the buffer is no limit, and `limit` is.
    #[test]
    fn room_that_is_there_changes_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let base = Base::open(dir.path()).expect("opens");
        let room = 16 << 10;
        for size in [0, 1, room - 1, room, room + 1, 3 * room] {
            let text = vec![b'x'; size];
            fs::write(dir.path().join("f"), &text).expect("writes");
            let mut buffer = Vec::with_capacity(room);
            let mut read =
                |limit: usize| base.read_into(Path::new("f"), limit as u64, &mut buffer).expect("reads");
            assert_eq!(read(size), Looked::Read);
            if size > 0 {
                assert_eq!(read(size - 1), Looked::Other);
            }
            assert_eq!(read(4 * room), Looked::Read);
            assert_eq!(buffer, text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let (link, pipe) = (dir.path().join("link"), dir.path().join("pipe"));
        std::os::unix::fs::symlink("nowhere", &link).expect("links");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        let base = Base::open(dir.path()).expect("opens");
        // A pipe that somebody writes to has bytes.
        let _reader = super::super::tree::open_no_follow(&pipe).expect("opens");
        let mut writer = fs::OpenOptions::new().write(true).open(&pipe).expect("opens");
        writer.write_all(b"text").expect("writes");
        for (name, room) in [("link", 0), ("pipe", 0), ("link", SOME), ("pipe", SOME), (".", SOME)] {
            let looked = base.read_into(Path::new(name), 9, &mut Vec::with_capacity(room));
            assert_eq!(looked.expect("no error"), Looked::Other, "{name}");
        }
        let mut kinds = entries(dir.path()).expect("lists");
        kinds.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(kinds, [("link".into(), Kind::Symlink), ("pipe".into(), Kind::Other)]);
    }
}
