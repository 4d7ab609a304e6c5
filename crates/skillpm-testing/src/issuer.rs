//! An issuer of signed statements about jobs, as CI systems are.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// The token for requests to [`Issuer::request_url`].
pub const REQUEST_TOKEN: &str = "token-of-the-job";

/// What an issuer says about a job of `publish.yml` in `acme/skills`, to `https://skills.example`.
pub fn statement(issuer: &str) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    json!({
        "iss": issuer, "aud": "https://skills.example", "iat": now, "nbf": now, "exp": now + 300, "jti": "one",
        "repository": "acme/skills", "repository_id": "74", "sha": "0123abc", "environment": null,
        "workflow_ref": "acme/skills/.github/workflows/publish.yml@refs/heads/main",
    })
}

/// A statement that says that it needs no signature.
pub fn unsigned(claims: &Value) -> String {
    format!("{}.{}.", encoded(&json!({"alg": "none", "kid": "one"})), encoded(claims))
}

fn encoded(value: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
}

/// An issuer that answers until the process ends. As GitHub does, it makes statements for whoever has the token of a job.
#[derive(Debug, Clone)]
pub struct Issuer {
    address: String,
    key: Arc<EcdsaKeyPair>,
}

impl Issuer {
    /// Starts an issuer.
    pub fn start() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let key = Arc::new(EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let issuer = Self { address: listener.local_addr().expect("a port").to_string(), key };
        let answering = issuer.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever asks may be gone.
                let _ = answering.answer(stream);
            }
        });
        issuer
    }

    /// The address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where a job with [`REQUEST_TOKEN`] requests a statement.
    pub fn request_url(&self) -> String {
        format!("{}/statement?api-version=2.0", self.url())
    }

    /// Signs a statement.
    pub fn sign(&self, claims: &Value) -> String {
        self.sign_as("one", claims)
    }

    /// Signs a statement, and says that it is with the key `kid`.
    pub fn sign_as(&self, kid: &str, claims: &Value) -> String {
        let header = json!({"alg": "ES256", "typ": "JWT", "kid": kid});
        let signed = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut head = [0; 8192];
        let read = stream.read(&mut head)?;
        let head = String::from_utf8_lossy(head.get(..read).unwrap_or_default()).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default();
        let has_token = head.to_lowercase().contains(&format!("authorization: bearer {REQUEST_TOKEN}\r"));
        let (status, body) = match path.split_once("&audience=") {
            Some((_, audience)) if has_token => ("200 OK", self.stated(&decoded(audience))),
            Some(_) => ("401 Unauthorized", json!({})),
            None if path == "/.well-known/openid-configuration" => {
                ("200 OK", json!({"issuer": self.url(), "jwks_uri": format!("{}/keys", self.url())}))
            }
            None => ("200 OK", self.keys()),
        };
        let body = body.to_string();
        let length = body.len();
        let mut text = String::new();
        let _ =
            write!(text, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        stream.write_all(text.as_bytes())
    }

    fn stated(&self, audience: &str) -> Value {
        let mut claims = statement(&self.url());
        claims["aud"] = audience.into();
        let random: [u8; 16] = ring::rand::generate(&SystemRandom::new()).expect("random bytes").expose();
        claims["jti"] = BASE64_URL_SAFE_NO_PAD.encode(random).into();
        json!({"count": 1, "value": self.sign(&claims)})
    }

    fn keys(&self) -> Value {
        let point = self.key.public_key().as_ref();
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        json!({"keys": [
            {"kty": "oct", "kid": "other", "k": "c2VjcmV0"},
            {"kty": "EC", "kid": "one", "use": "sig", "crv": "P-256", "x": encode(&point[1..33]), "y": encode(&point[33..])},
        ]})
    }
}

/// Returns the text of a part of an address.
fn decoded(text: &str) -> String {
    text.replace("%3A", ":").replace("%2F", "/")
}
