//! OCI registries: Debian's `docker-registry`, small ones that lie, our own server, and skopeo.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use skillpm_format::digest::Digest;

use crate::support::tar::{gzip, tar};
use crate::support::{Output, Sandbox, Tree, program, start_registry};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const LAYER: &str = "application/vnd.agentskills.skill.content.v1.tar+gzip";
const IMAGE: &str = "application/vnd.oci.image.config.v1+json";
const TITLE: &str = "org.opencontainers.image.title";

/// Debian's registry, with a directory of its own.
struct Registry {
    process: Child,
    dir: tempfile::TempDir,
    port: u16,
    login: Option<&'static str>,
}

impl Registry {
    fn start() -> Option<Self> {
        Self::start_with(None)
    }

    /// Starts one, which lets in only `name:password` if that is given.
    fn start_with(login: Option<&'static str>) -> Option<Self> {
        let program = program("docker-registry")?;
        let dir = tempfile::tempdir().expect("a directory");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        drop(listener);
        let root = dir.path().display();
        let mut config = format!(
            "version: 0.1\nlog:\n  level: error\n  accesslog:\n    disabled: true\nstorage:\n  filesystem:\n    \
             rootdirectory: {root}/data\nhttp:\n  addr: 127.0.0.1:{port}\n"
        );
        if let Some((name, password)) = login.and_then(|login| login.split_once(':')) {
            let htpasswd = crate::support::program("htpasswd")?;
            let file = dir.path().join("htpasswd");
            let mut command = Command::new(htpasswd);
            command.arg("-Bbc").arg(&file).args([name, password]).stderr(Stdio::null());
            assert!(command.status().expect("starts").success());
            let _ = write!(config, "auth:\n  htpasswd:\n    realm: test\n    path: {}\n", file.display());
        }
        let file = dir.path().join("config.yml");
        std::fs::write(&file, config).expect("is written");
        let mut command = Command::new(program);
        command.arg("serve").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().expect("starts");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(process.try_wait().expect("a process").is_none(), "the registry ended");
            thread::sleep(Duration::from_millis(10));
        }
        Some(Self { process, dir, port, login })
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn source(&self, rest: &str) -> String {
        format!("oci://{}/{rest}", self.host())
    }

    fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        // Without `Accept`, manifests come in a form of docker's from long ago.
        let mut headers = vec![("Content-Type", kind.to_owned()), ("Accept", format!("{MANIFEST}, {INDEX}"))];
        if let Some(login) = self.login {
            headers.push(("Authorization", format!("Basic {}", base64(login))));
        }
        send(&self.host(), method, path, &headers, body)
    }

    /// Puts a blob, and returns its descriptor.
    fn blob(&self, name: &str, kind: &str, bytes: &[u8]) -> Value {
        let digest = Digest::of(bytes);
        let started = self.send("POST", &format!("/v2/{name}/blobs/uploads/"), "", b"");
        let place = started.headers["location"].split_once(&self.host()).expect("a place").1.to_owned();
        let put = self.send("PUT", &format!("{place}&digest={digest}"), "application/octet-stream", bytes);
        assert_eq!(put.status, 201, "{}", String::from_utf8_lossy(&put.body));
        json!({ "mediaType": kind, "digest": digest, "size": bytes.len() })
    }

    /// Puts a manifest, and returns its descriptor.
    fn manifest(&self, name: &str, tag: &str, manifest: &Value) -> Value {
        let bytes = manifest.to_string().into_bytes();
        let kind = manifest["mediaType"].as_str().expect("a type");
        let put = self.send("PUT", &format!("/v2/{name}/manifests/{tag}"), kind, &bytes);
        assert_eq!(put.status, 201, "{}", String::from_utf8_lossy(&put.body));
        json!({ "mediaType": kind, "digest": Digest::of(&bytes), "size": bytes.len() })
    }

    /// Puts an artifact with one archive, and returns the descriptor of its manifest.
    fn artifact(&self, name: &str, tag: &str, kinds: [&str; 3], layer: &[u8]) -> Value {
        let config = self.blob(name, kinds[1], b"{}");
        let layer = self.blob(name, kinds[2], layer);
        let mut manifest =
            json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer] });
        if !kinds[0].is_empty() {
            manifest["artifactType"] = json!(kinds[0]);
        }
        self.manifest(name, tag, &manifest)
    }

    /// Puts a skill in the form that skillpm writes.
    fn skill(&self, name: &str, tag: &str, more: &str) -> Value {
        let kinds = [
            "application/vnd.agentskills.skill.v1",
            "application/vnd.agentskills.skill.config.v1+json",
            LAYER,
        ];
        self.artifact(name, tag, kinds, &layer("pdf", more))
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Returns `text` in base64.
fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) as usize & 63];
            encoded.push(if at > three.len() { '=' } else { char::from(digit) });
        }
    }
    encoded
}

