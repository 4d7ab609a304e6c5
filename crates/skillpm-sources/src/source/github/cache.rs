//! The cache of the API's answers. All of it may be deleted at any time, and a failure to read or write it is not a
//! failure of the command.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::trees::Trees;
use crate::digest::Digest;
use crate::fs::{SharedFile, read_capped, write_small};
use crate::http::{Origin, Url};
use crate::spec::{Repository, is_commit};

/// Enough for two short texts; a larger file is not ours.
const KNOWN_BYTES: u64 = 4096;

/// Enough for the directories of a large repository.
const TREES_BYTES: u64 = 16 << 20;

/// The cached files of one repository.
#[derive(Debug)]
pub(super) struct Cache {
    refs: PathBuf,
    trees: PathBuf,
    archives: PathBuf,
}

/// The commit that a reference meant, and the `ETag` of that answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedCommit {
    pub(super) etag: String,
    pub(super) sha: String,
}

impl Cache {
    /// Returns the cache of `repository` below `dir`. Its paths include the API's origin: an answer of one
    /// server is never taken for that of another.
    pub(super) fn new(dir: &Path, api: &Origin, repository: &Repository) -> Self {
        let dir = dir.join("github");
        let archives = dir
            .join("archives")
            .join(component(&api.to_string()))
            .join(repository.owner.to_ascii_lowercase())
            .join(repository.name.to_ascii_lowercase());
        Self { refs: dir.join("refs"), trees: dir.join("trees"), archives }
    }

    /// Returns the path of the archive of `commit`.
    pub(super) fn archive(&self, commit: &str) -> PathBuf {
        self.archives.join(format!("{commit}.zip"))
    }

    /// Returns the cached answer at `url`, if it exists and is intact.
    pub(super) fn known(&self, url: &Url) -> Option<CachedCommit> {
        let bytes = read_capped(&self.reference(url), KNOWN_BYTES).ok()??;
        let known: CachedCommit = serde_json::from_slice(&bytes).ok()?;
        // It becomes a header, so it may only contain what a header may.
        let etag_ok = !known.etag.is_empty() && known.etag.bytes().all(|b| (b' '..=b'~').contains(&b));
        (etag_ok && is_commit(&known.sha)).then_some(known)
    }

    /// Caches the answer at `url`.
    pub(super) fn learn(&self, url: &Url, known: &CachedCommit) {
        if let Ok(bytes) = serde_json::to_vec(known) {
            // Without it, the next request takes a little longer.
            let _ = write_small(&self.reference(url), &bytes);
        }
    }

    /// Returns the cached directories at `url`, if they exist and are intact.
    pub(super) fn trees(&self, url: &Url) -> Option<Trees> {
        let bytes = read_capped(&self.listing(url), TREES_BYTES).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Caches the directories that were listed at `url`.
    pub(super) fn learn_trees(&self, url: &Url, trees: &Trees) {
        if let Ok(bytes) = serde_json::to_vec(trees) {
            // Without the cache, they are listed again.
            let _ = write_small(&self.listing(url), &bytes);
        }
    }

    fn listing(&self, url: &Url) -> PathBuf {
        self.trees.join(format!("{}.json", Digest::of(url.secret_text().as_bytes()).hex()))
    }

    fn reference(&self, url: &Url) -> PathBuf {
        self.refs.join(format!("{}.json", Digest::of(url.secret_text().as_bytes()).hex()))
    }
}

/// Opens a cached archive. Returns `None` on any error: it can be downloaded again.
pub(super) fn open(path: &Path) -> Option<SharedFile> {
    SharedFile::open(path).ok().filter(|file| !file.is_empty())
}

/// Returns `text` as one harmless component of a path.
fn component(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let part: String = text.chars().map(safe).collect();
    if part.starts_with('.') { format!("_{part}") } else { part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_paths_are_harmless() {
        assert_eq!(component("127.0.0.1:8080"), "127.0.0.1_8080");
        assert_eq!(component(".."), "_..");
        assert_eq!(component("[::1]:1/../x"), "___1__1_.._x");
    }

    #[test]
    fn broken_answers_are_forgotten() {
        let dir = tempfile::tempdir().expect("a directory");
        let url = Url::parse("https://api.example.com/x").expect("an address");
        let repository = Repository::new(None, "Acme", "Skills").expect("a repository");
        let cache = Cache::new(dir.path(), &url.origin(), &repository);
        let known = |etag: &str, sha: &str| CachedCommit { etag: etag.into(), sha: sha.into() };
        assert_eq!(cache.known(&url), None);
        cache.learn(&url, &known("\"e\"", &"a".repeat(40)));
        assert_eq!(cache.known(&url), Some(known("\"e\"", &"a".repeat(40))));
        for broken in
            [known("\"e\"", "main"), known("a\r\nX: y", &"a".repeat(40)), known("", &"a".repeat(40))]
        {
            cache.learn(&url, &broken);
            assert_eq!(cache.known(&url), None, "{broken:?}");
        }
    }
}
