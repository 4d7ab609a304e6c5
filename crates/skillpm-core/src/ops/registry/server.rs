//! The client of a registry that a server has.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::advice::{Message, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::http::{
    Answer, Client, Content, Credential, HttpError, Login, Method, Request, Submitted, Upload, Url, encode,
    said,
};
use crate::name::SkillName;
use crate::registry::{
    Account, Config, MAX_FILE, NameList, ReadFiles, SearchIndex, TrustedPublisher, Visibility, config, files,
    read,
};
use crate::spec::Address;
use crate::text::closest;

/// The number of hints of a server that are shown.
const MOST_HINTS: usize = 3;
/// The media type of requests and responses.
const JSON: &str = "application/json";

/// A registry that a server has.
pub(in crate::ops) struct RegistryServer {
    address: Address,
    root: Url,
    /// The name of the registry.
    name: String,
    /// Where the server has its own interface, relative to the root. Files alone have none.
    api: Option<String>,
    client: Client,
    login: Login,
    /// The credential of each request, only for this server.
    credential: Option<Credential>,
}

/// The owners and the visibility of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Access {
    /// The accounts that own it.
    pub(super) owners: Vec<Account>,
    /// The workflows whose jobs may publish it.
    pub(super) publishers: Vec<TrustedPublisher>,
    /// The visibility.
    pub(super) visibility: Visibility,
}

/// The error message of a server.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Problem {
    code: String,
    detail: String,
    hints: Vec<String>,
}

#[derive(Deserialize)]
struct Changed {
    changed: bool,
}

impl RegistryServer {
    /// Opens the registry at `address`.
    pub(in crate::ops) fn open(context: &Context, address: &Address) -> Result<Self> {
        let settings = &context.settings;
        let named = Url::parse(address.as_str())?;
        let login = Login::find(settings, &named)?;
        if let Some(exposure) = login.exposure() {
            context.reporter.warning(exposure);
        }
        let server = Self {
            address: address.clone(),
            root: Url::parse(&format!("{}/", named.secret_text().trim_end_matches('/')))?,
            name: String::new(),
            api: None,
            client: Client::new(settings, Arc::clone(&context.reporter)),
            credential: login.credential().cloned(),
            login,
        };
        let Config { name, api, .. } = config(&server)?.ok_or_else(|| {
            Error::network(format!("`{address}` is not a registry: it has no `{}`", files::CONFIG))
                .coded(codes::REGISTRY_ABSENT)
                .hint("check the address; `config.json` lies directly below it")
        })?;
        Ok(Self { name: name.into(), api, ..server })
    }

    /// Returns its address, for outcomes and messages.
    pub(in crate::ops) fn shown(&self) -> String {
        self.address.to_string()
    }

    /// Returns its address as the server itself is to know it: without a slash at its end.
    pub(in crate::ops) fn own_address(&self) -> String {
        self.root.to_string().trim_end_matches('/').to_owned()
    }

    /// Returns what the registry calls itself.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns what is known about logging in there.
    pub(in crate::ops) fn login(&self) -> &Login {
        &self.login
    }

    /// Sends `token` with each request from now on.
    pub(in crate::ops) fn use_token(&mut self, token: &str) {
        self.credential = Some(Credential::bearer(self.root.origin(), token));
    }

    /// Returns the versions of the skill `name`; `None` if the registry does not have it.
    pub(in crate::ops) fn versions(&self, name: &SkillName) -> Result<Option<NameList>> {
        read(self, &files::list(name), |bytes| NameList::parse(bytes, name))
    }

    /// Returns all skills.
    pub(super) fn skills(&self) -> Result<SearchIndex> {
        Ok(read(self, files::SEARCH, SearchIndex::parse)?.unwrap_or_default())
    }

    /// Returns who may publish the skill `name`, and who may see it.
    pub(super) fn access(&self, name: &SkillName) -> Result<Access> {
        let path = format!("skills/{}/owners", encode(name.as_str()));
        let text = self.fetch(&self.api(&path)?, MAX_FILE)?.ok_or_else(|| self.unknown(name))?;
        serde_json::from_str(&text).map_err(|_| self.unexpected())
    }

    /// Asks for a change at `path` of the server's interface, which `body` describes. Returns whether that is new.
    pub(super) fn change(&self, method: Method, path: &str, body: &impl Serialize) -> Result<bool> {
        let answer = self.submit(method, path, body)?;
        let Changed { changed } = serde_json::from_slice(&answer.body).map_err(|_| self.unexpected())?;
        Ok(changed)
    }

    /// Sends `body` to `path` of the server's interface.
    pub(in crate::ops) fn submit(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Submitted> {
        // It cannot fail: every key is text, and writing to memory has no errors.
        let bytes = serde_json::to_vec(body).unwrap_or_default();
        self.send(method, path, JSON, bytes)
    }

    /// Sends `bytes` of the media type `content_type` to `path` of the server's interface.
    pub(in crate::ops) fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        bytes: Vec<u8>,
    ) -> Result<Submitted> {
        let url = self.api(path)?;
        let upload = Upload {
            accept: JSON,
            credential: self.credential.clone(),
            ..Upload::new(method, url.clone(), content_type, Content::Bytes(bytes.into()))
        };
        let answer = self.client.submit(&upload)?;
        if answer.is_success() { Ok(answer) } else { Err(self.refused(&url, &answer)) }
    }