/// Makes a request without any of the code that is tested.
fn send(host: &str, method: &str, path: &str, headers: &[(&str, String)], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(host).expect("connects");
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let _ = write!(head, "Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).expect("is sent");
    let mut reader = BufReader::new(stream);
    let (first, headers) = read_head(&mut reader);
    let status = first.split(' ').nth(1).expect("a status").parse().expect("a number");
    let mut body = Vec::new();
    reader.read_to_end(&mut body).expect("is read");
    Answer { status, headers, body }
}

fn read_head(reader: &mut impl std::io::BufRead) -> (String, BTreeMap<String, String>) {
    let mut first = String::new();
    reader.read_line(&mut first).expect("a line");
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    (first.trim_end().to_owned(), headers)
}

/// A server that answers as a function says, and what it was asked: the first line, and `Authorization`.
#[derive(Clone)]
struct Small {
    host: String,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

type Reply = (u16, Vec<String>, Vec<u8>);

impl Small {
    fn start(answer: impl Fn(&str, &str) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut reader = BufReader::new(stream.try_clone().expect("a copy"));
                let (first, headers) = read_head(&mut reader);
                let length = headers.get("content-length").map_or(0, |text| text.parse().expect("a number"));
                let mut body = vec![0; length];
                reader.read_exact(&mut body).expect("a body");
                let login = headers.get("authorization").cloned().unwrap_or_default();
                let form = String::from_utf8_lossy(&body).into_owned();
                log.lock().expect("a log").push((format!("{first}{form}"), login.clone()));
                let path = first.split(' ').nth(1).unwrap_or_default();
                let (status, more, body) = answer(&format!("{path}{form}"), &login);
                let mut head =
                    format!("HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
                for header in more {
                    let _ = write!(head, "{header}\r\n");
                }
                let _ =
                    stream.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        Self { host, asked }
    }

    /// Starts a registry whose repository `pdf` has these answers below `/v2/pdf/`.
    fn registry(answers: Vec<(String, Vec<u8>)>) -> Self {
        Self::start(move |path, _| {
            if path == "/v2/" {
                return (200, Vec::new(), b"{}".to_vec());
            }
            let found = answers.iter().find(|(at, _)| path == format!("/v2/pdf/{at}"));
            found.map_or((404, Vec::new(), Vec::new()), |(_, bytes)| (200, Vec::new(), bytes.clone()))
        })
    }

    fn asked(&self) -> Vec<(String, String)> {
        self.asked.lock().expect("a log").clone()
    }
}

fn tree(name: &str, more: &str) -> Tree {
    Tree::new().skill("", name).file("references/more.md", more)
}

fn layer(name: &str, more: &str) -> Vec<u8> {
    gzip(&tar(&tree(name, more), &format!("{name}/")))
}

fn descriptor(kind: &str, bytes: &[u8]) -> Value {
    json!({ "mediaType": kind, "digest": Digest::of(bytes), "size": bytes.len() })
}

fn manifest_of(layers: &[Value]) -> Vec<u8> {
    let config = descriptor("application/vnd.oci.empty.v1+json", b"{}");
    let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers });
    manifest.to_string().into_bytes()
}

fn more(sandbox: &Sandbox) -> String {
    sandbox.read(".agents/skills/pdf/references/more.md")
}

fn installs(source: &str, name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["install", source]);
    assert!(!sandbox.read(&format!(".agents/skills/{name}/SKILL.md")).is_empty(), "{source}");
    sandbox
}

