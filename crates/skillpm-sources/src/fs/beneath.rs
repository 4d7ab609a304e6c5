//! Reading paths that come from outside, below a directory and nowhere else.
//!
//! A path that was checked may lead elsewhere by the time it is opened: a directory in it can be replaced by
//! a link. So nothing is checked first. On Linux the kernel resolves the whole path and refuses one that
//! leaves the directory (`openat2`). On other systems and old kernels, the path is opened component by
//! component without following links, and links are resolved here. The kind of the file is then determined
//! from the open file.

use std::fs::File;
use std::io;
use std::path::Path;

use super::look::{is_absent, leads_round, prefix_of};
use super::{Base, PathError};

/// The number of links that are followed on the way to one file.
#[cfg(unix)]
const MAX_LINKS: usize = 40;
/// The number of times the kernel is asked again if something moved while it resolved a path.
#[cfg(target_os = "linux")]
const MAX_RETRIES: usize = 16;

/// Why a file below a directory was not read.
#[derive(Debug, thiserror::Error)]
pub enum BeneathError {
    /// Nothing is there, or a link to nothing.
    #[error("it does not exist")]
    Absent,
    /// The path, or a link on it, leads out of the directory. Absolute links always do.
    #[error("it leads out of the directory")]
    Outside,
    /// Links form a loop.
    #[error("links lead to each other")]
    Loop,
    /// The path is not a regular file; names what it is, with an article.
    #[error("it is {0}, not a regular file")]
    NotAFile(&'static str),
    /// The file is larger than allowed.
    #[error("it has {size} bytes, more than {limit}")]
    TooLarge {
        /// The size in bytes, as far as the system knows.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system does not allow reading it.
    #[error("{}: {}", .0, .0.source)]
    Unreadable(#[from] PathError),
}

/// Reads the regular file at `path` below `base`, from its start until `enough` returns `true` for the bytes read so far, or
/// to its end. Follows links on the way as long as they stay below `base`.
///
/// No byte from outside `base` is read, even if files are moved meanwhile. Windows has no function that opens a path this
/// way, so there a swap that is undone in between may go unnoticed.
///
/// # Errors
///
/// Fails with [`BeneathError`]. If `limit` bytes were not enough, that is [`BeneathError::TooLarge`].
pub fn read_beneath(
    base: &Base,
    path: &Path,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<Vec<u8>, BeneathError> {
    read(open(base, path), &base.path().join(path), limit, enough)
}

/// Copies the regular file at `path` below `base` to `to`, with the rules of [`read_beneath`], without
/// holding it in memory. Returns its length in bytes.
///
/// # Errors
///
/// Fails with [`BeneathError`], also if `to` cannot be written.
pub fn copy_beneath(base: &Base, path: &Path, to: &mut impl io::Write) -> Result<u64, BeneathError> {
    let at = base.path().join(path);
    let (mut file, _) = regular(open(base, path), &at)?;
    io::copy(&mut file, to).map_err(|source| PathError { action: "read", path: at, source }.into())
}

fn read(
    opened: Result<File, Stop>,
    at: &Path,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<Vec<u8>, BeneathError> {
    let (file, size) = regular(opened, at)?;
    match prefix_of(&file, size, limit, enough) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(BeneathError::TooLarge { size, limit })
        }
        result => result.map_err(|source| PathError { action: "read", path: at.to_owned(), source }.into()),
    }
}

/// Returns the opened file, if it is regular, and its size in bytes as far as the system knows.
fn regular(opened: Result<File, Stop>, at: &Path) -> Result<(File, u64), BeneathError> {
    let unreadable = |source| PathError { action: "read", path: at.to_owned(), source };
    let file = match opened {
        Ok(file) => file,
        Err(Stop::Outside) => return Err(BeneathError::Outside),
        Err(Stop::Directory) => return Err(BeneathError::NotAFile("a directory")),
        Err(Stop::System(error)) if is_absent(&error) => return Err(BeneathError::Absent),
        Err(Stop::System(error)) if leads_round(&error) => return Err(BeneathError::Loop),
        Err(Stop::System(error)) if is_no_file(&error) => {
            return Err(BeneathError::NotAFile("a pipe, socket or device"));
        }
        Err(Stop::System(error)) => return Err(unreadable(error).into()),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(BeneathError::NotAFile("a directory"));
    }
    if !metadata.is_file() {
        return Err(BeneathError::NotAFile("a pipe, socket or device"));
    }
    Ok((file, metadata.len()))
}

/// Why nothing was opened.
#[derive(Debug)]
enum Stop {
    /// The path leaves the directory.
    Outside,
    /// The path ends at a directory, by `.` or `..`.
    Directory,
    /// The system's error.
    System(io::Error),
}

impl<E: Into<io::Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::System(error.into())
    }
}

/// Reports whether the error means that a socket or a device without a driver was opened.
#[cfg(unix)]
fn is_no_file(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::NXIO | Errno::OPNOTSUPP))
}

