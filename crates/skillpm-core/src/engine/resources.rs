//! Lists and reads the files of a skill.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use super::load::SKILL_FILE;
use crate::advice::{Opt, Verb, message};
use crate::digest::{Digest, HashingWriter};
use crate::error::Error;
use crate::fs::{self, Base, BeneathError, PathError, Walk};
use crate::profile::{Listing, LoadProfile};
use crate::skill::skipped::SKIPPED;
use crate::text::closest_paths;
use crate::tokens;
use crate::tree::{Node, ReadError};

/// The default limit for the size of a file that is read, in bytes.
pub const MAX_BYTES: u64 = 10 << 20;
/// The maximum number of entries in a skill's directory; no skill has more.
const MAX_FILES: u64 = 10_000;
/// The maximum number of names that an error suggests.
const MAX_NAMES: usize = 3;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text in UTF-8.
    Text(String),
    /// Anything else.
    Binary(Vec<u8>),
}

/// The reason why a file of a skill is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The name is empty.
    #[error("it is empty")]
    Empty,
    /// The name has a NUL, which no file name can have.
    #[error("it has a NUL character")]
    Nul,
    /// The name is absolute: `/a`, `\a` or `C:\a`.
    #[error("it is absolute")]
    Absolute,
    /// The name has `..` as a component or, if the profile forbids that, anywhere.
    #[error("it has `..`")]
    Dots,
    /// There is no such file; these files have similar names.
    #[error("there is no such file")]
    Absent(Vec<String>),
    /// The name is that of a directory; these files are in it.
    #[error("it is a directory")]
    Directory(Vec<String>),
    /// The file exists, but cannot or must not be read.
    #[error(transparent)]
    Refused(BeneathError),
}

/// Reads the file `name` of the skill in `dir`: any regular file below `dir`, as a `/`-separated path, listed
/// or not, of at most `max` bytes. No link is followed out of `dir`, even if files are moved meanwhile
/// (S3-FR-11, conflict C16).
///
/// # Errors
///
/// Fails with [`Unreadable`].
pub fn read(dir: &Path, name: &str, profile: &LoadProfile, max: u64) -> Result<Content, Unreadable> {
    check(name, profile)?;
    // On other systems these are ordinary names, and listed files may have them.
    if cfg!(windows) {
        check_windows(name)?;
    }
    let base = Base::open(dir).map_err(|error| Unreadable::Refused(error.into()))?;
    match fs::read_beneath(&base, Path::new(name), max, |_| false) {
        Ok(bytes) => Ok(Content::of(bytes)),
        Err(BeneathError::Absent) => {
            // A file with such a name does not exist here, so the caller most likely meant a Windows path.
            check_windows(name)?;
            Err(Unreadable::Absent(alike(dir, name)))
        }
        Err(BeneathError::NotAFile("a directory")) => Err(Unreadable::Directory(inside(dir, name))),
        Err(error) => Err(Unreadable::Refused(error)),
    }
}

/// Refuses names that are not paths below a directory on any system.
fn check(name: &str, profile: &LoadProfile) -> Result<(), Unreadable> {
    if name.is_empty() {
        Err(Unreadable::Empty)
    } else if name.contains('\0') {
        Err(Unreadable::Nul)
    } else if name.starts_with('/') {
        Err(Unreadable::Absolute)
    } else if name.split('/').any(|part| part == "..") || profile.no_dots && name.contains("..") {
        Err(Unreadable::Dots)
    } else {
        Ok(())
    }
}

/// Refuses names that Windows does not read as a path below a directory: names with a drive or with
/// backslashes.
fn check_windows(name: &str) -> Result<(), Unreadable> {
    let is_drive =
        name.as_bytes().get(1) == Some(&b':') && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if name.starts_with('\\') || is_drive {
        Err(Unreadable::Absolute)
    } else if name.split(['/', '\\']).any(|part| part == "..") {
        Err(Unreadable::Dots)
    } else {
        Ok(())
    }
}

/// Returns the names of files that are similar to `name`.
fn alike(dir: &Path, name: &str) -> Vec<String> {
    let files = list(dir, Listing::All).unwrap_or_default();
    let names = files.iter().map(String::as_str).chain([SKILL_FILE]);
    closest_paths(name, names, MAX_NAMES).into_iter().map(str::to_owned).collect()
}

