//! The server of a registry, `skillpm-registry`, as a process of its own.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

/// A running server of the registry `acme`. It ends when this is dropped.
pub struct RegistryServer {
    program: PathBuf,
    dir: Arc<TempDir>,
    registry: String,
    child: Child,
    url: String,
    metrics: Option<String>,
}

impl RegistryServer {
    /// Makes a registry in a new directory and serves it with these settings, a TOML text.
    ///
    /// `program` is the path of `skillpm-registry`. Settings without `listen` listen at a free port of this machine.
    pub fn start(program: &Path, settings: &str) -> Self {
        let dir = Arc::new(TempDir::new().expect("a temporary directory"));
        let registry = dir.path().join("registry").to_str().expect("UTF-8").to_owned();
        let made = command(program, &["init", &registry, "--name", "acme"]).output().expect("starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self::serve(program, dir, &registry, settings, &[])
    }

    /// Starts another server of the same registry.
    pub fn again(&self, settings: &str) -> Self {
        Self::serve(&self.program, Arc::clone(&self.dir), &self.registry, settings, &[])
    }

    /// Serves the registry at `registry`, a directory or the address of a bucket, with these environment variables.
    pub fn of(program: &Path, registry: &str, settings: &str, env: &[(&str, &str)]) -> Self {
        let dir = Arc::new(TempDir::new().expect("a temporary directory"));
        Self::serve(program, dir, registry, settings, env)
    }

    fn serve(
        program: &Path,
        dir: Arc<TempDir>,
        registry: &str,
        settings: &str,
        env: &[(&str, &str)],
    ) -> Self {
        let file = dir.path().join("settings.toml");
        let listens = settings.lines().any(|line| line.starts_with("listen ="));
        let listen = if listens { "" } else { "listen = \"127.0.0.1:0\"\n" };
        std::fs::write(&file, format!("{listen}{settings}")).expect("is written");
        let args = ["serve", registry, "--config", file.to_str().expect("UTF-8")];
        Self::run(program, dir, registry.to_owned(), &args, env)
    }

    /// Starts the server with these arguments and variables alone, which say where the registry lies and where to listen.
    pub fn with(program: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let dir = Arc::new(TempDir::new().expect("a temporary directory"));
        Self::run(program, dir, String::new(), args, env)
    }

    fn run(program: &Path, dir: Arc<TempDir>, registry: String, args: &[&str], env: &[(&str, &str)]) -> Self {
        // The log goes to a file: a pipe that nobody reads fills up.
        let log = File::options().create(true).append(true).open(dir.path().join("log")).expect("a file");
        let mut child = command(program, args)
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("starts");
        let mut told = Vec::new();
        // The last line comes once the registry is read.
        for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
            told.push(line.expect("is read"));
            if told.last().is_some_and(|line| line.starts_with("serving ")) {
                break;
            }
        }
        let address = told.iter().find_map(|line| line.strip_prefix("listening at "));
        let url = address.expect("an address").to_owned();
        let metrics = told.iter().find_map(|line| line.strip_prefix("metrics at ")).map(str::to_owned);
        Self { program: program.to_owned(), dir, registry, child, url, metrics }
    }

    /// The address of the server, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address of the metrics, for a server with `metrics-listen` in its settings.
    pub fn metrics(&self) -> &str {
        self.metrics.as_deref().expect("`metrics-listen` is set")
    }

    /// The host and port of the server.
    pub fn address(&self) -> &str {
        self.url.split_once("://").expect("an address").1
    }

    /// The directory of the registry, or the address of its bucket.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The number of the server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Everything that the server logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).expect("is read")
    }

    /// Runs another command of the program on the registry.
    pub fn admin(&self, args: &[&str]) -> Output {
        command(&self.program, &[args, &[&self.registry]].concat()).output().expect("starts")
    }

    /// Makes a token and returns its secret.
    pub fn token(&self, account: &str, more: &[&str]) -> String {
        let output = self.admin(&[&["token", "create", "--account", account, "--json"][..], more].concat());
        let token: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        token["secret"].as_str().expect("a secret").to_owned()
    }

    /// Ends the server at once, whatever it is doing.
    pub fn kill(&mut self) {
        self.child.kill().expect("is killed");
        self.child.wait().expect("ends");
    }

    /// Asks the server to stop, waits for its end, and returns its log.
    pub fn stop(mut self) -> String {
        Command::new("kill").arg(self.child.id().to_string()).status().expect("is sent");
        assert!(self.child.wait().expect("ends").success());
        self.log()
    }
}

impl Drop for RegistryServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a command of `program` that no setting of this machine changes.
pub fn command(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    for (key, _) in std::env::vars() {
        if key.starts_with("SKILLPM_REGISTRY_") || key.starts_with("AWS_") {
            command.env_remove(key);
        }
    }
    command
}

/// Returns a port of this machine that is free now: for a server whose own address is one of its settings.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port()
}
