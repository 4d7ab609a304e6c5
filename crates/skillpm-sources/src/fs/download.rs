//! Files from the network: they get their name only once they are complete.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::temp::temp_place;
use super::{PathContext, PathError, SharedFile, anonymous_temp_file, pending};

/// Receives the bytes of a download, and receives them again from the start if the download restarts.
pub trait Sink: Write {
    /// Discards all bytes written so far.
    ///
    /// # Errors
    ///
    /// Fails if the bytes cannot be discarded.
    fn restart(&mut self) -> io::Result<()>;
}

impl Sink for Vec<u8> {
    fn restart(&mut self) -> io::Result<()> {
        self.clear();
        Ok(())
    }
}

/// A file that is being downloaded. Leaves nothing behind if dropped before the end.
#[derive(Debug)]
pub struct Download {
    file: Unfinished,
}

#[derive(Debug)]
enum Unfinished {
    /// A file with a temporary name beside its final path.
    Named(NamedTempFile, PathBuf),
    /// A file without a name, for one use.
    Anonymous(File),
}

impl Download {
    /// Begins a file that is to be at `path`. The file has no name if `path` is `None` or its directory
    /// cannot be written: a download needs no cache.
    ///
    /// # Errors
    ///
    /// Fails if a temporary file is not possible either.
    pub fn begin(path: Option<&Path>) -> Result<Self, PathError> {
        if let Some(path) = path
            && let Ok(file) = named(path)
        {
            return Ok(Self { file: Unfinished::Named(file, path.to_owned()) });
        }
        Ok(Self { file: Unfinished::Anonymous(anonymous_temp_file()?) })
    }

    /// Gives the complete file its name, if it is to have one, and returns it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read back. Failing to name it is not an error: the file can be read, and
    /// is downloaded again next time.
    pub fn keep(self) -> io::Result<SharedFile> {
        let file = match self.file {
            Unfinished::Named(file, path) => match file.persist(path) {
                Ok(file) => file,
                Err(error) => error.file.into_file(),
            },
            Unfinished::Anonymous(file) => file,
        };
        SharedFile::from_file(file)
    }

    /// Returns the complete file without giving it a name.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read back.
    pub fn use_once(self) -> io::Result<SharedFile> {
        SharedFile::from_file(match self.file {
            Unfinished::Named(file, _) => file.into_file(),
            Unfinished::Anonymous(file) => file,
        })
    }

    /// Reads the first bytes of the file into `buf`, as many as it holds. Returns their number.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let file = self.file.handle();
        file.rewind()?;
        let mut count = 0;
        while count < buf.len() {
            match file.read(&mut buf[count..])? {
                0 => break,
                more => count += more,
            }
        }
        file.seek(io::SeekFrom::End(0))?;
        Ok(count)
    }

    /// Returns the path for messages: the final path of the file, or the directory for temporary files.
    pub fn path(&self) -> PathBuf {
        match &self.file {
            Unfinished::Named(_, path) => path.clone(),
            Unfinished::Anonymous(_) => temp_place(),
        }
    }
}

impl Unfinished {
    fn handle(&mut self) -> &mut File {
        match self {
            Self::Named(file, _) => file.as_file_mut(),
            Self::Anonymous(file) => file,
        }
    }
}

impl Write for Download {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file.handle().write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.handle().flush()
    }
}

impl Sink for Download {
    fn restart(&mut self) -> io::Result<()> {
        let file = self.file.handle();
        file.rewind()?;
        file.set_len(0)
    }
}

/// Returns a temporary file in the directory of `path`, which is created if missing. It is in the same
/// directory because a rename cannot cross file systems.
fn named(path: &Path) -> io::Result<NamedTempFile> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(dir)?;
    tempfile::Builder::new().prefix(".download-").tempfile_in(dir)
}

/// Writes the small file at `path`, and creates missing directories above it. Readers see the old file or the
/// new one.
///
/// # Errors
///
/// Fails if it cannot be written.
pub fn write_small(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    write_small_with(path, |file| file.write_all(bytes))
}

/// Works like [`write_small`], with the bytes that `write` writes.
///
/// # Errors
///
/// Fails if the file cannot be written, or `write` fails. The old content then stays.
pub fn write_small_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), PathError> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let create = || std::fs::create_dir_all(dir).and_then(|()| pending::file_in(dir));
    let mut file = create().at("write", path)?;
    write(&mut file).at("write", path)?;
    file.persist(path).map_err(|error| error.error).at("write", path)?;
    Ok(())
}

/// Removes the file at `path`, if there is one.
///
/// # Errors
///
/// Fails if it is there and cannot be removed.
pub fn remove_if_there(path: &Path) -> Result<(), PathError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::read_capped;

    #[test]
    fn a_download_has_no_name_until_it_is_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a/b.zip");
        let mut download = Download::begin(Some(&path)).expect("begins");
        download.write_all(b"wrong").expect("writes");
        download.restart().expect("restarts");
        download.write_all(b"PK").expect("writes");
        assert!(!path.exists());
        let mut first = [0; 4];
        assert_eq!((download.peek(&mut first).expect("reads"), &first[..2]), (2, &b"PK"[..]));
        assert_eq!(download.keep().expect("renames").len(), 2);
        assert_eq!(std::fs::read(&path).expect("is there"), b"PK");
        assert_eq!(std::fs::read_dir(dir.path().join("a")).expect("reads").count(), 1);
    }

    #[test]
    fn a_dropped_or_unkept_download_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("b.zip");
        drop(Download::begin(Some(&path)).expect("begins"));
        let mut download = Download::begin(Some(&path)).expect("begins");
        download.write_all(b"<html>").expect("writes");
        assert_eq!(download.use_once().expect("opens").len(), 6);
        assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 0);
    }

    #[test]
    fn without_a_cache_the_file_is_nameless() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("cache"), "a file, not a directory").expect("writes");
        let mut download = Download::begin(Some(&dir.path().join("cache/a.zip"))).expect("begins");
        download.write_all(b"PK").expect("writes");
        assert_eq!(download.keep().expect("opens").len(), 2);
    }

    #[test]
    fn small_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x/y.json");
        assert_eq!(read_capped(&path, 9).expect("no file"), None);
        write_small(&path, b"{}").expect("writes");
        assert_eq!(read_capped(&path, 9).expect("reads").as_deref(), Some(&b"{}"[..]));
        assert!(read_capped(&path, 1).is_err());
        remove_if_there(&path).expect("removes");
        remove_if_there(&path).expect("is gone already");
    }
}
