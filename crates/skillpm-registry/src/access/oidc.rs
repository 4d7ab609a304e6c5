//! Trusted publishing: a job of a CI system proves by a signed statement who it is, and gets a token for a few minutes.
//!
//! The statement is an `OpenID` Connect token. Its issuer is one that the operator named, its audience this server, and its
//! signature that of a key which the issuer publishes. Each is accepted once: which were seen is kept where the tokens are.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::token::Holder;
use super::{Scope, TokenRequest};
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::registry::{Provenance, Timestamp, TrustedPublisher};
use crate::storage::Objects;

/// How long a token of a job is accepted, in seconds.
const JOB_SECONDS: i64 = 15 * 60;
/// How far the clocks of the issuer and of this machine may be apart, in seconds.
const LEEWAY: i64 = 60;
/// The largest statement, in bytes.
const MAX_STATEMENT: usize = 16 << 10;
/// The largest answer of an issuer, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// How long the keys of an issuer are used before they are read again.
const KEYS_FRESH: Duration = Duration::from_mins(10);
/// How long to wait before keys are read again for a key that is not among them.
const KEYS_PAUSE: Duration = Duration::from_secs(10);

/// The issuers that the operator trusts.
pub(crate) struct Issuers {
    urls: Vec<String>,
    /// What statements have to be for: the address of this server.
    audience: Option<String>,
    client: reqwest::Client,
    keys: Mutex<BTreeMap<String, KnownKeys>>,
    /// Held while an issuer is asked for its keys.
    asking: tokio::sync::Mutex<()>,
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

/// The keys of an issuer, and since when they are known.
type KnownKeys = (Arc<Vec<Key>>, Instant);

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
}

/// The members of a statement that count: those of GitHub's, and those of GitLab's.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    exp: i64,
    #[serde(default)]
    nbf: Option<i64>,
    #[serde(default)]
    iat: Option<i64>,
    #[serde(default)]
    jti: Option<String>,
    #[serde(default, alias = "project_path")]
    repository: Option<String>,
    #[serde(default, alias = "project_id", deserialize_with = "text_or_number")]
    repository_id: Option<String>,
    #[serde(default, alias = "ci_config_ref_uri")]
    workflow_ref: Option<String>,
    #[serde(default)]
    environment: Option<String>,
    #[serde(default)]
    sha: Option<String>,
    #[serde(default)]
    server_url: Option<String>,
}

/// Reads an id, which issuers write as a text or as a number.
fn text_or_number<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Text(String),
        Number(u64),
    }
    Ok(Option::<Id>::deserialize(value)?.map(|id| match id {
        Id::Text(text) => text,
        Id::Number(number) => number.to_string(),
    }))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn is(&self, wanted: &str) -> bool {
        match self {
            Self::One(one) => one == wanted,
            // For several servers at once: any of them could use it at the others.
            Self::Several(all) => matches!(&all[..], [one] if one == wanted),
        }
    }
}

