//! Contents of trees on disk, and writing a [`FileSet`] to disk.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::opened::append_at;
use super::{Base, Looked, PathContext, PathError};
use crate::digest::{Digest, HashingWriter, tree_digest};
use crate::refusal::Refusal;
use crate::tree::{Content, FileSet, ReadError, Rights, append_by_copy};

/// Files below a directory.
pub(super) struct OnDisk {
    root: PathBuf,
    /// The same directory, open.
    base: Option<Base>,
    paths: Vec<PathBuf>,
    rights: Vec<Rights>,
}

impl OnDisk {
    /// Returns the files at `paths` below `root`; the handle of each is its index. `rights` holds the rights
    /// of each. `base` is the same directory, if it is to stay open.
    pub(super) fn new(root: PathBuf, base: Option<Base>, paths: Vec<PathBuf>, rights: Vec<Rights>) -> Self {
        Self { root, base, paths, rights }
    }
}

impl Content for OnDisk {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> Result<(), ReadError> {
        let path = self.root.join(&self.paths[id]);
        // The path may have become a pipe or a link since it was examined.
        let metadata = fs::symlink_metadata(&path).at("read", &path).map_err(with_path)?;
        if metadata.is_symlink() {
            let target = fs::read_link(&path).at("read", &path).map_err(with_path)?;
            sink.write_all(target.to_string_lossy().as_bytes())?;
            return Ok(());
        }
        if !metadata.is_file() {
            return Err(no_longer_a_file(path));
        }
        let mut file = open_no_follow(&path).at("read", &path).map_err(with_path)?;
        io::copy(&mut file, sink)?;
        Ok(())
    }

    fn append_to(&self, id: usize, limit: u64, buffer: &mut Vec<u8>) -> Result<u64, ReadError> {
        let start = buffer.len();
        let path = &self.paths[id];
        if let Some(base) = &self.base
            && base.append_expected(path, limit, buffer)
        {
            return Ok(limit);
        }
        let looked = match &self.base {
            Some(base) => base.append(path, limit, buffer),
            None => append_at(&self.root.join(path), limit, buffer),
        };
        match looked.map_err(with_path)? {
            Looked::Read => Ok((buffer.len() - start) as u64),
            // It grew, or became something else: the code that reports that is in one place.
            Looked::Other | Looked::Absent => {
                buffer.truncate(start);
                append_by_copy(|sink| self.copy_to(id, sink), limit, buffer)
            }
        }
    }

    fn rights(&self, id: usize) -> Rights {
        self.rights.get(id).copied().unwrap_or_default()
    }
}

fn no_longer_a_file(path: PathBuf) -> ReadError {
    let source = io::Error::new(io::ErrorKind::InvalidInput, "it is no longer a regular file");
    with_path(PathError { action: "read", path, source })
}

pub(super) fn with_path(error: PathError) -> ReadError {
    io::Error::new(error.source.kind(), error).into()
}

/// Opens `path` for reading. Does not follow a link, and does not wait for a pipe.
pub(super) fn open_no_follow(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options
            .custom_flags((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed());
    }
    options.open(path)
}

/// Writes `set` into the new directory `dest` and returns the tree digest of what was written.
///
/// Files get mode 0644 or 0755, less what [`FileSet::rights`] and the umask withhold. Opens and replaces
/// nothing that exists.
///
/// # Errors
///
/// Fails if `dest` already exists, a file cannot be written, or the content cannot be read. What was written
/// stays: the caller removes the directory.
pub fn materialize(set: &FileSet, dest: &Path) -> Result<Digest, ReadError> {
    fs::create_dir(dest).at("create", dest).map_err(with_path)?;
    let mut made: BTreeSet<&str> = BTreeSet::new();
    let mut lines = Vec::with_capacity(set.files().len());
    for file in set.files() {
        for dir in file.path.ancestors() {
            if made.insert(dir) {
                let dir = dest.join(dir);
                fs::create_dir(&dir).at("create", &dir).map_err(with_path)?;
            }
        }
        let path = dest.join(file.path.to_path_buf());
        let target = create_new(&path, set.rights(file).mode(file.executable))
            .at("create", &path)
            .map_err(with_path)?;
        let mut writer = HashingWriter::new(target);
        set.copy_to(file, &mut writer).map_err(|error| match error {
            // A bare error of the system comes from the file that is written: readers name their path.
            ReadError::Io(source) if source.get_ref().is_none() => {
                with_path(PathError { action: "write", path: path.clone(), source })
            }
            other => other,
        })?;
        let (digest, written) = writer.finish();
        if written != file.size {
            let name = file.path.to_string();
            return Err(Refusal::SizeMismatch { name, declared: file.size, actual: written }.into());
        }
        lines.push((&file.path, file.executable, digest));
    }
    Ok(tree_digest(lines))
}

