//! Metadata of files: whether they are still the ones that were read, without reading them again.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Base, PathContext, PathError};

/// The largest number of files and directories of one tree that are examined.
const MAX_NODES: usize = 200_000;

/// A point in time, as file systems keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// The fraction of a second, in nanoseconds.
    pub nanoseconds: u32,
}

impl Moment {
    /// Returns the current time by this machine's clock.
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// Reports whether a file that was last changed at this time and read at `read` gets another time with
    /// any later change.
    fn is_settled(self, read: Self) -> bool {
        let seconds = if self.nanoseconds == 0 { COARSE } else { 0 };
        let nanoseconds = self.nanoseconds + TICK;
        let then = Self {
            seconds: self
                .seconds
                .saturating_add(seconds)
                .saturating_add((nanoseconds / 1_000_000_000).into()),
            nanoseconds: nanoseconds % 1_000_000_000,
        };
        then < read
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self {
                seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
                nanoseconds: since.subsec_nanos(),
            },
            Err(_) => Self { seconds: 0, nanoseconds: 0 },
        }
    }
}

/// The metadata of a file, directory or link. If any of it differs, the file was replaced or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStat {
    /// The device number of the file system.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
    /// Kind and permissions.
    pub mode: u32,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change of the content, which any program can set.
    pub modified: Moment,
    /// When anything was last changed; only the clock sets this.
    pub changed: Moment,
}

/// How much older than the read a time must be, in nanoseconds: no clock of a kernel stands still for longer.
const TICK: u32 = 100_000_000;
/// The same in seconds, for file systems with times in whole seconds. Some of them record only even seconds.
const COARSE: i64 = 2;

impl FileStat {
    /// Reports whether any change after a read at `read` results in another time.
    pub fn is_settled(&self, read: Moment) -> bool {
        [self.modified, self.changed].into_iter().all(|time| time.is_settled(read))
    }
}

