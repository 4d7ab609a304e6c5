//! A directory of skills, or of links to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::index::Index;
use super::on_disk::{Inside, OnDisk, real_dir};
use crate::digest::Digest;
use crate::fs::{self, Base, Kind, LinkKind, PathError};
use crate::name::SkillName;
use crate::path::collision_key;
use crate::path::normal;

/// The number of skills that are looked up one by one before it pays to read the whole directory.
pub(super) const FEW: usize = 16;

/// A directory that is read once, however many skills are looked up in it.
#[derive(Debug)]
pub struct SkillsDir {
    path: PathBuf,
    real: PathBuf,
    canonical: PathBuf,
    is_there: bool,
    /// The number of skills that were looked up.
    asked: AtomicUsize,
    /// The content; `None` if it cannot be read, although it may still be entered.
    names: OnceLock<Option<Names>>,
    /// The directory itself, once something in it is examined.
    base: OnceLock<Option<Base>>,
    /// The part before the name in a link to a canonical copy, taken from a link that leads there.
    ours: OnceLock<String>,
}

/// The names in a directory.
#[derive(Debug)]
struct Names {
    exact: BTreeMap<String, DirEntry>,
    /// The names as a case-insensitive file system may see them.
    alike: OnceLock<BTreeSet<String>>,
}

/// An entry of a directory.
#[derive(Debug)]
struct DirEntry {
    kind: Kind,
    /// The kind, if it is not a directory: its link is read once.
    looked: OnceLock<OnDisk>,
}

impl SkillsDir {
    /// Opens the directory at `path`. `canonical` is the directory of the canonical copies with all links
    /// resolved: links in this directory are compared with it.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be examined.
    pub fn open(path: &Path, canonical: &Path) -> Result<Self, PathError> {
        // A file or a cycle of links contains nothing.
        let is_there = match fs::real_path(path)? {
            Some(real) => fs::kind(&real)? == Some(Kind::Directory),
            None => false,
        };
        Ok(Self {
            path: path.to_owned(),
            real: real_dir(path)?,
            canonical: canonical.to_owned(),
            is_there,
            asked: AtomicUsize::new(0),
            names: OnceLock::new(),
            base: OnceLock::new(),
            ours: OnceLock::new(),
        })
    }

    fn base(&self) -> Option<&Base> {
        self.base.get_or_init(|| Base::open(&self.path).ok()).as_ref()
    }

    fn listed(&self) -> Option<&Names> {
        let read = || {
            let entries = fs::entries(&self.path).ok()?.into_iter();
            let entry = |kind| DirEntry { kind, looked: OnceLock::new() };
            let exact = entries.filter_map(|(name, kind)| Some((name.into_string().ok()?, entry(kind))));
            Some(Names { exact: exact.collect(), alike: OnceLock::new() })
        };
        self.names.get_or_init(read).as_ref()
    }

    /// Returns the directory as it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory with links resolved, as far as it exists.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Reports whether the directory exists.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Reports whether the directory can be listed.
    pub(crate) fn is_readable(&self) -> bool {
        self.listed().is_some()
    }

    /// Reports whether the directory may be listed, without listing it.
    pub(crate) fn may_be_listed(&self) -> bool {
        fs::may_be_listed(&self.path)
    }

    /// Fails if the directory exists and cannot be listed.
    pub(crate) fn check_readable(&self) -> Result<(), PathError> {
        if !self.is_there || self.is_readable() {
            return Ok(());
        }
        fs::list_dir(&self.path).map(drop)
    }

    /// Returns the path of the skill `name` in the directory, whether it exists or not.
    pub fn place(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the names in the directory that are valid for a skill.
    pub fn names(&self) -> impl Iterator<Item = SkillName> {
        let names = self.listed().filter(|_| self.is_there).into_iter().flat_map(|names| names.exact.keys());
        names.filter_map(|name| SkillName::exact(name))
    }

    /// Returns all entries, with their kinds: also those whose names no skill can have.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Kind)> {
        let names = self.listed().filter(|_| self.is_there).into_iter().flat_map(|names| &names.exact);
        names.map(|(name, entry)| (name.as_str(), entry.kind))
    }

    /// Returns the kind of what is at the place of `name`, without following links.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be examined.
    pub fn kind(&self, name: &str) -> Result<Option<Kind>, PathError> {
        if !self.is_there {
            return Ok(None);
        }
        let few = self.names.get().is_none() && self.asked.fetch_add(1, Ordering::Relaxed) < FEW;
        let Some(names) = (if few { None } else { self.listed() }) else {
            return fs::kind(&self.place(name));
        };
        if let Some(entry) = names.exact.get(name) {
            return Ok(Some(entry.kind));
        }
        // The file system decides whether another spelling is this name.
        let alike = names
            .alike
            .get_or_init(|| names.exact.keys().map(|name| collision_key(name).into_owned()).collect());
        if alike.contains(&*collision_key(name)) { fs::kind(&self.place(name)) } else { Ok(None) }
    }

    /// Returns the digest of the tree at the place of `name`, as [`Index::digest_of`] does.
    pub fn digest(&self, name: &str, index: &Index) -> Option<Digest> {
        self.inside(name, index).digest
    }

