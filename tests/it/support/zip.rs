//! Archives as GitHub makes them: `git archive --format=zip` of a commit below one directory.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// 2024-01-01 00:00:00, in seconds since 1970 and as DOS writes it: archives are the same each time.
const UNIX_TIME: u32 = 1_704_067_200;
const DOS_DATE: u16 = (2024 - 1980) << 9 | 1 << 5 | 1;

/// What lies at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Dir,
    File { bytes: Vec<u8>, executable: bool },
    Symlink(String),
}

/// The files of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Sorted by path; directories come before what they hold.
    nodes: std::collections::BTreeMap<String, Node>,
}

impl Tree {
    /// A tree without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    #[must_use]
    pub fn file(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.with(path, Node::File { bytes: bytes.as_ref().to_vec(), executable: false })
    }

    /// Adds a file that may be run.
    #[must_use]
    pub fn executable(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.with(path, Node::File { bytes: bytes.as_ref().to_vec(), executable: true })
    }

    /// Adds a symbolic link.
    #[must_use]
    pub fn symlink(self, path: &str, target: &str) -> Self {
        self.with(path, Node::Symlink(target.to_owned()))
    }

    /// Adds a skill: a directory with a `SKILL.md` that is in order.
    #[must_use]
    pub fn skill(self, dir: &str, name: &str) -> Self {
        let path = if dir.is_empty() { "SKILL.md".to_owned() } else { format!("{dir}/SKILL.md") };
        self.file(&path, format!("---\nname: {name}\ndescription: Does what {name} does.\n---\n\n# {name}\n"))
    }

    /// Reads the files below a directory on disk, links and executable bits as they are there.
    pub fn from_dir(dir: &Path) -> Self {
        let mut tree = Self::new();
        tree.read(dir, "");
        tree
    }