#[cfg(unix)]
impl From<&fs::Metadata> for FileStat {
    fn from(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let moment = |seconds, nanoseconds: i64| Moment {
            seconds,
            nanoseconds: u32::try_from(nanoseconds).unwrap_or_default(),
        };
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            mode: metadata.mode(),
            size: metadata.size(),
            modified: moment(metadata.mtime(), metadata.mtime_nsec()),
            changed: moment(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Returns the metadata of the target of `path`. Returns `None` if nothing can be seen there, and on systems
/// whose metadata does not distinguish files well enough.
pub fn stat(path: &Path) -> Option<FileStat> {
    #[cfg(unix)]
    return FileStat::of(&rustix::fs::stat(path).ok()?);
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Works like [`stat`], but does not follow a link at `path`.
pub(super) fn stat_link(path: &Path) -> Option<FileStat> {
    #[cfg(unix)]
    return FileStat::of(&rustix::fs::lstat(path).ok()?);
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Works like [`stat`], for an open file.
pub(super) fn stat_open(file: &fs::File) -> Option<FileStat> {
    #[cfg(unix)]
    return FileStat::of(&rustix::fs::fstat(file).ok()?);
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

/// Returns the metadata of everything in the tree at `root`: the root itself with an empty path, then everything below it,
/// each directory before its entries. Leaves out the inside of `.git`, which is not a part of a skill.
///
/// # Errors
///
/// Fails if something cannot be examined, for names that are not UTF-8, for too many files, and on systems whose metadata
/// does not distinguish files well enough.
pub fn stats(root: &Path) -> Result<Vec<(String, FileStat)>, PathError> {
    stats_but(root, &[])
}

/// Works like [`stats`], but leaves out the content of directories with the names `skip`.
pub fn stats_but(root: &Path, skip: &[&str]) -> Result<Vec<(String, FileStat)>, PathError> {
    let mut found = Vec::new();
    let metadata = fs::symlink_metadata(root).at("look at", root)?;
    walk(root, "", &metadata, skip, &mut found)?;
    Ok(found)
}

/// Reports whether everything that [`stats`] reported about `root` is unchanged. Creating, removing or
/// renaming an entry changes the time of its directory, so names need not be read.
pub fn is_unchanged(root: &Path, stats: &[(String, FileStat)]) -> bool {
    stats.iter().all(|(below, stat)| {
        let seen = if below.is_empty() { stat_link(root) } else { stat_link(&root.join(below)) };
        seen == Some(*stat)
    })
}

#[cfg(unix)]
fn walk(
    dir: &Path,
    path: &str,
    metadata: &fs::Metadata,
    skip: &[&str],
    found: &mut Vec<(String, FileStat)>,
) -> Result<(), PathError> {
    // Taken before the directory is read: any later change in it changes its times.
    found.push((path.to_owned(), metadata.into()));
    for entry in fs::read_dir(dir).at("read", dir)? {
        let entry = entry.at("read", dir)?;
        let metadata = entry.metadata().at("look at", dir)?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|_| found.len() < MAX_NODES) else {
            return Err(io::Error::from(io::ErrorKind::InvalidData)).at("look at", dir);
        };
        let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        if metadata.is_dir() && name != ".git" && !skip.contains(&name) {
            walk(&dir.join(name), &below, &metadata, skip, found)?;
        } else {
            found.push((below, (&metadata).into()));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn walk(
    dir: &Path,
    _path: &str,
    _metadata: &fs::Metadata,
    _skip: &[&str],
    _found: &mut Vec<(String, FileStat)>,
) -> Result<(), PathError> {
    Err(io::Error::from(io::ErrorKind::Unsupported)).at("look at", dir)
}

/// Returns a number of the system as a `u64`; the types differ between systems.
#[cfg(unix)]
fn number(value: impl TryInto<u64>) -> Option<u64> {
    value.try_into().ok()
}

impl FileStat {
    /// Reports whether it is a regular file.
    pub fn is_file(&self) -> bool {
        const KIND: u32 = 0o170_000;
        self.mode & KIND == 0o100_000
    }
}

#[cfg(unix)]
impl FileStat {
    /// Returns the reported metadata, or `None` for numbers that no file has.
    pub(super) fn of(stat: &rustix::fs::Stat) -> Option<Self> {
        let moment = |seconds, nanoseconds: Option<u64>| {
            Some(Moment { seconds, nanoseconds: u32::try_from(nanoseconds?).ok()? })
        };
        Some(Self {
            device: number(stat.st_dev)?,
            inode: number(stat.st_ino)?,
            mode: u32::try_from(number(stat.st_mode)?).ok()?,
            size: number(stat.st_size)?,
            modified: moment(stat.st_mtime, number(stat.st_mtime_nsec))?,
            changed: moment(stat.st_ctime, number(stat.st_ctime_nsec))?,
        })
    }
}

impl Base {
    /// Returns the metadata of what is at `below` this directory. Returns `None` if nothing is, or if it
    /// cannot be examined. Does not follow links.
    #[cfg(unix)]
    pub fn stat(&self, below: &[u8]) -> Option<FileStat> {
        let stat = rustix::fs::statat(self.handle(), below, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).ok()?;
        FileStat::of(&stat)
    }

    /// Returns `None`: this system does not report enough.
    #[cfg(not(unix))]
    pub fn stat(&self, _below: &[u8]) -> Option<FileStat> {
        None
    }
}

/// Metadata that changes on every system when a file or directory changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    permissions: fs::Permissions,
    /// Metadata that no program can set back, if the system has it: the identity of the file, and when
    /// anything was last changed.
    #[cfg(unix)]
    exact: FileStat,
}

impl Stamp {
    /// Reports whether a file that was read at `read` may have changed since and still have this stamp. No
    /// change up to now has a time in the future, so a file with such a time, which some archives bring, is
    /// not young for years.
    pub fn is_young(&self, read: Moment) -> bool {
        self.modified.is_some_and(|time| !Moment::from(time).is_settled(read) && time <= SystemTime::now())
    }
}

/// Leaves out the permissions, which have no number on every system.
impl Hash for Stamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.modified, self.size).hash(state);
        #[cfg(unix)]
        self.exact.hash(state);
    }
}

/// Returns the stamp of the target of `path`, or `None` if nothing can be seen there.
pub fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        modified: metadata.modified().ok(),
        size: metadata.len(),
        permissions: metadata.permissions(),
        #[cfg(unix)]
        exact: FileStat::from(&metadata),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Editors and tools that preserve times write another file and give it the old name.
    #[cfg(unix)]
    #[test]
    fn a_file_that_was_replaced_has_another_stamp() {
        let temp = tempfile::tempdir().expect("a directory");
        let (path, new) = (temp.path().join("a"), temp.path().join("b"));
        fs::write(&path, "x").expect("written");
        let before = stamp(&path).expect("is there");
        assert_eq!(stamp(&path).as_ref(), Some(&before));
        fs::write(&new, "y").expect("written");
        let times = fs::FileTimes::new().set_modified(before.modified.expect("a time"));
        fs::File::options().write(true).open(&new).and_then(|file| file.set_times(times)).expect("set");
        fs::rename(&new, &path).expect("moved");
        assert_ne!(stamp(&path), Some(before));
    }

    #[test]
    fn a_time_is_old_when_no_clock_could_give_it_again() {
        let at = |seconds, nanoseconds| Moment { seconds, nanoseconds };
        let settled = |modified, changed, read| {
            FileStat { device: 1, inode: 1, mode: 1, size: 1, modified, changed }.is_settled(read)
        };
        assert!(settled(at(5, 1), at(5, 1), at(5, TICK + 2)));
        assert!(!settled(at(5, 1), at(5, 1), at(5, TICK + 1)));
        assert!(!settled(at(5, 1), at(5, 2), at(5, TICK + 2)), "both times count");
        assert!(settled(at(5, 999_999_999), at(5, 1), at(6, TICK)));
        assert!(!settled(at(5, 999_999_999), at(5, 1), at(6, TICK - 1)));
        // Times in whole seconds come from a coarser clock.
        assert!(!settled(at(5, 0), at(5, 1), at(7, TICK)));
        assert!(settled(at(5, 0), at(5, 1), at(7, TICK + 1)));
        assert!(!settled(at(9, 1), at(5, 1), at(8, 1)), "the clock was set back");
        assert!(!settled(at(i64::MAX, 0), at(5, 1), at(8, 1)));
    }

    #[test]
    fn a_stamp_differs_when_the_file_does() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        assert_eq!(stamp(&path), None);
        fs::write(&path, "a").expect("writes");
        let old = stamp(&path);
        assert_eq!(stamp(&path), old);
        fs::write(&path, "ab").expect("writes");
        let new = stamp(&path);
        assert_ne!(new, old);
        let mut permissions = fs::metadata(&path).expect("is there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).expect("sets");
        assert_ne!(stamp(&path), new);
    }

    #[test]
    fn a_stamp_is_young_while_a_change_may_have_it_too() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        let file = fs::File::create(&path).expect("creates");
        let is_young = |modified: SystemTime| {
            file.set_modified(modified).expect("sets the time");
            stamp(&path).expect("is there").is_young(Moment::now())
        };
        let minute = std::time::Duration::from_mins(1);
        assert!(is_young(SystemTime::now()));
        assert!(!is_young(SystemTime::now() - minute));
        assert!(!is_young(SystemTime::now() + minute));
    }
}
