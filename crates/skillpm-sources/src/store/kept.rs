//! Copies that a user edited: files and directories that people can examine, which nothing ever removes.

use std::path::{Path, PathBuf};

use super::{Note, Store, is_whole, read};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::tree::FileSet;

/// The directory of the store that holds them, each under its digest.
pub(super) const KEPT: &str = "kept";
/// The directory of the store that says which of them agents got copies of.
const MERGED: &str = "merged";

impl Store {
    /// Returns the tree with `digest` if a kept copy happens to have this digest.
    pub(super) fn get_kept(&self, digest: &Digest) -> Result<Option<FileSet>> {
        let path = self.kept_path(digest);
        match fs::kind(&path)? {
            Some(Kind::Directory) => read(&path).map(Some),
            _ => Ok(None),
        }
    }

    /// Keeps `set`, a copy that a user edited, with a note about it, and returns its path. Nothing ever removes it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written or the content cannot be delivered; nothing is left behind.
    pub fn keep(&self, set: &FileSet, note: Option<Note>) -> Result<PathBuf> {
        let session = self.writer()?;
        let noted = |place: &Path| {
            if let Some(note) = note {
                self.note(&session, place, note);
            }
        };
        let fresh = session.stage().join(KEPT);
        let digest = fs::materialize(set, &fresh)?;
        let place = self.kept_path(&digest);
        let kept = self.root.join(KEPT);
        fs::create_dir_all(&kept)?;
        // Files that users wrote may be private.
        fs::make_private(&kept);
        for other in self.places_for(&digest) {
            match fs::kind(&other)? {
                None => {
                    fs::move_new(&fresh, &other)?;
                    noted(&other);
                    // Fetched content can be fetched again, but this may soon be the only copy.
                    fs::sync_filesystem(&self.root)?;
                    return Ok(other);
                }
                Some(Kind::Directory) if is_whole(&other, &digest) => {
                    fs::close(&other, set)?;
                    noted(&other);
                    return Ok(other);
                }
                // A user edited the kept copy, so it is a user's copy as well.
                Some(_) => {}
            }
        }
        Err(Error::io(format!("`{}` and all similar names are taken", place.display())))
    }

    /// Keeps `set`, an edited or merged skill that agents get copies of, and records that. It is kept in the same place
    /// as other copies that users edited.
    pub fn keep_merged(&self, set: &FileSet) -> Result<()> {
        let digest = set.digest()?;
        self.keep(set, None)?;
        Ok(fs::write_small(&self.merged_path(&digest), b"")?)
    }

    /// Reports whether agents got copies of the edited or merged tree with `digest`, and it is still kept.
    pub fn is_merged(&self, digest: &Digest) -> bool {
        matches!(fs::kind(&self.merged_path(digest)), Ok(Some(Kind::File)))
            && is_whole(&self.kept_path(digest), digest)
    }

    /// Returns the path of the file that records that agents got copies of the tree with `digest`.
    fn merged_path(&self, digest: &Digest) -> PathBuf {
        self.root.join(MERGED).join(digest.hex())
    }

    /// Returns the paths at which a copy with `digest` may be kept, the usual one first.
    pub(super) fn places_for(&self, digest: &Digest) -> impl Iterator<Item = PathBuf> {
        let place = self.kept_path(digest);
        let other = place.clone();
        std::iter::once(place).chain((2..100).map(move |number| {
            let mut name = other.clone().into_os_string();
            name.push(format!("-{number}"));
            name.into()
        }))
    }

    /// Returns the usual path of a kept copy with `digest`.
    pub(super) fn kept_path(&self, digest: &Digest) -> PathBuf {
        self.root.join(KEPT).join(digest.hex())
    }
}
