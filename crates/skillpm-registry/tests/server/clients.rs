//! The clients of others, for real, through a web server in front.
//!
//! Where one of them is not installed these tests say so; `make test-tools` installs it.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use skillpm_format::digest::Digest;
use skillpm_testing::tools::{node, program, script};

use crate::support::{Answer, Server, archive};

/// nginx, in front of a server or with files.
pub(crate) struct Nginx {
    process: Child,
    dir: tempfile::TempDir,
    port: u16,
}

const CONFIG: &str = "
daemon off;
master_process off;
pid ROOT/nginx.pid;
error_log ROOT/error.log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path ROOT/body;
    proxy_temp_path ROOT/proxy;
    fastcgi_temp_path ROOT/fastcgi;
    uwsgi_temp_path ROOT/uwsgi;
    scgi_temp_path ROOT/scgi;
    server {
        listen 127.0.0.1:PORT;
        location / { LOCATION }
    }
}
";

const PROXY: &str = "
    proxy_pass http://SERVER;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
";

const FILES: &str = "
    root FILES;
    index index.html;
    types {
        text/html html;
        text/css css;
        text/javascript js;
        image/svg+xml svg;
        application/atom+xml atom;
    }
";

impl Nginx {
    /// Starts it before a server; `None` if this machine has none.
    pub(crate) fn before(server: &Server) -> Option<Self> {
        Self::start(&PROXY.replace("SERVER", server.address()))
    }

    /// Starts it for the files in a directory.
    pub(crate) fn of_files(dir: &Path) -> Option<Self> {
        Self::start(&FILES.replace("FILES", dir.to_str().expect("UTF-8")))
    }

