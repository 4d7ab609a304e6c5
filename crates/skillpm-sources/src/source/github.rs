//! Repositories on GitHub or a GitHub Enterprise server.

mod cache;
mod history;
mod newest;
mod open;
mod releases;
mod trees;

pub use history::history;
pub use open::{open, released, settings_for};
pub use releases::{Draft, NewRelease};
pub use trees::Trees;

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize as _;

use super::newest::Revisions;
use super::{FetchedSource, Released, Source, Wanted};
use crate::advice::{Opt, message};
use crate::codes;
use crate::context::Context;
use crate::env;
use crate::error::{Error, Result};
use crate::fs::{Download, PathError, SharedFile};
use crate::http::{self, Answer, Client, Credential, HttpError, Request, Url, encode};
use crate::refusal::Limits;
use crate::registry::Timestamp;
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::spec::{Origin, PUBLIC_HOST, Reference, Repository, SourceFacts, is_commit, is_github_host};

use cache::{Cache, CachedCommit};

impl Source for Repository {
    fn open(&self, context: &Context, _: ScopeRoot<'_>, wanted: Wanted<'_>) -> Result<FetchedSource> {
        open(context, self, wanted, &Limits::default())
    }

    fn revisions<'a>(
        &'a self,
        context: &'a Context,
        _: ScopeRoot<'a>,
        _: &[Option<&Reference>],
    ) -> Result<Option<Box<dyn Revisions + 'a>>> {
        Ok(Some(Box::new(newest::Repository::new(context, self))))
    }

    fn settle(&self, context: &Context, _: ScopeRoot<'_>) -> Result<Option<Origin>> {
        Ok(self.on_host(&context.settings.github.host))
    }

    fn released(&self, context: &Context, revision: Option<&str>) -> Result<Released> {
        match revision {
            Some(commit) => released(context, self, commit).map(Released::At),
            None => Ok(Released::Untold),
        }
    }

    fn history(
        &self,
        context: &Context,
        revision: &str,
        path: Option<&str>,
        count: usize,
    ) -> Result<Vec<String>> {
        history(context, self, revision, path, count)
    }
}

/// The answer to a request for a commit has 40 bytes; a proxy's page would be longer.
const TEXT_BYTES: u64 = 1024 * 1024;

/// One repository, as the API serves it.
///
/// The token is sent only to the API's origin: archives come from another host, through a redirect whose
/// address is itself a credential.
#[derive(Debug)]
pub struct GitHub<'a> {
    client: &'a Client,
    settings: &'a Settings,
    repository: Repository,
    api: Url,
    cache: Option<Cache>,
}

impl<'a> GitHub<'a> {
    /// Returns `repository` on the server in `settings`.
    ///
    /// # Errors
    ///
    /// Fails for a repository on another server than the one in the settings, and for settings without a
    /// usable address or token.
    pub fn new(client: &'a Client, settings: &'a Settings, repository: &Repository) -> Result<Self> {
        let github = &settings.github;
        let host = repository.host.as_deref().unwrap_or(PUBLIC_HOST);
        if host != github.host {
            let error = Error::usage(format!("`{repository}` is not on `{}`", github.host));
            // Setting it sends the user's token there, so this is not suggested for a host that only looks
            // like a server.
            let error = if is_github_host(host) {
                error.hint(format!("if `{host}` is your GitHub Enterprise server, set `GH_HOST={host}`"))
            } else {
                error
            };
            return Err(error.hint("for anything else write the address with its scheme, `https://`"));
        }
        // Names become parts of addresses and of paths, wherever they came from.
        let repository = Repository::new(repository.host.as_deref(), &repository.owner, &repository.name)
            .map_err(|error| Error::usage(error.to_string()))?;
        if github.token.as_ref().is_some_and(|token| !token.bytes().all(|b| b.is_ascii_graphic())) {
            let variable = token_variable(settings);
            return Err(Error::config(format!("`{variable}` contains a character that tokens cannot have"))
                .hint(format!("set `{variable}` to the token alone, without quotes or line breaks")));
        }
        let api = Url::parse(&github.api_url)?;
        if github.token.is_some() && !api.is_private() {
            let variable = token_variable(settings);
            return Err(Error::config(format!(
                "the token in `{variable}` is not sent to `{api}`: anyone on the network could read it"
            ))
            .hint(format!("set `GITHUB_API_URL` to an address with `https://`, or unset `{variable}`")));
        }
        let cache = settings.dirs.cache.as_deref().map(|dir| Cache::new(dir, &api.origin(), &repository));
        Ok(Self { client, settings, repository, api, cache })
    }