/// Returns the names of the first files in the directory `name`.
fn inside(dir: &Path, name: &str) -> Vec<String> {
    let prefix = format!("{}/", name.trim_start_matches("./").trim_end_matches('/'));
    let files = list(dir, Listing::All).unwrap_or_default();
    files.into_iter().filter(|file| file.starts_with(&prefix)).take(MAX_NAMES).collect()
}

impl Content {
    fn of(bytes: Vec<u8>) -> Self {
        // Text has no NUL.
        if bytes.contains(&0) {
            return Self::Binary(bytes);
        }
        String::from_utf8(bytes).map_or_else(|error| Self::Binary(error.into_bytes()), Self::Text)
    }
}

impl Unreadable {
    /// Returns the error for the file `name` of the skill that was requested as `skill`.
    pub fn into_error(self, skill: &str, name: &str) -> Error {
        let (code, message) =
            (self.code(), format!("the file `{name}` of the skill `{skill}` is not read: {self}"));
        let relative = "name files by their paths in the skill's directory, such as `references/forms.md`";
        let quoted = |names: Vec<String>| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let all = message!(Verb::Read.call().word(skill), " lists its files");
        let error = match self {
            Self::Empty | Self::Nul | Self::Absolute | Self::Dots => Error::usage(message).hint(relative),
            Self::Absent(names) if !names.is_empty() => {
                Error::usage(message).hint(format!("did you mean {}?", quoted(names))).hint(all)
            }
            Self::Directory(names) if !names.is_empty() => {
                Error::usage(message).hint(format!("in it are {}", quoted(names))).hint(all)
            }
            Self::Absent(_) | Self::Directory(_) => Error::usage(message).hint(all),
            Self::Refused(error) => match error {
                BeneathError::Unreadable(error) => Error::from(error)
                    .context(format!("the file `{name}` of the skill `{skill}` is not read")),
                BeneathError::TooLarge { size, .. } => {
                    Error::usage(message).hint(message!((Opt::MaxBytes, size), " reads it"))
                }
                BeneathError::Absent
                | BeneathError::Outside
                | BeneathError::Loop
                | BeneathError::NotAFile(_) => {
                    Error::integrity(message).hint("only regular files of the skill's own directory are read")
                }
            },
        };
        error.coded(code)
    }
}

/// Returns the listed files of the skill in `dir`, as `/`-separated paths below it, sorted by their bytes. Links are
/// left out, and so are directories that hold no files of a skill, such as `.git`.
///
/// # Errors
///
/// Fails if a directory cannot be read, if a name is not UTF-8, or if there are more entries than any skill has.
pub fn list(dir: &Path, listing: Listing) -> Result<Vec<String>, ReadError> {
    let tree = fs::scan(dir, Walk { skip: SKIPPED, entries: MAX_FILES, ..Walk::ALL })?;
    let files = tree.entries().filter(|(_, entry)| matches!(entry.node, Node::File { .. }));
    Ok(files.map(|(path, _)| path).filter(|path| listing.has(path)).map(str::to_owned).collect())
}

/// An entry in a skill's directory that is not a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The path below the skill's directory, `/`-separated.
    pub path: String,
    /// The kind.
    pub kind: ItemKind,
}

/// The kind of an entry in a skill's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// A regular file.
    File {
        /// The size in bytes.
        size: u64,
        /// Whether the file system marks it as executable.
        executable: bool,
        /// The digest of its content, if it can be read.
        digest: Option<Digest>,
        /// The estimated number of tokens for a language model, if it is text.
        tokens: Option<usize>,
    },
    /// A link, with its target as it is written.
    Link(String),
    /// Any other kind, named with its article.
    Special(&'static str),
}

impl Item {
    /// Returns the estimated number of tokens for a language model, if it is a text file.
    pub fn tokens(&self) -> Option<usize> {
        match self.kind {
            ItemKind::File { tokens, .. } => tokens,
            ItemKind::Link(_) | ItemKind::Special(_) => None,
        }
    }
}

