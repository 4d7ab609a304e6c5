//! A log that many processes write: whole lines at the end of one file, rotated when it is full.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::file::read_exact_at;
use super::look::is_absent;
use super::stat::{stat_link, stat_open};
use super::{DirLock, PathContext, PathError};

/// A log that stays open between lines: opening and closing its file takes longer than writing a line.
#[derive(Debug, Default)]
pub struct OpenLog(Mutex<Option<Open>>);

#[derive(Debug)]
struct Open {
    file: fs::File,
    /// The device and inode number of the file.
    id: (u64, u64),
    /// The length of the file in bytes after the last line.
    len: u64,
}

impl OpenLog {
    /// Appends `line` and a line feed to the file at `path`, in one write, so that lines of several processes
    /// never mix. `path` must be the same in each call. Returns the length of the file in bytes, without what
    /// others append meanwhile. A new file is readable only by its owner. If the file at `path` is gone or
    /// was replaced, opens it again.
    ///
    /// If an earlier writer left a line unfinished, on a full disk, that line is ended first. An empty line
    /// means nothing.
    ///
    /// # Errors
    ///
    /// Fails if `path` is not a regular file (without waiting for a pipe), or if the line could not be
    /// written completely.
    pub fn append(&self, path: &Path, line: &[u8]) -> Result<u64, PathError> {
        // Wait neither for another thread, nor for one that held the lock when this process was forked.
        let Ok(mut open) = self.0.try_lock() else { return Self::default().append(path, line) };
        let there = open.take().zip(stat_link(path));
        let same = there.filter(|(open, stat)| (stat.device, stat.inode) == open.id);
        let (file, id, len, is_known) = if let Some((Open { file, id, len }, stat)) = same {
            // If the length is unchanged, no other process has written since.
            (file, Some(id), stat.size, stat.size == len)
        } else {
            let (file, len) = open_log(path)?;
            let id = stat_open(&file).map(|stat| (stat.device, stat.inode));
            (file, id, len, false)
        };
        let end = if is_known { (len, false) } else { end_of(&file, len).at("read", path)? };
        let len = add(&file, path, end, line)?;
        *open = id.map(|id| Open { file, id, len });
        Ok(len)
    }
}

/// Opens the file at `path`, creating it and its directory if missing. Returns its length in bytes as well.
fn open_log(path: &Path) -> Result<(fs::File, u64), PathError> {
    let file = match open(path) {
        // The directory exists in all cases but the first.
        Err(error) if is_absent(&error) => {
            if let Some(dir) = path.parent() {
                fs::create_dir_all(dir).at("create", dir)?;
            }
            open(path)
        }
        opened => opened,
    }
    .at("open", path)?;
    let metadata = file.metadata().at("open", path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")).at("open", path);
    }
    Ok((file, metadata.len()))
}

/// Writes `line` to the `file` at `path`, which has `len` bytes and whose last line may be cut. Returns the
/// new length.
fn add(mut file: &fs::File, path: &Path, (len, is_cut): (u64, bool), line: &[u8]) -> Result<u64, PathError> {
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if is_cut {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line);
    bytes.push(b'\n');
    let written = loop {
        match file.write(&bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result.at("write", path)?,
        }
    };
    if written < bytes.len() {
        return Err(io::Error::from(io::ErrorKind::StorageFull)).at("write", path);
    }
    Ok(len + written as u64)
}

fn open(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// Returns the length of `file`, which had `len` bytes a moment ago, and whether its last line is unfinished.
///
/// While another process writes, some systems show part of its line for a moment. So an unfinished line is
/// checked a few more times; the worst result is an empty line.
fn end_of(file: &fs::File, mut len: u64) -> io::Result<(u64, bool)> {
    const LOOKS: usize = 50;
    for _ in 0..LOOKS {
        let mut last = [b'\n'];
        if let Some(at) = len.checked_sub(1) {
            match read_exact_at(file, &mut last, at) {
                // Another process truncated it.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => last = [0],
                read => read?,
            }
        }
        if last == *b"\n" {
            return Ok((len, false));
        }
        std::thread::yield_now();
        len = file.metadata()?.len();
    }
    Ok((len, true))
}

/// Rotates the log at `path` once it has `size` bytes: it gets number 1, each older log the next number, and
/// the log with number `keep` is removed. Does nothing if another process is rotating, or if directories
/// cannot be locked.
///
/// A line that another process writes meanwhile goes to the file that it opened.
///
/// # Errors
///
/// Fails if something cannot be renamed.
pub fn rotate(path: &Path, size: u64, keep: u32) -> Result<(), PathError> {
    let Some(dir) = path.parent() else { return Ok(()) };
    let Some(_lock) = DirLock::try_acquire(dir) else { return Ok(()) };
    // Another process may have rotated it just before.
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() >= size => {}
        _ => return Ok(()),
    }
    for number in (1..keep).rev() {
        let from = rotated(path, number);
        match fs::rename(&from, rotated(path, number + 1)) {
            Err(error) if !is_absent(&error) => return Err(error).at("rename", &from),
            _ => {}
        }
    }
    fs::rename(path, rotated(path, 1)).at("rename", path)
}

