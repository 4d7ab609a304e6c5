//! Reading whole files into buffers.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::look::is_absent;
use super::quick::read_once;
use super::{Base, Kind, Looked, PathContext, PathError};

impl Base {
    /// Reads the regular file at `below` this directory into `buffer`, replacing its content. Does not follow
    /// a link at the end of the path.
    pub(crate) fn read_into(
        &self,
        below: &Path,
        limit: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Looked, PathError> {
        buffer.clear();
        self.append(below, limit, buffer)
    }

    /// Works like [`Base::read_into`], but appends to `buffer`.
    pub(super) fn append(&self, below: &Path, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
        match self.open_below(below) {
            Ok(file) => fill(&file, limit, buffer).map_err(self.failed("read", below)),
            Err(error) => not_opened(error, || self.path().join(below)),
        }
    }
}

/// Reads the regular file at `path` into `buffer`, replacing its content. Does not follow a link at the end
/// of the path.
///
/// # Errors
///
/// Fails if it cannot be opened or read.
pub fn read_regular(path: &Path, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
    buffer.clear();
    append_at(path, limit, buffer)
}

/// Works like [`Base::append`], for the file at `path`.
pub(super) fn append_at(path: &Path, limit: u64, buffer: &mut Vec<u8>) -> Result<Looked, PathError> {
    match super::tree::open_no_follow(path) {
        Ok(file) => fill(&file, limit, buffer).at("read", path),
        Err(error) => not_opened(error, || path.to_owned()),
    }
}

/// Interprets the `error` of opening the file at `path`.
fn not_opened(error: io::Error, path: impl FnOnce() -> PathBuf) -> Result<Looked, PathError> {
    if is_absent(&error) {
        return Ok(Looked::Absent);
    }
    let path = &path();
    // Systems report the refusal to open a link with different errors, so check for a link.
    match super::kind(path) {
        Ok(Some(Kind::File) | None) | Err(_) => Err(error).at("read", path),
        Ok(Some(_)) => Ok(Looked::Other),
    }
}

/// Returns the size of a regular file, or `None` for anything else. Requests only that from the system,
/// unlike [`fs::File::metadata`].
#[cfg(unix)]
fn size_of(file: &fs::File) -> io::Result<Option<u64>> {
    let stat = rustix::fs::fstat(file)?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    Ok(u64::try_from(stat.st_size).ok().filter(|_| is_file))
}

/// Returns the size of a regular file, or `None` for anything else.
#[cfg(not(unix))]
fn size_of(file: &fs::File) -> io::Result<Option<u64>> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some(metadata.len()))
}

fn fill(file: &fs::File, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Looked> {
    let Some(size) = size_of(file)?.filter(|size| *size <= limit) else { return Ok(Looked::Other) };
    // One byte more than there is, so that the first read also finds the end.
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let start = buffer.len();
    buffer.reserve(size.saturating_add(1));
    let filled = read_once(file, buffer)?;
    if filled != size {
        // The buffer was full, or the file grew or shrank since it was examined.
        file.take(limit.saturating_add(1).saturating_sub(filled as u64)).read_to_end(buffer)?;
    }
    Ok(if (buffer.len() - start) as u64 > limit { Looked::Other } else { Looked::Read })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Files that fit and files that do not, one after the other: the room in the buffer is not a limit, and
    /// `limit` is.
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
        // A pipe with a writer has bytes.
        let _reader = super::super::tree::open_no_follow(&pipe).expect("opens");
        let mut writer = fs::OpenOptions::new().write(true).open(&pipe).expect("opens");
        writer.write_all(b"text").expect("writes");
        for name in ["link", "pipe", "."] {
            let looked = base.read_into(Path::new(name), 9, &mut Vec::new());
            assert_eq!(looked.expect("no error"), Looked::Other, "{name}");
        }
    }
}