/// Returns all entries in the skill's directory `dir`, sorted by path. Every file is read.
pub fn inventory(dir: &Path) -> Result<Vec<Item>, ReadError> {
    let tree = fs::scan(dir, Walk { entries: MAX_FILES, ..Walk::ALL })?;
    let base = Base::open(dir).map_err(from_path)?;
    let items = tree.entries().map(|(path, entry)| {
        let kind = match entry.node {
            Node::File { executable, size } => {
                let (size, digest, tokens) = measured(&base, Path::new(path), size);
                ItemKind::File { size, executable, digest, tokens }
            }
            Node::Symlink => {
                let target = fs::read_link(&dir.join(path)).ok().flatten().unwrap_or_default();
                ItemKind::Link(target.to_string_lossy().into_owned())
            }
            Node::Special(kind) => ItemKind::Special(kind),
        };
        Item { path: path.to_owned(), kind }
    });
    Ok(items.collect())
}

/// Returns the size in bytes, digest and estimated tokens of a file, which had `size` bytes when it was listed. Files
/// of any size have a digest; only files that an agent can read have tokens.
fn measured(base: &Base, path: &Path, size: u64) -> (u64, Option<Digest>, Option<usize>) {
    match fs::read_beneath(base, path, MAX_BYTES, |_| false) {
        Ok(bytes) => {
            let (size, digest) = (bytes.len() as u64, Digest::of(&bytes));
            let tokens = match Content::of(bytes) {
                Content::Text(text) => Some(tokens::estimate(&text)),
                Content::Binary(_) => None,
            };
            (size, Some(digest), tokens)
        }
        Err(BeneathError::TooLarge { .. }) => {
            let mut hashing = HashingWriter::new(std::io::sink());
            let copied = fs::copy_beneath(base, path, &mut hashing);
            copied.map_or((size, None, None), |bytes| (bytes, Some(hashing.finish().0), None))
        }
        Err(_) => (size, None, None),
    }
}

