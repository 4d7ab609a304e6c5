//! TLS of the server itself: curl and openssl are the other side.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use skillpm_testing::tools::program as installed;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Server, program};

fn openssl(dir: &Path, args: &str) {
    let output = Command::new("openssl").args(args.split(' ')).current_dir(dir).output().expect("starts");
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes the authority `NAME.pem` in `dir`, and `leaf.pem` and `leaf.key` of it.
fn certify(dir: &Path, name: &str) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(dir, &format!("req -x509 {key} -keyout {name}.key -out {name}.pem -subj /CN={name} -days 30"));
    openssl(dir, &format!("req {key} -keyout leaf.key -out leaf.csr -subj /CN=leaf"));
    std::fs::write(dir.join("ext"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .expect("is written");
    let of = format!("-CA {name}.pem -CAkey {name}.key -CAcreateserial");
    openssl(dir, &format!("x509 -req -in leaf.csr {of} -days 30 -extfile ext -out leaf.pem"));
}

/// The certificates of the authority `one`; `None` if a program is missing, which is said.
fn certificates() -> Option<TempDir> {
    installed("openssl")?;
    installed("curl")?;
    let files = tempfile::tempdir().expect("a directory");
    certify(files.path(), "one");
    Some(files)
}

fn settings(dir: &Path) -> String {
    let of = |name: &str| dir.join(name).to_str().expect("UTF-8").to_owned();
    format!("tls-certificate = '{}'\ntls-key = '{}'\n", of("leaf.pem"), of("leaf.key"))
}

/// Asks for `/healthz`. Returns the status and the version of HTTP, as in `200 2`; empty if the certificate is not accepted.
async fn curl(server: &Server, authority: &Path, args: &[&str]) -> String {
    let mut command = Command::new("curl");
    command.args(["-sS", "-o", "/dev/null", "-w", "%{http_code} %{http_version}", "--cacert"]);
    command.arg(authority).args(args).arg(format!("{}/healthz", server.url()));
    let run = tokio::task::spawn_blocking(move || command.output());
    let output: Output = run.await.expect("runs").expect("starts");
    if output.status.success() { String::from_utf8(output.stdout).expect("text") } else { String::new() }
}

/// Sends `bytes` without TLS. Returns what comes until the server ends the connection.
async fn plain(server: &Server, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
    stream.write_all(bytes).await.expect("is sent");
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "the connection stays open");
    answer
}

#[tokio::test]
async fn the_server_speaks_tls() {
    let Some(files) = certificates() else { return };
    let authority = files.path().join("one.pem");
    let server = Server::start(&format!("{}[limits]\nhead-seconds = 2\n", settings(files.path())));
    assert!(server.url().starts_with("https://"), "{}", server.url());
    assert_eq!(curl(&server, &authority, &[]).await, "200 2");
    assert_eq!(curl(&server, &authority, &["--http1.1"]).await, "200 1.1");
    // Without TLS, in the midst of a handshake, with nothing: each ends, and says nothing of the registry.
    for bytes in [&b"GET /config.json HTTP/1.1\r\nhost: a\r\n\r\n"[..], b"\x16\x03\x01\x02\x00\x01", b""] {
        let answer = plain(&server, bytes).await;
        assert!(!answer.starts_with(b"HTTP") && answer.len() < 64, "{answer:?}");
    }
    assert_eq!(curl(&server, &authority, &[]).await, "200 2");
    assert!(!server.stop().contains("\"level\":\"ERROR\""));
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_certificate_is_taken_and_a_wrong_one_is_not() {
    let Some(files) = certificates() else { return };
    let dir = files.path();
    let server = Server::start(&settings(dir));
    let hang_up = || {
        let pid = server.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &pid]).status().expect("is sent").success());
    };
    certify(dir, "two");
    hang_up();
    let since = Instant::now();
    while curl(&server, &dir.join("two.pem"), &[]).await.is_empty() {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", server.log());
    }
    assert!(curl(&server, &dir.join("one.pem"), &[]).await.is_empty());
    std::fs::write(dir.join("leaf.pem"), "no certificate").expect("is written");
    hang_up();
    while !server.log().contains("\"level\":\"ERROR\"") {
        assert!(since.elapsed() < Duration::from_secs(40), "{}", server.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(curl(&server, &dir.join("two.pem"), &[]).await, "200 2");
}

#[test]
fn wrong_certificates_are_told() {
    let Some(files) = certificates() else { return };
    let dir = files.path();
    let registry = dir.join("registry").to_str().expect("UTF-8").to_owned();
    assert!(program(&["init", &registry, "--name", "acme"]).output().expect("starts").status.success());
    let path = |name: &str| dir.join(name).to_str().expect("UTF-8").to_owned();
    for (certificate, key, part) in [
        (Some("leaf.pem"), None, "tls-key"),
        (None, Some("leaf.key"), "tls-certificate"),
        (Some("none.pem"), Some("leaf.key"), "none.pem"),
        (Some("leaf.pem"), Some("leaf.pem"), "leaf.pem"),
        (Some("leaf.key"), Some("leaf.key"), "leaf.key"),
        // That of the authority.
        (Some("leaf.pem"), Some("one.key"), "one.key"),
    ] {
        let mut command = program(&["serve", &registry, "--listen", "127.0.0.1:0"]);
        for (name, value) in [("CERTIFICATE", certificate), ("KEY", key)] {
            if let Some(value) = value {
                command.env(format!("SKILLPM_REGISTRY_TLS_{name}"), path(value));
            }
        }
        let output = command.output().expect("starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains(part) && output.stdout.is_empty(), "{told}");
    }
}
