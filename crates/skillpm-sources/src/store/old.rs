//! The store of an older version.
//!
//! ```text
//! store-v1/sha256/ab/cdef.../   a tree, unpacked
//! store-v1/kept/<digest>        an empty file that says that this tree is a copy that a user edited
//! ```
//!
//! Only the copies that users edited are read from it: they are still reported, and never removed.

use std::path::{Path, PathBuf};

use super::maintenance::{KeptTree, digests};
use crate::digest::Digest;
use crate::error::Result;
use crate::fs::{self, DirLock};

/// The store of an older version of skillpm, which may not exist.
#[derive(Debug, Clone)]
pub struct OldStore {
    root: PathBuf,
}

impl OldStore {
    /// Returns the older store beside the store at `root`.
    pub(super) fn beside(root: &Path) -> Self {
        Self { root: root.with_file_name("store-v1") }
    }

    /// Returns its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        self.root.join("sha256").join(&hex[..2]).join(&hex[2..])
    }

    /// Returns the copies that a user edited.
    pub(super) fn kept(&self) -> Result<Vec<KeptTree>> {
        let marks = fs::list_dir(&self.root.join("kept"))?;
        let digests = marks.iter().filter_map(|name| Digest::from_hex(name));
        Ok(digests.map(|digest| KeptTree { path: self.path(&digest), digest }).collect())
    }

    /// Returns the trees that no user edited, which this version of skillpm does not read.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn trees(&self) -> Result<Vec<PathBuf>> {
        let kept: Vec<_> = self.kept()?.into_iter().map(|kept| kept.path).collect();
        let all = digests(&self.root)?.into_iter().map(|digest| self.path(&digest));
        Ok(all.filter(|path| !kept.contains(path)).collect())
    }

    /// Removes the tree at `path`; returns `false` if an older skillpm is using the store.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be removed.
    pub fn take(&self, path: &Path) -> Result<bool> {
        let Some(_alone) = DirLock::try_acquire(&self.root) else { return Ok(false) };
        fs::remove_tree(path)?;
        for dir in path.ancestors().skip(1).take_while(|dir| dir.starts_with(&self.root)) {
            fs::remove_dir_if_empty(dir);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::set;
    use super::*;

    #[test]
    fn copies_of_users_stay_and_the_rest_can_go() {
        let dir = tempfile::tempdir().expect("a directory");
        let old = OldStore::beside(&dir.path().join("store-v2"));
        let [mine, other] = ["mine", "other"].map(|text| {
            let digest = set(text).digest().expect("reads");
            let place = old.path(&digest);
            fs::create_dir_all(place.parent().expect("a parent")).expect("creates");
            fs::materialize(&set(text), &place).expect("writes");
            digest
        });
        fs::write_small(&old.root.join("kept").join(mine.hex()), b"").expect("writes");
        let kept = old.kept().expect("reads");
        assert_eq!(kept.iter().map(|kept| &kept.path).collect::<Vec<_>>(), [&old.path(&mine)]);
        assert!(kept[0].is_whole());
        assert_eq!(old.trees().expect("reads"), [old.path(&other)]);
        assert!(old.take(&old.path(&other)).expect("removes"));
        assert!(old.trees().expect("reads").is_empty());
        assert_eq!(old.kept().expect("reads"), kept);
    }
}
