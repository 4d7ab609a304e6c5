//! What is kept as it was, byte for byte and link for link: directories that hold more than a skill may, and links.
//!
//! ```text
//! kept-whole/<hex>/note.json   whose it was, when and why it was kept
//! kept-whole/<hex>/<name>      the directory or link itself
//! ```

use std::path::{Path, PathBuf};

use super::{KEPT_WHOLE, Note, Store};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs;

const NOTE: &str = "note.json";
/// The maximum size of a note, in bytes.
const MAX_NOTE: u64 = 1 << 16;

/// Something that is kept as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptWhole {
    /// The id.
    pub id: Digest,
    /// The path.
    pub path: PathBuf,
    /// The note about it.
    pub note: Note,
}

impl Store {
    /// Keeps a copy of the directory or link at `path` with everything in it, and returns the path of the copy. Nothing
    /// ever removes it.
    ///
    /// # Errors
    ///
    /// Fails for content that is neither a file, a link nor a directory, and if the store cannot be written; nothing is
    /// left behind.
    pub fn keep_whole(&self, path: &Path, note: &Note) -> Result<PathBuf> {
        let session = self.writer()?;
        let text = serde_json::to_string(note).map_err(|error| Error::io(error.to_string()))?;
        let name = path.file_name().unwrap_or_default();
        let fresh = session.stage().join(KEPT_WHOLE);
        fs::create_dir(&fresh)?;
        fs::write_small(&fresh.join(NOTE), text.as_bytes())?;
        fs::copy_whole(path, &fresh.join(name))?;
        let all = self.root.join(KEPT_WHOLE);
        fs::create_dir_all(&all)?;
        // Files that users wrote may be private.
        fs::make_private(&all);
        // The time and the former path are in the note, so no other has this digest.
        let place = all.join(Digest::of(text.as_bytes()).hex());
        fs::move_new(&fresh, &place)?;
        fs::sync_filesystem(&self.root)?;
        Ok(place.join(name))
    }

    /// Returns what is kept as it was, sorted by its id.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn kept_whole(&self) -> Result<Vec<KeptWhole>> {
        let dir = self.root.join(KEPT_WHOLE);
        let found = fs::list_dir(&dir)?.into_iter().filter_map(|hex| {
            let text = fs::read_text(&dir.join(&hex).join(NOTE), MAX_NOTE).ok()??;
            let note: Note = serde_json::from_str(&text).ok()?;
            let path = dir.join(&hex).join(note.from.file_name()?);
            Some(KeptWhole { id: Digest::from_hex(&hex)?, path, note })
        });
        Ok(found.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Why;
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_everything_in_directories_are_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store { root: dir.path().join("store-v2") };
        let skill = dir.path().join("pdf");
        fs::create_dir_all(&skill.join("venv/bin")).expect("creates");
        fs::write_atomic(&skill.join("SKILL.md"), b"x").expect("writes");
        fs::symlink(Path::new("/usr/bin/python3"), &skill.join("venv/bin/python")).expect("links");
        let link = dir.path().join("link");
        fs::symlink(Path::new("../elsewhere"), &link).expect("links");
        let keep = |path: &Path| {
            store.keep_whole(path, &Note::new("pdf", Why::Foreign, path.to_owned())).expect("keeps")
        };
        let (kept, kept_link) = (keep(&skill), keep(&link));
        assert_eq!(
            fs::read_link(&kept.join("venv/bin/python")).expect("reads").as_deref(),
            Some(Path::new("/usr/bin/python3"))
        );
        assert_eq!(fs::read_link(&kept_link).expect("reads").as_deref(), Some(Path::new("../elsewhere")));
        let mut paths: Vec<_> =
            store.kept_whole().expect("lists").into_iter().map(|kept| kept.path).collect();
        paths.sort();
        let mut expected = [kept, kept_link];
        expected.sort();
        assert_eq!(paths, expected);
        assert!(fs::list_dir(&store.root).expect("lists").iter().all(|name| !name.starts_with("stage")));
    }
}
