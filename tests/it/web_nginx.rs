//! Archives and sites behind a real nginx, with its tags, its login and its 404s.
//!
//! Where nginx is not installed these tests say so; `make test-tools` installs it.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use skillpm::digest::Digest;

use crate::support::tar::tar_gz;
use crate::support::{Sandbox, Tree, program};

/// A web server for the files of a directory. It stops when it is dropped.
struct Nginx {
    process: Child,
    dir: tempfile::TempDir,
    port: u16,
}

impl Nginx {
    /// Starts the server; `None` where it is not on this machine. What lies below `private/` needs the
    /// name `ada` and the password `s3cret`.
    fn start() -> Option<Self> {
        let program = program("nginx")?;
        let dir = tempfile::tempdir().expect("a directory");
        for sub in ["www/private", "temp", "logs"] {
            std::fs::create_dir_all(dir.path().join(sub)).expect("a directory");
        }
        // A free port: another process could take it before nginx does, and then it does not start.
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a port")
            .port();
        let root = dir.path().display().to_string();
        std::fs::write(dir.path().join("passwords"), "ada:{PLAIN}s3cret\n").expect("writes");
        let config = CONFIG.replace("ROOT", &root).replace("PORT", &port.to_string());
        std::fs::write(dir.path().join("nginx.conf"), config).expect("writes");
        let mut command = Command::new(program);
        command.args([
            "-p",
            &root,
            "-c",
            &format!("{root}/nginx.conf"),
            "-e",
            &format!("{root}/logs/error.log"),
        ]);
        let process = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("nginx starts");
        let mut server = Self { process, dir, port };
        server.wait();
        Some(server)
    }