fn fails(sandbox: &Sandbox, args: &[&str], code: i32, says: &str) -> Output {
    let output = sandbox.run(args);
    assert_eq!(output.code, Some(code), "{args:?}: {output}");
    assert!(output.stderr.contains(says), "{args:?}: {output}");
    output
}

/// Takes away what was installed, and what is kept of it.
fn clear(sandbox: &Sandbox) {
    for dir in
        [sandbox.project().join(".agents"), sandbox.home().join(".local"), sandbox.home().join(".cache")]
    {
        let _ = std::fs::remove_dir_all(dir);
    }
}

#[test]
fn artifacts_of_five_kinds_are_read_and_images_are_not() {
    let Some(registry) = Registry::start() else { return };
    let bytes = layer("pdf", "a\n");
    for (name, kinds) in [
        (
            "a/agentskills",
            [
                "application/vnd.agentskills.skill.v1",
                "application/vnd.agentskills.skill.config.v1+json",
                LAYER,
            ],
        ),
        (
            "a/acr",
            [
                "application/vnd.agent.skill.v1+json",
                "application/vnd.oci.empty.v1+json",
                "application/vnd.agent.skill.content.v1.tar+gzip",
            ],
        ),
        (
            "a/cncf",
            [
                "application/vnd.cncf.skill.manifest.v1+json",
                "application/vnd.cncf.skill.config.v1+json",
                "application/vnd.cncf.skill.bundle.v1.tar+gzip",
            ],
        ),
    ] {
        registry.artifact(name, "latest", kinds, &bytes);
        installs(&registry.source(name), "pdf");
    }

    // Each file in a blob of its own.
    let files = tree("pdf", "a\n");
    let titled = files.files().map(|(path, bytes, _)| {
        let mut blob = registry.blob("a/files", "text/markdown", bytes);
        blob["annotations"] = json!({ TITLE: path });
        blob
    });
    let layers: Vec<_> = titled.collect();
    let config = registry.blob("a/files", "application/vnd.oci.empty.v1+json", b"{}");
    let files = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers });
    registry.manifest("a/files", "latest", &files);
    assert_eq!(more(&installs(&registry.source("a/files"), "pdf")), "a\n");

    // ToolHive: an index of platforms, each with the configuration of an image.
    let layer_kind = "application/vnd.oci.image.layer.v1.tar+gzip";
    let mut one = registry.artifact("a/toolhive", "one", ["", IMAGE, layer_kind], &bytes);
    one["platform"] = json!({ "architecture": "amd64", "os": "linux" });
    let mut index = json!({ "schemaVersion": 2, "mediaType": INDEX, "artifactType": "dev.toolhive.skills.v1", "manifests": [one] });
    registry.manifest("a/toolhive", "latest", &index);
    installs(&registry.source("a/toolhive"), "pdf");

    // The same without what makes it an artifact.
    index.as_object_mut().expect("an object").remove("artifactType");
    registry.manifest("a/toolhive", "image", &index);
    for tag in ["image", "one"] {
        let sandbox = Sandbox::new();
        let source = registry.source(&format!("a/toolhive:{tag}"));
        fails(
            &sandbox,
            &["install", &source],
            5,
            "it is a container image, not an artifact that holds a skill",
        );
    }

    // A collection.
    let docx = registry.artifact("a/all", "docx", ["x/y", "x/config", LAYER], &layer("docx", "d\n"));
    let pdf = registry.artifact("a/all", "pdf", ["x/y", "x/config", LAYER], &bytes);
    let all = json!({
        "schemaVersion": 2, "mediaType": INDEX, "artifactType": "application/vnd.agentskills.collection.v1",
        "manifests": [docx, pdf]
    });
    registry.manifest("a/all", "latest", &all);
    let sandbox = installs(&registry.source("a/all@docx"), "docx");
    assert!(!sandbox.project().join(".agents/skills/pdf").exists());
    sandbox.ok(&["install", &registry.source("a/all"), "--skill", "*"]);
    assert_eq!(more(&sandbox), "a\n");
}

