//! Files that were opened, to be read.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::LazyLock;
use std::{fs, mem};

use super::look::{is_absent, read_on, read_piece};
use super::quick::read_once;
use super::{Base, FileStat, Kind, Looked, PathContext, PathError};
use crate::workers;

/// How much of a file is read at first, and up to where then, if its start may be enough. The first is more than
/// nearly every frontmatter: of thousands of files, copying the rest of a page of each takes longer than reading
/// on in a few.
const STARTS: [usize; 2] = [1024, 4096];

/// How much room in a buffer is likely to be enough for a file.
#[cfg(unix)]
const SOME: usize = 8 << 10;

/// How many files are open together at most, in all threads that work together.
const TOGETHER: usize = 64;

/// A file that was opened, or why it was not.
pub struct Opened<'a> {
    pub(super) base: &'a Base,
    pub(super) below: &'a Path,
    pub(super) file: io::Result<&'a fs::File>,
}

impl Base {
    /// Opens the files at the paths of `files` below this directory, hands each to `read` together with what stands
    /// beside its path, in their order, and closes them. To do one thing to many files takes the system less than to
    /// do one thing after the other to each, and several threads that open and close files wait for each other less.
    pub fn read_several<'p, T>(
        &self,
        files: impl IntoIterator<Item = (&'p Path, T)>,
        mut read: impl FnMut(T, Opened<'_>),
    ) {
        let open = |path: &Path| self.open_below(path);
        several(files.into_iter().collect(), workers::share(together()), open, |below, beside, file| {
            read(beside, Opened { base: self, below, file });
        });
    }
}

/// Opens the files at the paths of `files` with `open`, hands each to `read`, in their order, and closes them: at most
/// `together` at once, and fewer where no more can be open.
fn several<T>(
    files: Vec<(&Path, T)>,
    together: usize,
    mut open: impl FnMut(&Path) -> io::Result<fs::File>,
    mut read: impl FnMut(&Path, T, io::Result<&fs::File>),
) {
    let mut opened = Vec::with_capacity(together.min(files.len()));
    let mut rest = files.into_iter();
    while !rest.as_slice().is_empty() {
        for (path, _) in rest.as_slice().iter().take(together) {
            let file = open(path);
            // These are read and closed first.
            if !opened.is_empty() && file.as_ref().is_err_and(is_too_many) {
                break;
            }
            opened.push(file);
        }
        for (file, (path, beside)) in opened.iter_mut().zip(&mut rest) {
            let file = match file {
                Ok(file) => Ok(&*file),
                Err(error) => Err(mem::replace(error, io::ErrorKind::Other.into())),
            };
            read(path, beside, file);
        }
        opened.clear();
    }
}

impl Opened<'_> {
    /// As [`Base::read_into`].
    ///
    /// # Errors
    ///
    /// As [`Base::read_into`].
    pub fn read_into(self, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
        buffer.clear();
        self.append(limit, buffer)
    }

    /// As [`Opened::read_into`], but behind what `buffer` holds.
    pub(super) fn append(self, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
        let Self { base, below, file } = self;
        match file {
            Ok(file) => fill(file, limit, buffer).map_err(base.failed("read", below)),
            Err(error) => not_opened(error, || base.path().join(below)),
        }
    }

    /// Reads it, if it is a regular file, into `buffer`, whose old content goes, from its start until `enough` says so
    /// of the bytes read so far, or to its end, and returns what was known of the file when it was opened, as far as
    /// this system tells enough. A link at the end of the path is not followed.
    ///
    /// # Errors
    ///
    /// Where it could not be opened or cannot be read, and where `limit` bytes were not enough.
    pub fn read_start(
        self,
        limit: u64,
        buffer: &mut Vec<u8>,
        enough: impl Fn(&[u8]) -> bool,
    ) -> Result<(Looked, Option<FileStat>), PathError> {
        buffer.clear();
        let Self { base, below, file } = self;
        let failed = |action| move |source| base.failed(action, below)(source);
        let file = match file {
            Ok(file) => file,
            Err(error) => return Ok((not_opened(error, || base.path().join(below))?, None)),
        };
        // What was opened is asked, not the path: it may lead elsewhere by now.
        let Some((size, stat)) = known_of(file).map_err(failed("look at"))? else {
            return Ok((Looked::Other, None));
        };
        if buffer.capacity() > STARTS[0] {
            // A long one made it grow, and what it has room for is read.
            *buffer = Vec::new();
        }
        for room in STARTS {
            let wanted = room.saturating_sub(buffer.len());
            let is_all = read_piece(file, size, wanted, buffer).map_err(failed("read"))?;
            if is_all || enough(buffer) {
                return Ok((Looked::Read, stat));
            }
        }
        read_on(file, size, limit, buffer, enough).map_err(failed("read"))?;
        Ok((Looked::Read, stat))
    }
}

