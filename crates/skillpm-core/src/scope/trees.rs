//! Reading of the trees at the places of skills, without leftovers of tools.
//!
//! Leftovers are recognized by their names, but a source may have committed files with such names. So a
//! leftover is ignored only if the locked tree does not contain it itself. All code that compares, copies,
//! saves or runs installed skills reads them here.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::files::MAX_FILE;
use super::on_disk::Inside;
use crate::digest::{Digest, tree_digest};
use crate::error::Error;
use crate::fs::{self, FileStat, Walk};
use crate::lockfile::{Lockfile, Mended};
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::settings::Settings;
use crate::store::Store;
use crate::tree::leftovers::{directories, leftover_in};
use crate::tree::{FileEntry, FileSet, Node, ReadError, Tree};

/// The largest number of leftovers for which every combination is tried.
const MOST_TRIED: usize = 8;

/// A reader of trees that knows what is locked, and therefore what belongs to a tree.
#[derive(Debug, Default)]
pub struct Trees {
    lockfile: Option<PathBuf>,
    store: Option<Store>,
    /// The content of the lockfile, and the metadata of the file when it was read.
    locked: Mutex<Option<(FileStat, Arc<Expected>)>>,
}

/// The locked digests of each skill: several if a merge left them.
type Expected = BTreeMap<SkillName, Vec<Digest>>;

/// A tree at the place of a skill.
#[derive(Debug, Clone)]
pub struct OnDiskTree {
    /// The files.
    pub files: FileSet,
    /// Their digest.
    pub digest: Digest,
    /// Whether a git repository is in it, which the digest does not cover.
    pub repository: bool,
    /// The leftovers of tools in it, sorted; a directory stands for everything in it. They are not in
    /// `files`.
    pub leftovers: Vec<String>,
    /// Whether some of its own files have the name of a leftover.
    pub has_own: bool,
}

impl Trees {
    /// Returns the trees of the scope with the file `lockfile`. Reads nothing yet.
    pub fn new(settings: &Settings, lockfile: &Path) -> Self {
        let store = Store::new(settings).ok();
        Self { lockfile: Some(lockfile.to_owned()), store, locked: Mutex::default() }
    }

    /// Reads the tree in the directory `path`, whose name is that of the skill.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read as a skill.
    pub fn read(&self, path: &Path) -> Result<OnDiskTree, ReadError> {
        read(path, || self.expected(path), self.store.as_ref())
    }

    /// Returns the files of the tree in the directory `path`, without reading most of their content.
    pub fn files(&self, path: &Path) -> Result<FileSet, ReadError> {
        let tree = bare(path)?;
        if tree.leftovers().is_empty() {
            return tree.skill("", &Limits::default());
        }
        Ok(self.read(path)?.files)
    }

    /// Returns the content of the directory `path`.
    pub fn inside(&self, path: &Path) -> Inside {
        inside(path, self.read(path))
    }

    /// Returns the digest of the skill in directory `path`, or `None` if it cannot be read as one.
    pub fn digest(&self, path: &Path) -> Option<Digest> {
        self.read(path).ok().map(|lying| lying.digest)
    }

    /// Returns the leftovers of tools in the directory `path`, whose name is that of the skill; empty if they
    /// cannot be determined.
    pub fn leftovers(&self, path: &Path) -> Vec<String> {
        // Usually there are none, and no file has to be read.
        if bare(path).is_ok_and(|tree| tree.leftovers().is_empty()) {
            return Vec::new();
        }
        self.read(path).map(|lying| lying.leftovers).unwrap_or_default()
    }

    /// Reports whether `digest` is locked for the skill with the name of the directory `path`.
    pub fn is_locked(&self, path: &Path, digest: &Digest) -> bool {
        self.expected(path).contains(digest)
    }

    /// Reports whether the directory `path`, whose name is that of the skill, differs from what is locked
    /// only in line endings, for example because git converted them on Windows.
    pub(crate) fn is_other_line_ends(&self, path: &Path) -> bool {
        let Ok(lying) = self.read(path) else { return false };
        self.expected(path).iter().any(|locked| self.has_other_line_ends(&lying.files, locked))
    }

    /// Reports whether `files` differ from the tree with the digest `locked` only in line endings.
    pub(crate) fn has_other_line_ends(&self, files: &FileSet, locked: &Digest) -> bool {
        let stored = || self.store.as_ref()?.get(locked).ok()?;
        plain_digest(files).is_some_and(|digest| digest == *locked)
            || stored().is_some_and(|stored| is_same_but_line_ends(files, &stored))
    }

