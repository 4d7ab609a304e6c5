//! The client of OCI's distribution protocol.

use std::sync::Arc;

use serde::Deserialize;

use super::manifest::{ACCEPT, Descriptor};
use super::token::{Access, Authorizer};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{Download, PathError, SharedFile, write_small};
use crate::http::{Client, Content, Credential, HttpError, Method, Request, Submitted, Upload, Url};
use crate::interop::oci::{BLOB, MANIFEST};
use crate::source::web::cache::{self, Cache, Hashed};
use crate::source::web::read_all;
use crate::spec::{OciRepository, SourceFacts as _};

/// The largest manifest that is read, in bytes.
const MANIFEST_BYTES: u64 = 4 << 20;
/// The largest page of tags that is read, in bytes.
const TAGS_BYTES: u64 = 4 << 20;
/// The largest number of pages of tags.
const MOST_PAGES: usize = 100;
/// The largest number of tags.
const MOST_TAGS: usize = 100_000;
/// A blob of more bytes is sent in pieces of this size.
const PIECE: usize = 8 << 20;
/// Docker Hub is named by one host and serves from another.
const HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// The client of a repository.
pub struct OciClient {
    repository: OciRepository,
    base: Url,
    client: Client,
    authorizer: Authorizer,
    cache: Option<Cache>,
    offline: bool,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

impl OciClient {
    /// Returns a client that does nothing until the first request.
    pub fn new(context: &Context, repository: &OciRepository) -> Result<Self> {
        let (hub, server) = HUB;
        let scheme = if repository.is_here() { "http" } else { "https" };
        let host = if repository.registry() == hub { server } else { repository.registry() };
        let base = Url::parse(&format!("{scheme}://{host}"))?;
        let settings = &context.settings;
        Ok(Self {
            repository: repository.clone(),
            client: Client::new(settings, Arc::clone(&context.reporter)),
            authorizer: Authorizer::new(context, repository, &base),
            base,
            cache: settings.dirs.cache.as_deref().map(Cache::new),
            offline: settings.offline,
        })
    }

    /// Returns the repository as it is typed.
    pub fn shown(&self) -> String {
        self.repository.typed()
    }

    /// Returns the address of `path` in the repository.
    fn url(&self, path: &str) -> Result<Url> {
        Ok(self.base.join(&format!("/v2/{}/{path}", self.repository.name()))?)
    }

    /// Calls `send` with what the registry wants requests for `access` to carry; again if it wants something else.
    fn with_credential<T>(
        &self,
        access: Access,
        mut send: impl FnMut(Option<Credential>) -> Result<T, HttpError>,
    ) -> Result<Result<T, HttpError>> {
        let credential =
            if self.offline { None } else { self.authorizer.credential(&self.client, access)? };
        match send(credential.clone()) {
            // Another server, such as one that holds blobs, does not say how to log in to this one.
            Err(HttpError::Status { status: 401, challenge: Some(header), url, detail, retry_after })
                if url.origin() == self.base.origin() =>
            {
                match self.authorizer.renewed(&self.client, &header, access, credential.as_ref())? {
                    Some(other) => Ok(send(Some(other))),
                    None => Ok(Err(HttpError::Status {
                        url,
                        status: 401,
                        detail,
                        retry_after,
                        challenge: Some(header),
                    })),
                }
            }
            result => Ok(result),
        }
    }

    /// Turns a failed request into an error for a person.
    fn told(&self, error: HttpError) -> Error {
        match &error {
            HttpError::Status { url, status: 401 | 403, detail, .. }
                if url.origin() == self.base.origin() =>
            {
                self.authorizer.refused(detail.as_deref())
            }
            _ => error.into(),
        }
    }

    fn request(url: &Url, credential: Option<Credential>) -> Request {
        Request { credential, accept: ACCEPT, ..Request::new(url.clone()) }
    }

    /// Returns the bytes of the manifest with the tag `tag`; `None` if the registry does not have it.
    pub fn tagged(&self, tag: &str) -> Result<Option<Vec<u8>>> {
        let bytes = self.read(&format!("manifests/{tag}"), MANIFEST_BYTES)?;
        if let (Some(bytes), Some(cache)) = (&bytes, &self.cache) {
            // Without it, a restore fetches it again.
            let _ = write_small(&cache.artifact(&Digest::of(bytes)), bytes);
        }
        Ok(bytes)
    }

    /// Returns the bytes of the manifest with `digest`, from the cache or else the registry; `None` if neither has it.
    pub(super) fn manifest(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        if let Some(file) = self.kept(digest).filter(|file| file.len() <= MANIFEST_BYTES) {
            return read_all(&file).map(Some);
        }
        let Some(bytes) = self.read(&format!("manifests/{digest}"), MANIFEST_BYTES)? else { return Ok(None) };
        let found = Digest::of(&bytes);
        if found != *digest {
            return Err(self.lies("manifest", digest, &found));
        }
        if let Some(cache) = &self.cache {
            let _ = write_small(&cache.artifact(digest), &bytes);
        }
        Ok(Some(bytes))
    }