#[test]
fn a_lock_names_digests_and_moved_tags_are_news() {
    let Some(registry) = Registry::start() else { return };
    let one = registry.skill("acme/pdf", "1.0.0", "1\n");
    registry.skill("acme/pdf", "latest", "1\n");
    let sandbox = installs(&registry.source("acme/pdf"), "pdf");
    let digest = one["digest"].as_str().expect("a digest").to_owned();
    let lock = sandbox.read("skillpm.lock");
    assert!(lock.contains(&format!("source = \"oci:{}/acme/pdf\"", registry.host())), "{lock}");
    assert!(lock.contains(&format!("revision = \"{digest}\"")), "{lock}");
    let outdated = |sandbox: &Sandbox| {
        let output = sandbox.run(&["outdated", "--json"]);
        let report: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"));
        report[0].clone()
    };
    assert_eq!(outdated(&sandbox)["status"], "current");

    let two = registry.skill("acme/pdf", "latest", "2\n");
    registry.skill("acme/pdf", "1.1.0", "2\n");
    registry.skill("acme/pdf", "2.0.0-rc.1", "rc\n");
    let told = outdated(&sandbox);
    assert_eq!((&told["status"], &told["newest"]), (&json!("changed"), &two["digest"]), "{told}");
    // What is locked comes back, whatever the tag means now.
    clear(&sandbox);
    sandbox.ok(&["install", "--frozen"]);
    assert_eq!((more(&sandbox).as_str(), sandbox.read("skillpm.lock")), ("1\n", lock));
    sandbox.ok(&["update"]);
    assert_eq!(more(&sandbox), "2\n");
    assert_eq!(outdated(&sandbox)["status"], "current");

    // A tag stays, a range moves, a digest is what it is.
    let tagged = installs(&registry.source("acme/pdf:1.0.0"), "pdf");
    tagged.ok(&["update"]);
    assert_eq!(more(&tagged), "1\n");
    assert!(tagged.read("skillpm.toml").contains("tag = \"1.0.0\""));
    tagged.ok(&["update", "--latest"]);
    assert_eq!(more(&tagged), "2\n");
    let ranged = installs(&registry.source("acme/pdf#^1"), "pdf");
    assert_eq!(more(&ranged), "2\n");
    let pinned = installs(&registry.source(&format!("acme/pdf@{digest}")), "pdf");
    pinned.ok(&["update"]);
    assert_eq!(more(&pinned), "1\n");
    assert!(pinned.read("skillpm.toml").contains(&format!("rev = \"{digest}\"")));
    clear(&pinned);
    pinned.ok(&["install"]);

    // Without `latest` the highest version counts that is not a pre-release.
    registry.skill("acme/versions", "v1.9.0", "9\n");
    registry.skill("acme/versions", "v1.10.0", "10\n");
    registry.skill("acme/versions", "v2.0.0-rc.1", "rc\n");
    assert_eq!(more(&installs(&registry.source("acme/versions"), "pdf")), "10\n");
    let sandbox = Sandbox::new();
    fails(&sandbox, &["install", &registry.source("acme/versions:v1.9.1")], 2, "did you mean `v1.9.0`?");
    fails(&sandbox, &["install", &registry.source("acme/none")], 2, "does not exist");
    fails(&sandbox, &["install", &registry.source("acme/pdf"), "--branch", "main"], 2, "no branch");
}