    fn expected(&self, path: &Path) -> Vec<Digest> {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(SkillName::exact);
        name.and_then(|name| self.lock()?.get(&name).cloned()).unwrap_or_default()
    }

    /// Returns what is locked now. Reads the file again if it has changed.
    fn lock(&self) -> Option<Arc<Expected>> {
        let file = self.lockfile.as_ref()?;
        let stat = fs::stat(file);
        let mut known = self.locked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, expected)) = &*known
            && Some(*seen) == stat
        {
            return Some(Arc::clone(expected));
        }
        let expected = Arc::new(expected_by(&fs::read_text(file, MAX_FILE).ok()??));
        *known = stat.map(|stat| (stat, Arc::clone(&expected)));
        Some(expected)
    }
}

/// Reports whether the directory `dir` has the tree with `digest`, ignoring leftovers.
pub(crate) fn is_tree(dir: &Path, digest: &Digest) -> bool {
    inside_as(dir, digest).digest == Some(*digest)
}

/// Returns the content of the directory `dir`, if the tree with `digest` is expected.
pub(crate) fn inside_as(dir: &Path, digest: &Digest) -> Inside {
    inside(dir, read(dir, || vec![*digest], None))
}

/// Returns the content of the directory `dir` from the result of reading it.
fn inside(dir: &Path, read: Result<OnDiskTree, ReadError>) -> Inside {
    match read {
        Ok(lying) => Inside { digest: Some(lying.digest), repository: lying.repository },
        Err(_) => Inside { digest: None, repository: bare(dir).is_ok_and(|tree| tree.has_repository()) },
    }
}

fn expected_by(text: &str) -> Expected {
    let entries = match Lockfile::parse(text) {
        Ok(lock) => lock.skills.into_iter().collect::<Vec<_>>(),
        // Both sides of a merge.
        Err(_) => match Mended::parse(text) {
            Ok(mended) => mended.lock.skills.into_iter().chain(mended.others).collect(),
            Err(_) => Vec::new(),
        },
    };
    let mut expected = Expected::new();
    for (name, locked) in entries {
        expected.entry(name).or_default().push(locked.digest);
    }
    expected
}

/// Returns the tree in `dir` without the content of leftover directories, which may exceed the limits of a
/// skill.
fn bare(dir: &Path) -> Result<Tree, ReadError> {
    fs::scan(dir, Walk { skip: directories(), ..Walk::ALL })
}

fn skill(tree: &Tree) -> Result<(FileSet, Digest), ReadError> {
    let files = tree.skill("", &Limits::default())?;
    let digest = files.digest()?;
    Ok((files, digest))
}

fn read(
    dir: &Path,
    expected: impl FnOnce() -> Vec<Digest>,
    store: Option<&Store>,
) -> Result<OnDiskTree, ReadError> {
    let tree = bare(dir)?;
    let (repository, found) = (tree.has_repository(), tree.leftovers());
    let (files, digest) =
        if found.is_empty() { skill(&tree)? } else { choose(dir, &tree, &found, &expected(), store)? };
    let own: BTreeSet<String> = own(&files).map(ToOwned::to_owned).collect();
    let leftovers = found.into_iter().filter(|leftover| !own.contains(leftover)).collect();
    Ok(OnDiskTree { files, digest, repository, leftovers, has_own: !own.is_empty() })
}

/// Returns the files of the skill in `dir`. `bare` is its tree, and `found` are leftovers that may be files
/// of its own.
fn choose(
    dir: &Path,
    bare: &Tree,
    found: &[String],
    expected: &[Digest],
    store: Option<&Store>,
) -> Result<(FileSet, Digest), ReadError> {
    let clean = skill(&bare.without_leftovers(|_| false));
    // Usually the source has no such files, and the skill is unedited.
    if expected.is_empty() || matches!(&clean, Ok((_, digest)) if expected.contains(digest)) {
        return clean;
    }
    // It was edited, or it contains such files itself: those of the locked tree.
    let stored = expected.iter().find_map(|digest| store?.get(digest).ok().flatten());
    let own: Option<BTreeSet<&str>> = stored.as_ref().map(|stored| own(stored).collect());
    if own.as_ref().is_some_and(BTreeSet::is_empty) {
        return clean;
    }
    let Some(whole) = fs::tree_of(dir).ok().map(|tree| readable(&tree)) else { return clean };
    if let Some(own) = own {
        return skill(&whole.without_leftovers(|path| own.contains(path)));
    }
    // It is unknown which ones belong to it: those that produce the locked digest.
    if let Some(chosen) = among(&whole, found, expected) {
        return Ok(chosen);
    }
    let all = skill(&whole);
    match (clean, all) {
        // Membership in the store identifies a tree that came from a source.
        (Ok(clean), Ok(all)) => {
            let is_known = |digest| store.is_some_and(|store| store.is_whole(digest));
            Ok(if is_known(&clean.1) && !is_known(&all.1) { clean } else { all })
        }
        (clean, all) => clean.or(all),
    }
}