/// Returns the path of the log at `path` once it has `number`.
pub fn rotated(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends a line as a process that writes only one.
    fn append(path: &Path, line: &[u8]) -> Result<u64, PathError> {
        OpenLog::default().append(path, line)
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).expect("reads")
    }

    #[test]
    fn lines_are_added_and_old_files_go() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a/log");
        assert_eq!(append(&path, b"one").expect("writes"), 4);
        assert_eq!(append(&path, b"two").expect("writes"), 8);
        assert_eq!(text(&path), "one\ntwo\n");
        rotate(&path, 9, 2).expect("looks");
        assert!(path.exists(), "there is room");
        for line in ["three", "four", "five"] {
            rotate(&path, 1, 2).expect("renames");
            append(&path, line.as_bytes()).expect("writes");
        }
        let all = [path.clone(), rotated(&path, 1), rotated(&path, 2)].map(|path| text(&path));
        assert_eq!(all, ["five\n", "four\n", "three\n"]);
        assert!(!rotated(&path, 3).exists());
        let lock = DirLock::acquire(&dir.path().join("a"), || ()).expect("locks");
        rotate(&path, 1, 2).expect("does nothing");
        drop(lock);
        assert_eq!(text(&path), "five\n");
    }

    /// After any change of the file between two lines, the result is as if it were opened for each.
    #[test]
    fn a_log_that_stays_open_is_the_one_that_lies_there() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("log");
        let (ours, other) = (OpenLog::default(), OpenLog::default());
        for line in ["1", "2"] {
            ours.append(&path, line.as_bytes()).expect("writes");
            assert_eq!(other.append(&path, b"other").expect("writes"), text(&path).len() as u64);
        }
        assert_eq!(text(&path), "1\nother\n2\nother\n");
        rotate(&path, 1, 1).expect("renames");
        assert_eq!(ours.append(&path, b"3").expect("writes"), 2, "a new file");
        fs::write(&path, "{\"cut").expect("writes");
        ours.append(&path, b"4").expect("writes");
        assert_eq!(text(&path), "{\"cut\n4\n");
        fs::remove_file(&path).expect("removes");
        ours.append(&path, b"5").expect("writes");
        assert_eq!(text(&path), "5\n");
        let held = ours.0.lock().expect("not poisoned");
        ours.append(&path, b"6").expect("does not wait");
        drop(held);
        assert_eq!(text(&path), "5\n6\n");
        fs::remove_file(&path).expect("removes");
        fs::create_dir(&path).expect("creates");
        ours.append(&path, b"7").expect_err("a directory");
        assert_eq!(text(&rotated(&path, 1)), "1\nother\n2\nother\n");
    }

    #[test]
    fn a_line_that_was_cut_is_ended() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("log");
        fs::write(&path, "{\"cut").expect("writes");
        append(&path, b"{}").expect("writes");
        assert_eq!(text(&path), "{\"cut\n{}\n");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_left_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        append(&at("log"), b"x").expect("writes");
        assert_eq!(fs::metadata(at("log")).expect("there").permissions().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink("log", at("link")).expect("links");
        fs::create_dir(at("dir")).expect("creates");
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), fifo, 0o600.into(), 0).expect("makes");
        for name in ["link", "dir", "pipe", "log/below"] {
            append(&at(name), b"y").expect_err(name);
        }
        assert_eq!(text(&at("log")), "x\n");
    }
}