    /// Waits until it listens.
    fn wait(&mut self) {
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if let Some(status) = self.process.try_wait().expect("a process") {
                let log = std::fs::read_to_string(self.dir.path().join("logs/error.log")).unwrap_or_default();
                panic!("nginx ended with {status}: {log}");
            }
            std::thread::yield_now();
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join("www").join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    /// Lines such as `200 /a.zip`, and forgets them.
    fn log(&self) -> Vec<String> {
        let path = self.dir.path().join("logs/access.log");
        let text = std::fs::read_to_string(&path).expect("a log");
        std::fs::OpenOptions::new().write(true).truncate(true).open(path).expect("opens");
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// Publishes `pdf` by version 0.2 below `path`.
    fn publish(&self, path: &str, tree: &Tree) {
        let artifact = tar_gz(tree);
        let entry = json!({
            "name": "pdf", "type": "archive", "description": "Does pdf.", "url": "pdf.tar.gz",
            "digest": Digest::of(&artifact).to_string(),
        });
        let schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
        let index = json!({"$schema": schema, "skills": [entry]});
        self.put(&format!("{path}/.well-known/agent-skills/pdf.tar.gz"), artifact);
        self.put(&format!("{path}/.well-known/agent-skills/index.json"), index.to_string());
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const CONFIG: &str = r#"
daemon off;
master_process off;
pid ROOT/nginx.pid;
error_log ROOT/logs/error.log;
events { worker_connections 64; }
http {
    log_format short '$status $request_uri';
    access_log ROOT/logs/access.log short;
    client_body_temp_path ROOT/temp/body;
    proxy_temp_path ROOT/temp/proxy;
    fastcgi_temp_path ROOT/temp/fastcgi;
    uwsgi_temp_path ROOT/temp/uwsgi;
    scgi_temp_path ROOT/temp/scgi;
    gzip on;
    gzip_min_length 0;
    gzip_types *;
    server {
        listen 127.0.0.1:PORT;
        root ROOT/www;
        location /moved/ { return 301 /files/; }
        location /private/ {
            auth_basic "skills";
            auth_basic_user_file ROOT/passwords;
        }
    }
}
"#;

fn pdf() -> Tree {
    Tree::new().skill("", "pdf").file("references/a b.md", "a\n")
}

fn clear(sandbox: &Sandbox) {
    for dir in [sandbox.project().join(".agents"), sandbox.home().join(".local")] {
        let _ = std::fs::remove_dir_all(dir);
    }
}

fn digest(sandbox: &Sandbox) -> String {
    let lock = sandbox.read("skillpm.lock");
    lock.lines().find(|line| line.starts_with("digest")).expect("a digest").to_owned()
}

/// S4: archives, with tags, a login from `.netrc` and a redirect.
#[test]
fn archives() {
    let Some(nginx) = Nginx::start() else { return };
    let mut sandbox = Sandbox::new();
    nginx.put("a.zip", pdf().zip());
    nginx.put("private/b.tar.gz", tar_gz(&pdf()));
    let url = nginx.url("/a.zip");
    for status in [200, 304] {
        let output = sandbox.run(&["install", &url]);
        assert_eq!(output.code, Some(0), "{output}");
        assert_eq!(nginx.log(), [format!("{status} /a.zip")]);
    }
    let locked = digest(&sandbox);
    nginx.put("a.zip", pdf().file("new.md", "new\n").zip());
    clear(&sandbox);
    assert_eq!(sandbox.run(&["install", "--offline"]).code, Some(0));
    clear(&sandbox);
    let refused = sandbox.run(&["install", "--locked"]);
    assert_eq!(refused.code, Some(5), "{refused}");
    assert_eq!(sandbox.run(&["install", &url]).code, Some(0));
    assert_ne!(digest(&sandbox), locked);
    // Behind a login.
    let url = nginx.url("/private/b.tar.gz");
    let refused = sandbox.run(&["install", &url]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("requires a login") && refused.stderr.contains(".netrc"), "{refused}");
    let netrc = sandbox.home().join(".netrc");
    std::fs::write(&netrc, "machine 127.0.0.1\n  login ada\n  password wrong\n").expect("writes");
    let refused = sandbox.run(&["install", &url]);
    assert!(refused.stderr.contains("does not accept the login in `[DIR]/home/.netrc`"), "{refused}");
    std::fs::write(&netrc, "machine 127.0.0.1\n  login ada\n  password s3cret\n").expect("writes");
    let other = sandbox.run(&["install", &url]);
    assert!(other.code == Some(1) && other.stderr.contains("is already installed from"), "{other}");
    let output = sandbox.run(&["install", &url, "--force"]);
    assert_eq!((output.code, digest(&sandbox)), (Some(0), locked), "{output}");
    // A token takes the place of a password, and is not one here.
    sandbox.env(&format!("SKILLPM_TOKEN_127_0_0_1___{}", nginx.port), "t0ken");
    assert_eq!(sandbox.run(&["install", &url]).code, Some(4));
    let missing = sandbox.run(&["install", &nginx.url("/gone.zip")]);
    assert!(missing.code == Some(4) && missing.stderr.contains("(status 404)"), "{missing}");
}

/// INTEROP 6: both versions of discovery, public and behind a login.
#[test]
fn sites() {
    let Some(nginx) = Nginx::start() else { return };
    let sandbox = Sandbox::new();
    nginx.publish("", &pdf());
    nginx.publish("private", &pdf());
    for (path, bytes, _) in pdf().files() {
        nginx.put(&format!("old/.well-known/skills/pdf/{path}"), bytes);
    }
    let old =
        json!({"skills": [{"name": "pdf", "description": "D.", "files": ["SKILL.md", "references/a b.md"]}]});
    nginx.put("old/.well-known/skills/index.json", old.to_string());
    std::fs::write(sandbox.home().join(".netrc"), "machine 127.0.0.1 login ada password s3cret\n")
        .expect("writes");
    let mut digests = Vec::new();
    for path in ["", "/old", "/private"] {
        let listed = sandbox.run(&["install", "--list", &nginx.url(path)]);
        assert!(listed.code == Some(0) && listed.stdout.starts_with("pdf\n"), "{listed}");
        let output = sandbox.run(&["install", &nginx.url(path)]);
        assert_eq!(output.code, Some(0), "{path}: {output}");
        digests.push(digest(&sandbox));
        for args in [&["install", "--locked"][..], &["install", "--frozen"], &["install", "--offline"]] {
            clear(&sandbox);
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(0), "{path} {args:?}: {output}");
            assert!(sandbox.project().join(".agents/skills/pdf/references/a b.md").is_file());
        }
    }
    digests.dedup();
    assert_eq!(digests.len(), 1);
    let log = nginx.log();
    assert!(log.contains(&"304 /.well-known/agent-skills/index.json".to_owned()), "{log:?}");
    assert_eq!(log.iter().filter(|line| *line == "200 /.well-known/agent-skills/pdf.tar.gz").count(), 1);
    // A changed artifact: the index tells, and what is locked stays until it is asked for.
    assert_eq!(sandbox.run(&["install", &nginx.url("")]).code, Some(0));
    nginx.publish("", &pdf().file("new.md", "new\n"));
    clear(&sandbox);
    std::fs::remove_dir_all(sandbox.home().join(".cache")).expect("removes");
    let refused = sandbox.run(&["install"]);
    assert!(refused.code == Some(5) && refused.stderr.contains("it has changed since"), "{refused}");
    assert_eq!(sandbox.run(&["install", &nginx.url("/@pdf")]).code, Some(0));
    assert_ne!(digest(&sandbox), digests[0]);
}