    /// The paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter(|(_, node)| **node != Node::Dir).map(|(path, _)| path.as_str())
    }

    /// All regular files: path, bytes, and whether they may be run.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8], bool)> {
        self.nodes.iter().filter_map(|(path, node)| match node {
            Node::File { bytes, executable } => Some((path.as_str(), &bytes[..], *executable)),
            _ => None,
        })
    }

    /// A zip archive of this tree without a directory around it.
    pub fn zip(&self) -> Vec<u8> {
        let mut zip = Zip::default();
        for (path, node) in &self.nodes {
            zip.add(path, node);
        }
        zip.finish("")
    }

    /// Removes the file at `path`.
    pub fn remove(&mut self, path: &str) {
        self.nodes.remove(path);
    }

    fn read(&mut self, dir: &Path, prefix: &str) {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a name in UTF-8");
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().expect("a type");
            let node = if kind.is_dir() {
                self.read(&entry.path(), &format!("{path}/"));
                continue;
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).expect("a link");
                Node::Symlink(target.into_os_string().into_string().expect("a target in UTF-8"))
            } else {
                let bytes = std::fs::read(entry.path()).expect("a file");
                Node::File { bytes, executable: is_executable(&entry.path()) }
            };
            self.insert(&path, node);
        }
    }

    fn with(mut self, path: &str, node: Node) -> Self {
        self.insert(path, node);
        self
    }

    fn insert(&mut self, path: &str, node: Node) {
        for (at, _) in path.match_indices('/') {
            self.nodes.entry(format!("{}/", &path[..at])).or_insert(Node::Dir);
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// Writes the files below `dir`, over those that are there.
    pub fn write(&self, dir: &Path) {
        for (path, node) in &self.nodes {
            let at = dir.join(path);
            match node {
                Node::Dir => std::fs::create_dir_all(&at).expect("a directory"),
                Node::File { bytes, executable } => {
                    std::fs::create_dir_all(at.parent().expect("a parent")).expect("directories");
                    std::fs::write(&at, bytes).expect("a file");
                    set_executable(&at, *executable);
                }
                Node::Symlink(target) => make_link(target, &at),
            }
        }
    }

    /// The archive of this tree as commit `commit` of `repository` (`owner/name`).
    pub fn archive(&self, repository: &str, commit: &str) -> Vec<u8> {
        let root = format!("{}-{}/", repository.replace('/', "-"), &commit[..7]);
        let mut zip = Zip::default();
        zip.add(&root, &Node::Dir);
        for (path, node) in &self.nodes {
            zip.add(&format!("{root}{path}"), node);
        }
        zip.finish(commit)
    }
}

#[cfg(unix)]
pub(crate) fn set_executable(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if executable { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

#[cfg(not(unix))]
pub(crate) fn set_executable(_path: &Path, _executable: bool) {}

#[cfg(unix)]
fn make_link(target: &str, at: &Path) {
    std::os::unix::fs::symlink(target, at).expect("a link");
}

#[cfg(windows)]
fn make_link(target: &str, at: &Path) {
    std::os::windows::fs::symlink_file(target, at).expect("a link");
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("metadata").permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    false
}

/// An archive of files with these names and contents, in this order, whatever the names are.
pub fn raw(entries: &[(&str, &[u8])], comment: &str) -> Vec<u8> {
    let mut zip = Zip::default();
    for (name, bytes) in entries {
        zip.add(name, &Node::File { bytes: bytes.to_vec(), executable: false });
    }
    zip.finish(comment)
}

/// An archive that grows entry by entry.
#[derive(Default)]
struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Zip {
    /// Adds an entry. The fields are those that git writes: only what can be run, and links, have
    /// a maker (Unix) and a mode; directories have the DOS attribute.
    fn add(&mut self, name: &str, node: &Node) {
        let (content, made_by, attributes): (&[u8], u16, u32) = match node {
            Node::Dir => (b"", 0, 0x10),
            Node::File { bytes, executable: false } => (bytes, 0, 0),
            Node::File { bytes, executable: true } => (bytes, 0x0317, 0o100_755 << 16),
            Node::Symlink(target) => (target.as_bytes(), 0x0317, 0o120_777 << 16),
        };
        let deflated = deflate(content);
        let smaller = matches!(node, Node::File { .. }) && deflated.len() < content.len();
        let (method, data): (u16, &[u8]) = if smaller { (8, &deflated) } else { (0, content) };

        let mut common = Vec::new();
        let flags: u16 = if name.is_ascii() { 0 } else { 1 << 11 };
        for field in [10, flags, method, 0, DOS_DATE] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc32fast::hash(content), length(data), length(content)] {
            common.extend(field.to_le_bytes());
        }
        common.extend(u16::try_from(name.len()).expect("a short name").to_le_bytes());
        // The length of the extra field below.
        common.extend(9_u16.to_le_bytes());
        let extra = [&0x5455_u16.to_le_bytes()[..], &[5, 0, 1], &UNIX_TIME.to_le_bytes()].concat();

        let offset = length(&self.bytes);
        for part in [b"PK\x03\x04", &common[..], name.as_bytes(), &extra, data] {
            self.bytes.extend(part);
        }
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(made_by.to_le_bytes());
        self.directory.extend(common);
        // No comment, first disk; git marks as text what has no zero byte at its beginning.
        let text = !matches!(node, Node::Dir) && !content.iter().take(8000).any(|byte| *byte == 0);
        self.directory.extend([0, 0, 0, 0, u8::from(text), 0]);
        self.directory.extend(attributes.to_le_bytes());
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.directory.extend(extra);
        self.count += 1;
    }

    fn finish(mut self, comment: &str) -> Vec<u8> {
        let start = length(&self.bytes);
        self.bytes.extend(&self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend(self.count.to_le_bytes());
        self.bytes.extend(self.count.to_le_bytes());
        self.bytes.extend(length(&self.directory).to_le_bytes());
        self.bytes.extend(start.to_le_bytes());
        self.bytes.extend(u16::try_from(comment.len()).expect("a short comment").to_le_bytes());
        self.bytes.extend(comment.as_bytes());
        self.bytes
    }
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("an archive without zip64")
}