    fn start(location: &str) -> Option<Self> {
        let program = program("nginx")?;
        let dir = tempfile::tempdir().expect("a directory");
        // A free port: another process could take it before nginx does, and then nginx does not start.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        drop(listener);
        let root = dir.path().to_str().expect("UTF-8");
        let config = CONFIG.replace("ROOT", root).replace("LOCATION", location);
        std::fs::write(dir.path().join("nginx.conf"), config.replace("PORT", &port.to_string()))
            .expect("is written");
        let mut command = Command::new(program);
        command.args(["-p", root, "-c", &format!("{root}/nginx.conf"), "-e", &format!("{root}/error.log")]);
        let mut process = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = process.try_wait().expect("a process") {
                let log = std::fs::read_to_string(dir.path().join("error.log")).unwrap_or_default();
                panic!("nginx ended with {status}: {log}");
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Some(Self { process, dir, port })
    }

    /// The address without the scheme.
    fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.place())
    }

    /// A new directory.
    fn room(&self, name: &str) -> PathBuf {
        let room = self.dir.path().join("rooms").join(name);
        std::fs::create_dir_all(&room).expect("a directory");
        room
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs a program in `dir`, which is its home too, without what the machine knows.
fn run(program: &Path, dir: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", dir).env("TMPDIR", dir);
    command.env("NO_PROXY", "*").envs(env.iter().copied()).output().expect("starts")
}

/// Like [`run`], for what must succeed. Returns all that was said.
fn ok(program: &Path, dir: &Path, args: &[&str], env: &[(&str, &str)]) -> String {
    let output = run(program, dir, args, env);
    let said = said(&output);
    assert!(output.status.success(), "{args:?}: {said}");
    said
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

/// A server behind nginx with two versions of `pdf`, a private `secret`, and the token of their owner.
async fn started() -> Option<(Server, Nginx, String)> {
    let server = Server::start("behind-proxy = true");
    let nginx = Nginx::before(&server)?;
    let alice = server.token("alice", &[]);
    for (name, version) in [("pdf", "1.0"), ("docx", "0.1.0"), ("secret", "1.0.0")] {
        assert_eq!(server.publish(&alice, name, version).await.status, 201);
    }
    let body = r#"{"visibility":"private"}"#;
    assert_eq!(server.send("PUT", "/api/v1/skills/secret/visibility", Some(&alice), body).await.status, 200);
    Some((server, nginx, alice))
}

#[tokio::test]
async fn curl_fetches_what_has_the_digest_that_the_list_names() {
    let Some((_server, nginx, _)) = started().await else { return };
    let (Some(curl), Some(sum)) = (program("curl"), program("sha256sum")) else { return };
    let room = nginx.room("curl");
    let list = ok(&curl, &room, &["-fsS", &nginx.url("/index/pdf.json")], &[]);
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let digest = list["versions"][0]["artifact"]["digest"].as_str().expect("a digest");
    let hex = digest.trim_start_matches("sha256:");
    let url = nginx.url(&format!("/artifacts/sha256/{hex}.zip"));
    ok(&curl, &room, &["-fsS", "-o", "pdf.zip", &url], &[]);
    assert!(ok(&sum, &room, &["pdf.zip"], &[]).starts_with(hex));
    assert_eq!(run(&curl, &room, &["-fsS", &nginx.url("/index/secret.json")], &[]).status.code(), Some(22));
}

#[tokio::test]
async fn the_npm_tool_installs() {
    let Some((_server, nginx, _)) = started().await else { return };
    let (Some(node), Some(script)) = (node(), script("skills/bin/cli.mjs")) else { return };
    let room = nginx.room("skills");
    let url = nginx.url("");
    let script = script.to_str().expect("UTF-8");
    let args = [script, "add", &url, "--skill", "pdf", "--agent", "codex", "--yes", "--copy"];
    let said = ok(&node, &room, &args, &[("DISABLE_TELEMETRY", "1"), ("DO_NOT_TRACK", "1")]);
    assert!(room.join(".agents/skills/pdf/SKILL.md").is_file(), "{said}");
}

#[tokio::test]
async fn the_client_of_clawhub_searches_installs_and_updates() {
    let Some((server, nginx, alice)) = started().await else { return };
    let (Some(node), Some(script)) = (node(), script("clawhub/bin/clawdhub.js")) else { return };
    let room = nginx.room("clawhub");
    let registry = nginx.url("");
    let script = script.to_str().expect("UTF-8");
    let env = [("CLAWHUB_REGISTRY", registry.as_str()), ("CLAWHUB_DISABLE_TELEMETRY", "1")];
    let clawhub = |args: &[&str]| run(&node, &room, &[&[script, "--no-input"], args].concat(), &env);
    let done = |args: &[&str]| {
        let output = clawhub(args);
        assert!(output.status.success(), "{args:?}: {}", said(&output));
        said(&output)
    };
    let found = done(&["search", "pdf"]);
    assert!(found.contains("pdf v1.0.0  @alice") && !found.contains("docx"), "{found}");
    let all = done(&["explore", "--json"]);
    assert!(all.contains("\"docx\"") && !all.contains("secret"), "{all}");
    done(&["install", "pdf"]);
    let installed = || std::fs::read_to_string(room.join("skills/pdf/SKILL.md")).expect("is read");
    assert!(installed().contains("version: '1.0'"));
    assert!(done(&["update", "--all"]).contains("up to date (1.0.0)"));
    assert_eq!(server.publish(&alice, "pdf", "1.1.0").await.status, 201);
    assert!(done(&["update", "pdf"]).contains("updated -> 1.1.0"));
    assert!(installed().contains("version: '1.1.0'"));
    done(&["install", "pdf", "--version", "1.0.0", "--force"]);
    assert!(installed().contains("version: '1.0'"));
    // The client knows which version it has by its files, and that somebody changed them.
    std::fs::remove_dir_all(room.join("skills/pdf/.clawhub")).expect("is removed");
    assert!(done(&["update", "pdf"]).contains("updated -> 1.1.0"));
    std::fs::write(room.join("skills/pdf/SKILL.md"), "mine").expect("is written");
    assert!(done(&["update", "pdf"]).contains("local changes"));
    assert_eq!(installed(), "mine");
    let shown = done(&["inspect", "pdf", "--versions", "--files", "--file", "SKILL.md"]);
    assert!(shown.contains("1.0.0") && shown.contains("version: '1.1.0'"), "{shown}");
    // An error is a line of text, not JSON.
    let missing = clawhub(&["install", "secret"]);
    assert!(!missing.status.success(), "{}", said(&missing));
    assert!(
        said(&missing).contains("there is no skill `secret`") && !said(&missing).contains('{'),
        "{}",
        said(&missing)
    );
    done(&["login", "--token", &alice]);
    assert!(done(&["whoami"]).contains("alice"));
    done(&["install", "secret"]);
    assert!(room.join("skills/secret/SKILL.md").is_file());
    // A client that is only told the site finds the interface.
    let site = nginx.room("site");
    let args = [script, "--no-input", "--site", &registry, "install", "docx"];
    ok(&node, &site, &args, &[("CLAWHUB_DISABLE_TELEMETRY", "1")]);
    assert!(site.join("skills/docx/SKILL.md").is_file());
}

#[tokio::test]
async fn skopeo_copies_an_artifact() {
    let Some((server, nginx, alice)) = started().await else { return };
    let (Some(skopeo), Some(tar)) = (program("skopeo"), program("tar")) else { return };
    let room = nginx.room("skopeo");
    let place = nginx.place();
    let from = |name: &str| format!("docker://{place}/{name}");
    let copy = |args: &[&str], name: &str, to: &str| {
        let (from, to) = (from(name), format!("dir:{}", room.join(to).display()));
        let all = [&["--insecure-policy", "copy", "--src-tls-verify=false"], args, &[&from, &to]].concat();
        run(&skopeo, &room, &all, &[])
    };
    let copied = copy(&[], "pdf:1.0", "pdf");
    assert!(copied.status.success(), "{}", said(&copied));
    let manifest = std::fs::read(room.join("pdf/manifest.json")).expect("is read");
    let raw =
        run(&skopeo, &room, &["inspect", "--raw", "--tls-verify=false", &from("pdf:latest")], &[]).stdout;
    assert_eq!(String::from_utf8_lossy(&raw), String::from_utf8_lossy(&manifest));
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["artifactType"], "application/vnd.agentskills.skill.v1");
    let layer = manifest["layers"][0]["digest"].as_str().expect("a digest").trim_start_matches("sha256:");
    ok(&tar, &room, &["-xzf", &format!("pdf/{layer}")], &[]);
    let text = std::fs::read_to_string(room.join("pdf/SKILL.md")).expect("is read");
    assert!(archive("pdf", "1.0", "").windows(text.len()).any(|window| window == text.as_bytes()));
    let listed = ok(&skopeo, &room, &["list-tags", "--tls-verify=false", &from("pdf")], &[]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed["Tags"], json!(["1.0", "latest"]));
    assert!(!copy(&[], "secret:1.0.0", "nothing").status.success());
    let known = copy(&["--src-creds", &format!("any:{alice}")], "secret:1.0.0", "secret");
    assert!(known.status.success(), "{}", said(&known));
    // By digest, from a server that takes a token for everything.
    let digest = server.get("/v2/pdf/manifests/1.0").await.header("docker-content-digest").to_owned();
    let closed = server.again("read = \"token\"");
    let from = format!("docker://{}/pdf@{digest}", closed.address());
    let inspect = |creds: &[&str]| {
        run(&skopeo, &room, &[&["inspect", "--raw", "--tls-verify=false"], creds, &[&from]].concat(), &[])
    };
    assert!(!inspect(&[]).status.success());
    assert_eq!(inspect(&["--creds", &format!("any:{alice}")]).stdout, raw);
}

/// The status, and the code of the first error in the form of OCI.
fn refusal(answer: &Answer) -> (u16, String) {
    let code = answer.json()["errors"][0]["code"].as_str().expect("a code").to_owned();
    (answer.status, code)
}

#[tokio::test]
async fn artifacts_have_the_same_digests_on_every_server() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    for version in ["1.0.0", "1.1.0", "1.2.0+b1", "2.0.0-rc.1"] {
        assert_eq!(server.publish(&alice, "pdf", version).await.status, 201);
    }
    let other = server.again("");
    let by_tag = server.get("/v2/pdf/manifests/1.1.0").await;
    assert_eq!(by_tag.header("content-type"), "application/vnd.oci.image.manifest.v1+json");
    let digest = by_tag.header("docker-content-digest").to_owned();
    let by_digest = other.get(&format!("/v2/pdf/manifests/{digest}")).await;
    assert_eq!((by_digest.status, &by_digest.body), (200, &by_tag.body));
    assert!(by_digest.header("cache-control").contains("immutable"));
    assert!(!by_tag.header("cache-control").contains("immutable"));
    let head = other.send("HEAD", "/v2/pdf/manifests/1.1.0", None, "").await;
    assert_eq!((head.status, head.header("docker-content-digest")), (200, digest.as_str()));
    assert_eq!(head.header("content-length"), by_tag.body.len().to_string());
    for part in [&by_tag.json()["config"], &by_tag.json()["layers"][0]] {
        let digest = part["digest"].as_str().expect("a digest");
        let blob = other.get_with(&format!("/v2/pdf/blobs/{digest}"), &[("accept-encoding", "gzip")]).await;
        assert_eq!((blob.status, blob.header("content-encoding")), (200, ""));
        assert_eq!(blob.body.len() as u64, part["size"].as_u64().expect("a size"));
        assert_eq!(Digest::of(&blob.body).to_string(), digest);
    }
    // The tag of a version with build metadata, and pages of tags.
    assert_eq!(server.get("/v2/pdf/manifests/1.2.0_b1").await.status, 200);
    assert_eq!(
        server.get("/v2/pdf/manifests/latest").await.body,
        server.get("/v2/pdf/manifests/1.2.0").await.body
    );
    let page = server.get("/v2/pdf/tags/list?n=2&last=1.0.0").await;
    assert_eq!(page.json()["tags"], json!(["1.1.0", "1.2.0_b1"]));
    assert_eq!(page.header("link"), "</v2/pdf/tags/list?n=2&last=1.2.0_b1>; rel=\"next\"");
    let yank = "/api/v1/skills/pdf/versions/1.1.0/yank";
    assert_eq!(server.send("POST", yank, Some(&alice), "{}").await.status, 200);
    let tags = server.get("/v2/pdf/tags/list").await.json();
    assert_eq!(tags["tags"], json!(["1.0.0", "1.2.0_b1", "2.0.0-rc.1", "latest"]));
    assert_eq!(server.get("/v2/pdf/manifests/1.1.0").await.status, 200);
    let zeros = format!("sha256:{}", "0".repeat(64));
    for (method, path, status, code) in [
        ("GET", "/v2/docx/tags/list", 404, "NAME_UNKNOWN"),
        ("GET", "/v2/..%2fpdf/tags/list", 404, "NAME_UNKNOWN"),
        ("GET", "/v2/pdf/manifests/9.9.9", 404, "MANIFEST_UNKNOWN"),
        ("GET", &format!("/v2/pdf/manifests/{zeros}"), 404, "MANIFEST_UNKNOWN"),
        ("GET", &format!("/v2/pdf/blobs/{zeros}"), 404, "BLOB_UNKNOWN"),
        ("GET", "/v2/pdf/blobs/sha256:..", 404, "BLOB_UNKNOWN"),
        ("GET", "/v2/pdf/tags/list?n=x", 422, "PAGINATION_NUMBER_INVALID"),
        ("POST", "/v2/pdf/blobs/uploads/", 405, "UNSUPPORTED"),
    ] {
        assert_eq!(refusal(&server.send(method, path, None, "").await), (status, code.to_owned()), "{path}");
    }
    let wrong = server.send("GET", "/v2/", Some("skpm_0"), "").await;
    assert_eq!(refusal(&wrong), (401, "UNAUTHORIZED".to_owned()));
    assert_eq!(server.get("/v2/").await.status, 200);
    let closed = server.again("read = \"token\"");
    for path in ["/v2/", "/v2/pdf/tags/list", "/v2/docx/tags/list"] {
        let refused = closed.get(path).await;
        assert_eq!(refusal(&refused), (401, "UNAUTHORIZED".to_owned()));
        assert!(refused.header("www-authenticate").starts_with("Basic "));
    }
}