/// A registry that lies, or is broken.
#[test]
fn what_is_not_what_it_should_be_is_refused() {
    let good = layer("pdf", "a\n");
    let titled = |title: &str| {
        let mut blob = descriptor("text/plain", b"x");
        blob["annotations"] = json!({ TITLE: title });
        blob
    };
    let mut short = descriptor(LAYER, &good);
    short["size"] = json!(good.len() - 1);
    let mut long = descriptor(LAYER, &good);
    long["size"] = json!(good.len() + 1);
    let mut flipped = good.clone();
    flipped[20] ^= 1;
    let other = descriptor(LAYER, &flipped);
    let mut huge = descriptor(LAYER, &good);
    huge["size"] = json!(u64::MAX);
    let blob = |at: &Value| format!("blobs/{}", at["digest"].as_str().expect("a digest"));
    for (layers, code, says) in [
        (vec![descriptor(LAYER, &good)], 0, ""),
        (vec![short], 5, "more than"),
        (vec![long], 5, "bytes, but it has"),
        (vec![other], 5, "sent other bytes for a blob"),
        (vec![huge], 5, "are allowed"),
        (vec![titled("../SKILL.md")], 5, "../SKILL.md"),
        (vec![titled("/etc/passwd")], 5, "/etc/passwd"),
        (vec![titled("a\\b")], 5, "a\\b"),
        (vec![titled("SKILL.md"), titled("SKILL.md")], 5, "SKILL.md"),
        (vec![titled("a"), titled("a/b")], 5, "`a`"),
        (vec![descriptor(LAYER, &good), titled("SKILL.md")], 5, "2 layers"),
        (vec![descriptor("text/plain", b"x")], 5, "text/plain"),
        (vec![], 5, "no layers"),
    ] {
        let manifest = manifest_of(&layers);
        let mut answers = vec![("manifests/latest".to_owned(), manifest)];
        answers.extend(layers.iter().map(|at| (blob(at), good.clone())));
        let registry = Small::registry(answers);
        let sandbox = Sandbox::new();
        fails(&sandbox, &["install", &format!("oci://{}/pdf", registry.host)], code, says);
        assert_eq!(sandbox.project().join(".agents").exists(), code == 0, "{says}");
    }
    let digest = Digest::of(b"x");
    for (reference, path, bytes, code) in [
        ("", "manifests/latest".to_owned(), vec![b' '; (4 << 20) + 1], 5),
        ("", "manifests/latest".to_owned(), b"<html>".to_vec(), 5),
        (&*format!("@{digest}"), format!("manifests/{digest}"), b"y".to_vec(), 5),
    ] {
        let registry = Small::registry(vec![(path, bytes)]);
        fails(&Sandbox::new(), &["install", &format!("oci://{}/pdf{reference}", registry.host)], code, "");
    }
    // Something else than a registry.
    let web = Small::start(|_, _| (404, Vec::new(), Vec::new()));
    fails(&Sandbox::new(), &["install", &format!("oci://{}/pdf", web.host)], 4, "is not an OCI registry");
}

/// A registry that takes tokens of `realm`, and whose blobs are at `store`.
fn with_tokens(realm: &str, store: &str) -> Small {
    let bytes = layer("pdf", "a\n");
    let manifest = manifest_of(&[descriptor(LAYER, &bytes)]);
    let challenge = format!("WWW-Authenticate: Bearer realm=\"{realm}\",service=\"a registry\"");
    let place = format!("Location: http://{store}/blob");
    Small::start(move |path, login| match path {
        _ if login != "Bearer t0k3n" => (401, vec![challenge.clone()], Vec::new()),
        "/v2/pdf/manifests/latest" => (200, Vec::new(), manifest.clone()),
        _ => (307, vec![place.clone()], Vec::new()),
    })
}

