//! The cache of answers from the web. All of it may be deleted at any time, and a failure to read or write it
//! is not a failure of the command.
//!
//! ```text
//! web/answers/<digest of the address>        the bytes of the last answer
//! web/answers/<digest of the address>.json   its tag, its time, its digest
//! web/artifacts/<digest of the bytes>        files that an index promised by their digest
//! ```

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, HashingWriter};
use crate::fs::{Download, SharedFile, Sink, read_capped, remove_if_there, write_small};
use crate::http::{Head, Url};

/// Enough for a few short texts; a larger file is not ours.
const RECORD_BYTES: u64 = 16 * 1024;

/// The directories of the cache.
#[derive(Debug)]
pub(in crate::source) struct Cache {
    root: PathBuf,
}

/// The metadata of a cached answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CacheRecord {
    /// The address that answered, without its query, which may hold credentials.
    url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    digest: Digest,
}

/// A cached answer that is intact.
#[derive(Debug)]
pub(super) struct CachedBody {
    pub(super) record: CacheRecord,
    pub(super) url: Url,
    pub(super) file: Arc<SharedFile>,
}

impl Cache {
    pub(in crate::source) fn new(dir: &Path) -> Self {
        Self { root: dir.join("web") }
    }

    /// Returns the path of the answer of `url`.
    pub(super) fn answer(&self, url: &Url) -> PathBuf {
        self.root.join("answers").join(Digest::of(url.secret_text().as_bytes()).hex())
    }

    /// Returns the path of the artifact with `digest`.
    pub(in crate::source) fn artifact(&self, digest: &Digest) -> PathBuf {
        self.root.join("artifacts").join(digest.hex())
    }

    /// Returns the cached answer of `url`, if it exists and has not changed since.
    pub(super) fn known(&self, url: &Url) -> Option<CachedBody> {
        let path = self.answer(url);
        let bytes = read_capped(&record(&path), RECORD_BYTES).ok()??;
        let mut record: CacheRecord = serde_json::from_slice(&bytes).ok()?;
        // They become headers, so they may only contain what a header may.
        record.etag = record.etag.filter(|text| is_header(text));
        record.last_modified = record.last_modified.filter(|text| is_header(text));
        let file = open(&path, &record.digest)?;
        Some(CachedBody { url: Url::parse(&record.url).ok()?, record, file })
    }

    /// Records the metadata of the answer of `url` with `digest`, whose bytes are already in place.
    pub(super) fn learn(&self, url: &Url, head: &Head, digest: Digest) {
        let known = CacheRecord {
            url: head.url.to_string(),
            etag: head.etag.clone(),
            last_modified: head.last_modified.clone(),
            digest,
        };
        if let Ok(bytes) = serde_json::to_vec(&known) {
            // Without the record, the next time downloads everything again.
            let _ = write_small(&record(&self.answer(url)), &bytes);
        }
    }

    /// Removes the answer of `url`.
    pub(super) fn forget(&self, url: &Url) {
        let path = self.answer(url);
        // A record that cannot be removed is requested again with its tag: nothing is lost.
        let _ = remove_if_there(&record(&path)).and_then(|()| remove_if_there(&path));
    }
}

fn record(path: &Path) -> PathBuf {
    path.with_extension("json")
}

fn is_header(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

/// Opens a cached file, if its bytes still have `digest`.
pub(in crate::source) fn open(path: &Path, digest: &Digest) -> Option<Arc<SharedFile>> {
    let file = SharedFile::open(path).ok()?;
    (digest_of(&file).ok()? == *digest).then(|| Arc::new(file))
}

fn digest_of(file: &SharedFile) -> io::Result<Digest> {
    let mut hasher = HashingWriter::new(io::sink());
    let mut buf = vec![0; usize::try_from(file.len()).map_or(1 << 20, |len| len.min(1 << 20))];
    let mut at = 0;
    while at < file.len() {
        let count = usize::try_from(file.len() - at).map_or(buf.len(), |left| left.min(buf.len()));
        file.read_exact_at(&mut buf[..count], at)?;
        hasher.write_all(&buf[..count])?;
        at += count as u64;
    }
    Ok(hasher.finish().0)
}

/// A download that is hashed while it arrives.
pub(in crate::source) struct Hashed<'a> {
    file: &'a mut Download,
    hasher: HashingWriter<io::Sink>,
}

impl<'a> Hashed<'a> {
    pub(in crate::source) fn new(file: &'a mut Download) -> Self {
        Self { file, hasher: HashingWriter::new(io::sink()) }
    }

    pub(in crate::source) fn finish(self) -> Digest {
        self.hasher.finish().0
    }
}

impl Write for Hashed<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let count = self.file.write(buf)?;
        self.hasher.write_all(&buf[..count])?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Sink for Hashed<'_> {
    fn restart(&mut self) -> io::Result<()> {
        self.hasher = HashingWriter::new(io::sink());
        self.file.restart()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(url: &Url, etag: &str) -> Head {
        Head { url: url.clone(), etag: Some(etag.into()), last_modified: None, link: None }
    }

    #[test]
    fn answers_are_forgotten_when_anything_is_wrong_with_them() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = Cache::new(dir.path());
        let url = Url::parse("https://h.example/x?key=s3cret").expect("an address");
        let keep = |bytes: &[u8], etag: &str| {
            write_small(&cache.answer(&url), bytes).expect("writes");
            cache.learn(&url, &head(&url, etag), Digest::of(b"bytes"));
        };
        assert!(cache.known(&url).is_none());
        keep(b"bytes", "\"e\"");
        let known = cache.known(&url).expect("kept");
        assert_eq!((known.record.etag.as_deref(), known.file.len()), (Some("\"e\""), 5));
        let record = read_capped(&record(&cache.answer(&url)), 9999).expect("reads").expect("there");
        assert!(!String::from_utf8_lossy(&record).contains("s3cret"));
        keep(b"bytes", "a\r\nX: y");
        assert_eq!(cache.known(&url).expect("kept").record.etag, None);
        keep(b"other", "\"e\"");
        assert!(cache.known(&url).is_none());
        keep(b"bytes", "\"e\"");
        cache.forget(&url);
        assert!(cache.known(&url).is_none());
    }

    #[test]
    fn a_restarted_download_is_hashed_anew() {
        let mut file = Download::begin(None).expect("a file");
        let mut hashed = Hashed::new(&mut file);
        hashed.write_all(b"wrong").expect("writes");
        hashed.restart().expect("restarts");
        hashed.write_all(b"right").expect("writes");
        assert_eq!(hashed.finish(), Digest::of(b"right"));
    }
}