    /// Returns the error for an answer that is not what it should be.
    pub(in crate::ops) fn unexpected(&self) -> Error {
        Error::integrity(format!("unexpected response from `{}`", self.address))
            .coded(codes::REGISTRY_UNUSABLE)
    }

    /// Returns the error for a skill that the registry does not have, or does not show.
    pub(super) fn unknown(&self, name: &SkillName) -> Error {
        let error =
            Error::usage(format!("`{}` has no skill `{name}`", self.address)).coded(codes::RELEASE_UNKNOWN);
        // Without the list, there is only no advice.
        let known: Vec<_> =
            self.skills().unwrap_or_default().skills.into_iter().map(|one| one.name).collect();
        let error = match closest(name.as_str(), known.iter().map(SkillName::as_str)) {
            Some(close) => error.hint(format!("did you mean `{close}`?")),
            None => error,
        };
        if self.credential.is_some() { error } else { error.hint(self.how_to_log_in()) }
    }

    /// Returns the address of `path` of the server's interface.
    fn api(&self, path: &str) -> Result<Url> {
        let Some(api) = &self.api else {
            return Err(Error::usage(format!(
                "`{}` serves files alone, so nothing can be changed there",
                self.address
            ))
            .coded(codes::REGISTRY_ABSENT)
            .hint("change the directory that is served there, and copy it as before"));
        };
        let api = self.root.join(api)?;
        // It may name any address, and what is sent there has the token.
        if api.origin() != self.root.origin() {
            return Err(Error::network(format!(
                "`{}` wants packages at `{api}`, which is another server",
                self.address
            ))
            .coded(codes::REDIRECT_REFUSED));
        }
        Ok(api.join(path)?)
    }

    /// Returns the error for an answer that refuses something.
    fn refused(&self, url: &Url, answer: &Submitted) -> Error {
        let credential = self.credential.as_ref();
        let problem: Problem = serde_json::from_slice(&answer.body).unwrap_or_default();
        let detail = said(&problem.detail, credential);
        if answer.status == 401 || (answer.status == 403 && problem.code.is_empty()) {
            return self
                .login
                .refused(url, answer.status, detail.as_deref())
                .coded(codes::TOKEN_REFUSED)
                .hint(self.how_to_log_in());
        }
        let detail = detail.unwrap_or_else(|| format!("it answered with status {}", answer.status));
        let mut error = match (answer.status, code(&problem.code)) {
            (429, _) => Error::network(detail).coded(codes::RATE_LIMIT),
            (_, Some(code)) => Error::usage(detail).coded(code),
            (_, None) => Error::usage(detail).coded(codes::RELEASE_REFUSED),
        };
        for hint in problem.hints.iter().filter_map(|hint| said(hint, credential)).take(MOST_HINTS) {
            error = error.hint(hint);
        }
        error.context(format!("`{}` refused the request", self.address))
    }

    fn how_to_log_in(&self) -> Message {
        message!(Verb::Registry.call().word("login").word(&self.address), " keeps a token for it")
    }

    /// Reads what is at `url`; `None` if nothing is.
    fn fetch(&self, url: &Url, limit: u64) -> Result<Option<String>> {
        let request = Request { credential: self.credential.clone(), ..Request::new(url.clone()) };
        match self.client.get_text(&request, limit) {
            Ok(Answer::Text { text, .. }) => Ok(Some(text)),
            Ok(Answer::NotModified) | Err(HttpError::Status { status: 404 | 410, .. }) => Ok(None),
            Err(HttpError::Status { url: at, status: status @ (401 | 403), detail, .. }) => {
                let error = self.login.refused(&at, status, detail.as_deref());
                Err(error.coded(codes::TOKEN_REFUSED).hint(self.how_to_log_in()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl ReadFiles for RegistryServer {
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let url = self.login.complete(&self.root.join(path)?)?;
        Ok(self.fetch(&url, limit)?.map(String::into_bytes))
    }

    fn unusable(&self, path: &str, reason: &dyn fmt::Display) -> Error {
        Error::integrity(format!("`{}` is not a registry: its `{path}`: {reason}", self.address))
            .coded(codes::REGISTRY_UNUSABLE)
    }
}

/// Returns the code that a server gives a mistake of the client, if it is one that is known here.
fn code(text: &str) -> Option<&'static str> {
    [
        codes::NAME_NOT_AVAILABLE,
        codes::NOT_PERMITTED,
        codes::RELEASE_REFUSED,
        codes::RELEASE_UNKNOWN,
        codes::TOO_LARGE,
        codes::VERSION_EXISTS,
    ]
    .into_iter()
    .find(|code| *code == text)
}