/// Returns the digest of `files` with Unix line endings in each text, or `None` if that changes nothing, or
/// one cannot be read.
fn plain_digest(files: &FileSet) -> Option<Digest> {
    let mut changed = false;
    let mut lines = Vec::with_capacity(files.files().len());
    for file in files.files() {
        let bytes = files.read(file).ok()?;
        let digest = if has_crlf(&bytes) && !bytes.contains(&0) {
            changed = true;
            Digest::of(&with_lf(&bytes))
        } else {
            Digest::of(&bytes)
        };
        lines.push((&file.path, file.executable, digest));
    }
    changed.then(|| tree_digest(lines))
}

/// Reports whether `one` and `two` are the same files, with the same texts except for line endings.
pub(crate) fn is_same_but_line_ends(one: &FileSet, two: &FileSet) -> bool {
    let same = |(one_file, two_file): (&FileEntry, &FileEntry)| {
        let texts = || Some((one.read(one_file).ok()?, two.read(two_file).ok()?));
        one_file.path == two_file.path
            && one_file.executable == two_file.executable
            && texts().is_some_and(|(one, two)| one == two || with_lf(&one) == with_lf(&two))
    };
    one.files().len() == two.files().len() && one.files().iter().zip(two.files()).all(same)
}

fn has_crlf(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\r\n").is_some()
}

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if !(*byte == b'\r' && bytes.get(at + 1) == Some(&b'\n')) {
            text.push(*byte);
        }
    }
    text
}

/// Returns the leftovers among `files`.
fn own(files: &FileSet) -> impl Iterator<Item = &str> {
    files.files().iter().filter_map(|file| leftover_in(file.path.as_str(), false))
}

/// Returns `tree` without the leftovers that contain something no skill may have.
fn readable(tree: &Tree) -> Tree {
    let odd: BTreeSet<String> = tree
        .entries()
        .filter(|(_, entry)| !matches!(entry.node, Node::File { .. }))
        .filter_map(|(path, entry)| Some(leftover_in(path, entry.node == Node::Symlink)?.to_owned()))
        .collect();
    tree.without_leftovers(|leftover| !odd.contains(leftover))
}

/// Returns the files of `whole` with the subset of the leftovers `found` that results in one of the digests
/// `expected`.
fn among(whole: &Tree, found: &[String], expected: &[Digest]) -> Option<(FileSet, Digest)> {
    let all = whole.skill("", &Limits::default()).ok()?;
    let mut lines = Vec::with_capacity(all.files().len());
    for file in all.files() {
        let digest = all.digest_of(file).ok()?;
        let leftover = leftover_in(file.path.as_str(), false);
        let at = leftover.and_then(|leftover| found.iter().position(|other| other == leftover));
        lines.push((at, (&file.path, file.executable, digest)));
    }
    let every = u32::MAX;
    let choices: Cow<'_, [u32]> = if found.len() <= MOST_TRIED {
        Cow::Owned((1..1_u32 << found.len()).collect())
    } else {
        Cow::Borrowed(&[u32::MAX])
    };
    let is_in = |choice: u32, at: usize| choice == every || choice >> at & 1 == 1;
    let (digest, choice) = choices.iter().find_map(|choice| {
        let chosen = lines.iter().filter(|(at, _)| at.is_none_or(|at| is_in(*choice, at)));
        let digest = tree_digest(chosen.map(|(_, line)| *line));
        expected.contains(&digest).then_some((digest, *choice))
    })?;
    let is_own =
        |leftover: &str| found.iter().position(|other| other == leftover).is_some_and(|at| is_in(choice, at));
    let files = whole.without_leftovers(is_own).skill("", &Limits::default()).ok()?;
    Some((files, digest))
}

/// Returns why the skill in directory `path` has no digest, or `None` if it has one.
pub(crate) fn why_no_skill(path: &Path) -> Option<Error> {
    Trees::default().read(path).err().map(Error::from)
}

