//! Disk usage, time of last use, and whether a directory may be changed.

use std::fs::{self, File, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::look::is_absent;
use super::{PathContext, PathError};

/// Size and age of what is at and below a path. Links are counted, not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// The number of entries other than directories.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// The time of the latest change.
    newest: Option<SystemTime>,
}

impl Usage {
    /// Returns the time of the latest change, in seconds since 1970.
    pub fn changed_at(&self) -> Option<u64> {
        Some(self.newest?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs())
    }

    /// Reports whether nothing here was changed for longer than `age`. Something absent is not old.
    pub fn is_older_than(&self, age: Duration) -> bool {
        // A time in the future comes from a clock that was corrected since.
        self.newest.is_some_and(|newest| newest.elapsed().is_ok_and(|since| since > age))
    }

    fn add(&mut self, metadata: &Metadata) {
        if !metadata.is_dir() {
            self.files += 1;
            self.bytes = self.bytes.saturating_add(metadata.len());
        }
        self.newest = self.newest.max(metadata.modified().ok());
    }
}

/// Returns the usage of what is at and below `path`; the default if nothing is. Skips what disappears
/// meanwhile.
///
/// # Errors
///
/// Fails if a directory cannot be read.
pub fn usage(path: &Path) -> Result<Usage, PathError> {
    let mut usage = Usage::default();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(error).at("look at", &path),
        };
        usage.add(&metadata);
        if metadata.is_dir() {
            match fs::read_dir(&path) {
                Ok(entries) => {
                    for entry in entries {
                        open.push(entry.at("read", &path)?.path());
                    }
                }
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(error).at("read", &path),
            }
        }
    }
    Ok(usage)
}

/// Marks the file or directory at `path` as used now. Ignores a failure.
pub fn touch(path: &Path) {
    let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Reports whether this user may create and remove entries in directory `dir`, as far as that can be known
/// without trying.
pub fn may_change(dir: &Path) -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        access(dir, Access::WRITE_OK | Access::EXEC_OK).is_ok()
    }
    #[cfg(not(unix))]
    fs::metadata(dir).is_ok_and(|metadata| !metadata.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_is_counted_and_its_age_is_that_of_the_newest() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("a");
        assert_eq!(usage(&root).expect("nothing"), Usage::default());
        fs::create_dir_all(root.join("b")).expect("creates");
        fs::write(root.join("b/x"), "123").expect("writes");
        fs::write(root.join("y"), "4567").expect("writes");
        let all = usage(&root).expect("reads");
        assert_eq!((all.files, all.bytes), (2, 7));
        assert!(!all.is_older_than(Duration::from_hours(1)));
        assert!(!Usage::default().is_older_than(Duration::ZERO), "nothing is not old");

        let day = Duration::from_hours(24);
        for path in [root.join("b/x"), root.join("y"), root.join("b"), root.clone()] {
            let file = File::open(&path).expect("opens");
            file.set_modified(SystemTime::now() - 2 * day).expect("a time");
        }
        assert!(usage(&root).expect("reads").is_older_than(day));
        touch(&root);
        assert!(!usage(&root).expect("reads").is_older_than(day));
        touch(&root.join("gone"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("a")).expect("creates");
        fs::write(dir.path().join("large"), vec![0; 5000]).expect("writes");
        std::os::unix::fs::symlink("../large", dir.path().join("a/l")).expect("links");
        let linked = usage(&dir.path().join("a")).expect("reads");
        assert!(linked.files == 1 && linked.bytes < 5000);
        assert!(may_change(dir.path()));
        assert!(!may_change(&dir.path().join("gone")));
    }
}