/// Returns a number that another one follows when a file of the skill in `dir` is added, removed or written. No file is
/// read. Numbers are compared within one process only.
pub fn fingerprint(dir: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    // A directory that cannot be read has the number of an empty one until it can.
    if let Ok(tree) = fs::scan(dir, Walk { skip: SKIPPED, entries: MAX_FILES, ..Walk::ALL }) {
        for (path, entry) in tree.entries() {
            if let Node::File { .. } = entry.node {
                (path, fs::stamp(&dir.join(path))).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

/// A file of a skill, with the size and the digest of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestedFile {
    /// The path below the skill's directory, `/`-separated.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The digest of its content.
    pub digest: Digest,
}

/// The reason why the files of a skill are not digested.
#[derive(Debug, thiserror::Error)]
pub enum Undigested {
    /// The directory cannot be read.
    #[error(transparent)]
    Directory(#[from] ReadError),
    /// There are more files than wanted.
    #[error("it has more than {0} files")]
    TooManyFiles(usize),
    /// The files have more bytes than wanted.
    #[error("its files have more than {} MiB", .0 >> 20)]
    TooLarge(u64),
    /// A file cannot be read.
    #[error("its file `{0}` cannot be read: {1}")]
    File(String, BeneathError),
}

/// Returns the files of the skill in `dir` that [`list`] lists, sorted by path, with `SKILL.md` in first place even if
/// it is a link to another file of the skill. Reads nothing if there are more than `files` files or `bytes` bytes.
///
/// # Errors
///
/// Fails with [`Undigested`].
pub fn digested(dir: &Path, main: &Path, files: usize, bytes: u64) -> Result<Vec<DigestedFile>, Undigested> {
    let tree = fs::scan(dir, Walk { skip: SKIPPED, entries: MAX_FILES, ..Walk::ALL })?;
    let main = main.file_name().and_then(|name| name.to_str()).unwrap_or(SKILL_FILE);
    let others = tree.entries().filter_map(|(path, entry)| match entry.node {
        Node::File { size, .. } if path != main => Some((path, size)),
        _ => None,
    });
    let others: Vec<_> = others.collect();
    if others.len() >= files {
        return Err(Undigested::TooManyFiles(files));
    }
    let mut left = bytes;
    let base = Base::open(dir).map_err(from_path)?;
    if others.iter().map(|(_, size)| size).sum::<u64>() > bytes {
        return Err(Undigested::TooLarge(bytes));
    }
    let mut digest = |path: &str| match fs::read_beneath(&base, Path::new(path), left, |_| false) {
        Ok(content) => {
            let size = content.len() as u64;
            left -= size;
            Ok(DigestedFile { path: path.to_owned(), size, digest: Digest::of(&content) })
        }
        Err(BeneathError::TooLarge { .. }) => Err(Undigested::TooLarge(bytes)),
        Err(error) => Err(Undigested::File(path.to_owned(), error)),
    };
    let first = DigestedFile { path: SKILL_FILE.to_owned(), ..digest(main)? };
    let rest = others.iter().map(|(path, _)| digest(path));
    std::iter::once(Ok(first)).chain(rest).collect()
}

fn from_path(error: PathError) -> ReadError {
    std::io::Error::new(error.source.kind(), error).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    fn skill() -> World {
        let world = World::new();
        world.skill("pdf", "pdf");
        world.write("pdf/references/forms.md", "# Forms\n");
        world.write("pdf/references/deep/a.txt", "deep\n");
        world.write("pdf/scripts/fill.py", "print()\n");
        world.write("pdf/notes..md", "dots\n");
        world.write("pdf/.hidden", "hidden\n");
        world.write("pdf/.git/config", "no");
        world.write("pdf-secret/key", "outside");
        world
    }

    fn answer(world: &World, name: &str, profile: &LoadProfile) -> String {
        match read(&world.project().join("pdf"), name, profile, 1000) {
            Ok(Content::Text(text)) => text,
            Ok(Content::Binary(bytes)) => format!("{bytes:?}"),
            Err(error) => format!("{:?}", error.into_error("pdf", name).with_causes()),
        }
    }

    /// S3-US-5, conflict C16: any regular file, in any directory, listed or not.
    #[test]
    fn any_file_of_the_skill_is_read() {
        let world = skill();
        for (name, text) in [
            ("references/forms.md", "# Forms\n"),
            ("./references//deep/a.txt", "deep\n"),
            ("scripts/fill.py", "print()\n"),
            ("notes..md", "dots\n"),
            (".hidden", "hidden\n"),
            (".git/config", "no"),
        ] {
            assert_eq!(answer(&world, name, &LoadProfile::DEFAULT), text);
        }
        assert!(answer(&world, "SKILL.md", &LoadProfile::DEFAULT).starts_with("---\nname: pdf\n"));
    }

    /// S3-US-11, S3-FR-11, conflict C16.
    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let world = skill();
        for (names, reason) in [
            (
                &["../pdf-secret/key", "references/../../pdf-secret/key", "..", "a/..", "references\\..\\x"]
                    [..],
                "it has `..`",
            ),
            (&["/etc/passwd", "\\\\server\\share", "\\x", "C:\\x", "c:x"], "it is absolute"),
            (&[""], "it is empty"),
            (&["a\0b"], "it has a NUL character"),
        ] {
            for name in names {
                let error =
                    read(&world.project().join("pdf"), name, &LoadProfile::DEFAULT, 1000).expect_err(name);
                assert_eq!(error.to_string(), reason, "{name:?}");
                let error = error.into_error("pdf", name);
                assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
                assert!(
                    error.hints()[0].to_string().contains("in the skill's directory"),
                    "{:?}",
                    error.hints()
                );
            }
        }
        assert!(answer(&world, "notes..md", &LoadProfile::LANGFLOW).contains("it has `..`"), "literally");
        assert_eq!(answer(&world, "scripts/fill.py", &LoadProfile::LANGFLOW), "print()\n");
    }

    /// Every listed file can be read: names that have a special meaning only on Windows are ordinary here.
    #[cfg(unix)]
    #[test]
    fn names_with_colons_and_backslashes_are_read() {
        let world = skill();
        let names = ["a:notes.md", "\\x.md", "deep/b\\..\\c.md"];
        for name in names {
            world.write(&format!("pdf/{name}"), name);
            assert_eq!(answer(&world, name, &LoadProfile::DEFAULT), name);
        }
        let listed = list(&world.project().join("pdf"), Listing::All).expect("lists");
        assert!(names.iter().all(|name| listed.iter().any(|one| one == name)), "{listed:?}");
        assert!(answer(&world, "b:notes.md", &LoadProfile::DEFAULT).contains("it is absolute"));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_leave_are_refused_and_others_followed() {
        let world = skill();
        world.link("../pdf-secret/key", "pdf/key");
        world.link("../pdf-secret", "pdf/sibling");
        world.link("references/forms.md", "pdf/inside.md");
        assert_eq!(answer(&world, "inside.md", &LoadProfile::DEFAULT), "# Forms\n");
        for name in ["key", "sibling/key"] {
            let error =
                read(&world.project().join("pdf"), name, &LoadProfile::DEFAULT, 1000).expect_err(name);
            let error = error.into_error("pdf", name);
            assert_eq!(error.kind(), crate::error::ErrorKind::Integrity);
            assert!(error.to_string().ends_with("it leads out of the directory"), "{error}");
        }
    }

    #[test]
    fn a_wrong_name_gets_the_closest() {
        let world = skill();
        let hints = |name: &str| {
            let error =
                read(&world.project().join("pdf"), name, &LoadProfile::DEFAULT, 1000).expect_err(name);
            error.into_error("pdf", name).hints().to_vec()
        };
        let list = "`read pdf` lists its files";
        assert_eq!(hints("forms.md"), ["did you mean `references/forms.md`?", list]);
        assert_eq!(hints("skill.md"), ["did you mean `SKILL.md`?", list]);
        assert_eq!(hints("zzz"), [list]);
        let error =
            read(&world.project().join("pdf"), "zzz", &LoadProfile::DEFAULT, 1000).expect_err("absent");
        let hints_of = error.into_error("My Skill", "zzz").hints().to_vec();
        assert_eq!(hints_of, ["`read My Skill` lists its files"]);
        assert_eq!(hints("references/"), ["in it are `references/deep/a.txt`, `references/forms.md`", list]);
    }

    #[test]
    fn what_is_too_large_says_how_large_it_is() {
        let world = skill();
        world.write("pdf/big.txt", &"x".repeat(1001));
        let error =
            read(&world.project().join("pdf"), "big.txt", &LoadProfile::DEFAULT, 1000).expect_err("large");
        let error = error.into_error("pdf", "big.txt");
        assert!(error.to_string().ends_with("is not read: it has 1001 bytes, more than 1000"), "{error}");
        assert_eq!(error.hints(), ["`max-bytes=1001` reads it"]);
    }

    #[test]
    fn what_is_no_text_is_binary() {
        assert_eq!(Content::of("é\n".into()), Content::Text("é\n".into()));
        for bytes in [&b"a\0b"[..], b"\xff\xfe"] {
            assert_eq!(Content::of(bytes.to_vec()), Content::Binary(bytes.to_vec()));
        }
    }

    /// S3-FR-4, S4-25, conflict C16.
    #[test]
    fn listings() {
        let world = skill();
        let list = |listing| list(&world.project().join("pdf"), listing).expect("lists");
        let all = [".hidden", "notes..md", "references/deep/a.txt", "references/forms.md", "scripts/fill.py"];
        assert_eq!(list(Listing::All), all);
        assert_eq!(list(Listing::Specified), all[2..]);
        assert_eq!(list(Listing::Markdown), ["notes..md", "references/forms.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_inventory_has_everything() {
        let world = skill();
        world.link("../pdf-secret/key", "pdf/key");
        world.write("pdf/logo", "a\0b");
        let large = "x".repeat(usize::try_from(MAX_BYTES).expect("fits") + 1);
        world.write("pdf/large.txt", &large);
        let mut items = inventory(&world.project().join("pdf")).expect("reads");
        let at = items.iter().position(|item| item.path == "large.txt").expect("is there");
        let ItemKind::File { size, digest, tokens, .. } = items.remove(at).kind else { panic!("a file") };
        let all = (large.len() as u64, Some(Digest::of(large.as_bytes())), None);
        assert_eq!((size, digest, tokens), all, "it is not held in memory");
        let find = |path: &str| items.iter().find(|item| item.path == path).expect(path).kind.clone();
        assert_eq!(items.len(), 8, "{items:?}");
        assert_eq!(find("key"), ItemKind::Link("../pdf-secret/key".into()));
        let file = |text: &str, tokens| ItemKind::File {
            size: text.len() as u64,
            executable: false,
            digest: Some(Digest::of(text.as_bytes())),
            tokens,
        };
        assert_eq!(find("references/forms.md"), file("# Forms\n", Some(3)));
        assert_eq!(find("logo"), file("a\0b", None));
    }
}
