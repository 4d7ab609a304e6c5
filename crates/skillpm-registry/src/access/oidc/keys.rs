//! The keys of issuers, as these publish them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::refused;
use crate::error::{Error, Result};

/// The largest answer of an issuer, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// How long the keys of an issuer are used before they are read again.
const KEYS_FRESH: Duration = Duration::from_mins(10);
/// How long to wait before keys are read again for a key that is not among them.
const KEYS_PAUSE: Duration = Duration::from_secs(10);

/// The keys of all issuers that were asked, and what asks them.
pub(super) struct Keys {
    client: reqwest::Client,
    known: Mutex<BTreeMap<String, KnownKeys>>,
    /// Held while an issuer is asked for its keys.
    asking: tokio::sync::Mutex<()>,
}

/// The keys of an issuer, and since when they are known.
type KnownKeys = (Arc<Vec<Key>>, Instant);

/// A key of an issuer.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Key {
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
struct KeySet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Keys {
    /// Returns what asks issuers for their keys, and has none yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be made.
    pub(super) fn new() -> Result<Self> {
        crate::encrypt_with_ring();
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(10))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::io("no HTTP client can be made").because(error))?;
        Ok(Self { client, known: Mutex::default(), asking: tokio::sync::Mutex::default() })
    }

    /// Returns the key `kid` of the issuer.
    ///
    /// # Errors
    ///
    /// Fails if the issuer has no such key, and if it does not answer.
    pub(super) async fn find(&self, issuer: &str, kid: &str) -> Result<Key> {
        let find = |keys: &[Key]| keys.iter().find(|key| key.kid == kid).cloned();
        let kept = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(issuer).cloned();
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
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(issuer.to_owned(), entry);
        read?;
        find(&known).ok_or_else(unknown_key)
    }

    async fn read_keys(&self, issuer: &str) -> Result<Vec<Key>> {
        let discovery: Discovery = self.read(&format!("{issuer}/.well-known/openid-configuration")).await?;
        if discovery.issuer.trim_end_matches('/') != issuer {
            return Err(Error::io(format!("the issuer `{issuer}` calls itself something else")));
        }
        let keys: KeySet = self.read(&discovery.jwks_uri).await?;
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
}

impl Key {
    /// Checks the signature of `signed`. The kind of the key decides how, and `alg` has to agree: a statement cannot
    /// choose.
    ///
    /// # Errors
    ///
    /// Fails for a wrong signature, and for a kind of key that is not accepted.
    pub(super) fn check(&self, alg: &str, signed: &[u8], signature: &[u8]) -> Result<()> {
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

fn unknown_key() -> Error {
    refused("the statement is signed with a key that its issuer does not have")
}
