//! Tokens: shown once, stored as hashes.

use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scope;
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, Result, unusable};
use crate::name::SkillName;
use crate::random::random_hex;
use crate::registry::{Account, Provenance, Timestamp, TrustedPublisher};
use crate::storage::Objects;

/// The start of every token, so that a search for secrets finds it.
const PREFIX: &str = "skpm_";
/// The number of random bytes of a token.
const BYTES: usize = 32;
/// The largest file of a token, in bytes.
const MAX_FILE: u64 = 64 << 10;
/// The number of tokens that are remembered.
const REMEMBERED: usize = 10_000;
/// How long a token is taken for what it was. So long a revoked token may still be accepted.
const FRESH: Duration = Duration::from_secs(5);

/// A token without its secret, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Token {
    /// The id of the token in lists: the start of its hash.
    pub id: String,
    /// The holder.
    #[serde(flatten)]
    pub holder: Holder,
    /// The operations that it allows.
    pub scopes: Vec<Scope>,
    /// The skills that it is for: names, or starts of names with a `*`. All if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
    /// Until when it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The purpose, in the words of its creator.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The holder of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Holder {
    /// An account.
    Account {
        /// The name of the account.
        account: Account,
    },
    /// A job of a workflow.
    Publisher {
        /// The workflow.
        publisher: TrustedPublisher,
        /// The source and revision that the job works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provenance: Option<Provenance>,
    },
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Account { account } => account.fmt(f),
            Self::Publisher { publisher, .. } => publisher.fmt(f),
        }
    }
}

/// The properties of a new token.
#[derive(Debug, Clone)]
pub(crate) struct TokenRequest {
    /// The holder.
    pub holder: Holder,
    /// The operations that it allows.
    pub scopes: Vec<Scope>,
    /// The skills that it is for.
    pub names: Vec<String>,
    /// Until when it is accepted.
    pub expires: Option<Timestamp>,
    /// The purpose.
    pub note: String,
}

/// A new token. It has no `Debug`: the secret must not get into a log.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct Issued {
    /// The secret, which is not stored.
    pub secret: String,
    /// The token.
    #[serde(flatten)]
    pub token: Token,
}

impl Token {
    /// Reports whether it allows what `scope` is about, be it with one skill only.
    pub(crate) fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// Reports whether it allows what `scope` is about with the skill `name`.
    pub(crate) fn allows(&self, scope: Scope, name: &SkillName) -> bool {
        self.has(scope) && self.is_for(name)
    }

    /// Reports whether it is for the skill `name`.
    pub(crate) fn is_for(&self, name: &SkillName) -> bool {
        let is_it = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => name.as_str().starts_with(start),
            None => name.as_str() == pattern,
        };
        self.names.is_empty() || self.names.iter().any(is_it)
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// The tokens of a registry.
pub(crate) struct Tokens {
    stored: Objects,
    remembered: Cache<Digest, (Option<Token>, Instant)>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

impl Tokens {
    /// Returns the tokens that are stored in `private`.
    pub(crate) fn new(private: &Objects) -> Self {
        Self { stored: private.below("tokens"), remembered: Cache::new(REMEMBERED) }
    }

    /// Makes a token.
    pub(crate) async fn issue(&self, request: TokenRequest, now: Timestamp) -> Result<Issued> {
        let secret = format!("{PREFIX}{}", random_hex(BYTES)?);
        let digest = Digest::of(secret.as_bytes());
        let TokenRequest { holder, scopes, names, expires, note } = request;
        let id = digest.hex()[..12].to_owned();
        let token = Token { id, holder, scopes, names, created: now, expires, note };
        let bytes = serde_json::to_vec(&token)
            .map_err(|error| Error::io("a token cannot be written").because(error))?;
        self.stored.create(&path(&digest), bytes.into()).await?;
        Ok(Issued { secret, token })
    }

    /// Returns the token with this secret. Fails if there is none, if it has expired, and if the store does not answer.
    pub(crate) async fn check(&self, secret: &str, now: Timestamp) -> Result<Token> {
        let token = if secret.starts_with(PREFIX) { self.find(secret).await? } else { None };
        match token {
            Some(token) if !token.is_expired(now) => Ok(token),
            Some(token) => Err(refused(format!("the token `{}` has expired", token.id))),
            None => Err(refused("the token is not known here, or was revoked".to_owned())),
        }
    }

    async fn find(&self, secret: &str) -> Result<Option<Token>> {
        let digest = Digest::of(secret.as_bytes());
        if let Some((token, since)) = self.remembered.get(&digest)
            && since.elapsed() < FRESH
        {
            return Ok(token);
        }
        let found = self.stored.get(&path(&digest), MAX_FILE).await?;
        let token = found.as_deref().map(parse).transpose()?;
        self.remembered.insert(digest, (token.clone(), Instant::now()));
        Ok(token)
    }

    /// Returns all tokens, by holder and time. Fails if the store does not answer, or one is damaged.
    pub(crate) async fn list(&self) -> Result<Vec<Token>> {
        let mut tokens = Vec::new();
        for path in self.stored.list("").await? {
            if let Some(bytes) = self.stored.get(&path, MAX_FILE).await? {
                tokens.push(parse(&bytes)?);
            }
        }
        tokens.sort_by_cached_key(|token| (token.holder.to_string(), token.created, token.id.clone()));
        Ok(tokens)
    }

    /// Revokes the token that is called `id`. Fails if there is none, and if the store does not answer.
    pub(crate) async fn revoke(&self, id: &str) -> Result<Token> {
        for path in self.stored.list("").await? {
            if !id.is_empty()
                && path.starts_with(id)
                && let Some(bytes) = self.stored.get(&path, MAX_FILE).await?
            {
                let token = parse(&bytes)?;
                if token.id == id {
                    self.stored.remove(&path).await?;
                    return Ok(token);
                }
            }
        }
        Err(Error::usage(format!("there is no token `{id}`"))
            .hint("`skillpm-registry token list` shows them"))
    }
}

fn path(digest: &Digest) -> String {
    format!("{}.json", digest.hex())
}

fn parse(bytes: &[u8]) -> Result<Token> {
    serde_json::from_slice(bytes)
        .map_err(|error| unusable(Error::integrity("a token that is kept is damaged").because(error)))
}

fn refused(message: String) -> Error {
    Error::usage(message).coded(codes::TOKEN_REFUSED).hint("`skillpm registry login` keeps another one")
}
