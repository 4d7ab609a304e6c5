//! The keys of issuers, as these publish them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// The issuers by their address. Only those that the operator trusts get here.
    issuers: Mutex<BTreeMap<String, Arc<Issuer>>>,
}

/// The cached keys of an issuer.
#[derive(Default)]
struct Issuer {
    known: Mutex<Known>,
    /// Held while it is asked for its keys.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct Known {
    keys: Arc<Vec<Key>>,
    /// When the keys were read last.
    read: Option<Instant>,
    /// When they could not be read; `None` if that was before they were read last.
    failed: Option<Instant>,
}

impl Known {
    /// Returns the key `kid`, if it is known without asking the issuer; `None` if it has to be asked.
    fn find(&self, kid: &str) -> Option<Result<Key>> {
        let is_within = |since: Option<Instant>, time| since.is_some_and(|since| since.elapsed() < time);
        let found = self.keys.iter().find(|key| key.kid == kid);
        if let Some(key) = found.filter(|_| is_within(self.read, KEYS_FRESH)) {
            return Some(Ok(key.clone()));
        }
        // Statements with unknown keys cost an attacker nothing: the issuer must not be asked each time.
        if is_within(self.failed, KEYS_PAUSE) {
            return Some(Err(
                Error::io("the issuer did not answer with its keys").hint("try again in a moment")
            ));
        }
        is_within(self.read, KEYS_PAUSE).then(|| Err(unknown_key()))
    }
}

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

impl Issuer {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys {
    /// Returns what asks issuers for their keys, and has none yet.
    pub(super) fn new() -> Result<Self> {
        crate::encrypt_with_ring();
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(10))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::io("no HTTP client can be made").because(error))?;
        Ok(Self { client, issuers: Mutex::default() })
    }

    /// Returns the key `kid` of the issuer. Fails if the issuer has no such key, and if it does not answer.
    pub(super) async fn find(&self, issuer: &str, kid: &str) -> Result<Key> {
        let of = {
            let mut issuers = self.issuers.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(issuers.entry(issuer.to_owned()).or_default())
        };
        if let Some(known) = of.known().find(kid) {
            return known;
        }
        // One request at a time: every client can send statements, and the issuer limits requests.
        let Ok(_turn) = of.asking.try_lock() else {
            return Err(Error::io("the keys of the issuer are being read").hint("try again in a moment"));
        };
        let read = self.read_keys(issuer).await;
        let mut known = of.known();
        match read {
            Ok(keys) => {
                *known = Known { keys: Arc::new(keys), read: Some(Instant::now()), failed: None };
                known.find(kid).unwrap_or_else(|| Err(unknown_key()))
            }
            Err(error) => {
                known.failed = Some(Instant::now());
                Err(error)
            }
        }
    }

    async fn read_keys(&self, issuer: &str) -> Result<Vec<Key>> {
        let discovery: Discovery = self.read(&format!("{issuer}/.well-known/openid-configuration")).await?;
        if discovery.issuer.trim_end_matches('/') != issuer {
            return Err(Error::io(format!("the issuer `{issuer}` calls itself something else")));
        }
        let keys: KeySet = self.read(&discovery.jwks_uri).await?;
        // Skip keys of unknown kinds.
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
    /// Checks the signature of `signed`. The kind of the key decides how, and `alg` has to agree: a statement cannot choose.
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

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpListener;

    use skillpm_testing::issuer::Issuer as Working;

    use super::*;
    use crate::error::status;

    async fn found(keys: &Keys, issuer: &str, kid: &str) -> u16 {
        keys.find(issuer, kid).await.map_or_else(|error| status(&error).as_u16(), |_| 200)
    }

    #[tokio::test]
    async fn an_issuer_that_does_not_answer_is_no_mistake_of_the_job() {
        let keys = Keys::new().expect("a client");
        // Nothing listens there.
        let unreachable = {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            format!("http://{}", listener.local_addr().expect("an address"))
        };
        for _ in 0..2 {
            assert_eq!(found(&keys, &unreachable, "one").await, 503);
        }
        let working = Working::start().url();
        for _ in 0..2 {
            assert_eq!(found(&keys, &working, "one").await, 200);
            assert_eq!(found(&keys, &working, "two").await, 401);
        }
    }

    #[tokio::test]
    async fn an_issuer_that_hangs_keeps_no_other_waiting() {
        let keys = Keys::new().expect("a client");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let hanging = format!("http://{}", listener.local_addr().expect("an address"));
        let working = Working::start().url();
        let asking = keys.find(&hanging, "one");
        let other = async {
            // By now it has been asked, and does not answer.
            let accepted = tokio::task::spawn_blocking(move || {
                let mut stream = listener.accept().expect("a connection").0;
                let _ = stream.read(&mut [0; 16]);
                stream
            });
            let _held = accepted.await.expect("a connection");
            (found(&keys, &working, "one").await, found(&keys, &hanging, "one").await)
        };
        tokio::select! {
            asked = asking => panic!("it answers: {}", asked.is_ok()),
            statuses = other => assert_eq!(statuses, (200, 503)),
        }
    }

    #[test]
    fn keys_that_cannot_be_read_again_count_until_they_are_old() {
        let key = serde_json::from_str::<Key>(r#"{"kid": "one", "kty": "EC"}"#).expect("a key");
        let ago = |time: Duration| Instant::now().checked_sub(time);
        let known = |read: Duration, failed: Option<Duration>| Known {
            keys: Arc::new(vec![key.clone()]),
            read: ago(read),
            failed: failed.and_then(ago),
        };
        let (second, old) = (Duration::from_secs(1), KEYS_FRESH + Duration::from_secs(1));
        let status = |known: &Known, kid| {
            known.find(kid).map(|found| found.map_err(|error| status(&error).as_u16()).map(|_| 200))
        };
        assert_eq!(status(&known(second, None), "one"), Some(Ok(200)));
        assert_eq!(status(&known(second, None), "two"), Some(Err(401)));
        assert_eq!(status(&known(KEYS_PAUSE, Some(second)), "one"), Some(Ok(200)));
        assert_eq!(status(&known(KEYS_PAUSE, Some(second)), "two"), Some(Err(503)));
        assert_eq!(status(&known(old, Some(second)), "one"), Some(Err(503)));
        assert_eq!(status(&known(old, None), "one"), None);
    }
}
