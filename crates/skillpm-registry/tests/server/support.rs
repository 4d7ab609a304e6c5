//! A server in a process of its own, a client, and an issuer of statements.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use skillpm_testing::archive::{stored, zip};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The archive of a version of a skill, with `more` at the end of its text.
pub(crate) fn archive(name: &str, version: &str, more: &str) -> Vec<u8> {
    let text = format!(
        "---\nname: {name}\ndescription: Reads {name} files. Use it for {name} files.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# {name}\n{more}"
    );
    zip(&[stored("SKILL.md", text)])
}

/// A running server.
pub(crate) struct Server {
    dir: Arc<tempfile::TempDir>,
    registry: String,
    address: String,
    child: Child,
    client: reqwest::Client,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: reqwest::header::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get_all(name).iter().next_back().map_or("", |value| value.to_str().expect("text"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Server {
    /// Starts a server of a new registry, with these settings.
    pub(crate) fn start(settings: &str) -> Self {
        let dir = Arc::new(tempfile::tempdir().expect("a directory"));
        let registry = dir.path().join("registry").to_str().expect("UTF-8").to_owned();
        let made = program(&["init", &registry, "--name", "acme"]).output().expect("starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self::run(dir, registry, settings)
    }

    /// Starts another server of the same registry.
    pub(crate) fn again(&self, settings: &str) -> Self {
        Self::run(Arc::clone(&self.dir), self.registry.clone(), settings)
    }

    fn run(dir: Arc<tempfile::TempDir>, registry: String, settings: &str) -> Self {
        let file = dir.path().join("settings.toml");
        std::fs::write(&file, settings).expect("is written");
        let file = file.to_str().expect("UTF-8");
        let mut child = program(&["serve", &registry, "--listen", "127.0.0.1:0", "--config", file])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("is read");
        let address = line.trim().rsplit("http://").next().expect("an address").to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A connection for each request: the server may close an idle one at any moment.
        let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().expect("a client");
        Self { dir, registry, address, child, client }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Runs another command of the program on the registry.
    pub(crate) fn admin(&self, args: &[&str]) -> Output {
        program(&[args, &[&self.registry]].concat()).output().expect("starts")
    }

    /// Makes a token and returns its secret.
    pub(crate) fn token(&self, account: &str, more: &[&str]) -> String {
        let output = self.admin(&[&["token", "create", "--account", account, "--json"][..], more].concat());
        let token: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        token["secret"].as_str().expect("a secret").to_owned()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.client.get(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, token: Option<&str>, body: &str) -> Answer {
        self.send_bytes(method, path, token, body.as_bytes().to_vec()).await
    }

    pub(crate) async fn send_bytes(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Answer {
        let method = method.parse().expect("a method");
        let mut request = self.client.request(method, format!("http://{}{path}", self.address)).body(body);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        answer(request).await
    }

    pub(crate) async fn publish(&self, token: &str, name: &str, version: &str) -> Answer {
        let path = format!("/api/v1/skills/{name}/versions/{version}");
        self.send_bytes("PUT", &path, Some(token), archive(name, version, "")).await
    }

    /// Whether any file of the registry has these bytes.
    pub(crate) fn holds(&self, bytes: &[u8]) -> bool {
        files(Path::new(&self.registry)).iter().any(|path| {
            std::fs::read(path).expect("is read").windows(bytes.len()).any(|window| window == bytes)
        })
    }

    /// Asks the server to stop, and returns its log.
    pub(crate) fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        Command::new("kill").arg(&id).status().expect("is sent");
        assert!(self.child.wait().expect("ends").success());
        let mut log = String::new();
        let mut pipe = self.child.stderr.take().expect("a pipe");
        std::io::Read::read_to_string(&mut pipe, &mut log).expect("is read");
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.expect("an answer");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, body: response.bytes().await.expect("a body").to_vec() }
}

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillpm-registry"));
    command.args(args).stdin(Stdio::null());
    for (key, _) in std::env::vars() {
        if key.starts_with("SKILLPM_REGISTRY_") || key.starts_with("AWS_") {
            command.env_remove(key);
        }
    }
    command
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("is read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// What an issuer says about a job of `publish.yml` in `acme/skills`.
pub(crate) fn statement(issuer: &str) -> Value {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
    json!({
        "iss": issuer, "aud": "https://skills.example", "iat": now, "nbf": now, "exp": now + 300, "jti": "one",
        "repository": "acme/skills", "sha": "0123abc", "environment": null,
        "workflow_ref": "acme/skills/.github/workflows/publish.yml@refs/heads/main",
    })
}

/// An issuer of statements, as a CI system is one.
pub(crate) struct Issuer {
    address: String,
    key: Arc<EcdsaKeyPair>,
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let key = Arc::new(EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key"));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("a port").to_string();
        let point = key.public_key().as_ref().to_vec();
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let keys = json!({"keys": [
            {"kty": "oct", "kid": "other", "k": "c2VjcmV0"},
            {"kty": "EC", "kid": "one", "use": "sig", "crv": "P-256", "x": encode(&point[1..33]), "y": encode(&point[33..])},
        ]});
        let url = format!("http://{address}");
        let discovery = json!({"issuer": url, "jwks_uri": format!("{url}/keys")});
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4096];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let is_discovery = String::from_utf8_lossy(&head[..read])
                    .starts_with("GET /.well-known/openid-configuration ");
                let body = if is_discovery { discovery.to_string() } else { keys.to_string() };
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { address, key }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Signs a statement.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_as("one", claims)
    }

    /// Signs a statement, and says that it is with the key `kid`.
    pub(crate) fn sign_as(&self, kid: &str, claims: &Value) -> String {
        let header = json!({"alg": "ES256", "typ": "JWT", "kid": kid});
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

/// A statement that says that it needs no signature.
pub(crate) fn unsigned(claims: &Value) -> String {
    let header = json!({"alg": "none", "kid": "one"});
    let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.", encode(&header), encode(claims))
}
