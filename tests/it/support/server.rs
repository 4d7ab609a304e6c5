//! `skillpm-registry`, which serves a registry of its own.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A running server of the registry `acme`. It ends when this is dropped.
pub struct RegistryServer {
    dir: TempDir,
    child: Child,
    url: String,
}

impl RegistryServer {
    /// Starts a server of a new registry with these settings.
    pub fn start(settings: &str) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let registry = dir.path().join("registry");
        let made = program().arg("init").arg(&registry).args(["--name", "acme"]).output().expect("starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        // Its address is one of the settings, so the port is chosen first.
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let url = format!("http://127.0.0.1:{port}");
        let file = dir.path().join("settings.toml");
        std::fs::write(&file, format!("public-url = \"{url}\"\n{settings}")).expect("is written");
        let log = File::create(dir.path().join("log")).expect("a file");
        let mut child = program()
            .arg("serve")
            .arg(&registry)
            .arg("--config")
            .arg(&file)
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("is read");
        assert!(line.contains(&url), "{line}");
        Self { dir, child, url }
    }

    /// The address of the registry.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The directory of the registry.
    pub fn registry(&self) -> PathBuf {
        self.dir.path().join("registry")
    }

    /// Everything that the server logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).expect("is read")
    }

    /// Runs another command of the program on the registry.
    pub fn admin(&self, args: &[&str]) -> Output {
        program().args(args).arg(self.registry()).output().expect("starts")
    }

    /// Makes a token and returns its secret.
    pub fn token(&self, account: &str, more: &[&str]) -> String {
        let output = self.admin(&[&["token", "create", "--account", account, "--json"][..], more].concat());
        let token: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        token["secret"].as_str().expect("a secret").to_owned()
    }
}

impl Drop for RegistryServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program of the server, which is built beside `skillpm`.
pub fn registry_program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_skillpm"))
        .with_file_name(format!("skillpm-registry{}", std::env::consts::EXE_SUFFIX))
}

fn program() -> Command {
    let mut command = Command::new(registry_program());
    command.stdin(Stdio::null());
    for (key, _) in std::env::vars() {
        if key.starts_with("SKILLPM_REGISTRY_") || key.starts_with("AWS_") {
            command.env_remove(key);
        }
    }
    command
}