    /// Requests the commit that `reference` means (`None` is the newest of the default branch) and returns
    /// its 40 hexadecimal digits.
    ///
    /// # Errors
    ///
    /// Fails for a repository or revision that does not exist or is not visible, for a commit other than the
    /// requested one, and for any failure of the request.
    pub fn resolve(&self, reference: Option<&Reference>) -> Result<String> {
        let shown = reference.map_or("HEAD", Reference::name);
        let (asked, wanted) = match reference {
            None => ("HEAD".to_owned(), None),
            Some(reference) => question(reference)?,
        };
        let url = self.url(&format!("commits/{}", encode(&asked)))?;
        let known = self.cache.as_ref().and_then(|cache| cache.known(&url));
        let request = Request {
            accept: "application/vnd.github.sha",
            if_none_match: known.as_ref().map(|known| known.etag.clone()),
            ..self.request(url.clone())
        };
        let answer = self.client.get_text(&request, TEXT_BYTES);
        let commit = match answer.map_err(|error| self.explain(error, shown))? {
            Answer::Text { text, etag, url: answered } => {
                let commit = self.learn(&url, text.trim(), etag)?;
                if answered != url {
                    self.tell_new_name();
                }
                commit
            }
            Answer::NotModified => known.map(|known| known.sha).unwrap_or_default(),
        };
        match wanted {
            Some(wanted) if !commit.starts_with(&wanted) => Err(self.other_commit(&wanted, &commit)),
            _ => Ok(commit),
        }
    }

    /// Warns that the repository has another name by now, if that can be learnt.
    fn tell_new_name(&self) {
        let Ok(url) = self.url("") else { return };
        let Ok(Answer::Text { text, .. }) = self.client.get_text(&self.request(url), TEXT_BYTES) else {
            return;
        };
        let shown: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let Some((owner, name)) = shown["full_name"].as_str().and_then(|name| name.split_once('/')) else {
            return;
        };
        match Repository::new(self.repository.host.as_deref(), owner, name) {
            Ok(new) if new != self.repository => self.client.reporter().warning(&format!(
                "`{}` is now `{new}`: name it so, since somebody else may take the old name",
                self.repository
            )),
            _ => {}
        }
    }

    /// Returns the time of `commit`, in seconds since 1970.
    ///
    /// # Errors
    ///
    /// Fails as [`GitHub::resolve`] does, and for an answer without that time.
    pub fn released(&self, commit: &str) -> Result<i64> {
        let url = self.url(&format!("commits/{commit}"))?;
        let request = Request { accept: "application/vnd.github+json", ..self.request(url) };
        let answer =
            self.client.get_text(&request, TEXT_BYTES).map_err(|error| self.explain(error, commit))?;
        let text = if let Answer::Text { text, .. } = answer { text } else { String::new() };
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let date = Timestamp::deserialize(&value["commit"]["committer"]["date"]);
        date.map(Timestamp::seconds).map_err(|_| {
            let host = self.api.origin();
            Error::network(format!("the response from `{host}` does not say when `{commit}` was committed"))
                .hint("check `GITHUB_API_URL`; a proxy or a login page may be in the way")
        })
    }

    /// Downloads the archive of `commit`, at most `limit` bytes, and returns it open. Uses a cached archive
    /// without a request.
    ///
    /// The bytes are as the server sent them. The caller checks them, including that they belong to `commit`,
    /// and calls [`GitHub::forget`] if they are wrong.
    ///
    /// # Errors
    ///
    /// Fails as [`GitHub::resolve`] does, for an archive that is too large, and if there is no place for it.
    pub fn download(&self, commit: &str, limit: u64) -> Result<Arc<SharedFile>> {
        if !is_commit(commit) {
            return Err(Error::not_a_commit(commit));
        }
        let path = self.archive(commit);
        if let Some(file) = path.as_deref().and_then(cache::open) {
            if file.len() > limit {
                return Err(HttpError::TooLarge { host: self.api.origin().to_string(), limit }.into());
            }
            self.client.not_needed(&self.url(&format!("zipball/{commit}"))?);
            return Ok(Arc::new(file));
        }
        let mut file = Download::begin(path.as_deref())?;
        let place = file.path();
        let full = |source| Error::from(PathError { action: "write", path: place.clone(), source });
        let request = self.request(self.url(&format!("zipball/{commit}"))?);
        self.client.download(&request, &self.repository.to_string(), limit, &mut file).map_err(|error| {
            match error {
                HttpError::Write(source) => full(source),
                error => self.explain(error, commit),
            }
        })?;
        let mut first = [0; 2];
        let zip = file.peek(&mut first).map_err(full)? == 2 && first == *b"PK";
        // A login page is not worth keeping.
        let file = if zip { file.keep() } else { file.use_once() };
        Ok(Arc::new(file.map_err(full)?))
    }

