//! Files from one place on the web: fetched with a login if there is one, and cached if there is a cache.

pub(super) mod cache;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::context::Context;
use crate::digest::{Digest, DigestError};
use crate::error::{Error, Result};
use crate::fs::{Download, PathError, SharedFile, write_small};
use crate::http::{Client, Head, HttpError, Login, Request, Url};
use crate::spec::Address;
use crate::tree::ReadError;
use cache::{Cache, CachedBody, Hashed};

/// A place on the web: its client, its login and its cache.
#[derive(Debug)]
pub(super) struct Web {
    /// The address that the user named.
    pub(super) url: Url,
    client: Client,
    offline: bool,
    login: Login,
    cache: Option<Cache>,
    /// Addresses whose cached answers are known to be current.
    checked: Mutex<BTreeSet<String>>,
}

/// A file, and its final address after all redirects.
#[derive(Debug)]
pub(super) struct Got {
    pub(super) file: Arc<SharedFile>,
    pub(super) url: Url,
}

/// Why a file was not delivered. The caller may handle a failed request.
#[derive(Debug)]
pub(super) enum Missed {
    Http(HttpError),
    Other(Error),
}

impl Web {
    pub(super) fn new(context: &Context, address: &Address) -> Result<Self> {
        let url = Url::parse(address.as_str())?;
        let settings = &context.settings;
        let login = Login::find(settings, &url)?;
        if let Some(exposure) = login.exposure() {
            context.reporter.warning(exposure);
        }
        Ok(Self {
            login,
            url,
            client: Client::new(settings, Arc::clone(&context.reporter)),
            offline: settings.offline,
            cache: settings.dirs.cache.as_deref().map(Cache::new),
            checked: Mutex::default(),
        })
    }

    /// Reports whether downloads are cached.
    pub(super) fn keeps(&self) -> bool {
        self.cache.is_some()
    }

    /// Fetches the file at `url`, at most `limit` bytes. Uses a cached file if the server reports that it has
    /// not changed, or offline without asking.
    pub(super) fn get(&self, url: &Url, what: Option<&str>, limit: u64) -> std::result::Result<Got, Missed> {
        let known = self.cache.as_ref().and_then(|cache| cache.known(url));
        let known = known.filter(|known| known.file.len() <= limit);
        match known {
            Some(known) if self.offline || self.is_checked(url) => return Ok(known.got()),
            None if self.offline => return Err(Missed::Http(HttpError::Offline(url.clone()))),
            _ => {}
        }
        let record = known.as_ref().map(|known| &known.record);
        let request = Request {
            if_none_match: record.and_then(|record| record.etag.clone()),
            if_modified_since: record.and_then(|record| record.last_modified.clone()),
            ..self.request(url).map_err(Missed::Other)?
        };
        let place = self.cache.as_ref().map(|cache| cache.answer(url));
        let mut file = Download::begin(place.as_deref()).map_err(|error| Missed::Other(error.into()))?;
        let path = file.path();
        let full = |source| Missed::Other(PathError { action: "write", path: path.clone(), source }.into());
        let mut sink = Hashed::new(&mut file);
        let head = self.client.fetch(&request, what, limit, &mut sink);
        let digest = sink.finish();
        let head = match head {
            Ok(head) => head,
            Err(HttpError::Write(source)) => return Err(full(source)),
            Err(error) => return Err(Missed::Http(error)),
        };
        let got = match (head, known) {
            (Some(head), _) => {
                let file = Arc::new(file.keep().map_err(full)?);
                if let Some(cache) = &self.cache {
                    cache.learn(url, &head, digest);
                }
                Got { file, url: head.url }
            }
            (None, Some(known)) => known.got(),
            // No conditional request was made in this case.
            (None, None) => {
                return Err(Missed::Http(HttpError::Malformed {
                    host: url.origin().to_string(),
                    reason: "it is about a file that was not named".to_owned(),
                }));
            }
        };
        self.checked().insert(url.secret_text());
        Ok(got)
    }

    /// Returns the cached file at `url`, if its server reports that it has not changed, or offline without
    /// asking. Returns `None` if only a download would tell.
    pub(super) fn current(&self, url: &Url) -> Result<Option<Got>> {
        let Some(known) = self.cache.as_ref().and_then(|cache| cache.known(url)) else {
            return if self.offline { Err(self.told(HttpError::Offline(url.clone()))) } else { Ok(None) };
        };
        let record = &known.record;
        if self.offline || self.is_checked(url) {
            return Ok(Some(known.got()));
        }
        if record.etag.is_none() && record.last_modified.is_none() {
            return Ok(None);
        }
        let request = Request {
            if_none_match: record.etag.clone(),
            if_modified_since: record.last_modified.clone(),
            ..self.request(url)?
        };
        let unchanged = self.client.is_unchanged(&request).map_err(|error| self.told(error))?;
        Ok(unchanged.then(|| known.got()))
    }

