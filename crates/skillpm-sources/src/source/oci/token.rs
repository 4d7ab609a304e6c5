//! The credential of a request to a registry: nothing, a password, or a token of the server that it names.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::challenge::Challenge;
use super::credentials::{self, FoundLogin, Secret};
use crate::advice::{Message, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::http::{Client, Content, Credential, HttpError, Method, Request, Upload, Url, encode};
use crate::reporter::Reporter;
use crate::settings::Settings;
use crate::spec::OciRepository;

/// The largest answer of a server of tokens, in bytes.
const ANSWER_BYTES: u64 = 256 * 1024;
/// The seconds that a token is valid if its server does not say.
const USUAL: u64 = 60;
/// A token that is valid for a shorter time is not used any more.
const MARGIN: Duration = Duration::from_secs(10);
/// The name of skillpm at servers of tokens.
const CLIENT: &str = "skillpm";

/// The operation of a request in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It reads.
    Pull,
    /// It reads and writes.
    Push,
}

/// The logins that this process knows.
static KNOWN: Mutex<TokenCache> =
    Mutex::new(TokenCache { challenges: BTreeMap::new(), tokens: BTreeMap::new() });

struct TokenCache {
    /// How registries want clients to log in, by their addresses.
    challenges: BTreeMap<String, Option<Challenge>>,
    tokens: BTreeMap<TokenKey, (Credential, Instant)>,
}

/// The subject of a token.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TokenKey {
    registry: String,
    realm: String,
    service: Option<String>,
    scope: String,
    secret: Option<Secret>,
}

/// The way into a repository.
pub(super) struct Authorizer {
    repository: OciRepository,
    base: Url,
    settings: Settings,
    reporter: Arc<dyn Reporter>,
    found: OnceLock<FoundLogin>,
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

fn known() -> std::sync::MutexGuard<'static, TokenCache> {
    // Maps of whole values are intact even after a panic of another thread.
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Authorizer {
    pub(super) fn new(context: &Context, repository: &OciRepository, base: &Url) -> Self {
        Self {
            repository: repository.clone(),
            base: base.clone(),
            settings: context.settings.clone(),
            reporter: Arc::clone(&context.reporter),
            found: OnceLock::new(),
        }
    }

    /// Returns what the first request for `access` is to carry. Asks the registry how to log in, once for each process.
    pub(super) fn credential(&self, client: &Client, access: Access) -> Result<Option<Credential>> {
        let registry = self.base.origin().address();
        let challenge = known().challenges.get(&registry).cloned();
        let challenge = if let Some(challenge) = challenge {
            challenge
        } else {
            let header = self.ping(client)?;
            let challenge = header.as_deref().and_then(Challenge::parse);
            known().challenges.insert(registry, challenge.clone());
            challenge
        };
        self.answer(client, challenge.as_ref(), access)
    }

    /// Returns what a request for `access` is to carry that was refused with `header`, when it carried `last`. Returns
    /// `None` if that would be the same again.
    pub(super) fn renewed(
        &self,
        client: &Client,
        header: &str,
        access: Access,
        last: Option<&Credential>,
    ) -> Result<Option<Credential>> {
        let Some(challenge) = Challenge::parse(header) else { return Ok(None) };
        let is_last = |credential: &Credential| last.is_some_and(|last| last.value == credential.value);
        {
            let mut known = known();
            known.challenges.insert(self.base.origin().address(), Some(challenge.clone()));
            known.tokens.retain(|_, (credential, _)| !is_last(credential));
        }
        let credential = self.answer(client, Some(&challenge), access)?;
        Ok(credential.filter(|credential| !is_last(credential)))
    }

    /// Asks the registry whether it is one, and how to log in.
    fn ping(&self, client: &Client) -> Result<Option<String>> {
        let url = self.base.join("/v2/")?;
        client.challenge(&Request::new(url)).map_err(|error| match error {
            HttpError::Status { status: 404, .. } => Error::network(format!(
                "`{}` is not an OCI registry: it has no `/v2/`",
                self.repository.registry()
            ))
            .hint("check the host and the port"),
            error => error.into(),
        })
    }

    fn found(&self) -> Result<&FoundLogin> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found = credentials::find(&self.settings, &*self.reporter, &self.base, &self.repository)?;
        Ok(self.found.get_or_init(|| found))
    }

    fn answer(
        &self,
        client: &Client,
        challenge: Option<&Challenge>,
        access: Access,
    ) -> Result<Option<Credential>> {
        let Some(challenge) = challenge else { return Ok(None) };
        let secret = self.found()?.login.as_ref().map(|(secret, _)| secret);
        let here = |value: &String| Some(Credential { origin: self.base.origin(), value: value.clone() });
        match (challenge, secret) {
            (_, Some(Secret::Bearer(value))) | (Challenge::Basic, Some(Secret::Basic(value))) => {
                Ok(here(value))
            }
            (Challenge::Basic, Some(Secret::Refresh(_)) | None) => Ok(None),
            (Challenge::Bearer { realm, service }, secret) => {
                let actions = if access == Access::Push { "pull,push" } else { "pull" };
                let key = TokenKey {
                    registry: self.base.origin().address(),
                    realm: realm.clone(),
                    service: service.clone(),
                    scope: format!("repository:{}:{actions}", self.repository.name()),
                    secret: secret.cloned(),
                };
                if let Some((credential, until)) = known().tokens.get(&key)
                    && *until > Instant::now()
                {
                    return Ok(Some(credential.clone()));
                }
                let (token, seconds) = self.token(client, &key)?;
                let credential = Credential::bearer(self.base.origin(), &token);
                let until = Instant::now() + Duration::from_secs(seconds).saturating_sub(MARGIN);
                known().tokens.insert(key, (credential.clone(), until));
                Ok(Some(credential))
            }
        }
    }