    /// Reports whether the archive of `commit` is cached.
    pub(crate) fn is_cached(&self, commit: &str) -> bool {
        self.archive(commit).is_some_and(|path| cache::open(&path).is_some())
    }

    /// Removes the cached archive of `commit`, so that it is downloaded again.
    ///
    /// # Errors
    ///
    /// Fails if it exists and cannot be removed.
    pub fn forget(&self, commit: &str) -> Result<()> {
        match self.archive(commit) {
            Some(path) => Ok(crate::fs::remove_if_there(&path)?),
            None => Ok(()),
        }
    }

    fn archive(&self, commit: &str) -> Option<PathBuf> {
        self.cache.as_ref().filter(|_| is_commit(commit)).map(|cache| cache.archive(commit))
    }

    fn url(&self, rest: &str) -> Result<Url> {
        let Repository { owner, name, .. } = &self.repository;
        let slash = if rest.is_empty() { "" } else { "/" };
        let api = &self.settings.github.api_url;
        Ok(Url::parse(&format!("{api}/repos/{owner}/{name}{slash}{rest}"))?)
    }

    fn request(&self, url: Url) -> Request {
        Request { credential: self.credential(self.api.origin()), ..Request::new(url) }
    }

    /// Returns the token as a credential for `origin`, which belongs to the server.
    fn credential(&self, origin: http::Origin) -> Option<Credential> {
        self.settings.github.token.as_ref().map(|token| Credential::bearer(origin, token))
    }

    /// Checks an answer and caches it.
    fn learn(&self, url: &Url, text: &str, etag: Option<String>) -> Result<String> {
        if !is_commit(text) {
            let host = self.api.origin();
            return Err(Error::network(format!("the response from `{host}` is not the id of a commit"))
                .hint("check `GITHUB_API_URL`; a proxy or a login page may be in the way"));
        }
        if let (Some(cache), Some(etag)) = (&self.cache, etag) {
            cache.learn(url, &CachedCommit { etag, sha: text.to_owned() });
        }
        Ok(text.to_owned())
    }

    fn other_commit(&self, wanted: &str, commit: &str) -> Error {
        Error::integrity(format!(
            "commit `{wanted}` of `{}` was requested, but the server answered with `{commit}`",
            self.repository
        ))
        .hint("a branch or tag of that name hides the commit: name another revision")
    }

    /// Explains a failed request in terms of this repository and the requested revision.
    fn explain(&self, error: HttpError, revision: &str) -> Error {
        let (repository, host) = (&self.repository, self.api.origin());
        if let HttpError::Offline(_) = &error {
            let what = if is_commit(revision) {
                format!("commit `{revision}` of `{repository}`")
            } else {
                format!("`{repository}`")
            };
            return Error::from(error).retold(message!(
                format_args!("{what} is not in the store, and "),
                Opt::Offline,
                " forbids the network"
            ));
        }
        let HttpError::Status { url, status, detail, .. } = &error else {
            return self.limited(error);
        };
        // The host of the archives handles neither tokens nor revisions.
        if url.origin() != host {
            return error.into();
        }
        match status {
            401 => self.bad_token(),
            403 => {
                let why = detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
                Error::network(format!("`{host}` does not allow access to `{repository}`{why}"))
                    .hint(self.token_hint("that may read the repository"))
            }
            404 if self.exists() != Some(true) => {
                Error::network(format!("the repository `{repository}` was not found, or is private"))
                    .hint(self.token_hint("that may read it, if it is private, else check the spelling"))
            }
            404 | 422 => Error::usage(format!("`{repository}` has no revision `{revision}`"))
                .coded(codes::REVISION_UNKNOWN)
                .hint("name a tag, a branch or a full commit id of that repository"),
            409 => Error::usage(format!("the repository `{repository}` is empty")),
            451 => Error::network(format!("the repository `{repository}` is blocked for legal reasons")),
            _ => error.into(),
        }
    }

