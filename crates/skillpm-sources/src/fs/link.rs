//! Links from an agent's directory to a skill: which kind a system supports, and how to make it.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::operations::create_dir_all;
use super::{Kind, PathContext, PathError, PendingDir, kind, read_capped};

/// The kind of links that a system makes without extra privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Symbolic links.
    Unix,
    /// Junctions: symbolic links need administrator rights or developer mode.
    Windows,
}

impl Default for System {
    /// Returns the system that this program runs on.
    fn default() -> Self {
        if cfg!(windows) { Self::Windows } else { Self::Unix }
    }
}

/// How a directory is made available in another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind", content = "target")]
pub enum LinkKind {
    /// A symbolic link with this text: the path of the directory relative to the link's own directory.
    Symlink(PathBuf),
    /// A junction to this absolute path. A junction with a relative path leads nowhere, since Windows stores
    /// absolute paths in junctions.
    Junction(PathBuf),
    /// A copy, since no link is possible.
    Copy,
}

impl LinkKind {
    /// Chooses the link in directory `parent` that leads to `target`. Both are absolute and without links, so
    /// that `..` resolves as on the system.
    pub fn choose(system: System, parent: &Path, target: &Path) -> Self {
        match system {
            System::Unix => Self::Symlink(relative(parent, target)),
            // A junction can neither be on another machine nor lead there.
            System::Windows if is_remote(parent) || is_remote(target) => Self::Copy,
            System::Windows => Self::Junction(plain(target)),
        }
    }

    /// Works like [`LinkKind::choose`], but the link holds the absolute path of `target` on every system.
    pub fn absolute(system: System, parent: &Path, target: &Path) -> Self {
        match system {
            System::Unix => Self::Symlink(target.to_owned()),
            System::Windows => Self::choose(system, parent, target),
        }
    }

    /// Returns the link to `name` in the directory that this link leads to.
    #[must_use]
    pub fn below(&self, name: &str) -> Self {
        match self {
            Self::Symlink(target) => Self::Symlink(target.join(name)),
            Self::Junction(target) => Self::Junction(target.join(name)),
            Self::Copy => Self::Copy,
        }
    }

    /// Reports whether this is a link with the text `text`.
    pub fn says(&self, text: &Path) -> bool {
        match self {
            Self::Symlink(target) | Self::Junction(target) => *target == plain(text),
            Self::Copy => false,
        }
    }
}

/// Reports whether the content of the file at `path` is exactly the text of `link`: git writes a link this
/// way if it cannot make one, as on Windows without developer mode.
pub fn is_written_link(path: &Path, link: &LinkKind) -> bool {
    const LONGEST: u64 = 4096;
    let LinkKind::Symlink(says) = link else { return false };
    let says = says.to_str().map(|says| says.replace('\\', "/"));
    matches!(kind(path), Ok(Some(Kind::File)))
        && says.is_some_and(
            |says| matches!(read_capped(path, LONGEST), Ok(Some(text)) if text == says.as_bytes()),
        )
}

/// Strips the prefix that marks a literal path on Windows.
pub fn plain(path: &Path) -> PathBuf {
    let text = path.as_os_str().to_str();
    let inner = text.and_then(|text| text.strip_prefix(r"\\?\").or_else(|| text.strip_prefix(r"\??\")));
    inner.map_or_else(|| path.to_owned(), PathBuf::from)
}

/// Reports whether `path` is on another machine: `\\server\share`, in either spelling.
fn is_remote(path: &Path) -> bool {
    let text = path.to_string_lossy().replace('/', r"\").to_ascii_uppercase();
    match text.strip_prefix(r"\\?\").or_else(|| text.strip_prefix(r"\\.\")) {
        Some(inner) => inner.starts_with(r"UNC\"),
        None => text.starts_with(r"\\"),
    }
}

/// Returns the relative path from directory `from` to `to`; both are absolute and without links.
pub fn relative(from: &Path, to: &Path) -> PathBuf {
    let mut from = from.components().peekable();
    let mut to = to.components().peekable();
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    from.map(|_| Component::ParentDir).chain(to).collect()
}

/// Makes the link `what` at `link`. Replaces an existing link in one step; leaves anything else alone.
///
/// # Errors
///
/// Fails with `AlreadyExists` if something other than a link is there, with `Unsupported` if the system has
/// no such links, and otherwise with the system's error.
pub fn make_link(what: &LinkKind, link: &Path) -> Result<(), PathError> {
    let Some(parent) = link.parent() else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput)).at("link", link);
    };
    if make_new(what, link)? {
        return Ok(());
    }
    create_dir_all(parent)?;
    match (kind(link)?, what) {
        (None, LinkKind::Symlink(target)) => return symbolic(target, link).at("link", link),
        // Making a junction takes two steps: it is complete before it is moved into place.
        (None | Some(Kind::Symlink), _) => {}
        (Some(_), _) => return Err(io::Error::from(io::ErrorKind::AlreadyExists)).at("link", link),
    }
    // A new link in a private directory, renamed over the old one.
    let aside = PendingDir::new_in(parent)?;
    let fresh = aside.path().join("link");
    make(what, &fresh).at("link", link)?;
    // Windows cannot rename a directory over another, and a junction is one.
    #[cfg(windows)]
    super::remove_link(link)?;
    fs::rename(&fresh, link).at("link", link)
}

/// Makes the link `what` at `link` in one step, so that a killed process leaves nothing beside it. Returns
/// `false` if something is there, if the directory of `link` is missing, or if one step is not enough.
///
/// # Errors
///
/// Fails if it cannot be made.
pub fn make_new(what: &LinkKind, link: &Path) -> Result<bool, PathError> {
    let LinkKind::Symlink(target) = what else { return Ok(false) };
    match symbolic(target, link) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
            Ok(false)
        }
        result => result.at("link", link).map(|()| true),
    }
}

