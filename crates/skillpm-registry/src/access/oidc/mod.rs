//! Trusted publishing: a job of a CI system proves its identity by a signed statement, and gets a token for a few minutes.
//!
//! The statement is an `OpenID` Connect token. The operator named its issuer, its audience is this server, and a key that
//! the issuer publishes signed it. Each is accepted once: the redeemed ones are recorded beside the tokens.

mod keys;
mod statement;

use std::fmt;

use self::keys::Keys;
pub(crate) use self::statement::Statement;
use self::statement::{check_time, holder, parts};
use super::token::Holder;
use super::{Scope, TokenRequest};
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::registry::Timestamp;
use crate::storage::Objects;

/// How long a token of a job is accepted, in seconds.
const JOB_SECONDS: i64 = 15 * 60;

/// The issuers that the operator trusts.
pub(crate) struct Issuers {
    urls: Vec<String>,
    /// The address of this server, which statements must have as their audience.
    audience: Option<String>,
    keys: Keys,
    seen: Objects,
}

impl fmt::Debug for Issuers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuers")
            .field("urls", &self.urls)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

impl Issuers {
    /// Returns the issuers at `urls`. Statements must be for `audience`; the redeemed ones are recorded in `private`.
    pub(crate) fn new(urls: &[String], audience: Option<&str>, private: &Objects) -> Result<Self> {
        let audience = audience.map(|url| url.trim_end_matches('/').to_owned());
        let urls = urls.iter().map(|url| url.trim_end_matches('/').to_owned()).collect();
        Ok(Self { urls, audience, keys: Keys::new()?, seen: private.below("statements") })
    }

    /// Checks a statement. Fails for one that is not by a trusted issuer, not for this server, or not valid now.
    pub(crate) async fn accept(&self, statement: &str, now: Timestamp) -> Result<Statement> {
        let Some(audience) = &self.audience else {
            return Err(refused(
                "this server takes no statements of CI systems: it does not know its own address",
            )
            .hint("set `public-url` in its settings"));
        };
        let (claims, header, signed, signature) = parts(statement)?;
        if !self.urls.contains(&claims.iss.trim_end_matches('/').to_owned()) {
            return Err(refused("the statement is by an issuer that this registry does not trust"));
        }
        let issuer = claims.iss.trim_end_matches('/').to_owned();
        let key = self.keys.find(&issuer, &header.kid).await?;
        key.check(&header.alg, signed, &signature)?;
        if !claims.aud.is(audience) {
            return Err(refused(format!(
                "the statement is for another server: its `aud` has to be `{audience}`"
            )));
        }
        check_time(&claims, now)?;
        let id = claims.jti.clone().unwrap_or_else(|| String::from_utf8_lossy(signed).into_owned());
        let seen = Digest::of(format!("{issuer}\n{id}").as_bytes());
        let expires = claims.exp;
        let holder = holder(&issuer, claims)?;
        Ok(Statement { holder, seen, expires })
    }

    /// Records the statement as redeemed, for all servers of the registry, and returns the token to issue. Fails if it was
    /// redeemed before, and if the store does not answer.
    pub(crate) async fn redeem(&self, statement: Statement, now: Timestamp) -> Result<TokenRequest> {
        // The bytes differ each time, so a second creation is never taken for the first.
        let by = crate::random::random_hex(16)?;
        let bytes = format!("{{\"expires\":{},\"by\":\"{by}\"}}\n", statement.expires);
        let path = format!("{}.json", statement.seen.hex());
        if !self.seen.create(&path, bytes.into_bytes().into()).await? {
            return Err(
                refused("the statement was used before").hint("each job asks its CI system for a new one")
            );
        }
        Ok(TokenRequest {
            holder: Holder::Publisher { publisher: statement.holder.0, provenance: Some(statement.holder.1) },
            scopes: vec![Scope::Read, Scope::Publish],
            names: Vec::new(),
            expires: Some(Timestamp::new(now.seconds() + JOB_SECONDS)),
            note: String::new(),
        })
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::usage(message.into()).coded(codes::TOKEN_REFUSED)
}
