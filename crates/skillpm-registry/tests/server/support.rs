//! A server in a process of its own, and a client.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use skillpm_testing::archive::{stored, zip};
use skillpm_testing::server::RegistryServer;

/// The program of the server.
const PROGRAM: &str = env!("CARGO_BIN_EXE_skillpm-registry");

/// The archive of a version of a skill, with `more` at the end of its text.
pub(crate) fn archive(name: &str, version: &str, more: &str) -> Vec<u8> {
    let text = format!(
        "---\nname: {name}\ndescription: Reads {name} files. Use it for {name} files.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# {name}\n{more}"
    );
    zip(&[stored("SKILL.md", text)])
}

/// A running server, and a client.
pub(crate) struct Server {
    process: RegistryServer,
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

    /// All values of a header.
    pub(crate) fn all(&self, name: &str) -> String {
        let values = self.headers.get_all(name).iter().map(|value| value.to_str().expect("text"));
        values.collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Deref for Server {
    type Target = RegistryServer;

    fn deref(&self) -> &RegistryServer {
        &self.process
    }
}

impl Server {
    /// Starts a server of a new registry, with these settings.
    pub(crate) fn start(settings: &str) -> Self {
        Self::with_client(RegistryServer::start(Path::new(PROGRAM), settings))
    }

    /// Starts a server of a new registry in the directory `registry`.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_in(registry: &str, settings: &str) -> Self {
        let made = program(&["init", registry, "--name", "acme"]).output().expect("starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self::of(registry, settings, &[])
    }

    /// Starts another server of the same registry.
    pub(crate) fn again(&self, settings: &str) -> Self {
        Self::with_client(self.process.again(settings))
    }

    /// Starts a server of the registry at `registry`, a directory or the address of a bucket, with these variables.
    pub(crate) fn of(registry: &str, settings: &str, env: &[(&str, &str)]) -> Self {
        Self::with_client(RegistryServer::of(Path::new(PROGRAM), registry, settings, env))
    }

    /// Starts the program with these arguments and variables alone.
    pub(crate) fn with(args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::with_client(RegistryServer::with(Path::new(PROGRAM), args, env))
    }

    fn with_client(process: RegistryServer) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A connection for each request: the server may close an idle one at any moment.
        let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().expect("a client");
        Self { process, client }
    }

    /// Asks for `path`, and follows no redirect.
    pub(crate) async fn get_unfollowed(&self, path: &str) -> Answer {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        answer(client.build().expect("a client").get(format!("{}{path}", self.url()))).await
    }

    /// Returns the status of the answer for `path`; `None` if no answer comes.
    pub(crate) async fn try_get(&self, path: &str) -> Option<u16> {
        Some(self.client.get(format!("{}{path}", self.url())).send().await.ok()?.status().as_u16())
    }

    /// The memory that the server uses, in KB.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Ends the server at once, whatever it is doing.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Asks the server to stop, and returns its log.
    pub(crate) fn stop(self) -> String {
        self.process.stop()
    }

    /// Asks as [`Self::publish`] does; `None` if no answer comes.
    pub(crate) async fn try_publish(&self, token: &str, name: &str, version: &str) -> Option<u16> {
        let url = format!("{}/api/v1/skills/{name}/versions/{version}", self.url());
        let request = self.client.put(url).body(archive(name, version, "")).bearer_auth(token);
        Some(request.send().await.ok()?.status().as_u16())
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask_with("GET", path, headers).await
    }

    pub(crate) async fn ask_with(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.client.request(method, format!("{}{path}", self.url()));
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
        let mut request = self.client.request(method, format!("{}{path}", self.url())).body(body);
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
        files(Path::new(self.registry())).iter().any(|path| {
            std::fs::read(path).expect("is read").windows(bytes.len()).any(|window| window == bytes)
        })
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.expect("an answer");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, body: response.bytes().await.expect("a body").to_vec() }
}

pub(crate) fn program(args: &[&str]) -> Command {
    skillpm_testing::server::command(Path::new(PROGRAM), args)
}

/// Lists the files below `dir`.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("is read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
