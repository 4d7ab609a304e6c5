//! The directories whose skills may run scripts although they are not locked.
//!
//! The file has a line of JSON for each directory. A line that is not understood completely grants no trust, so damage
//! never grants more of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::advice::Warning;
use crate::codes;
use crate::error::Result;
use crate::fs::{self, Identity, Moment, Own, PathError};
use crate::settings::{Settings, no_home};
use crate::text::timestamp;
use crate::tree::FileSet;

/// The name of the file.
const FILE_NAME: &str = "trust.jsonl";
/// The version of the format.
const VERSION: u32 = 1;
/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// The directories that are trusted, by their real paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedDirs {
    dirs: BTreeMap<PathBuf, TrustedDir>,
    damage: Option<String>,
}

/// A directory that is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedDir {
    /// The path, with all links followed.
    pub path: PathBuf,
    /// The identity of the directory when it was trusted.
    pub identity: Identity,
    /// When it was trusted, in the format of RFC 3339.
    pub since: String,
}

/// The trust in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing<'a> {
    /// It is trusted, or a directory above it is.
    Trusted(&'a TrustedDir),
    /// A trusted directory covers it, but there is now a different directory in its place.
    Replaced(&'a TrustedDir),
    /// A trusted directory covers it, but another user controls this directory or file.
    Exposed {
        /// The directory, which is the trusted one or below it, or the file.
        path: PathBuf,
        /// The reason, as half a sentence.
        reason: String,
    },
    /// It is not trusted.
    Untrusted,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    version: u32,
    path: PathBuf,
    inode: Option<u64>,
    created: Option<(i64, u32)>,
    since: String,
}

impl TrustedDirs {
    /// Returns the path of the file that lists the directories.
    ///
    /// # Errors
    ///
    /// Fails if there is neither a home directory nor `XDG_STATE_HOME`.
    pub fn file(settings: &Settings) -> Result<PathBuf> {
        let state = settings.dirs.state.as_ref();
        state
            .map(|state| state.join(FILE_NAME))
            .ok_or_else(|| no_home("trusted directories", Some(crate::env::XDG_STATE_HOME)))
    }

    /// Reads which directories are trusted: none if the file is missing, cannot be read, or may have been written by
    /// another user. [`TrustedDirs::damage`] says what is wrong with it.
    pub fn read(settings: &Settings) -> Self {
        let Ok(file) = Self::file(settings) else { return Self::default() };
        match fs::read_own(&file, MAX_FILE) {
            Ok(None) => Self::default(),
            Ok(Some(bytes)) => {
                let mut read = Self::parse(&bytes);
                read.damage = read.damage.map(|damage| format!("`{}`: {damage}", file.display()));
                read
            }
            Err(error) => {
                let damage = format!("{error}: {}; no directory is trusted", error.source);
                Self { damage: Some(damage), ..Self::default() }
            }
        }
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut read = Self::default();
        let mut wrong = Vec::new();
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice::<Line>(line).ok().and_then(TrustedDir::of) {
                Some(dir) => drop(read.dirs.insert(dir.path.clone(), dir)),
                None => wrong.push(number + 1),
            }
        }
        read.damage = wrong.first().map(|first| match wrong.len() {
            1 => format!("line {first} cannot be read and trusts nothing"),
            all => format!("line {first} and {} more cannot be read and trust nothing", all - 1),
        });
        read
    }

    /// Returns the content of the file.
    pub fn text(&self) -> String {
        let line = |dir: &TrustedDir| {
            let created = dir.identity.created.map(|moment| (moment.seconds, moment.nanoseconds));
            let (path, since) = (dir.path.clone(), dir.since.clone());
            let line = Line { version: VERSION, path, inode: dir.identity.inode, created, since };
            // The path is UTF-8: other paths are never added.
            serde_json::to_string(&line).map(|line| line + "\n").unwrap_or_default()
        };
        self.dirs.values().map(line).collect()
    }

    /// Returns a warning about the file that holds the list, if it is damaged.
    pub fn damage(&self) -> Option<Warning> {
        Some(Warning::new(codes::TRUST_UNREADABLE, self.damage.as_deref()?))
    }

    /// Returns the directories, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = &TrustedDir> {
        self.dirs.values()
    }

    /// Returns the directory that is trusted at exactly this path.
    pub fn get(&self, path: &Path) -> Option<&TrustedDir> {
        self.dirs.get(path)
    }

    /// Trusts `dir`; it replaces the directory that was trusted at its path.
    pub fn insert(&mut self, dir: TrustedDir) {
        self.dirs.insert(dir.path.clone(), dir);
    }

    /// Removes the trust in the directory at `path`; returns the directory that was trusted there.
    pub fn remove(&mut self, path: &Path) -> Option<TrustedDir> {
        self.dirs.remove(path)
    }

    /// Returns the nearest trusted directory at or above `real`, a path without links. Only paths are compared:
    /// [`TrustedDirs::standing`] also examines the directories.
    pub fn covers(&self, real: &Path) -> Option<&TrustedDir> {
        real.ancestors().find_map(|dir| self.dirs.get(dir))
    }

    /// Returns the trust in the directory `real`, a path without links.
    ///
    /// A trusted directory counts only if it is still the same directory, and if no other user controls it or any
    /// directory from it down to `real`.
    pub(crate) fn standing(&self, real: &Path) -> Result<Standing<'_>, PathError> {
        let mut nearest = None;
        for dir in real.ancestors().filter_map(|dir| self.dirs.get(dir)) {
            match dir.standing(real)? {
                trusted @ Standing::Trusted(_) => return Ok(trusted),
                other => drop(nearest.get_or_insert(other)),
            }
        }
        Ok(nearest.unwrap_or(Standing::Untrusted))
    }
}