/// THREATS h39.
#[test]
fn h39_a_login_goes_to_the_server_of_tokens_and_no_further() {
    let blobs = Small::start(|_, _| (200, Vec::new(), layer("pdf", "a\n")));
    let tokens = Small::start(|path, login| {
        let is_known = login == format!("Basic {}", base64("me:s3cret"))
            || path.contains("refresh_token=r3fresh")
            || login == format!("Basic {}", base64("token:0wn"));
        let answer = br#"{"token": "t0k3n", "expires_in": 300}"#.to_vec();
        if is_known { (200, Vec::new(), answer) } else { (401, Vec::new(), Vec::new()) }
    });
    let helper = "#!/bin/sh\nread -r host\necho \"{\\\"ServerURL\\\": \\\"$host\\\", \\\"Username\\\": \\\"me\\\", \\\"Secret\\\": \\\"s3cret\\\"}\"\n";
    for way in ["none", "docker", "podman", "refresh", "helper", "own", "wrong"] {
        let registry = with_tokens(&format!("http://{}/token?a=b", tokens.host), &blobs.host);
        let source = format!("oci://{}/pdf", registry.host);
        let mut sandbox = Sandbox::new();
        let home = sandbox.home();
        let write = |path: &str, text: String| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("is made");
            std::fs::write(&path, text).expect("is written");
            path
        };
        let auth = |login: &str| json!({ "auth": base64(login) });
        let file = |key: &str, entry: Value| json!({ "auths": { key: entry } }).to_string();
        match way {
            "docker" => drop(write(".docker/config.json", file(&registry.host, auth("me:s3cret")))),
            "podman" => {
                let path = write("auth.json", file(&format!("{}/pdf", registry.host), auth("me:s3cret")));
                sandbox.env("REGISTRY_AUTH_FILE", path.to_str().expect("UTF-8"));
            }
            "refresh" => {
                let entry = json!({ "identitytoken": "r3fresh" });
                drop(write(".config/containers/auth.json", file(&registry.host, entry)));
            }
            "helper" => {
                let path = write("bin/docker-credential-test", helper.to_owned());
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("is set");
                let config = json!({ "credHelpers": { &registry.host: "test" } });
                write("docker/config.json", config.to_string());
                sandbox.env("DOCKER_CONFIG", home.join("docker").to_str().expect("UTF-8"));
                let path = std::env::var("PATH").unwrap_or_default();
                sandbox.env("PATH", &format!("{}:{path}", home.join("bin").display()));
            }
            "own" => {
                let variable = registry.host.replace('.', "_").replace(':', "___");
                sandbox.env(&format!("SKILLPM_TOKEN_{variable}"), "0wn");
            }
            "wrong" => drop(write(".docker/config.json", file(&registry.host, auth("me:wr0ng")))),
            _ => {}
        }
        if ["none", "wrong"].contains(&way) {
            let output = fails(&sandbox, &["install", &source], 4, "registry login");
            assert!(output.stderr.contains("docker login"), "{output}");
            assert!(!output.to_string().contains("wr0ng"), "{output}");
            continue;
        }
        sandbox.ok(&["install", &source]);
        let logins: Vec<_> = registry.asked().into_iter().map(|(_, login)| login).collect();
        assert!(logins.iter().all(|login| login.is_empty() || login == "Bearer t0k3n"), "{way}: {logins:?}");
    }
    let asked = tokens.asked();
    let scope = "GET /token?a=b&service=a%20registry&scope=repository%3Apdf%3Apull HTTP/1.1";
    assert!(asked.iter().any(|(line, _)| line == scope), "{asked:?}");
    assert!(!blobs.asked().is_empty() && blobs.asked().iter().all(|(_, login)| login.is_empty()));

    // A server of tokens that is not safe gets nothing.
    let registry = with_tokens("http://tokens.example/token", &blobs.host);
    let output =
        fails(&Sandbox::new(), &["install", &format!("oci://{}/pdf", registry.host)], 4, "tokens.example");
    assert!(output.stderr.contains("secure connection"), "{output}");
}