    /// Returns `error` for a person; if it is the limit for requests without a token, says how to have one.
    fn limited(&self, error: HttpError) -> Error {
        let needs_token = matches!(&error, HttpError::RateLimit { host, authorized: false, .. }
            if *host == self.api.origin().to_string());
        let error = Error::from(error);
        if !needs_token {
            return error;
        }
        let variable = token_variable(self.settings);
        error.hint(format!(
            "set `{variable}` to a token: GitHub allows far more requests with one; `gh auth token` prints yours"
        ))
    }

    /// Reports whether the repository is visible, or `None` if that is unknown too.
    fn exists(&self) -> Option<bool> {
        match self.client.get_text(&self.request(self.url("").ok()?), TEXT_BYTES) {
            Ok(_) => Some(true),
            Err(HttpError::Status { status: 404, .. }) => Some(false),
            Err(_) => None,
        }
    }

    fn bad_token(&self) -> Error {
        let host = self.api.origin();
        if self.settings.github.token.is_none() {
            return Error::network(format!("`{host}` requires a login")).hint(self.token_hint("for it"));
        }
        let variable = token_variable(self.settings);
        Error::network(format!("`{host}` does not accept the token in `{variable}`")).hint(format!(
            "it may have expired: set `{variable}` to a new one, or unset it for public repositories"
        ))
    }

    fn token_hint(&self, which: &str) -> String {
        let variable = token_variable(self.settings);
        if self.settings.github.token.is_some() {
            format!("`{variable}` needs a token {which}")
        } else {
            format!("set `{variable}` to a token {which}; `gh auth token` prints yours")
        }
    }
}

/// Returns the path of the API request, and the digits that the answer must begin with.
fn question(reference: &Reference) -> Result<(String, Option<String>)> {
    let name = reference.name();
    let bad = || Error::usage(format!("`{name}` is not the name of a tag, branch or commit"));
    Reference::check(name).map_err(|_| bad())?;
    // Servers treat `.` and names that begin with it as path steps, and git forbids such names.
    if name.split('/').any(|part| part.starts_with('.')) {
        return Err(bad());
    }
    let digits = match reference {
        Reference::Tag(_) => return Ok((format!("tags/{name}"), None)),
        Reference::Branch(_) => return Ok((format!("heads/{name}"), None)),
        Reference::Range(_) => return Err(bad()),
        Reference::Rev(_) => Some(reference.commit_digits().ok_or_else(|| Error::not_a_commit(name))?),
        Reference::Any(_) => reference.commit(),
    };
    Ok((digits.clone().unwrap_or_else(|| name.to_owned()), digits))
}

/// Returns the variable that holds the token, or the one that should be set to it.
fn token_variable(settings: &Settings) -> &'static str {
    let enterprise = settings.github.host != "github.com";
    let names: &[&str] = if enterprise {
        &[env::GH_ENTERPRISE_TOKEN, env::GITHUB_TOKEN, env::GH_TOKEN]
    } else {
        &[env::GITHUB_TOKEN, env::GH_TOKEN]
    };
    let set = names.iter().find(|name| settings.env.get(name).is_some());
    set.copied().unwrap_or(if enterprise { env::GH_ENTERPRISE_TOKEN } else { env::GITHUB_TOKEN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gg13_commits_are_held_to_their_digits() {
        let asked = |reference| question(&reference).expect("a reference");
        let (upper, lower) = ("ABCDEF0123".repeat(4), "abcdef0123".repeat(4));
        assert_eq!(asked(Reference::Any(upper.clone())), (lower.clone(), Some(lower.clone())));
        assert_eq!(asked(Reference::Rev("abc1234".into())), ("abc1234".into(), Some("abc1234".into())));
        assert_eq!(asked(Reference::Any("abc1234".into())), ("abc1234".into(), None));
        assert_eq!(asked(Reference::Tag(lower.clone())), (format!("tags/{lower}"), None));
    }

    #[test]
    fn lk19_a_name_is_no_commit() {
        for reference in [
            Reference::Rev("main".into()),
            Reference::Rev("abc".into()),
            Reference::Any("a/../../x".into()),
            Reference::Any("a/.b".into()),
            Reference::Branch(String::new()),
        ] {
            assert!(question(&reference).is_err(), "{reference:?}");
        }
    }
}