/// A key of an issuer.
#[derive(Debug, Clone, Deserialize)]
struct Key {
    #[serde(default)]
    kid: String,
    kty: String,
    #[serde(default, rename = "use")]
    purpose: Option<String>,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Issuers {
    /// Returns the issuers at `urls`, whose statements have to be for `audience`. What was seen is kept in `private`.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be made.
    pub(crate) fn new(urls: &[String], audience: Option<&str>, private: &Objects) -> Result<Self> {
        crate::encrypt_with_ring();
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(10))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::io("no HTTP client can be made").because(error))?;
        let audience = audience.map(|url| url.trim_end_matches('/').to_owned());
        let urls = urls.iter().map(|url| url.trim_end_matches('/').to_owned()).collect();
        Ok(Self {
            urls,
            audience,
            client,
            keys: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            seen: private.below("statements"),
        })
    }

    /// Checks a statement.
    ///
    /// # Errors
    ///
    /// Fails for one that is not by a trusted issuer, not for this server, or not valid now.
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
        let key = self.key(&issuer, &header.kid).await?;
        key.check(&header.alg, signed, &signature)?;
        if !claims.aud.is(audience) {
            return Err(refused(format!(
                "the statement is for somebody else: its `aud` has to be `{audience}`"
            )));
        }
        check_time(&claims, now)?;
        let id = claims.jti.clone().unwrap_or_else(|| String::from_utf8_lossy(signed).into_owned());
        let seen = Digest::of(format!("{issuer}\n{id}").as_bytes());
        let expires = claims.exp;
        let holder = holder(&issuer, claims)?;
        Ok(Statement { holder, seen, expires })
    }

    /// Returns the key `kid` of the issuer.
    async fn key(&self, issuer: &str, kid: &str) -> Result<Key> {
        let find = |keys: &[Key]| keys.iter().find(|key| key.kid == kid).cloned();
        let kept = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(issuer).cloned();
        if let Some((keys, since)) = &kept {
            let found = find(keys);
            // Anybody can send statements with keys that do not exist: the issuer must not be asked each time.
            if (found.is_some() && since.elapsed() < KEYS_FRESH) || since.elapsed() < KEYS_PAUSE {
                return found.ok_or_else(unknown_key);
            }
        }
        // One request at a time: anybody can send statements, and the issuer counts who asks.
        let Ok(_turn) = self.asking.try_lock() else {
            return Err(Error::io("the keys of the issuer are being read").hint("try again in a moment"));
        };
        let read = self.read_keys(issuer).await;
        let known = read
            .as_ref()
            .map_or_else(|_| kept.map(|(keys, _)| keys).unwrap_or_default(), |keys| Arc::new(keys.clone()));
        let entry = (Arc::clone(&known), Instant::now());
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(issuer.to_owned(), entry);
        read?;
        find(&known).ok_or_else(unknown_key)
    }

    async fn read_keys(&self, issuer: &str) -> Result<Vec<Key>> {
        let discovery: Discovery = self.read(&format!("{issuer}/.well-known/openid-configuration")).await?;
        if discovery.issuer.trim_end_matches('/') != issuer {
            return Err(Error::io(format!("the issuer `{issuer}` calls itself something else")));
        }
        let keys: Keys = self.read(&discovery.jwks_uri).await?;
        // Keys of kinds that are not known here are none of the server's business.
        Ok(keys.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect())
    }

    async fn read<T: DeserializeOwned>(&self, url: &str) -> Result<T> {
        let failed = |error: reqwest::Error| {
            Error::io(format!("the issuer does not answer at `{url}`")).because(error)
        };
        let mut response =
            self.client.get(url).send().await.map_err(failed)?.error_for_status().map_err(failed)?;
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MAX_ANSWER {
                return Err(Error::io(format!("the issuer answers with too much at `{url}`")));
            }
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::io(format!("the issuer does not answer with keys at `{url}`")).because(error)
        })
    }

    /// Remembers the statement for all servers of the registry, and returns what a token is to be for whoever shows it.
    ///
    /// # Errors
    ///
    /// Fails if it was shown before, and if the store does not answer.
    pub(crate) async fn see_once(&self, statement: Statement, now: Timestamp) -> Result<TokenRequest> {
        // The bytes differ each time, so a second creation is never taken for the first.
        let mut random = [0; 16];
        super::token::randomize(&mut random)?;
        let by = Digest::of(&random);
        let bytes = format!("{{\"expires\":{},\"by\":\"{}\"}}\n", statement.expires, by.hex());
        let path = format!("{}.json", statement.seen.hex());
        if !self.seen.create(&path, bytes.into_bytes().into()).await? {
            return Err(
                refused("the statement was used before").hint("each job asks its CI system for a new one")
            );
        }
        Ok(TokenRequest {
            holder: Holder::Publisher { publisher: statement.holder.0, provenance: Some(statement.holder.1) },
            scopes: vec![Scope::Publish],
            names: Vec::new(),
            expires: Some(Timestamp::new(now.seconds() + JOB_SECONDS)),
            note: String::new(),
        })
    }
}

/// A statement that was checked, and not yet used.
#[derive(Debug)]
pub(crate) struct Statement {
    holder: (TrustedPublisher, Provenance),
    /// What makes it one statement, whatever its signature looks like.
    seen: Digest,
    expires: i64,
}

impl Statement {
    /// Returns the workflow whose job it is about.
    pub(crate) fn publisher(&self) -> &TrustedPublisher {
        &self.holder.0
    }
}

