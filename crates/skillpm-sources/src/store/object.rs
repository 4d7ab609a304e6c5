//! An object: a tree in one file.
//!
//! ```text
//! skillpm tree 1 <bytes of the whole header, ten digits> \n
//! <path> \0 <mode> \0 <hex SHA-256 of the content> \0 <bytes of the content> \n    for each file, sorted
//! <the contents, in the same order>
//! ```
//!
//! Apart from the sizes, the lines are those that the tree digest is computed from, so a header can be checked on its
//! own. The same tree always gives the same bytes.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::MOST_OBJECT;
use crate::digest::{Digest, HashingWriter, tree_digest};
use crate::fs::{PathError, SharedFile};
use crate::path::SafePath;
use crate::refusal::{Limits, Refusal};
use crate::tree::{Content, FileEntry, FileSet, Held, ReadError};

const MAGIC: &str = "skillpm tree 1 ";
/// The number of bytes of the first line.
const FIRST: usize = MAGIC.len() + 11;
/// The maximum size of a header in bytes: more than the longest paths of as many files as a skill may have.
const MOST_HEADER: usize = 4 << 20;

/// The part of an object before the contents.
struct Header {
    files: Vec<FileEntry>,
    /// The offset of the contents, in bytes.
    length: usize,
}

/// Returns the header of a tree with these files, each given with the digest of its content.
fn header<'a>(files: impl Iterator<Item = (&'a FileEntry, Digest)> + Clone) -> Vec<u8> {
    let length = header_length(files.clone().map(|(file, _)| file));
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(MAGIC.as_bytes());
    push_line(&mut bytes, format_args!("{length:010}"));
    for (file, content) in files {
        let mode: &[u8] = if file.executable { b"\x00755\x00" } else { b"\x00644\x00" };
        for part in [file.path.as_str().as_bytes(), mode, &content.hex_bytes(), b"\0"] {
            bytes.extend_from_slice(part);
        }
        push_line(&mut bytes, format_args!("{}", file.size));
    }
    bytes
}

/// Adds `text` and the end of a line to `bytes`.
fn push_line(bytes: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = writeln!(bytes, "{text}");
}

/// Returns the length in bytes of the header of a tree with these files.
fn header_length<'a>(files: impl Iterator<Item = &'a FileEntry>) -> usize {
    let digits = |size: u64| size.checked_ilog10().unwrap_or(0) as usize + 1;
    // Three bytes of mode, 64 of digest, three NUL and a line feed.
    files.fold(FIRST, |sum, file| sum + file.path.as_str().len() + 71 + digits(file.size))
}

/// Returns the length of the header that starts with `bytes`, in bytes.
fn length(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.get(..FIRST)?.strip_prefix(MAGIC.as_bytes())?.strip_suffix(b"\n")?;
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|length| (FIRST..MOST_HEADER).contains(length))
}

/// Reads the header at the start of `bytes`; `None` if it is not the header of the tree with `digest`.
fn parse(bytes: &[u8], digest: &Digest) -> Option<Header> {
    let length = length(bytes)?;
    let lines = std::str::from_utf8(bytes.get(FIRST..length)?).ok()?;
    let (mut files, mut contents) = (Vec::new(), Vec::new());
    for line in lines.split_terminator('\n') {
        let mut parts = line.split('\0');
        let path = SafePath::new(parts.next()?).ok()?;
        let executable = match parts.next()? {
            "755" => true,
            "644" => false,
            _ => return None,
        };
        contents.push(Digest::from_hex(parts.next()?)?);
        files.push(FileEntry::new(path, executable, parts.next()?.parse().ok()?, files.len()));
    }
    let lines = files.iter().zip(&contents);
    let found = tree_digest(lines.map(|(file, content)| (&file.path, file.executable, *content)));
    (found == *digest).then_some(Header { files, length })
}

/// Returns the header and the contents of the object of `held`, in order.
pub(super) fn parts(held: &Held) -> (Vec<u8>, impl Iterator<Item = &[u8]>) {
    (header(held.files().map(|(file, content, _)| (file, content))), held.files().map(|(.., bytes)| bytes))
}

/// Reports whether `object` is the object of `held`.
pub(super) fn is_same(object: &[u8], held: &Held) -> bool {
    let (header, contents) = parts(held);
    let mut rest = object;
    std::iter::once(&header[..]).chain(contents).all(|part| match rest.strip_prefix(part) {
        Some(behind) => {
            rest = behind;
            true
        }
        None => false,
    }) && rest.is_empty()
}