/// As [`Base::append`], of the file at `path`.
pub(super) fn append_at(path: &Path, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
    match super::tree::open_no_follow(path) {
        Ok(file) => fill(&file, limit, buffer).at("read", path),
        Err(error) => not_opened(error, || path.to_owned()),
    }
}

/// What it means that the file at `path` could not be opened.
fn not_opened(error: io::Error, path: impl FnOnce() -> PathBuf) -> Result<Looked, PathError> {
    if is_absent(&error) {
        return Ok(Looked::Absent);
    }
    let path = &path();
    // Why a link is not opened has as many names as there are systems: the link is asked.
    match super::kind(path) {
        Ok(Some(Kind::File) | None) | Err(_) => Err(error).at("read", path),
        Ok(Some(_)) => Ok(Looked::Other),
    }
}

/// [`TOGETHER`], or less where the system lets this program open few: each thread always has one, and the rest of the
/// program its share.
fn together() -> usize {
    #[cfg(unix)]
    {
        static ALLOWED: LazyLock<usize> = LazyLock::new(|| {
            let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
            limit.map_or(TOGETHER, |limit| {
                usize::try_from(limit / 4).map_or(TOGETHER, |few| few.min(TOGETHER))
            })
        });
        *ALLOWED
    }
    #[cfg(not(unix))]
    TOGETHER
}

/// Whether the error means that the program, or all programs, have as many files open as they may.
fn is_too_many(error: &io::Error) -> bool {
    #[cfg(unix)]
    return matches!(
        rustix::io::Errno::from_io_error(error),
        Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE)
    );
    // `ERROR_TOO_MANY_OPEN_FILES`
    #[cfg(not(unix))]
    return error.raw_os_error() == Some(4);
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

fn fill(file: &fs::File, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Looked> {
    if fills(file, limit, buffer) {
        return Ok(Looked::Read);
    }
    let Some(size) = size_of(file)?.filter(|size| *size <= limit) else { return Ok(Looked::Other) };
    // One byte more than there is: the read that ends it is the first one.
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let start = buffer.len();
    buffer.reserve(size.saturating_add(1));
    let filled = read_once(file, buffer)?;
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// More than are open together, and among them what is not there and what is no file.
    #[test]
    fn several_are_read_as_one_after_the_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let base = Base::open(dir.path()).expect("opens");
        let names: Vec<String> = (0..3 * TOGETHER).map(|number| number.to_string()).collect();
        for (number, name) in names.iter().enumerate() {
            match number % 5 {
                0 => {}
                1 => fs::create_dir(dir.path().join(name)).expect("creates"),
                _ => fs::write(dir.path().join(name), name).expect("writes"),
            }
        }
        let mut found = Vec::new();
        base.read_several(names.iter().map(Path::new).zip(0..), |number, file| {
            let mut buffer = b"old".to_vec();
            let looked = file.read_into(9, &mut buffer).expect("reads");
            found.push((number, looked, buffer));
        });
        let expected = names.iter().enumerate().map(|(number, name)| match number % 5 {
            0 => (number, Looked::Absent, Vec::new()),
            1 => (number, Looked::Other, Vec::new()),
            _ => (number, Looked::Read, name.clone().into_bytes()),
        });
        assert_eq!(found, expected.collect::<Vec<_>>());
    }

    /// One that cannot be opened because others are is opened once these are closed.
    #[cfg(unix)]
    #[test]
    fn no_file_is_too_many() {
        let dir = tempfile::tempdir().expect("a directory");
        let names: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        for name in &names {
            fs::write(dir.path().join(name), name).expect("writes");
        }
        let files = names.iter().map(|name| (Path::new(name), &**name)).collect();
        let (mut calls, mut found) = (0, Vec::new());
        let open = |path: &Path| {
            calls += 1;
            // Never twice, one after the other: then nothing else is open.
            if calls % 3 == 0 {
                Err(rustix::io::Errno::MFILE.into())
            } else {
                fs::File::open(dir.path().join(path))
            }
        };
        let read = |path: &Path, beside: &str, file: io::Result<&fs::File>| {
            let mut text = String::new();
            file.expect("is open").read_to_string(&mut text).expect("reads");
            assert_eq!((path, &*text), (Path::new(beside), beside));
            found.push(text);
        };
        several(files, 8, open, read);
        assert_eq!(found, names);
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
            base.read_several([(Path::new("f"), ())], |(), file| {
                let (looked, _) = file.read_start(1 << 20, &mut buffer, enough).expect("reads");
                assert_eq!(looked, Looked::Read);
            });
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
    }
}