fn parts(statement: &str) -> Result<(Claims, Header, &[u8], Vec<u8>)> {
    let malformed = || refused("the statement is not a signed JSON Web Token");
    if statement.len() > MAX_STATEMENT {
        return Err(malformed());
    }
    let (signed, signature) = statement.rsplit_once('.').ok_or_else(malformed)?;
    let (header, claims) = signed.split_once('.').ok_or_else(malformed)?;
    let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| malformed());
    let header = serde_json::from_slice(&decode(header)?).map_err(|_| malformed())?;
    let claims = serde_json::from_slice(&decode(claims)?).map_err(|_| malformed())?;
    Ok((claims, header, signed.as_bytes(), decode(signature)?))
}

impl Key {
    /// Checks the signature of `signed`. The kind of the key decides how, and `alg` has to agree: a statement cannot
    /// choose.
    fn check(&self, alg: &str, signed: &[u8], signature: &[u8]) -> Result<()> {
        let wrong = || refused("the signature of the statement is wrong");
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong());
        if self.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return Err(wrong());
        }
        match (self.kty.as_str(), alg) {
            ("RSA", "RS256") => {
                let (n, e) = (decode(&self.n)?, decode(&self.e)?);
                let key = RsaPublicKeyComponents { n: &n, e: &e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature).map_err(|_| wrong())
            }
            ("EC", "ES256") if self.crv == "P-256" => {
                let point = [&[4][..], &decode(&self.x)?, &decode(&self.y)?].concat();
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                key.verify(signed, signature).map_err(|_| wrong())
            }
            _ => {
                Err(refused("the statement is signed in a way that is not accepted: `RS256` and `ES256` are"))
            }
        }
    }
}

fn check_time(claims: &Claims, now: Timestamp) -> Result<()> {
    let now = now.seconds();
    if claims.exp <= now.saturating_sub(LEEWAY) {
        return Err(refused(format!(
            "the statement expired at {}, and here it is {}",
            Timestamp::new(claims.exp),
            Timestamp::new(now)
        ))
        .hint("the clock of this server or of the issuer may be wrong"));
    }
    let starts = claims.nbf.into_iter().chain(claims.iat).max();
    if let Some(starts) = starts.filter(|starts| *starts > now.saturating_add(LEEWAY)) {
        return Err(refused(format!(
            "the statement is not valid before {}, and here it is {}",
            Timestamp::new(starts),
            Timestamp::new(now)
        ))
        .hint("the clock of this server or of the issuer may be wrong"));
    }
    Ok(())
}

/// Returns the workflow whose job the claims describe, and what it works on.
fn holder(issuer: &str, claims: Claims) -> Result<(TrustedPublisher, Provenance)> {
    let incomplete = || refused("the statement does not say which workflow of which repository it is about");
    let repository = claims.repository.ok_or_else(incomplete)?;
    let reference = claims.workflow_ref.ok_or_else(incomplete)?;
    // The name of a branch can have an `@` too, so the first one counts.
    let (path, _) = reference.split_once('@').ok_or_else(incomplete)?;
    // A workflow that another repository lends runs what that repository says.
    let of_github = path.strip_prefix(&repository).and_then(|rest| rest.strip_prefix("/.github/workflows/"));
    // GitLab has its host before the path, and two slashes behind it.
    let of_gitlab =
        path.split_once('/').and_then(|(_, path)| path.strip_prefix(&repository)?.strip_prefix("//"));
    let workflow = of_github.or(of_gitlab).filter(|file| !file.contains('/'));
    let workflow = workflow
        .ok_or_else(|| refused("the workflow is one of another repository, or in a directory below"))?;
    let server = claims.server_url.as_deref().unwrap_or(issuer);
    let source = if issuer == GITHUB {
        format!("https://github.com/{repository}")
    } else {
        format!("{server}/{repository}")
    };
    let publisher =
        TrustedPublisher::new(issuer.to_owned(), repository, workflow.to_owned(), claims.environment)
            .and_then(|publisher| publisher.with_id(claims.repository_id))
            .map_err(|error| refused(error.to_string()))?;
    Ok((publisher, Provenance { source, revision: claims.sha }))
}

/// The issuer of GitHub's statements.
pub(crate) const GITHUB: &str = "https://token.actions.githubusercontent.com";

fn refused(message: impl Into<String>) -> Error {
    Error::usage(message.into()).coded(codes::TOKEN_REFUSED)
}