/// Removes from the files below `dir`, which are those of `set`, the rights that [`FileSet::rights`]
/// withholds.
///
/// # Errors
///
/// Fails if the rights of a file cannot be read or changed.
#[cfg(unix)]
pub fn close(dir: &Path, set: &FileSet) -> Result<(), PathError> {
    use std::os::unix::fs::PermissionsExt as _;
    for file in set.files() {
        let path = dir.join(file.path.to_path_buf());
        let has = fs::symlink_metadata(&path).at("look at", &path)?.permissions().mode() & 0o777;
        let mode = has & set.rights(file).mode(file.executable);
        if mode != has {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).at("close", &path)?;
        }
    }
    Ok(())
}

/// Does nothing: this system withholds no rights.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn close(_dir: &Path, _set: &FileSet) -> Result<(), PathError> {
    Ok(())
}

fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(mode);
    }
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

/// Makes everything written so far to the file system of `dir` outlast a power failure.
///
/// One call for a whole transaction costs far less than a sync of each file.
///
/// # Errors
///
/// Fails if the system reports lost data.
pub fn sync_filesystem(dir: &Path) -> Result<(), PathError> {
    #[cfg(target_os = "linux")]
    {
        let directory = File::open(dir).at("sync", dir)?;
        rustix::fs::syncfs(&directory).map_err(io::Error::from).at("sync", dir)?;
    }
    #[cfg(not(target_os = "linux"))]
    for entry in fs::read_dir(dir).at("sync", dir)? {
        let path = entry.at("sync", dir)?.path();
        if path.is_dir() {
            sync_filesystem(&path)?;
        } else {
            File::open(&path).and_then(|file| file.sync_all()).at("sync", &path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::tree_of;
    use crate::refusal::Limits;

    #[cfg(unix)]
    #[test]
    fn what_is_written_is_read_back_with_the_same_digest() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let source = dir.path().join("source");
        fs::create_dir_all(source.join("scripts")).expect("creates");
        fs::create_dir_all(source.join(".git")).expect("creates");
        fs::write(source.join("SKILL.md"), "x").expect("writes");
        fs::write(source.join(".git/config"), "x").expect("writes");
        fs::write(source.join("scripts/run.sh"), "y").expect("writes");
        fs::set_permissions(source.join("scripts/run.sh"), fs::Permissions::from_mode(0o4777))
            .expect("chmod");
        let set = tree_of(&source).expect("reads").skill("", &Limits::default()).expect("a skill");
        let copy = dir.path().join("copy");
        let digest = materialize(&set, &copy).expect("writes");
        assert_eq!(digest, set.digest().expect("reads"));
        let again = tree_of(&copy).expect("reads").skill("", &Limits::default()).expect("a skill");
        assert_eq!(again.digest().expect("reads"), digest);
        let mode = fs::metadata(copy.join("scripts/run.sh")).expect("there").permissions().mode();
        assert_eq!(mode & 0o7777 & !0o022, 0o755, "set-id bits do not travel");
        assert!(!copy.join(".git").exists());
        assert!(materialize(&set, &copy).is_err(), "nothing that is there is written to");
    }

    /// Rights that a user withholds are withheld in every copy, and in a copy that was made before.
    #[cfg(unix)]
    #[test]
    fn rights_that_are_held_back_travel() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let (source, copy) = (dir.path().join("source"), dir.path().join("copy"));
        let chmod = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
        };
        let files = [
            ("SKILL.md", 0o664, 0o644),
            (".env", 0o600, 0o600),
            ("run", 0o700, 0o700),
            ("in/a", 0o644, 0o600),
        ];
        fs::create_dir_all(source.join("in")).expect("creates");
        for (path, mode, _) in files {
            fs::write(source.join(path), "x").expect("writes");
            chmod(&source.join(path), mode);
        }
        chmod(&source.join("in"), 0o700);
        chmod(&source, 0o755);
        let set = tree_of(&source).expect("reads").skill("", &Limits::default()).expect("a skill");
        let digest = materialize(&set, &copy).expect("writes");
        let modes = || {
            let mode =
                |path| fs::metadata(copy.join(path)).expect("there").permissions().mode() & 0o777 & !0o022;
            files.map(|(path, ..)| (path, mode(path)))
        };
        assert_eq!(modes(), files.map(|(path, _, mode)| (path, mode & !0o022)));
        for (path, ..) in files {
            chmod(&copy.join(path), 0o755);
        }
        close(&copy, &set).expect("closes");
        assert_eq!(modes(), files.map(|(path, _, mode)| (path, mode & !0o022)));
        let again = tree_of(&copy).expect("reads").skill("", &Limits::default()).expect("a skill");
        assert_eq!(again.digest().expect("reads"), digest);
    }

    /// d03-fifo: opening a named pipe would hang.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_by_its_kind() {
        let dir = tempfile::tempdir().expect("a directory");
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        fs::write(dir.path().join("SKILL.md"), "x").expect("writes");
        match tree_of(dir.path()).expect("lists").skill("", &Limits::default()) {
            Err(ReadError::Refused(Refusal::SpecialFile { kind, .. })) => assert_eq!(kind, "a named pipe"),
            other => panic!("{other:?}"),
        }
    }
}