/// Returns `false`: on this system, nothing of the kind can be opened as a file.
#[cfg(not(unix))]
fn is_no_file(_: &io::Error) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn open(base: &Base, path: &Path) -> Result<File, Stop> {
    by_kernel(base, path).unwrap_or_else(|| by_component(base, path))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn open(base: &Base, path: &Path) -> Result<File, Stop> {
    by_component(base, path)
}

/// The flags for opening without waiting: a pipe would block, and a terminal would become ours.
#[cfg(unix)]
const READ: rustix::fs::OFlags = rustix::fs::OFlags::RDONLY
    .union(rustix::fs::OFlags::CLOEXEC)
    .union(rustix::fs::OFlags::NONBLOCK)
    .union(rustix::fs::OFlags::NOCTTY);

/// Lets the kernel resolve the path. Returns `None` if it cannot.
#[cfg(target_os = "linux")]
fn by_kernel(base: &Base, path: &Path) -> Option<Result<File, Stop>> {
    use rustix::fs::{Mode, ResolveFlags, openat2};
    use rustix::io::Errno;

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..MAX_RETRIES {
        return match openat2(base.handle(), path, READ, Mode::empty(), resolve) {
            Ok(file) => Some(Ok(file.into())),
            Err(Errno::AGAIN) => continue,
            Err(Errno::XDEV) => Some(Err(Stop::Outside)),
            // The kernel is old, or a container forbids the call.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::TOOBIG) => None,
            Err(error) => Some(Err(error.into())),
        };
    }
    None
}

/// Opens the path component by component. `..` returns to the directory that was opened, not to what is above
/// now.
#[cfg(unix)]
fn by_component(base: &Base, path: &Path) -> Result<File, Stop> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::{Component, PathBuf};

    use rustix::fd::{AsFd as _, OwnedFd};
    use rustix::fs::{Mode, OFlags, openat, readlinkat};
    use rustix::io::Errno;

    #[cfg(target_os = "linux")]
    const PASS: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const PASS: OFlags = OFlags::RDONLY;

    let mut below: Vec<OwnedFd> = Vec::new();
    let mut rest = path.to_owned();
    let mut links = 0;
    loop {
        let mut components = rest.components();
        let Some(component) = components.next() else { return Err(Stop::Directory) };
        let after = components.as_path().to_owned();
        let name = match component {
            Component::Normal(name) => name,
            Component::CurDir => {
                rest = after;
                continue;
            }
            Component::ParentDir => {
                if below.pop().is_none() {
                    return Err(Stop::Outside);
                }
                rest = after;
                continue;
            }
            Component::RootDir | Component::Prefix(_) => return Err(Stop::Outside),
        };
        let dir = below.last().map_or(base.handle().as_fd(), |dir| dir.as_fd());
        let is_last = after.as_os_str().is_empty();
        let how = if is_last { READ } else { PASS | OFlags::DIRECTORY | OFlags::CLOEXEC };
        match openat(dir, name, how | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(file) if is_last => return Ok(file.into()),
            Ok(dir) => {
                below.push(dir);
                rest = after;
            }
            // Systems report the refusal to open a link with different errors, so check for a link.
            Err(error) => match readlinkat(dir, name, Vec::new()) {
                Ok(target) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    rest = PathBuf::from(OsString::from_vec(target.into_bytes())).join(after);
                }
                Err(_) => return Err(error.into()),
            },
        }
    }
}