fn unknown_key() -> Error {
    refused("the statement is signed with a key that its issuer does not have")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(repository: &str, workflow_ref: &str) -> Claims {
        Claims {
            iss: GITHUB.to_owned(),
            aud: Audience::One("https://skills.example".to_owned()),
            exp: 1_000,
            nbf: None,
            iat: Some(900),
            jti: None,
            repository: Some(repository.to_owned()),
            repository_id: None,
            workflow_ref: Some(workflow_ref.to_owned()),
            environment: None,
            sha: Some("abc".to_owned()),
            server_url: None,
        }
    }

    #[test]
    fn a_job_is_that_of_a_workflow_of_its_own_repository() {
        let of = |repository: &str, workflow: &str| {
            holder(GITHUB, claims(repository, workflow)).map(|(publisher, _)| publisher.to_string())
        };
        let fine = of("acme/skills", "acme/skills/.github/workflows/publish.yml@refs/heads/main");
        assert_eq!(fine.ok().as_deref(), Some("publish.yml of acme/skills"));
        let gitlab = of("acme/skills", "gitlab.example/acme/skills//.gitlab-ci.yml@refs/heads/main");
        assert_eq!(gitlab.ok().as_deref(), Some(".gitlab-ci.yml of acme/skills"));
        let group = of("acme/a/skills", "gitlab.example/acme/a/skills//.gitlab-ci.yml@refs/heads/main");
        assert_eq!(group.ok().as_deref(), Some(".gitlab-ci.yml of acme/a/skills"));
        let branch = of("acme/skills", "acme/skills/.github/workflows/evil.yml@refs/heads/publish.yml@x");
        assert_eq!(branch.ok().as_deref(), Some("evil.yml of acme/skills"));
        for other in [
            "evil/skills/.github/workflows/publish.yml@refs/heads/main",
            "evil/x/acme/skills/.github/workflows/publish.yml@refs/heads/main",
            "acme/skills-of-others/.github/workflows/publish.yml@refs/heads/main",
            "acme/skills/.github/workflows/publish.yml",
            "acme/skills/.github/workflows/evil.yml/publish.yml@refs/heads/main",
            "gitlab.example/acme/skills//ci/publish.yml@refs/heads/main",
        ] {
            assert!(of("acme/skills", other).is_err(), "{other}");
        }
    }

    #[test]
    fn the_id_of_a_repository_is_a_text_or_a_number() {
        let id = |member: &str| {
            let text = format!(r#"{{"iss": "a", "aud": "b", "exp": 1{member}}}"#);
            serde_json::from_str::<Claims>(&text).ok().map(|claims| claims.repository_id)
        };
        assert_eq!(id(""), Some(None));
        assert_eq!(id(r#", "repository_id": null"#), Some(None));
        assert_eq!(id(r#", "repository_id": "74""#), Some(Some("74".to_owned())));
        assert_eq!(id(r#", "project_id": 74"#), Some(Some("74".to_owned())));
        assert_eq!(id(r#", "repository_id": -1.5"#), None);
        assert_eq!(id(r#", "repository_id": "1", "project_id": "2""#), None);
    }

    #[test]
    fn a_statement_is_valid_for_its_time() {
        let at = |now: i64| check_time(&claims("a/b", "a/b/c@d"), Timestamp::new(now)).is_ok();
        assert!(at(900) && at(999) && at(1_000 + LEEWAY - 1) && at(900 - LEEWAY));
        assert!(!at(1_000 + LEEWAY) && !at(900 - LEEWAY - 1) && !at(1_000 + 86_400) && !at(0));
    }

    #[test]
    fn a_statement_is_for_one_server() {
        let one = |text: &str| Audience::One(text.to_owned());
        let several = |texts: &[&str]| Audience::Several(texts.iter().map(|&text| text.to_owned()).collect());
        assert!(one("a").is("a") && several(&["a"]).is("a"));
        assert!(!one("b").is("a") && !several(&["a", "b"]).is("a") && !several(&[]).is("a"));
    }

    #[test]
    fn what_is_not_a_token_is_refused() {
        let long = "a".repeat(MAX_STATEMENT + 1);
        for text in ["", ".", "..", "a.b", "a.b.c", "e30.e30.", "e30.e30.e30", "!!.!!.!!", long.as_str()] {
            let error = parts(text).err();
            assert_eq!(
                error.map(|error| error.code().to_owned()).as_deref(),
                Some(codes::TOKEN_REFUSED),
                "{text:.20}"
            );
        }
    }
}