impl TrustedDir {
    /// Returns the directory at the real path `path`, trusted from now on.
    pub fn now(path: &Path, identity: Identity) -> Self {
        let now = Moment::now();
        let since = timestamp(now.seconds, now.nanoseconds / 1_000_000);
        Self { path: path.to_owned(), identity, since }
    }

    fn of(line: Line) -> Option<Self> {
        let plain =
            line.path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
        let known = line.version == VERSION && line.path.is_absolute() && plain;
        let created = line.created.map(|(seconds, nanoseconds)| Moment { seconds, nanoseconds });
        let identity = Identity { inode: line.inode, created };
        known.then_some(Self { path: line.path, identity, since: line.since })
    }

    /// Returns the trust in `real`, which is this directory or is below it.
    pub(crate) fn standing(&self, real: &Path) -> Result<Standing<'_>, PathError> {
        match Own::of(&self.path)? {
            Some(own) if own.identity == self.identity => {}
            _ => return Ok(Standing::Replaced(self)),
        }
        Ok(match exposed(&self.path, real)? {
            Some((path, reason)) => Standing::Exposed { path, reason },
            None => Standing::Trusted(self),
        })
    }
}

/// Returns the first directory from `top` down to `real` that another user controls, or one above `top` whose content
/// every user may replace; with the reason.
pub(crate) fn exposed(top: &Path, real: &Path) -> Result<Option<(PathBuf, String)>, PathError> {
    for above in top.ancestors().skip(1) {
        if fs::is_open_to_all(above)? {
            let reason = "every user may replace its content".to_owned();
            return Ok(Some((above.to_owned(), reason)));
        }
    }
    let mut down: Vec<&Path> = real.ancestors().take_while(|dir| dir.starts_with(top)).collect();
    down.reverse();
    for dir in down {
        let exposure = match Own::of(dir)? {
            Some(own) => own.exposure.map(|exposure| exposure.to_string()),
            None => Some("it is not a directory".to_owned()),
        };
        if let Some(reason) = exposure {
            return Ok(Some((dir.to_owned(), reason)));
        }
    }
    Ok(None)
}

