//! Servers whose certificates are wrong, and one whose certificate is right: h40, h41.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{AFTER, COMMIT, Scene, Want, Way};
use crate::support::{Tree, program};

/// A web server with TLS for the files of a directory. It stops when it is dropped.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts one with the certificate `name` of `dir`.
    fn start(dir: &Path, name: &str) -> Self {
        // A free port: another process could take it before the server does, and then it does not start.
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a port")
            .port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-HTTP", "-accept", &format!("127.0.0.1:{port}")]);
        command.args(["-cert", &format!("{name}.pem"), "-key", "leaf.key"]).current_dir(dir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("starts");
        let lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        let listens = lines.map_while(Result::ok).any(|line| line == "ACCEPT");
        assert!(listens, "the server starts");
        Self { process, port }
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}/{path}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs `openssl` in `dir`.
fn openssl(dir: &Path, args: &str) {
    let output = Command::new("openssl").args(args.split(' ')).current_dir(dir).output().expect("starts");
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An authority, and certificates of it: a right one, one that has expired, one for another host. There are
/// none without `openssl`, which is told.
fn certificates() -> Option<tempfile::TempDir> {
    program("openssl")?;
    let files = tempfile::tempdir().expect("a directory");
    let dir = files.path();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(dir, &format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=authority -days 30"));
    openssl(dir, &format!("req {key} -keyout leaf.key -out leaf.csr -subj /CN=leaf"));
    for (name, host, days) in [
        ("right", "IP:127.0.0.1", "30"),
        ("expired", "IP:127.0.0.1", "-1"),
        ("other", "DNS:other.example", "30"),
    ] {
        std::fs::write(dir.join("ext"), format!("subjectAltName={host}\nbasicConstraints=CA:FALSE\n"))
            .expect("writes");
        openssl(
            dir,
            &format!(
                "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days {days} -extfile ext -out {name}.pem"
            ),
        );
    }
    Some(files)
}

/// h40, h41: each is told by its reason and never tried again, and nothing changes; with the authority
/// named, the right one serves.
#[test]
fn certificates_that_are_wrong() {
    let Some(files) = certificates() else { return };
    let dir = files.path();
    let archive = Tree::new().file("demo/SKILL.md", AFTER).archive("acme/demo", COMMIT);
    let mut answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", archive.len()).into_bytes();
    answer.extend(&archive);
    std::fs::write(dir.join("demo.zip"), answer).expect("writes");
    let control = Tree::new().file("demo/SKILL.md", super::BEFORE).zip();
    let mut shown = String::new();
    for (certificate, authority) in
        [("right", false), ("expired", true), ("other", true), ("plain", true), ("right", true)]
    {
        let mut scene = Scene::new(Way::Download("zip"), &control);
        scene.sandbox.env("SKILLPM_HTTP_TIMEOUT", "20").env("SKILLPM_HTTP_RETRIES", "3");
        let path: PathBuf = dir.join("ca.pem");
        if authority {
            scene.sandbox.env("SSL_CERT_FILE", &path.display().to_string());
        }
        let server = (certificate != "plain").then(|| Server::start(dir, certificate));
        let url = server.as_ref().map_or_else(
            || scene.forge.url("/demo.zip").replace("http:", "https:"),
            |server| server.url("demo.zip"),
        );
        let before = scene.look();
        let output = scene.run(&["install", &url, "--force"]);
        if certificate == "right" && authority {
            scene.judge("h40", Want::Quiet, &before, &output);
        } else {
            scene.judge("h40", Want::Fails(4, "no secure connection to"), &before, &output);
            assert!(!output.stderr.contains("retrying in"), "{output}");
            let host = url.split('/').nth(2).expect("a host");
            let text = output.stderr.replace(host, "HOST").replace(&scene.forge.api_host(), "HOST");
            writeln!(shown, "# {certificate}, {authority}\n{}", text.trim_end()).expect("memory");
        }
    }
    insta::assert_snapshot!(shown, @"
    # right, false
    error: no secure connection to `HOST`: its certificate was issued by an authority that is not trusted here
    hint: if a proxy on your network replaces certificates, set `SSL_CERT_FILE` to the file that holds it
    # expired, true
    error: no secure connection to `HOST`: its certificate has expired, or the clock of this machine is wrong
    hint: if a proxy on your network replaces certificates, set `SSL_CERT_FILE` to the file that holds it
    # other, true
    error: no secure connection to `HOST`: its certificate is for another host
    hint: if a proxy on your network replaces certificates, set `SSL_CERT_FILE` to the file that holds it
    # plain, true
    error: no secure connection to `HOST`: it does not speak TLS on this port
    hint: if a proxy on your network replaces certificates, set `SSL_CERT_FILE` to the file that holds it
    ");
}

/// h12: a secure connection is never left for an open one.
#[test]
fn https_never_becomes_http() {
    let Some(files) = certificates() else { return };
    let dir = files.path();
    let control = Tree::new().file("demo/SKILL.md", super::BEFORE).zip();
    let mut scene = Scene::new(Way::Download("zip"), &control);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        scene.forge.url("/offered.zip")
    );
    std::fs::write(dir.join("demo.zip"), answer).expect("a file");
    scene.forge.clear_requests();
    scene.sandbox.env("SSL_CERT_FILE", &dir.join("ca.pem").display().to_string());
    let server = Server::start(dir, "right");
    let before = scene.look();
    let output = scene.run(&["install", &server.url("demo.zip")]);
    scene.judge("h12", Want::Fails(4, "this would leave the secure connection"), &before, &output);
    assert!(scene.forge.requests().is_empty(), "the other host was not asked");
}