/// Returns the message that the directory `path` is in the way and cannot be kept as a skill, with the
/// reason.
pub(crate) fn not_kept(path: &Path) -> String {
    let why = why_no_skill(path).map(|error| format!(": {}", error.with_causes())).unwrap_or_default();
    format!("`{}` contains something that skillpm could not keep for you{why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;
    use crate::testing::tree;

    fn digest_of(files: &[(&str, &str)]) -> Digest {
        skill(&tree(files)).expect("a skill").1
    }

    fn on_disk(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = dir.path().join("demo").join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write_atomic(&path, text.as_bytes()).expect("writes");
        }
        dir
    }

    /// Added files, whether the tree then matches the lock, and the remaining leftovers.
    type Case = (&'static [(&'static str, &'static str)], bool, &'static [&'static str]);

    /// A file that a source has committed is a part of the skill, under any name; a file that was added later is not.
    #[test]
    fn leftovers_are_left_out_unless_they_are_locked() {
        let locked = digest_of(&[("SKILL.md", "x"), ("a/.DS_Store", "own")]);
        let cases: [Case; 5] = [
            (&[], true, &[]),
            (&[(".DS_Store", "new")], true, &[".DS_Store"]),
            (&[("s/__pycache__/a.pyc", "1"), ("b~", "2")], true, &["b~", "s/__pycache__"]),
            (&[("new.md", "1")], false, &[]),
            (&[("a/.DS_Store", "edited")], false, &[]),
        ];
        for (more, is_locked, leftovers) in cases {
            let dir = on_disk(&[&[("SKILL.md", "x"), ("a/.DS_Store", "own")], more].concat());
            let path = dir.path().join("demo");
            let lying = read(&path, || vec![locked], None).expect("reads");
            assert_eq!(lying.digest == locked, is_locked, "{more:?}");
            assert_eq!(is_tree(&path, &locked), is_locked, "{more:?}");
            assert_eq!(lying.leftovers, leftovers, "{more:?}");
        }
    }

    #[test]
    fn what_nothing_is_locked_of_has_no_leftovers() {
        let dir = on_disk(&[("SKILL.md", "x"), ("node_modules/a/b.js", "1"), ("Thumbs.db", "2")]);
        let lying = Trees::default().read(&dir.path().join("demo")).expect("reads");
        assert_eq!(lying.digest, digest_of(&[("SKILL.md", "x")]));
        assert_eq!(lying.leftovers, ["Thumbs.db", "node_modules"]);
    }

    #[test]
    fn line_ends_alone_are_told_from_edits() {
        let store = tempfile::tempdir().expect("a directory");
        let vars = [("HOME".into(), store.path().into())].into();
        let env = Env { vars, cwd: store.path().to_owned(), interactive: false };
        let settings = Settings::from_env(env).expect("settings");
        let trees = Trees { store: Store::new(&settings).ok(), ..Trees::default() };
        let set = |files: &[(&str, &str)]| skill(&tree(files)).expect("a skill");
        let unix = set(&[("SKILL.md", "a\nb\n"), ("logo", "\0\n")]);
        let windows = set(&[("SKILL.md", "a\r\nb\r\n"), ("logo", "\0\n")]).0;
        assert!(trees.has_other_line_ends(&windows, &unix.1));
        assert!(!trees.has_other_line_ends(&set(&[("SKILL.md", "a\r\nc\r\n"), ("logo", "\0\n")]).0, &unix.1));
        assert!(!trees.has_other_line_ends(&set(&[("SKILL.md", "a\r\nb\r\n")]).0, &unix.1));
        // The source has both: only the tree in the store shows which.
        let mixed = set(&[("SKILL.md", "a\nb\n"), ("run.bat", "x\r\n")]);
        let windows = set(&[("SKILL.md", "a\r\nb\r\n"), ("run.bat", "x\r\n")]).0;
        assert!(!trees.has_other_line_ends(&windows, &mixed.1));
        trees.store.as_ref().expect("a store").put(&mixed.0).expect("writes");
        assert!(trees.has_other_line_ends(&windows, &mixed.1));
    }

    /// A virtual environment has links that no skill may have.
    #[cfg(unix)]
    #[test]
    fn leftovers_that_no_skill_may_have_do_no_harm() {
        let dir = on_disk(&[("SKILL.md", "x"), (".venv/bin/activate", "1"), ("a/.DS_Store", "own")]);
        let path = dir.path().join("demo");
        fs::symlink(Path::new("/usr/bin/python3"), &path.join(".venv/bin/python")).expect("links");
        fs::symlink(Path::new("me@host.1"), &path.join(".#SKILL.md")).expect("links");
        for own in [&[][..], &[("a/.DS_Store", "own")]] {
            let locked = digest_of(&[&[("SKILL.md", "x")], own].concat());
            assert!(is_tree(&path, &locked), "{own:?}");
        }
    }
}