/// Returns the first of `files`, which are in the directory `root`, or the first directory below `root`, that other
/// users may change; with the reason.
///
/// Call this after reading the files: a user who could change one before can still do so.
pub(crate) fn exposed_file(root: &Path, files: &FileSet) -> Result<Option<(PathBuf, String)>, PathError> {
    let mut seen = BTreeSet::new();
    for file in files.files() {
        for below in file.path.ancestors().chain([file.path.as_str()]) {
            if !seen.insert(below) {
                continue;
            }
            let path = root.join(below);
            if let Some(exposure) = fs::exposure_of(&path)? {
                return Ok(Some((path, exposure.to_string())));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"version":1,"path":"/home/ann/work","inode":7,"created":[9,1],"since":"2026-11-21T08:49:37.000Z"}"#;

    #[test]
    fn what_is_written_is_read() {
        let read = TrustedDirs::parse(format!("{WHOLE}\n").as_bytes());
        assert!(read.damage().is_none());
        assert_eq!(read.text(), format!("{WHOLE}\n"));
        let covered = |path: &str| read.covers(Path::new(path)).is_some();
        assert!(covered("/home/ann/work") && covered("/home/ann/work/a/b"));
        assert!(
            !covered("/home/ann")
                && !covered("/home/ann/work2")
                && !covered("/")
                && !covered("home/ann/work")
        );
    }

    /// However the file is cut or changed, it never grants trust that it did not grant before.
    #[test]
    fn damage_never_means_more_trust() {
        let text = format!("{WHOLE}\n");
        for end in 0..text.len() {
            let read = TrustedDirs::parse(&text.as_bytes()[..end]);
            assert!(read.dirs.is_empty() || end == WHOLE.len(), "{end}");
            assert_eq!(read.damage().is_some(), end > 0 && end < WHOLE.len(), "{end}");
        }
        for wrong in [
            "/",
            "null",
            "[]",
            "\u{0}\u{0}\u{0}",
            r#"{"version":1,"path":"/","inode":null,"created":null}"#,
            r#"{"version":2,"path":"/","inode":null,"created":null,"since":""}"#,
            r#"{"version":1,"path":"/","inode":null,"created":null,"since":"","only":"a.sh"}"#,
            r#"{"version":1,"path":".","inode":null,"created":null,"since":""}"#,
            r#"{"version":1,"path":"/a/../..","inode":null,"created":null,"since":""}"#,
            r#"{"version":1,"path":["/"],"inode":null,"created":null,"since":""}"#,
        ] {
            let read = TrustedDirs::parse(format!("{wrong}\n{WHOLE}\n").as_bytes());
            assert_eq!(read.iter().count(), 1, "{wrong}: the other line counts");
            assert_eq!(read.damage.as_deref(), Some("line 1 cannot be read and trusts nothing"), "{wrong}");
        }
    }

    /// Trust depends on more than the directory of the skill: on the files that are read from it, and on their
    /// directories.
    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "only a test changes modes")]
    fn a_file_that_others_may_change_is_found() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let scripts = dir.path().join("scripts");
        fs::create_dir(&scripts).expect("creates");
        let script = scripts.join("x.sh");
        for file in [&dir.path().join("SKILL.md"), &script] {
            fs::write_atomic(file, b"x").expect("writes");
        }
        let files = fs::tree_of(dir.path())
            .expect("reads")
            .skill("", &crate::refusal::Limits::default())
            .expect("a skill");
        let chmod = |path: &Path, mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(path, mode).expect("chmod");
        };
        let found = || exposed_file(dir.path(), &files).expect("looks");
        for (path, mode, whole) in
            [(&scripts, 0o777, 0o755), (&scripts, 0o1777, 0o755), (&script, 0o666, 0o644)]
        {
            assert_eq!(found(), None);
            chmod(path, mode);
            assert_eq!(found(), Some((path.clone(), "every user may write to it".to_owned())));
            chmod(path, whole);
        }
        fs::remove_if_there(&script).expect("removes");
        assert!(exposed_file(dir.path(), &files).is_err(), "its owner is unknown");
    }

    /// A line with the path of another directory does not match that directory's identity.
    #[test]
    fn a_path_alone_is_no_trust() {
        let dir = tempfile::tempdir().expect("a directory");
        let real = fs::real_path(dir.path()).expect("looks").expect("there");
        let own = Own::of(&real).expect("looks").expect("there");
        let mut dirs = TrustedDirs::default();
        dirs.insert(TrustedDir::now(&real, own.identity));
        assert!(matches!(dirs.standing(&real).expect("looks"), Standing::Trusted(_)));
        dirs.insert(TrustedDir::now(&real, Identity { inode: None, created: None }));
        assert!(matches!(dirs.standing(&real).expect("looks"), Standing::Replaced(_)));
        assert_eq!(dirs.standing(Path::new("/nowhere")).expect("looks"), Standing::Untrusted);
    }
}