/// Reads the tree with `digest` from `object`, hashing its contents.
pub(super) fn read(object: Vec<u8>, digest: &Digest) -> Result<Held, Refusal> {
    let damaged = || Refusal::Damaged(digest.to_string());
    let Header { files, length } = parse(&object, digest).ok_or_else(damaged)?;
    let held = Held::new(files, object, length).map_err(|_| damaged())?;
    if held.digest() == *digest { Ok(held) } else { Err(damaged()) }
}

/// Writes `set` to `sink` as an object, from its start, and returns the tree digest. The header is written twice,
/// because the digests in it are known only after everything was read.
pub(super) fn write<W: Write + io::Seek>(set: &FileSet, sink: &mut W) -> Result<Digest, ReadError> {
    let nothing = Digest::of(b"");
    sink.write_all(&header(set.files().iter().map(|file| (file, nothing))))?;
    let mut contents = Vec::with_capacity(set.files().len());
    for file in set.files() {
        let mut writer = HashingWriter::new(&mut *sink);
        set.copy_to(file, &mut writer)?;
        let (content, actual) = writer.finish();
        if actual != file.size {
            let name = file.path.to_string();
            return Err(Refusal::SizeMismatch { name, declared: file.size, actual }.into());
        }
        contents.push(content);
    }
    sink.rewind()?;
    let lines = || set.files().iter().zip(contents.iter().copied());
    sink.write_all(&header(lines()))?;
    Ok(tree_digest(lines().map(|(file, content)| (&file.path, file.executable, content))))
}

/// Opens the object of the tree with `digest` at `path` and checks its header; `None` if there is no regular file.
pub(super) fn open(path: &Path, digest: &Digest) -> Result<Option<FileSet>, ReadError> {
    let Some(file) = SharedFile::open_plain(path).map_err(named)? else { return Ok(None) };
    let damaged = || damaged(path);
    let read = |length: usize| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0).map_err(|_| damaged()).map(|()| bytes)
    };
    let length = length(&read(FIRST)?).ok_or_else(damaged)?;
    let Header { files, .. } = parse(&read(length)?, digest).ok_or_else(damaged)?;
    let mut at = length as u64;
    let mut starts = Vec::with_capacity(files.len());
    for file in &files {
        starts.push((at, file.size));
        at = at.saturating_add(file.size);
    }
    if at != file.len() {
        return Err(damaged());
    }
    let content = Arc::new(Stored { path: path.to_owned(), starts });
    Ok(Some(FileSet::new(files, content, &Limits::default())?))
}

/// Reports whether the object at `path` is that of the tree with `digest`, undamaged. An object is read at once if it
/// is small enough, as most are; otherwise each content is read separately.
pub(super) fn is_whole(path: &Path, digest: &Digest) -> bool {
    let Ok(Some(file)) = SharedFile::open_plain(path) else { return false };
    match usize::try_from(file.len()) {
        Ok(length) if file.len() <= MOST_OBJECT => {
            let mut bytes = vec![0; length];
            file.read_exact_at(&mut bytes, 0).is_ok() && read(bytes, digest).is_ok()
        }
        _ => open(path, digest)
            .is_ok_and(|set| set.is_some_and(|set| set.digest().is_ok_and(|found| found == *digest))),
    }
}

/// Returns the file set of `held`, which reads its bytes from the object at `path`.
pub(super) fn stored(held: &Held, path: PathBuf) -> FileSet {
    let mut at = header_length(held.set().files().iter()) as u64;
    let mut starts = Vec::with_capacity(held.set().files().len());
    for file in held.set().files() {
        starts.push((at, file.size));
        at += file.size;
    }
    held.set().from(Arc::new(Stored { path, starts }))
}

fn damaged(path: &Path) -> ReadError {
    Refusal::Damaged(path.display().to_string()).into()
}

fn named(error: PathError) -> ReadError {
    io::Error::new(error.source.kind(), error).into()
}

/// The contents of an object. The file is opened for each of them, because there may be thousands of objects.
struct Stored {
    path: PathBuf,
    /// The offset and length of each content, in bytes.
    starts: Vec<(u64, u64)>,
}

impl Content for Stored {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        let &(mut at, size) = self.starts.get(id).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let Some(file) = SharedFile::open_plain(&self.path).map_err(named)? else {
            return Err(damaged(&self.path));
        };
        let end = at.saturating_add(size);
        let mut buffer = vec![0; usize::try_from(size).map_or(PIECE, |size| size.min(PIECE))];
        while at < end {
            let left = usize::try_from(end - at).map_or(PIECE, |left| left.min(PIECE));
            file.read_exact_at(&mut buffer[..left], at).map_err(|_| damaged(&self.path))?;
            sink.write_all(&buffer[..left])?;
            at += left as u64;
        }
        Ok(())
    }
}

/// The number of bytes that are read at a time.
const PIECE: usize = 128 << 10;
