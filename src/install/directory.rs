//! A directory in which skills lie, or links to them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::state::{Found, normal, real_dir};
use crate::digest::Digest;
use crate::fs::{self, Kind, PathError};
use crate::name::SkillName;
use crate::path::collision_key;

/// A directory that is read once, however many skills are looked for in it.
#[derive(Debug)]
pub struct SkillsDir {
    path: PathBuf,
    real: PathBuf,
    canonical: PathBuf,
    names: Names,
}

/// What a directory holds.
#[derive(Debug)]
enum Names {
    /// It is not there.
    Absent,
    /// These names.
    Known {
        exact: BTreeMap<String, Kind>,
        /// The names as a file system may have them that knows no case.
        alike: OnceLock<BTreeSet<String>>,
    },
    /// It may be entered and not read.
    Hidden,
}

impl SkillsDir {
    /// Reads the directory at `path`. `canonical` is the directory of the canonical copies with all links
    /// followed: what links in this one are compared with.
    ///
    /// # Errors
    ///
    /// Where it cannot be looked at.
    pub fn open(path: &Path, canonical: &Path) -> Result<Self, PathError> {
        let names = match fs::entries(path) {
            Ok(entries) => Names::Known {
                // A name that is not UTF-8 is none of ours.
                exact: entries
                    .into_iter()
                    .filter_map(|(name, kind)| Some((name.into_string().ok()?, kind)))
                    .collect(),
                alike: OnceLock::new(),
            },
            Err(error) if error.source.kind() == io::ErrorKind::PermissionDenied => Names::Hidden,
            // Nothing, a file, or links in a circle.
            Err(_) if !is_directory(path)? => Names::Absent,
            Err(error) => return Err(error),
        };
        Ok(Self { path: path.to_owned(), real: real_dir(path)?, canonical: canonical.to_owned(), names })
    }

    /// The directory with links followed, as far as it is there.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Whether there is such a directory.
    pub fn is_there(&self) -> bool {
        !matches!(self.names, Names::Absent)
    }

    /// Where the skill `name` lies in it, or would.
    pub fn place(&self, name: &SkillName) -> PathBuf {
        self.path.join(name.as_str())
    }

    /// The names in it that a skill can have.
    pub fn names(&self) -> impl Iterator<Item = SkillName> {
        let exact = match &self.names {
            Names::Known { exact, .. } => Some(exact),
            Names::Absent | Names::Hidden => None,
        };
        let names = exact.into_iter().flat_map(BTreeMap::keys);
        names.filter_map(|name| SkillName::new(name).ok().filter(|valid| valid.as_str() == name))
    }

    /// What lies at the place of `name`; links are not followed.
    ///
    /// # Errors
    ///
    /// Where that cannot be looked at.
    pub fn kind(&self, name: &SkillName) -> Result<Option<Kind>, PathError> {
        match &self.names {
            Names::Absent => Ok(None),
            Names::Known { exact, alike } => {
                if let Some(kind) = exact.get(name.as_str()) {
                    return Ok(Some(*kind));
                }
                // The file system decides whether another spelling is this name.
                let alike = alike.get_or_init(|| exact.keys().map(|name| collision_key(name)).collect());
                if alike.contains(&name.collision_key()) { fs::kind(&self.place(name)) } else { Ok(None) }
            }
            Names::Hidden => fs::kind(&self.place(name)),
        }
    }

    /// What lies at the place of `name`; of a tree `digest` tells the digest.
    ///
    /// # Errors
    ///
    /// Where that cannot be looked at.
    pub fn look(
        &self,
        name: &SkillName,
        digest: impl FnOnce(&Path) -> Option<Digest>,
    ) -> Result<Found, PathError> {
        Ok(match self.kind(name)? {
            None => Found::Absent,
            Some(Kind::Directory) => Found::Tree(digest(&self.place(name))),
            Some(Kind::Symlink) => {
                let path = self.place(name);
                let target = fs::read_link(&path)?.unwrap_or_default();
                let says = normal(&self.real.join(&target));
                if fs::plain(&says) == fs::plain(&self.canonical.join(name.as_str())) {
                    Found::OurLink
                } else if fs::is_loop(&path) {
                    Found::Loop
                } else {
                    Found::OtherLink(target)
                }
            }
            Some(_) => Found::Other,
        })
    }
}

/// Whether `path` leads to a directory.
fn is_directory(path: &Path) -> Result<bool, PathError> {
    match fs::real_path(path)? {
        Some(real) => Ok(fs::kind(&real)? == Some(Kind::Directory)),
        None => Ok(false),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn name(text: &str) -> SkillName {
        SkillName::new(text).expect(text)
    }

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
        link("../skills/ours", "other");
        link("round", "round");
        fs::write_atomic(&own.join("file"), b"x").expect("writes");
        fs::create_dir_all(&own.join("Upper")).expect("creates");
        let opened = SkillsDir::open(&own, &canonical).expect("opens");
        let digest = Digest::of(b"x");
        for (at, expected) in [
            ("tree", Found::Tree(Some(digest))),
            ("ours", Found::OurLink),
            ("other", Found::OtherLink("../skills/ours".into())),
            ("round", Found::Loop),
            ("file", Found::Other),
            ("nothing", Found::Absent),
            // As this file system has it: the name is looked up, not compared.
            ("upper", if own.join("upper").exists() { Found::Tree(Some(digest)) } else { Found::Absent }),
        ] {
            assert_eq!(opened.look(&name(at), |_| Some(digest)).expect("looks"), expected, "{at}");
        }
        let names: Vec<_> = opened.names().map(|name| name.to_string()).collect();
        assert_eq!(names, ["file", "other", "ours", "round", "tree"]);
        for path in [own.join("nothing"), own.join("file"), own.join("round")] {
            let opened = SkillsDir::open(&path, &canonical).expect("no error");
            assert!(!opened.is_there());
            assert_eq!(opened.look(&name("x"), |_| None).expect("looks"), Found::Absent);
        }
    }
}