/// Makes a symbolic link at `link` with the text `target`, as [`make_link`] does.
pub fn symlink(target: &Path, link: &Path) -> Result<(), PathError> {
    make_link(&LinkKind::Symlink(target.to_owned()), link)
}

fn make(what: &LinkKind, link: &Path) -> io::Result<()> {
    match what {
        LinkKind::Symlink(target) => symbolic(target, link),
        LinkKind::Junction(target) => junction(target, link),
        LinkKind::Copy => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Copies the link at `from` to `to`, where nothing exists.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let target = fs::read_link(from)?;
    #[cfg(windows)]
    if junction::exists(from).unwrap_or(false) {
        return junction(&plain(&target), to);
    }
    symbolic(&target, to)
}

#[cfg(unix)]
fn symbolic(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symbolic(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(target, link)
}

#[cfg(windows)]
fn junction(target: &Path, link: &Path) -> io::Result<()> {
    junction::create(target, link)
}

#[cfg(not(windows))]
fn junction(_target: &Path, _link: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths() {
        let show = |from: &str, to: &str| relative(Path::new(from), Path::new(to)).display().to_string();
        assert_eq!(show("/p/.claude/skills", "/p/.agents/skills/x"), "../../.agents/skills/x");
        assert_eq!(show("/a", "/a/b"), "b");
        assert_eq!(show("/a/b", "/c"), "../../c");
    }

    /// INTEROP section 4: a relative symbolic link, on Windows a junction with an absolute target; a relative
    /// junction is the bug of other tools. A copy if neither is possible.
    #[test]
    fn each_system_has_its_link() {
        let choose = |system, from: &str, to: &str| LinkKind::choose(system, Path::new(from), Path::new(to));
        let (symlink, junction) = (
            |text: &str| LinkKind::Symlink(PathBuf::from(text)),
            |text: &str| LinkKind::Junction(PathBuf::from(text)),
        );
        for (system, from, to, expected) in [
            (System::Unix, "/p/.claude/skills", "/p/.agents/skills/pdf", symlink("../../.agents/skills/pdf")),
            (
                System::Unix,
                "/elsewhere/skills",
                "/p/.agents/skills/pdf",
                symlink("../../p/.agents/skills/pdf"),
            ),
            (
                System::Windows,
                r"C:\p\.claude\skills",
                r"C:\p\.agents\skills\pdf",
                junction(r"C:\p\.agents\skills\pdf"),
            ),
            (
                System::Windows,
                r"\\?\C:\p\x",
                r"\\?\C:\p\.agents\skills\pdf",
                junction(r"C:\p\.agents\skills\pdf"),
            ),
            (System::Windows, r"D:\x", r"C:\p\pdf", junction(r"C:\p\pdf")),
            (System::Windows, r"C:\x", r"\\server\share\pdf", LinkKind::Copy),
            (System::Windows, r"\\?\UNC\server\share\x", r"C:\p\pdf", LinkKind::Copy),
            (System::Windows, r"C:\x", "//server/share/pdf", LinkKind::Copy),
        ] {
            assert_eq!(choose(system, from, to), expected, "{from} {to}");
        }
        let absolute = |system| LinkKind::absolute(system, Path::new("/p/x"), Path::new("/y"));
        assert_eq!((absolute(System::Unix), absolute(System::Windows)), (symlink("/y"), junction("/y")));
        let text = serde_json::to_string(&symlink("../x")).expect("JSON");
        assert_eq!(text, r#"{"kind":"symlink","target":"../x"}"#);
    }

    #[test]
    fn a_link_is_known_again_by_what_it_says() {
        let junction = LinkKind::Junction(PathBuf::from(r"C:\p\pdf"));
        assert!(junction.says(Path::new(r"\\?\C:\p\pdf")) && junction.says(Path::new(r"C:\p\pdf")));
        assert!(!junction.says(Path::new(r"C:\p\docx")) && !LinkKind::Copy.says(Path::new("")));
    }

    #[cfg(unix)]
    #[test]
    fn links_replace_links_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let (real, link) = (dir.path().join("real"), dir.path().join("sub/link"));
        fs::create_dir(&real).expect("creates");
        let what = |text: &str| LinkKind::Symlink(PathBuf::from(text));
        for target in ["gone", "link", "../real"] {
            make_link(&what(target), &link).expect(target);
            assert_eq!(fs::read_link(&link).expect("a link"), Path::new(target));
            assert_eq!(super::super::is_loop(&link), target == "link", "{target}");
        }
        assert_eq!(fs::read_dir(dir.path().join("sub")).expect("reads").count(), 1, "nothing is left");
        let error = make_link(&what("x"), &real).expect_err("a directory is not replaced by a link");
        assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
        for what in [LinkKind::Junction(real.clone()), LinkKind::Copy] {
            let error = make_link(&what, &dir.path().join("new")).expect_err("not here");
            assert_eq!(error.source.kind(), io::ErrorKind::Unsupported);
        }
        assert_eq!(fs::read_dir(dir.path()).expect("reads").count(), 2, "nothing is left");
    }
}
