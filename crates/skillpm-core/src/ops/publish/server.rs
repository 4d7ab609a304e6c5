//! Publishing to a server of a registry.

use std::sync::Arc;

use serde::Deserialize;

use super::outcome::PublishRequest;
use crate::advice::{Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::http::{
    Answer, Client, Content, HttpError, Login, Method, Request, Submitted, Upload, Url, encode, said,
};
use crate::ops::pack::Packed;
use crate::registry::{Config, NameList, Record, files};
use crate::spec::Address;

/// The largest file about a registry or a skill that is read, in bytes.
const TEXT_BYTES: u64 = 64 << 20;
/// The number of hints of a server that are shown.
const MOST_HINTS: usize = 3;

/// A registry that a server has.
pub(super) struct Server {
    address: Address,
    root: Url,
    /// Where the server has its own interface.
    api: Url,
    client: Client,
    login: Login,
}

/// What a server says about a mistake.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Problem {
    code: String,
    detail: String,
    hints: Vec<String>,
}

impl Server {
    /// Opens the registry at `address`.
    ///
    /// # Errors
    ///
    /// Fails if there is none, if it is files alone, and if `request` names a tag.
    pub(super) fn open(context: &Context, address: &Address, request: &PublishRequest) -> Result<Self> {
        if request.tag.is_some() {
            return Err(super::directory::no_tags());
        }
        let settings = &context.settings;
        let named = Url::parse(address.as_str())?;
        let login = Login::find(settings, &named)?;
        if let Some(exposure) = login.exposure() {
            context.reporter.warning(exposure);
        }
        let root = Url::parse(&format!("{}/", named.secret_text().trim_end_matches('/')))?;
        let client = Client::new(settings, Arc::clone(&context.reporter));
        let mut server = Self { address: address.clone(), api: root.clone(), root, client, login };
        let absent = || {
            Error::network(format!("`{address}` is not a registry: it has no `{}`", files::CONFIG))
                .coded(codes::REGISTRY_ABSENT)
                .hint("check the address; `config.json` lies directly below it")
        };
        let text = server.text(files::CONFIG)?.ok_or_else(absent)?;
        let config = Config::parse(text.as_bytes()).map_err(|error| {
            Error::integrity(format!("`{address}` is not a registry: {error}"))
                .coded(codes::REGISTRY_UNUSABLE)
        })?;
        let Some(api) = config.api else {
            return Err(Error::usage(format!(
                "`{address}` serves files alone, so nothing can be published there"
            ))
            .coded(codes::REGISTRY_ABSENT)
            .hint("publish to the directory whose files are served there, and copy it as before"));
        };
        let api = server.root.join(&api)?;
        if api.origin() != server.root.origin() {
            return Err(Error::network(format!(
                "`{address}` wants packages at `{api}`, which is another server"
            ))
            .coded(codes::REDIRECT_REFUSED));
        }
        server.api = api;
        Ok(server)
    }

    /// Returns its address.
    pub(super) fn shown(&self) -> String {
        self.address.to_string()
    }

    /// Publishes `packed`. With `dry_run`, only checks whether the server has the version already.
    ///
    /// # Errors
    ///
    /// Fails if it has the version, and if it refuses the package or the token.
    pub(super) fn publish(&self, packed: &Packed, dry_run: bool) -> Result<()> {
        let (name, version) = (&packed.name, &packed.version);
        if dry_run {
            let Some(text) = self.text(&files::list(name))? else { return Ok(()) };
            let list = NameList::parse(text.as_bytes(), name).map_err(|error| {
                Error::integrity(format!("`{}`: {error}", self.address)).coded(codes::REGISTRY_UNUSABLE)
            })?;
            return match list.get(version) {
                Some(_) => Err(self.already(packed)),
                None => Ok(()),
            };
        }
        let path = format!("skills/{}/versions/{}", encode(name.as_str()), encode(version.as_str()));
        let url = self.api.join(&path)?;
        let content = Content::Bytes(packed.bytes.clone().into());
        let upload = Upload {
            accept: "application/json",
            credential: self.login.credential().cloned(),
            ..Upload::new(Method::Put, url.clone(), "application/zip", content)
        };
        let answer = self.client.submit(&upload)?;
        if !answer.is_success() {
            return Err(self.refused(&url, &answer));
        }
        if answer.status == 200 {
            return Err(self.already(packed));
        }
        let record: Record = serde_json::from_slice(&answer.body).map_err(|_| {
            Error::integrity(format!("`{}` does not say what it published", self.address))
                .coded(codes::REGISTRY_UNUSABLE)
        })?;
        if record.digest == packed.digest {
            return Ok(());
        }
        Err(Error::integrity(format!(
            "`{}` published `{name}` {version} with the digest `{}`, and not with `{}`",
            self.address, record.digest, packed.digest
        ))
        .coded(codes::REGISTRY_MISMATCH))
    }

    fn already(&self, packed: &Packed) -> Error {
        Error::usage(format!("`{}` has `{}` {} already", self.address, packed.name, packed.version))
            .coded(codes::VERSION_EXISTS)
            .hint(message!("a published version never changes: ", Verb::Bump.call().word("patch")))
    }

    /// Returns the error for an answer that refuses a package.
    fn refused(&self, url: &Url, answer: &Submitted) -> Error {
        let credential = self.login.credential();
        let problem: Problem = serde_json::from_slice(&answer.body).unwrap_or_default();
        let detail = said(&problem.detail, credential);
        if matches!(answer.status, 401) || (answer.status == 403 && problem.code.is_empty()) {
            let login = Verb::Registry.call().word("login").word(&self.address);
            return self
                .login
                .refused(url, answer.status, detail.as_deref())
                .hint(message!(login, " keeps a token for it"));
        }
        let detail = detail.unwrap_or_else(|| format!("it answered with status {}", answer.status));
        let mut error = match answer.status {
            409 => Error::usage(detail).coded(codes::VERSION_EXISTS),
            429 => Error::network(detail).coded(codes::RATE_LIMIT),
            _ => Error::usage(detail).coded(codes::RELEASE_REFUSED),
        };
        for hint in problem.hints.iter().filter_map(|hint| said(hint, credential)).take(MOST_HINTS) {
            error = error.hint(hint);
        }
        error.context(format!("`{}` does not take the package", self.address))
    }

    /// Reads the file at `path` below the registry; `None` if there is none.
    fn text(&self, path: &str) -> Result<Option<String>> {
        let url = self.root.join(path)?;
        let request = Request { credential: self.login.credential().cloned(), ..Request::new(url.clone()) };
        match self.client.get_text(&request, TEXT_BYTES) {
            Ok(Answer::Text { text, .. }) => Ok(Some(text)),
            Ok(Answer::NotModified) | Err(HttpError::Status { status: 404 | 410, .. }) => Ok(None),
            Err(HttpError::Status { url: at, status: status @ (401 | 403), .. }) => {
                let login = Verb::Registry.call().word("login").word(&self.address);
                Err(self.login.refused(&at, status, None).hint(message!(login, " keeps a token for it")))
            }
            Err(error) => Err(error.into()),
        }
    }
}