/// THREATS h39: where blobs are, nobody says how to log in.
#[test]
fn h39_a_server_of_blobs_gets_no_login() {
    let thief = Small::start(|_, _| (200, Vec::new(), br#"{"token": "t0k3n"}"#.to_vec()));
    let challenge = format!("WWW-Authenticate: Bearer realm=\"http://{}/token\"", thief.host);
    let blobs = Small::start(move |_, _| (401, vec![challenge.clone()], Vec::new()));
    let tokens = Small::start(|_, _| (200, Vec::new(), br#"{"token": "t0k3n", "expires_in": 300}"#.to_vec()));
    let registry = with_tokens(&format!("http://{}/token", tokens.host), &blobs.host);
    let sandbox = Sandbox::new();
    let config = sandbox.home().join(".docker/config.json");
    std::fs::create_dir_all(config.parent().expect("a directory")).expect("is made");
    let auths = json!({ "auths": { &registry.host: { "auth": base64("me:s3cret") } } });
    std::fs::write(&config, auths.to_string()).expect("is written");
    fails(&sandbox, &["install", &format!("oci://{}/pdf", registry.host)], 4, "401");
    assert!(thief.asked().is_empty(), "{:?}", thief.asked());
    assert!(!blobs.asked().is_empty());
}

/// Where no server of tokens is asked before, a refusal leads to it.
#[test]
fn a_registry_that_asks_late() {
    let bytes = layer("pdf", "a\n");
    let manifest = manifest_of(&[descriptor(LAYER, &bytes)]);
    let registry = Small::start(move |path, login| match path {
        "/v2/" => (200, Vec::new(), Vec::new()),
        _ if login.is_empty() => (401, vec!["WWW-Authenticate: Basic realm=\"x\"".to_owned()], Vec::new()),
        "/v2/pdf/manifests/latest" => (200, Vec::new(), manifest.clone()),
        _ => (200, Vec::new(), bytes.clone()),
    });
    let mut sandbox = Sandbox::new();
    let netrc = sandbox.write("netrc", "machine 127.0.0.1 login me password s3cret\n");
    sandbox.env("NETRC", netrc.to_str().expect("UTF-8"));
    sandbox.ok(&["install", &format!("oci://{}/pdf", registry.host)]);
}

fn write_skill(sandbox: &Sandbox, version: &str, more: &[u8]) {
    let text = format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use it when a file ends in pdf.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# PDF {version}\n"
    );
    sandbox.write("pdf/SKILL.md", text);
    sandbox.write("pdf/references/more.md", more);
}

fn publish(sandbox: &Sandbox, to: &str, more: &[&str]) -> Output {
    sandbox.run(&[&["publish", "pdf", "--to", to][..], more].concat())
}

#[test]
fn a_skill_is_published_with_a_password_and_skopeo_reads_it() {
    let Some(registry) = Registry::start_with(Some("me:s3cret")) else { return };
    let mut author = Sandbox::new();
    write_skill(&author, "1.0.0", b"1\n");
    let to = registry.source("acme/pdf");
    let refused = publish(&author, &to, &[]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("docker login"), "{refused}");
    let config = json!({ "auths": { registry.host(): { "auth": base64("me:s3cret") } } });
    let file = author.write("auth/config.json", config.to_string());
    let logins = file.parent().expect("a directory").to_str().expect("UTF-8").to_owned();
    author.env("DOCKER_CONFIG", &logins);

    let dry = publish(&author, &to, &["--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry}");
    assert_eq!(registry.send("GET", "/v2/acme/pdf/tags/list", "", b"").status, 404);
    let published = publish(&author, &to, &["--json"]);
    assert_eq!(published.code, Some(0), "{published}");
    let manifest = |tag: &str| registry.send("GET", &format!("/v2/acme/pdf/manifests/{tag}"), "", b"").body;
    let first = manifest("1.0.0");
    assert_eq!(manifest("latest"), first);
    let read: Value = serde_json::from_slice(&first).expect("JSON");
    assert_eq!(read["artifactType"], "application/vnd.agentskills.skill.v1");
    assert_eq!(read["layers"][0]["mediaType"], LAYER);

    // Again: nothing changes. Other files under the same version: refused, but not under a name that may move.
    assert_eq!(publish(&author, &to, &[]).code, Some(0));
    assert_eq!(manifest("1.0.0"), first);
    write_skill(&author, "1.0.0", b"other\n");
    for more in [&[][..], &["--dry-run"]] {
        let output = publish(&author, &to, more);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("skillpm bump"), "{output}");
    }
    for (target, more) in [(format!("{to}:edge"), &[][..]), (to.clone(), &["--tag", "edge"])] {
        write_skill(&author, "1.0.0", target.as_bytes());
        let output = publish(&author, &target, more);
        assert_eq!(output.code, Some(0), "{output}");
    }
    assert_eq!(manifest("latest"), first);
    // Neither a pre-release nor an older version becomes `latest`; what is large goes in pieces.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..20 << 20)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    for (version, more, is_latest) in
        [("2.0.0-rc.1", &b"rc"[..], false), ("0.9.0", b"0", false), ("1.1.0", &noise, true)]
    {
        write_skill(&author, version, more);
        let output = publish(&author, &to, &[]);
        assert_eq!(output.code, Some(0), "{output}");
        assert_eq!(manifest("latest") == manifest(version), is_latest, "{version}");
    }
    for (target, more) in [
        (format!("{to}@{}", Digest::of(b"")), &[][..]),
        (format!("{to}:a"), &["--tag", "b"]),
        (to.clone(), &["--tag", "-"]),
        (format!("{to}@pdf"), &[]),
        ("oci://nowhere".to_owned(), &[]),
    ] {
        let output = publish(&author, &target, more);
        assert_eq!(output.code, Some(2), "{target}: {output}");
    }

    let mut colleague = Sandbox::new();
    colleague.env("DOCKER_CONFIG", &logins);
    colleague.ok(&["install", &format!("{to}:1.0.0")]);
    assert_eq!(more(&colleague), "1\n");

    // skopeo copies it into a directory and from there to another name, which is installed again.
    let Some(skopeo) = program("skopeo") else { return };
    let room = registry.dir.path().join("copy");
    let dir = format!("dir:{}", room.display());
    let copy = |args: &[&str]| {
        let mut command = Command::new(&skopeo);
        command.args(["--insecure-policy", "copy", "--quiet"]).args(args).env("HOME", registry.dir.path());
        let output = command.output().expect("starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let from = format!("docker://{}/acme/pdf:1.0.0", registry.host());
    copy(&["--src-tls-verify=false", "--src-creds", "me:s3cret", &from, &dir]);
    let other = format!("docker://{}/other/copy:v1", registry.host());
    copy(&["--dest-tls-verify=false", "--dest-creds", "me:s3cret", &dir, &other]);
    let mut third = Sandbox::new();
    third.env("DOCKER_CONFIG", &logins);
    third.ok(&["install", &registry.source("other/copy")]);
    assert_eq!(more(&third), "1\n");
}

#[test]
fn our_own_server_is_such_a_registry() {
    let server = start_registry("");
    let mut author = Sandbox::new();
    write_skill(&author, "1.0.0", b"1\n");
    let host = server.url().trim_start_matches("http://").to_owned();
    let variable = format!("SKILLPM_TOKEN_{}", host.replace('.', "_").replace(':', "___"));
    author.env(&variable, &server.token("alice", &[]));
    author.ok(&["publish", "pdf", "--to", server.url()]);
    for source in ["pdf", "pdf:1.0.0", "pdf#^1"] {
        assert_eq!(more(&installs(&format!("oci://{host}/{source}"), "pdf")), "1\n");
    }
    write_skill(&author, "1.1.0", b"2\n");
    author.ok(&["publish", "pdf", "--to", server.url()]);
    let sandbox = installs(&format!("oci://{host}/pdf:1.0.0"), "pdf");
    sandbox.ok(&["update", "--latest"]);
    assert_eq!(more(&sandbox), "2\n");
}