/// Opens the path, and then checks that it leads below the directory.
#[cfg(not(unix))]
fn open(base: &Base, path: &Path) -> Result<File, Stop> {
    let top = std::fs::canonicalize(base.path())?;
    let at = base.path().join(path);
    let real = std::fs::canonicalize(&at)?;
    // Compared by components: `ab` is not below `a`.
    if !real.starts_with(&top) {
        return Err(Stop::Outside);
    }
    if std::fs::metadata(&real)?.is_dir() {
        return Err(Stop::Directory);
    }
    let file = super::tree::open_no_follow(&real)?;
    if std::fs::canonicalize(&at)? != real {
        return Err(Stop::Outside);
    }
    Ok(file)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::fs::exchange;

    type Resolver = fn(&Base, &Path) -> Result<File, Stop>;

    /// Returns all ways to resolve a path on this machine.
    fn resolvers() -> Vec<(&'static str, Resolver)> {
        let mut all: Vec<(&'static str, Resolver)> = vec![("by component", by_component)];
        #[cfg(target_os = "linux")]
        {
            let here = Base::open(Path::new(".")).expect("opens");
            // An old kernel cannot.
            if by_kernel(&here, Path::new(".")).is_some() {
                all.push(("by the kernel", |base, path| by_kernel(base, path).expect("it can")));
            }
        }
        all
    }

    fn answer(resolver: Resolver, base: &Base, path: &str) -> String {
        match read(resolver(base, Path::new(path)), Path::new(path), 99, |_| false) {
            Ok(bytes) => String::from_utf8(bytes).expect("text"),
            Err(error) => error.to_string(),
        }
    }

    /// S3-FR-11, S3-US-11, conflict C16; a sibling `ab` of `a` is not in `a`.
    #[test]
    fn links_are_followed_below_the_directory_only() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("a");
        for (path, text) in [("a/docs/in/real.md", "inside"), ("ab/secret", "outside"), ("secret", "outside")]
        {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write(path, text).expect("writes");
        }
        for (target, link) in [
            ("docs/in/real.md", "right"),
            ("in", "docs/to-in"),
            ("../right", "docs/back"),
            ("docs/to-in/../../right", "around"),
            ("../secret", "up"),
            ("..", "parent"),
            ("../ab", "sibling"),
            ("docs/in/../../../secret", "far"),
            ("nowhere", "dangling"),
            ("loop", "loop"),
            ("docs", "directory"),
        ] {
            symlink(target, root.join(link)).expect("links");
        }
        symlink(root.join("docs/in/real.md"), root.join("absolute")).expect("links");
        symlink("/proc/self/root", root.join("magic")).expect("links");
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket");
        let base = Base::open(&root).expect("opens");
        let outside = "it leads out of the directory";
        let absent = "it does not exist";
        let special = "it is a pipe, socket or device, not a regular file";
        let directory = "it is a directory, not a regular file";
        for (name, resolver) in resolvers() {
            for (path, expected) in [
                ("docs/in/real.md", "inside"),
                ("./docs//in/./real.md", "inside"),
                ("docs/in/../in/real.md", "inside"),
                ("right", "inside"),
                ("docs/to-in/real.md", "inside"),
                ("docs/back", "inside"),
                ("around", "inside"),
                ("directory/in/real.md", "inside"),
                ("up", outside),
                ("far", outside),
                ("parent/secret", outside),
                ("parent/a/docs/in/real.md", outside),
                ("sibling/secret", outside),
                ("absolute", outside),
                ("magic/etc/passwd", outside),
                ("../secret", outside),
                ("../ab/secret", outside),
                ("../a/docs/in/real.md", outside),
                ("docs/../../secret", outside),
                ("/etc/passwd", outside),
                ("nothing", absent),
                ("dangling", absent),
                ("right/below", absent),
                ("docs/nothing/real.md", absent),
                ("loop", "links lead to each other"),
                ("pipe", special),
                ("socket", special),
                ("docs", directory),
                ("directory", directory),
                (".", directory),
                ("docs/..", directory),
            ] {
                assert_eq!(answer(resolver, &base, path), expected, "{name}: {path}");
            }
        }
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("f"), "x".repeat(5000)).expect("writes");
        let base = Base::open(dir.path()).expect("opens");
        let read = |limit, enough: fn(&[u8]) -> bool| read_beneath(&base, Path::new("f"), limit, enough);
        assert_eq!(read(5000, |_| false).expect("reads").len(), 5000);
        assert!(matches!(read(4999, |_| false), Err(BeneathError::TooLarge { size: 5000, limit: 4999 })));
        assert_eq!(read(4999, |_| true).expect("the limit is for what is read").len(), 4096);
    }

    /// Swaps `one` and `other` until `work` ends, even by a panic.
    fn while_swapped(one: &Path, other: &Path, work: impl FnOnce()) {
        struct Done<'a>(&'a AtomicBool);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    exchange(one, other).expect("swaps");
                }
            });
            let _done = Done(&done);
            work();
        });
    }

    /// S3-FR-11, conflict C16: there is no time between a check and the opening. A directory is swapped for a
    /// link to outside, the file for a link to outside, and a directory on a link's path for one.
    #[test]
    fn a_swap_while_a_path_is_resolved_shows_nothing_from_outside() {
        let dir = tempfile::tempdir().expect("a directory");
        let (root, out) = (dir.path().join("skill"), dir.path().join("out"));
        for (dir, text) in [(root.join("docs/deep"), "inside"), (out.join("deep"), "outside")] {
            fs::create_dir_all(&dir).expect("creates");
            fs::write(dir.join("f"), text).expect("writes");
        }
        fs::write(root.join("g"), "inside").expect("writes");
        symlink("docs/deep/../deep/f", root.join("link")).expect("links");
        symlink(&out, dir.path().join("to-out")).expect("links");
        symlink("../out/deep/f", dir.path().join("to-f")).expect("links");
        let base = Base::open(&root).expect("opens");
        for (name, resolver) in resolvers() {
            for (one, other, path) in
                [("docs", "to-out", "docs/deep/f"), ("docs", "to-out", "link"), ("g", "to-f", "g")]
            {
                while_swapped(&root.join(one), &dir.path().join(other), || {
                    // Runs until both results were seen often, which takes a moment; it also ends on a
                    // machine that never shows them.
                    let (mut read, mut refused) = (0, 0);
                    for _ in 0..200_000 {
                        match &answer(resolver, &base, path)[..] {
                            "inside" => read += 1,
                            "outside" => panic!("{name}: {path}"),
                            _ => refused += 1,
                        }
                        if read.min(refused) > 500 {
                            break;
                        }
                    }
                });
                // An odd number of swaps leaves the link in the directory.
                if fs::symlink_metadata(root.join(one)).expect("there").is_symlink() {
                    exchange(&root.join(one), &dir.path().join(other)).expect("swaps");
                }
            }
        }
    }

    /// S3-FR-11: a traversal names nothing outside, even if a directory in the middle of its path is swapped.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_swap_while_a_tree_is_walked_names_nothing_from_outside() {
        let dir = tempfile::tempdir().expect("a directory");
        let (root, out) = (dir.path().join("skill"), dir.path().join("out"));
        for (dir, name) in [(root.join("docs/deep"), "inside"), (out.join("deep"), "outside")] {
            fs::create_dir_all(&dir).expect("creates");
            fs::write(dir.join(name), "").expect("writes");
        }
        symlink(&out, dir.path().join("to-out")).expect("links");
        while_swapped(&root.join("docs"), &dir.path().join("to-out"), || {
            let (mut seen, mut not) = (0, 0);
            for _ in 0..200_000 {
                // A traversal that meets the link ends there, or fails.
                let names = crate::fs::tree_of(&root)
                    .map(|tree| tree.entries().map(|(path, _)| path.to_owned()).collect::<Vec<_>>());
                let names = names.unwrap_or_default();
                assert!(!names.iter().any(|name| name.ends_with("outside")), "{names:?}");
                *(if names.is_empty() { &mut not } else { &mut seen }) += 1;
                if seen.min(not) > 500 {
                    break;
                }
            }
        });
    }

    /// A directory that is moved out while it is open does not change where `..` leads.
    #[test]
    fn the_way_up_is_the_way_down() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("skill");
        fs::create_dir_all(root.join("a/b")).expect("creates");
        fs::create_dir_all(dir.path().join("out/b")).expect("creates");
        fs::write(root.join("f"), "inside").expect("writes");
        fs::write(dir.path().join("f"), "outside").expect("writes");
        let base = Base::open(&root).expect("opens");
        for (name, resolver) in resolvers() {
            while_swapped(&root.join("a/b"), &dir.path().join("out/b"), || {
                for _ in 0..2000 {
                    assert_ne!(answer(resolver, &base, "a/b/../../f"), "outside", "{name}");
                }
            });
        }
    }
}