    /// Reads what is at `path`, at most `limit` bytes; `None` if nothing is.
    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let url = self.url(path)?;
        let answer = self.with_credential(Access::Pull, |credential| {
            let mut bytes = Vec::new();
            let request = Self::request(&url, credential);
            self.client.fetch(&request, None, limit, &mut bytes).map(|_| bytes)
        })?;
        match answer {
            Ok(bytes) => Ok(Some(bytes)),
            Err(HttpError::Status { status: 404, .. }) => Ok(None),
            Err(error) => Err(self.told(error)),
        }
    }

    /// Returns all tags; an empty list if the repository does not exist.
    pub fn tags(&self) -> Result<Vec<String>> {
        let mut url = self.url("tags/list")?;
        let mut all: Vec<String> = Vec::new();
        for _ in 0..MOST_PAGES {
            let answer = self.with_credential(Access::Pull, |credential| {
                let mut bytes = Vec::new();
                let request = Self::request(&url, credential);
                let head = self.client.fetch(&request, None, TAGS_BYTES, &mut bytes)?;
                Ok((head.and_then(|head| head.link), bytes))
            })?;
            let (link, bytes) = match answer {
                Ok(page) => page,
                Err(HttpError::Status { status: 404, .. }) => break,
                Err(error) => return Err(self.told(error)),
            };
            let page: Tags = serde_json::from_slice(&bytes).map_err(|_| {
                Error::network(format!(
                    "`{}` gave no list of tags that can be read",
                    self.repository.registry()
                ))
            })?;
            all.extend(page.tags.unwrap_or_default());
            if all.len() > MOST_TAGS {
                let shown = self.shown();
                return Err(Error::network(format!("`{shown}` has more than {MOST_TAGS} tags"))
                    .coded(codes::TOO_LARGE)
                    .hint("name a tag or a digest"));
            }
            match link.as_deref().and_then(next_page) {
                Some(next) => {
                    let next = url.join(next)?;
                    if next.origin() != self.base.origin() {
                        break;
                    }
                    url = next;
                }
                None => break,
            }
        }
        Ok(all)
    }

    /// Returns the blob that `wanted` describes, from the cache if possible. Reports it as `what`.
    pub(super) fn blob(&self, wanted: &Descriptor, what: Option<&str>) -> Result<Arc<SharedFile>> {
        let Descriptor { digest, size } = wanted;
        if let Some(file) = self.kept(digest) {
            return self.sized(file, wanted);
        }
        let url = self.url(&format!("blobs/{digest}"))?;
        let place = self.cache.as_ref().map(|cache| cache.artifact(digest));
        let mut file = Download::begin(place.as_deref())?;
        let path = file.path();
        let full = |source| Error::from(PathError { action: "write", path: path.clone(), source });
        let mut hashed = Hashed::new(&mut file);
        let fetched = self.with_credential(Access::Pull, |credential| {
            let request = Request { accept: "*/*", ..Self::request(&url, credential) };
            self.client.fetch(&request, what, *size, &mut hashed)
        })?;
        let found = hashed.finish();
        match fetched {
            Ok(_) => {}
            Err(HttpError::Write(source)) => return Err(full(source)),
            Err(HttpError::Status { status: 404, .. }) => {
                return Err(Error::network(format!("`{}` does not have the blob {digest}", self.shown()))
                    .coded(codes::REVISION_GONE));
            }
            Err(error) => return Err(self.told(error)),
        }
        if found != *digest {
            return Err(self.lies("blob", digest, &found));
        }
        self.sized(Arc::new(file.keep().map_err(full)?), wanted)
    }

    /// Checks the size of a blob, which has its digest.
    fn sized(&self, file: Arc<SharedFile>, wanted: &Descriptor) -> Result<Arc<SharedFile>> {
        if file.len() == wanted.size {
            return Ok(file);
        }
        let (digest, size) = (&wanted.digest, wanted.size);
        Err(Error::integrity(format!(
            "a manifest of `{}` says that the blob {digest} has {size} bytes, but it has {}",
            self.shown(),
            file.len()
        )))
    }

    fn kept(&self, digest: &Digest) -> Option<Arc<SharedFile>> {
        cache::open(&self.cache.as_ref()?.artifact(digest), digest)
    }

    fn lies(&self, what: &str, wanted: &Digest, found: &Digest) -> Error {
        Error::integrity(format!(
            "`{}` sent other bytes for a {what}: expected {wanted}, found {found}",
            self.shown()
        ))
        .hint("report it to the owner of the registry")
    }
}