    /// Returns the content of the tree at the place of `name`, as [`Index::inside`] does.
    pub fn inside(&self, name: &str, index: &Index) -> Inside {
        match self.base() {
            Some(base) => index.inside(base, name),
            None => index.trees().inside(&self.place(name)),
        }
    }

    /// Reports whether the link at the place of `name` has the same text, except for the name, as another
    /// link that leads to its canonical copy. Then the part before the name leads to the same directory, and
    /// the name cannot lead elsewhere.
    fn leads_home(&self, name: &str) -> bool {
        let Some((ours, base)) = self.ours.get().zip(self.base()) else { return false };
        let text = base.link_text(name);
        text.is_some_and(|text| text.strip_prefix(ours.as_str()) == Some(name))
    }

    /// Reports whether the file at the place of `name` contains the text of a link to its canonical copy, which exists.
    fn is_written_link(&self, name: &str) -> bool {
        let canonical = self.canonical.join(name);
        let link = LinkKind::Symlink(fs::relative(&self.real, &canonical));
        self.real != self.canonical && fs::is_written_link(&self.place(name), &link)
    }

    /// Returns what is at the place of `name`. For a tree, `digest` computes the digest.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be examined.
    pub fn look(
        &self,
        name: &str,
        digest: impl FnOnce(&Path) -> Option<Digest>,
    ) -> Result<OnDisk, PathError> {
        let kind = match self.kind(name)? {
            None => return Ok(OnDisk::Absent),
            Some(Kind::Directory) => return Ok(OnDisk::Tree(digest(&self.place(name)))),
            Some(kind) => kind,
        };
        let entry = self.names.get().and_then(|names| names.as_ref()?.exact.get(name));
        if let Some(known) = entry.and_then(|entry| entry.looked.get()) {
            return Ok(known.clone());
        }
        let found = self.look_at(name, kind)?;
        if let Some(entry) = entry {
            entry.looked.get_or_init(|| found.clone());
        }
        Ok(found)
    }

    /// Returns what is at the place of `name`, where something of `kind` is that is not a directory.
    fn look_at(&self, name: &str, kind: Kind) -> Result<OnDisk, PathError> {
        Ok(match kind {
            Kind::Symlink if self.leads_home(name) => OnDisk::OurLink,
            Kind::Symlink => {
                let path = self.place(name);
                let target = fs::read_link(&path)?.unwrap_or_default();
                let says = normal(&self.real.join(&target));
                if fs::plain(&says) == fs::plain(&self.canonical.join(name)) {
                    let before = target.to_str().and_then(|text| text.strip_suffix(name));
                    if let Some(before) = before.filter(|before| before.ends_with('/')) {
                        self.ours.get_or_init(|| before.to_owned());
                    }
                    OnDisk::OurLink
                } else if fs::is_loop(&path) {
                    OnDisk::Loop
                } else {
                    OnDisk::OtherLink(target)
                }
            }
            Kind::File if self.is_written_link(name) => OnDisk::Written,
            _ => OnDisk::Other,
        })
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_at_a_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = fs::real_path(dir.path()).expect("looks").expect("is there");
        let (canonical, own) = (root.join("skills"), root.join("own"));
        for path in [&canonical, &own.join("tree")] {
            fs::create_dir_all(path).expect("creates");
        }
        let link = |target: &str, name: &str| fs::symlink(Path::new(target), &own.join(name)).expect("links");
        link("../skills/ours", "ours");
        link("../skills/too", "too");
        link("../skills/ours", "other");
        link("../skills/../else/away", "away");
        link("round", "round");
        fs::write_atomic(&own.join("file"), b"x").expect("writes");
        fs::create_dir_all(&own.join("Upper")).expect("creates");
        let opened = SkillsDir::open(&own, &canonical).expect("opens");
        let digest = Digest::of(b"x");
        // One by one at first, then all at once.
        for (at, expected) in (0..2 * FEW).flat_map(|_| {
            [
                ("tree", OnDisk::Tree(Some(digest))),
                ("ours", OnDisk::OurLink),
                ("too", OnDisk::OurLink),
                ("away", OnDisk::OtherLink("../skills/../else/away".into())),
                ("other", OnDisk::OtherLink("../skills/ours".into())),
                ("round", OnDisk::Loop),
                ("file", OnDisk::Other),
                ("nothing", OnDisk::Absent),
                // By the rules of this file system: the name is looked up, not compared.
                (
                    "upper",
                    fs::kind(&own.join("upper"))
                        .expect("looks")
                        .map_or(OnDisk::Absent, |_| OnDisk::Tree(Some(digest))),
                ),
            ]
        }) {
            assert_eq!(opened.look(at, |_| Some(digest)).expect("looks"), expected, "{at}");
        }
        let names: Vec<_> = opened.names().map(|name| name.to_string()).collect();
        assert_eq!(names, ["away", "file", "other", "ours", "round", "too", "tree"]);
        for path in [own.join("nothing"), own.join("file"), own.join("round")] {
            let opened = SkillsDir::open(&path, &canonical).expect("no error");
            assert!(!opened.is_there());
            assert_eq!(opened.look("x", |_| None).expect("looks"), OnDisk::Absent);
        }
    }
}