    /// Returns a token, and for how many seconds it is valid.
    fn token(&self, client: &Client, key: &TokenKey) -> Result<(String, u64)> {
        let realm = self.realm(&key.realm)?;
        let bytes = match &key.secret {
            Some(Secret::Refresh(token)) => self.refreshed(client, &realm, key, token)?,
            secret => {
                let credential = match secret {
                    Some(Secret::Basic(value)) => {
                        Some(Credential { origin: realm.origin(), value: value.clone() })
                    }
                    _ => None,
                };
                let mark = if realm.has_query() { '&' } else { '?' };
                let service = key.service.as_ref().map(|service| format!("service={}&", encode(service)));
                let (service, scope) = (service.unwrap_or_default(), encode(&key.scope));
                let url = Url::parse(&format!("{}{mark}{service}scope={scope}", realm.secret_text()))?;
                let request = Request { led_by: Some(self.base.clone()), credential, ..Request::new(url) };
                let mut bytes = Vec::new();
                client
                    .fetch(&request, None, ANSWER_BYTES, &mut bytes)
                    .map_err(|error| self.no_token(&realm, error))?;
                bytes
            }
        };
        let answer: Option<Answer> = serde_json::from_slice(&bytes).ok();
        let is_token =
            |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        answer
            .and_then(|answer| {
                let seconds = answer.expires_in.unwrap_or(USUAL).min(24 * 60 * 60);
                let tokens = [answer.token, answer.access_token].into_iter().flatten();
                Some((tokens.into_iter().find(is_token)?, seconds))
            })
            .ok_or_else(|| {
                Error::network(format!("`{realm}` gave no token for `{}`", self.repository.registry()))
            })
    }

    /// Exchanges a refresh token for one of the registry (OAuth 2).
    fn refreshed(&self, client: &Client, realm: &Url, key: &TokenKey, token: &str) -> Result<Vec<u8>> {
        let service = encode(key.service.as_deref().unwrap_or_default());
        let form = format!(
            "grant_type=refresh_token&client_id={CLIENT}&service={service}&scope={}&refresh_token={}",
            encode(&key.scope),
            encode(token)
        );
        let content = Content::Bytes(form.into_bytes().into());
        let upload = Upload::new(Method::Post, realm.clone(), "application/x-www-form-urlencoded", content);
        let answer = client.submit(&upload).map_err(|error| self.no_token(realm, error))?;
        if answer.is_success() {
            return Ok(answer.body);
        }
        let (url, status, challenge) = (realm.clone(), answer.status, None);
        Err(self
            .no_token(realm, HttpError::Status { url, status, detail: None, retry_after: None, challenge }))
    }

    /// Checks that a login may be sent to the server of tokens at `text`, which the registry named: over `https`, or on
    /// this machine if the registry is there too.
    fn realm(&self, text: &str) -> Result<Url> {
        let registry = self.repository.registry();
        let refused = |why: String| {
            Error::network(format!("`{registry}` wants logins to be sent to `{why}`"))
                .coded(codes::REDIRECT_REFUSED)
                .hint("logins are only sent over a secure connection: report it to the owner of the registry")
        };
        let url = Url::parse(text).map_err(|_| refused("something that is not an address".to_owned()))?;
        let is_safe = url.is_https() || url.is_private() && self.repository.is_here();
        if is_safe { Ok(url) } else { Err(refused(url.to_string())) }
    }

    fn no_token(&self, realm: &Url, error: HttpError) -> Error {
        match error {
            HttpError::Status { status: 400 | 401 | 403, detail, .. } => self.refused(detail.as_deref()),
            error => Error::from(error)
                .context(format!("`{realm}` gave no token for `{}`", self.repository.registry())),
        }
    }

    /// Returns the error for a registry that refuses a request; `detail` is its message.
    pub(super) fn refused(&self, detail: Option<&str>) -> Error {
        let (registry, name) = (self.repository.registry(), self.repository.name());
        let why = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
        let found = self.found.get();
        let error = match found.and_then(|found| found.login.as_ref()) {
            Some((_, place)) => {
                Error::network(format!("`{registry}` does not allow access to `{name}` with {place}{why}"))
            }
            None => Error::network(format!(
                "`{registry}` does not allow access to `{name}`: it needs a login, or does not exist{why}"
            )),
        };
        let problems = found.map(|found| found.problems.as_slice()).unwrap_or_default();
        let error = problems
            .iter()
            .fold(error.coded(codes::TOKEN_REFUSED), |error, problem| error.hint(problem.as_str()));
        error.hint(self.how())
    }

    fn how(&self) -> Message {
        message!(
            format_args!(
                "log in with `docker login {0}` or `podman login {0}`; or ",
                self.repository.registry()
            ),
            Verb::Registry.call().word("login").word(self.base.origin().address()),
            " keeps a token, or `NAME:PASSWORD`"
        )
    }
}