/// Writing.
impl OciClient {
    /// Sends the blob `bytes`, unless the registry has it.
    pub fn push_blob(&self, bytes: &[u8]) -> Result<()> {
        let digest = Digest::of(bytes);
        let url = self.url(&format!("blobs/{digest}"))?;
        let there = self.with_credential(Access::Push, |credential| {
            self.client.is_there(&Self::request(&url, credential))
        })?;
        if there.map_err(|error| self.told(error))? {
            return Ok(());
        }
        let started = self.send(Method::Post, &self.url("blobs/uploads/")?, &[], None)?;
        let mut place = self.location(&self.base, &started)?;
        let mut rest = bytes;
        if bytes.len() > PIECE {
            let mut first = 0;
            for piece in bytes.chunks(PIECE) {
                let taken = self.send(Method::Patch, &place, piece, Some(first))?;
                place = self.location(&place, &taken)?;
                first += piece.len() as u64;
            }
            rest = &[];
        }
        let mark = if place.has_query() { '&' } else { '?' };
        let last = Url::parse(&format!("{}{mark}digest={digest}", place.secret_text()))?;
        self.send(Method::Put, &last, rest, None).map(drop)
    }

    /// Puts the manifest `bytes` under the tag `tag`.
    pub fn push_manifest(&self, tag: &str, bytes: &[u8]) -> Result<()> {
        let url = self.url(&format!("manifests/{tag}"))?;
        self.submit(&Upload::new(Method::Put, url, MANIFEST, Content::Bytes(bytes.into()))).map(drop)
    }

    fn send(&self, method: Method, url: &Url, bytes: &[u8], first_byte: Option<u64>) -> Result<Submitted> {
        let content = Content::Bytes(bytes.into());
        self.submit(&Upload { first_byte, ..Upload::new(method, url.clone(), BLOB, content) })
    }

    fn submit(&self, upload: &Upload) -> Result<Submitted> {
        let answer = self.with_credential(Access::Push, |credential| {
            let upload = Upload { credential, ..upload.clone() };
            let answer = self.client.submit(&upload)?;
            if answer.is_success() {
                return Ok(answer);
            }
            let Submitted { status, challenge, body, .. } = answer;
            let detail = detail(&body, upload.credential.as_ref());
            Err(HttpError::Status { url: upload.url, status, detail, retry_after: None, challenge })
        })?;
        answer.map_err(|error| match &error {
            HttpError::Status { status: 413, .. } => {
                Error::network(error.to_string()).coded(codes::TOO_LARGE)
            }
            _ => self.told(error),
        })
    }

    /// Returns where an upload goes on.
    fn location(&self, from: &Url, answer: &Submitted) -> Result<Url> {
        let registry = self.repository.registry();
        let Some(location) = &answer.location else {
            return Err(Error::network(format!("`{registry}` does not say where to upload to")));
        };
        let url = from.join(location)?;
        if self.base.is_https() && !url.is_https() {
            let message =
                format!("`{registry}` wants files to be sent to `{url}`, which is not a secure connection");
            return Err(Error::network(message).coded(codes::REDIRECT_REFUSED));
        }
        Ok(url)
    }
}

/// Returns what a registry says about a mistake, fit to be shown: without the `credential` of the request.
fn detail(body: &[u8], credential: Option<&Credential>) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    crate::http::said(value.pointer("/errors/0/message")?.as_str()?, credential)
}

/// Returns the address of the next page from the header `Link`.
fn next_page(link: &str) -> Option<&str> {
    let (target, params) = link.trim().strip_prefix('<')?.split_once('>')?;
    params.replace(['"', ' '], "").contains("rel=next").then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_of_tags() {
        assert_eq!(
            next_page(r#"</v2/a/tags/list?n=1&last=b>; rel="next""#),
            Some("/v2/a/tags/list?n=1&last=b")
        );
        assert_eq!(next_page("<https://h/x>; rel=next"), Some("https://h/x"));
        for none in ["", "</v2/x>", "</v2/x>; rel=\"prev\"", "/v2/x; rel=next"] {
            assert_eq!(next_page(none), None, "{none}");
        }
    }

    #[test]
    fn what_registries_say_about_mistakes() {
        let body = br#"{"errors":[{"code":"DENIED","message":"no\u001b[2J way","detail":{}}]}"#;
        assert_eq!(detail(body, None).as_deref(), Some("no[2J way"));
        assert_eq!(detail(b"<html>", None), None);
        let url = Url::parse("https://host/").expect("an address");
        let credential = Credential::bearer(url.origin(), "sesame-open");
        let echo = br#"{"errors":[{"message":"no: Bearer sesame-open"}]}"#;
        let said = detail(echo, Some(&credential));
        assert!(said.is_none_or(|said| !said.contains("sesame")));
    }
}
