//! A server in a process of its own, and a client.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use skillpm_testing::archive::{stored, zip};

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

    /// Starts a server of the registry at `registry`, an address of a bucket, with these variables.
    pub(crate) fn of_bucket(registry: &str, settings: &str, env: &[(&str, &str)]) -> Self {
        let dir = Arc::new(tempfile::tempdir().expect("a directory"));
        Self::run_with(dir, registry.to_owned(), settings, env)
    }

    fn run(dir: Arc<tempfile::TempDir>, registry: String, settings: &str) -> Self {
        Self::run_with(dir, registry, settings, &[])
    }

    fn run_with(dir: Arc<tempfile::TempDir>, registry: String, settings: &str, env: &[(&str, &str)]) -> Self {
        let file = dir.path().join("settings.toml");
        std::fs::write(&file, settings).expect("is written");
        let file = file.to_str().expect("UTF-8");
        // A pipe that nobody reads would fill, and then the server would wait.
        let log = dir.path().join("log");
        let log = std::fs::File::options().create(true).append(true).open(log).expect("a file");
        let mut child = program(&["serve", &registry, "--listen", "127.0.0.1:0", "--config", file])
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
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

    /// Ends the server at once, whatever it is doing.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("is killed");
        self.child.wait().expect("ends");
    }

    /// Asks as [`Self::publish`] does; `None` if no answer comes.
    pub(crate) async fn try_publish(&self, token: &str, name: &str, version: &str) -> Option<u16> {
        let url = format!("http://{}/api/v1/skills/{name}/versions/{version}", self.address);
        let request = self.client.put(url).body(archive(name, version, "")).bearer_auth(token);
        Some(request.send().await.ok()?.status().as_u16())
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The directory of the registry.
    pub(crate) fn registry(&self) -> &str {
        &self.registry
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
        std::fs::read_to_string(self.dir.path().join("log")).expect("is read")
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

pub(crate) fn program(args: &[&str]) -> Command {
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
