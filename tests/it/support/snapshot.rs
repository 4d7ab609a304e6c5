//! What lies below a directory, to be compared and to be brought back.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// One thing on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// A directory.
    Directory,
    /// A file, whether it may be executed, and its bytes.
    File(bool, Vec<u8>),
    /// A link, and what it says.
    Link(String),
    /// Something else.
    Other,
}

/// Everything below a directory, by its path there.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Snapshot(pub BTreeMap<String, Thing>);

impl fmt::Debug for Snapshot {
    /// A line each, for people who read why a test failed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, thing) in &self.0 {
            match thing {
                Thing::Directory => writeln!(f, "{path}/")?,
                Thing::File(_, bytes) => writeln!(f, "{path}: {:?}", String::from_utf8_lossy(bytes))?,
                Thing::Link(to) => writeln!(f, "{path} -> {to}")?,
                Thing::Other => writeln!(f, "{path}?")?,
            }
        }
        Ok(())
    }
}

/// What is in one of two snapshots only, or differs: a line for each.
pub fn difference(expected: &Snapshot, found: &Snapshot) -> String {
    let only = |mark: &str, of: &Snapshot, other: &Snapshot| {
        let differs = |(path, thing): &(&String, &Thing)| other.0.get(*path) != Some(*thing);
        let things = of.0.iter().filter(differs).map(|(path, thing)| (path.clone(), thing.clone()));
        let shown = format!("{:?}", Snapshot(things.collect()));
        shown.lines().map(|line| format!("{mark} {line}\n")).collect::<Vec<_>>()
    };
    [only("-", expected, found), only("+", found, expected)].concat().concat()
}

impl Snapshot {
    /// Looks at all that is below `dir`; nothing where that is not there.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        let mut things = BTreeMap::new();
        look(dir, "", &mut things);
        Self(things)
    }

    /// The part at and below `path`, whose own name becomes empty.
    #[must_use]
    pub fn part(&self, path: &str) -> Self {
        let of = |(name, thing): (&String, &Thing)| {
            let rest = name.strip_prefix(path)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| (rest.to_owned(), thing.clone()))
        };
        Self(self.0.iter().filter_map(of).collect())
    }

    /// Whether one of the files holds `text`.
    pub fn has(&self, text: &str) -> bool {
        self.0.values().any(|thing| match thing {
            Thing::File(_, bytes) => String::from_utf8_lossy(bytes).contains(text),
            _ => false,
        })
    }
}

fn look(dir: &Path, prefix: &str, things: &mut BTreeMap<String, Thing>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let entry = entry.expect("an entry");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a type");
        let thing = if kind.is_dir() {
            look(&entry.path(), &format!("{path}/"), things);
            Thing::Directory
        } else if kind.is_symlink() {
            Thing::Link(std::fs::read_link(entry.path()).expect("a link").display().to_string())
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).expect("a file");
            Thing::File(is_executable(&entry.path()), bytes)
        } else {
            Thing::Other
        };
        things.insert(path, thing);
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    false
}

/// Copies all below `from` to `to`, which is there: modes, times and links as they are.
pub fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let (kind, there, here) =
            (entry.file_type().expect("a type"), entry.path(), to.join(entry.file_name()));
        if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(std::fs::read_link(&there).expect("a link"), &here).expect("linked");
            continue;
        }
        if kind.is_dir() {
            std::fs::create_dir_all(&here).expect("a directory");
            copy(&there, &here);
        } else {
            std::fs::copy(&there, &here).expect("copied");
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).expect("a time");
        std::fs::File::open(&here).and_then(|file| file.set_modified(modified)).expect("a time is set");
    }
}

/// Makes `to` hold what `from` does and nothing else. A directory that something is mounted on stays.
pub fn restore(from: &Path, to: &Path) {
    empty(to);
    copy(from, to);
}

fn empty(dir: &Path) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_dir() {
            empty(&entry.path());
            // What is mounted cannot be removed.
            let _ = std::fs::remove_dir(entry.path());
        } else {
            std::fs::remove_file(entry.path()).expect("removed");
        }
    }
}