#[tokio::test]
async fn the_routes_of_clawhub_show_what_the_caller_may_see() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    for (name, version) in
        [("pdf", "1.0.0"), ("pdf", "1.1.0"), ("pdf", "1.2.0"), ("docx", "1.0.0"), ("secret", "1.0.0")]
    {
        assert_eq!(server.publish(&alice, name, version).await.status, 201);
    }
    let private = r#"{"visibility":"private"}"#;
    server.send("PUT", "/api/v1/skills/secret/visibility", Some(&alice), private).await;
    server.send("POST", "/api/v1/skills/pdf/versions/1.2.0/yank", Some(&alice), "{}").await;
    let slugs = |answer: &Answer| {
        let items = answer.json()["items"].as_array().expect("items").clone();
        items.iter().map(|item| item["slug"].as_str().expect("a slug").to_owned()).collect::<Vec<_>>()
    };
    let first = server.get("/api/v1/skills?limit=1&sort=createdAt").await;
    let cursor = first.json()["nextCursor"].as_str().expect("a cursor").to_owned();
    let second = server.get(&format!("/api/v1/skills?limit=1&sort=createdAt&cursor={cursor}")).await;
    let mut both = [slugs(&first), slugs(&second)].concat();
    both.sort();
    assert_eq!(
        (both, &second.json()["nextCursor"]),
        (vec!["docx".to_owned(), "pdf".to_owned()], &Value::Null)
    );
    assert_eq!(slugs(&server.get("/api/v1/skills?prefix=p").await), ["pdf"]);
    let pdf = server.get("/api/v1/skills/pdf").await.json();
    assert_eq!(
        (&pdf["latestVersion"]["version"], &pdf["owner"]["handle"]),
        (&json!("1.1.0"), &json!("alice"))
    );
    let page = server.get("/api/v1/skills/pdf/versions?limit=1").await.json();
    assert_eq!((&page["items"][0]["version"], &page["nextCursor"]), (&json!("1.1.0"), &json!("1.1.0")));
    let rest = server.get("/api/v1/skills/pdf/versions?cursor=1.1.0").await.json();
    assert_eq!((&rest["items"][0]["version"], &rest["nextCursor"]), (&json!("1.0.0"), &Value::Null));
    let version = server.get("/api/v1/skills/pdf/versions/1.2.0").await.json();
    assert_eq!(version["version"]["files"][0]["path"], "SKILL.md");
    let file = server.get("/api/v1/skills/pdf/file?path=SKILL.md&tag=latest").await;
    assert!(
        file.text().contains("version: '1.1.0'")
            && file.header("content-security-policy").contains("sandbox")
    );
    let exact = server.get("/api/v1/search?q=PDF&mode=exact").await.json();
    assert_eq!(exact["results"].as_array().map(Vec::len), Some(1));
    let zip = server.get("/api/v1/download?slug=pdf").await;
    assert_eq!((zip.header("content-type"), &zip.body), ("application/zip", &archive("pdf", "1.1.0", "")));
    for path in [
        "/api/v1/skills/NAME",
        "/api/v1/skills/NAME/versions",
        "/api/v1/skills/NAME/versions/1.0.0",
        "/api/v1/skills/NAME/install",
        "/api/v1/skills/NAME/file?path=SKILL.md",
        "/api/v1/resolve?slug=NAME&hash=0000000000000000000000000000000000000000000000000000000000000000",
        "/api/v1/download?slug=NAME",
        "/.well-known/skills/NAME/SKILL.md",
        "/v2/NAME/tags/list",
    ] {
        let of = |name: &str| path.replace("NAME", name);
        let (hidden, absent) = (server.get(&of("secret")).await, server.get(&of("absent")).await);
        assert_eq!((hidden.status, absent.status), (404, 404), "{path}");
        assert_eq!(hidden.text().replace("secret", "absent"), absent.text(), "{path}");
        let seen = server.send("GET", &of("secret"), Some(&alice), "").await;
        assert_eq!(seen.status, 200, "{path}: {}", seen.text());
        assert!(seen.header("cache-control").contains("private"), "{path}");
    }
    for all in ["/api/v1/skills", "/api/v1/search?q=secret", "/.well-known/skills/index.json"] {
        assert!(!server.get(all).await.text().contains("\"secret\""), "{all}");
        assert!(server.send("GET", all, Some(&alice), "").await.text().contains("\"secret\""), "{all}");
    }
    // The client names the owner that it means.
    for (path, more) in [
        ("/api/v1/skills/pdf", '?'),
        ("/api/v1/download?slug=pdf", '&'),
        ("/api/v1/skills/pdf/versions", '?'),
    ] {
        assert_eq!(server.get(&format!("{path}{more}ownerHandle=alice")).await.status, 200, "{path}");
        let other = server.get(&format!("{path}{more}ownerHandle=bob")).await;
        assert_eq!((other.status, other.text().trim()), (404, "there is no skill `pdf`"), "{path}");
    }
    let error = server.get("/api/v1/skills/absent").await;
    assert_eq!(error.header("content-type"), "text/plain; charset=utf-8");
    let problem = [("accept", "application/problem+json")];
    assert_eq!(server.get_with("/api/v1/skills/absent", &problem).await.json()["status"], 404);
    for wrong in [
        "/api/v1/resolve?slug=pdf&hash=x",
        "/api/v1/skills?cursor=x",
        "/api/v1/skills?limit=-1",
        "/api/v1/skills/pdf/versions?cursor=..%2f",
        "/api/v1/skills/pdf/file?path=..%2fSKILL.md",
        "/api/v1/download?slug=..%2fpdf",
        "/api/v1/download?slug=pdf&tag=beta",
    ] {
        assert!((400..500).contains(&server.get(wrong).await.status), "{wrong}");
    }
    let told = server.get_with("/.well-known/clawhub.json", &[("host", "skills.example:1")]).await;
    assert_eq!(
        (told.json()["apiBase"].as_str(), told.header("cache-control")),
        (Some("http://skills.example:1"), "no-store")
    );
    assert_eq!(server.get("/api/v1/openapi.json").await.json()["openapi"], "3.1.0");
    let index = server.get("/.well-known/skills/index.json").await.json();
    assert_eq!(
        index["skills"][1],
        json!({"name": "pdf", "description": "Reads pdf files. Use it for pdf files.", "files": ["SKILL.md"]})
    );
    assert!(server.get("/.well-known/skills/pdf/SKILL.md").await.text().contains("version: '1.1.0'"));
}