    /// Reports whether an answer of `url` is cached.
    pub(super) fn is_kept(&self, url: &Url) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.known(url).is_some())
    }

    /// Returns the last answer of `url`, if it is cached.
    pub(super) fn last(&self, url: &Url) -> Option<Arc<SharedFile>> {
        Some(self.cache.as_ref()?.known(url)?.file)
    }

    /// Puts `bytes` into the cache as the last answer of `url`, to be requested in full the next time.
    pub(super) fn put_back(&self, url: &Url, bytes: &[u8]) {
        let Some(cache) = &self.cache else { return };
        self.checked().remove(&url.secret_text());
        // Without it, only what was known before is forgotten.
        if write_small(&cache.answer(url), bytes).is_ok() {
            let head = Head { url: url.clone(), etag: None, last_modified: None, link: None };
            cache.learn(url, &head, Digest::of(bytes));
        }
    }

    /// Returns the file with `digest`, if it is cached.
    pub(super) fn kept(&self, digest: &Digest) -> Option<Arc<SharedFile>> {
        cache::open(&self.cache.as_ref()?.artifact(digest), digest)
    }

    /// Fetches the file at `url`, which must have `digest`, at most `limit` bytes.
    pub(super) fn promised(
        &self,
        url: &Url,
        digest: &Digest,
        what: Option<&str>,
        limit: u64,
    ) -> Result<Arc<SharedFile>> {
        if let Some(file) = self.kept(digest) {
            return Ok(file);
        }
        let place = self.cache.as_ref().map(|cache| cache.artifact(digest));
        let mut file = Download::begin(place.as_deref())?;
        let path = file.path();
        let full = |source| Error::from(PathError { action: "write", path: path.clone(), source });
        let mut sink = Hashed::new(&mut file);
        let fetched = self.client.fetch(&self.request(url)?, what, limit, &mut sink);
        let found = sink.finish();
        match fetched {
            Ok(_) => {}
            Err(HttpError::Write(source)) => return Err(full(source)),
            Err(error) => return Err(self.told(error)),
        }
        if found != *digest {
            return Err(Error::integrity(format!(
                "`{url}` does not match the site's index: expected {digest}, found {found}"
            ))
            .hint(
                "the site may be changing right now: run it again later, and report it to its owner if it persists",
            ));
        }
        Ok(Arc::new(file.keep().map_err(full)?))
    }

    /// Removes the cached file at `url`, which is not what it should be.
    pub(super) fn forget(&self, url: &Url) {
        self.checked().remove(&url.secret_text());
        if let Some(cache) = &self.cache {
            cache.forget(url);
        }
    }

    /// Turns a failed request into an error for a person.
    pub(super) fn told(&self, error: HttpError) -> Error {
        match &error {
            HttpError::Status { url, status: status @ (401 | 403), detail, .. } => {
                self.login.refused(url, *status, detail.as_deref())
            }
            HttpError::Status { url, status: status @ (404 | 410), .. } => {
                let error = Error::network(format!("`{url}` does not exist (status {status})"));
                match self.login.credential() {
                    Some(_) => error.hint("check the address, and that the login may see it"),
                    None => {
                        error.hint(format!("check the address; if it needs a login, {}", self.login.how()))
                    }
                }
            }
            _ => error.into(),
        }
    }

    fn request(&self, url: &Url) -> Result<Request> {
        let credential = self.login.credential().cloned();
        // Other hosts can only come from an index.
        let led_by = (url.origin() != self.url.origin()).then(|| self.url.clone());
        Ok(Request { led_by, credential, ..Request::new(self.login.complete(url)?) })
    }

    fn is_checked(&self, url: &Url) -> bool {
        self.checked().contains(&url.secret_text())
    }

    fn checked(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        // A set of texts is intact even after a panic of another thread.
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Missed {
    /// Returns the error for a person.
    pub(super) fn told(self, web: &Web) -> Error {
        match self {
            Self::Http(error) => web.told(error),
            Self::Other(error) => error,
        }
    }
}

impl CachedBody {
    fn got(self) -> Got {
        Got { file: self.file, url: self.url }
    }
}

/// Returns the digest that a lockfile has for a skill, if it has one.
pub(super) fn locked_digest(revision: Option<&str>) -> Result<Option<Digest>> {
    revision.map(str::parse).transpose().map_err(|error: DigestError| Error::config(error.to_string()))
}

/// Returns all bytes of `file`, whose size was limited when it was fetched.
pub(super) fn read_all(file: &SharedFile) -> Result<Vec<u8>> {
    Ok(file.read_all().map_err(ReadError::from)?)
}
