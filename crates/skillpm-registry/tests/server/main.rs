//! The program itself, over real connections.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "what a test prepares is not the program's, and what fails there fails the test"
)]

mod browser;
mod bucket;
mod clients;
mod faults;
mod interface;
mod operation;
mod reading;
mod slow;
mod starting;
mod store;
mod support;
mod tls;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use skillpm_testing::issuer::{Issuer, statement, unsigned};
use support::{Server, archive};

#[tokio::test]
async fn a_version_is_published_yanked_and_served() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    let published = server.publish(&alice, "pdf", "1.0.0").await;
    assert_eq!((published.status, published.json()["version"].as_str()), (201, Some("1.0.0")));
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 200);
    let digest = published.json()["artifact"]["digest"].as_str().expect("a digest").to_owned();
    let path = format!("/artifacts/sha256/{}.zip", digest.trim_start_matches("sha256:"));
    let fetched = server.get(&path).await;
    assert_eq!((fetched.status, fetched.header("content-type")), (200, "application/zip"));
    assert_eq!(fetched.body, archive("pdf", "1.0.0", ""));
    assert!(fetched.header("cache-control").contains("immutable"));
    let part = server.get_with(&path, &[("range", "bytes=2-5")]).await;
    assert_eq!((part.status, &part.body[..]), (206, &fetched.body[2..6]));
    let none = server.get_with(&path, &[("range", "bytes=9999999-")]).await;
    assert_eq!(none.status, 416);
    let list = server.get("/index/pdf.json").await;
    let same = server.get_with("/index/pdf.json", &[("if-none-match", list.header("etag"))]).await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    let yank = server
        .send("POST", "/api/v1/skills/pdf/versions/1.0.0/yank", Some(&alice), r#"{"reason":"broken"}"#)
        .await;
    assert_eq!(yank.json(), json!({"changed": true}));
    let list = server.get_with("/index/pdf.json", &[("if-none-match", list.header("etag"))]).await;
    assert_eq!(list.json()["versions"][0]["yanked"], "broken");
    assert_eq!(server.get("/.well-known/agent-skills/index.json").await.json()["skills"], json!([]));
    // The server reads its own log as it reads that of others: within a second.
    let mut log = Value::Null;
    while log["last"].as_u64() != Some(2) {
        tokio::task::yield_now().await;
        log = server.get("/api/v1/log").await.json();
    }
    assert_eq!((log["last"].as_u64(), log["entries"][1]["by"].as_str()), (Some(2), Some("alice")));
    assert_eq!(server.get("/config.json").await.json()["api"], "api/v1/");
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked() {
    let server = Server::start("");
    let alice = server.token("alice", &["--note", "laptop"]);
    let admin = |args: &[&str]| {
        let output = server.admin(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let listed: Value = serde_json::from_str(&admin(&["token", "list", "--json"])).expect("JSON");
    assert_eq!((listed[0]["account"].as_str(), listed[0]["note"].as_str()), (Some("alice"), Some("laptop")));
    assert!(!listed.to_string().contains(&alice));
    let whoami = server.send("GET", "/api/v1/whoami", Some(&alice), "").await;
    assert_eq!((whoami.status, whoami.json()["account"].as_str()), (200, Some("alice")));
    // Nothing that lies in the registry is the secret.
    assert!(!server.holds(alice.as_bytes()));
    for wrong in ["skpm_0000", "", "Bearer"] {
        let refused = server.send("GET", "/api/v1/whoami", Some(wrong), "").await;
        assert_eq!((refused.status, refused.json()["code"].as_str()), (401, Some("token-refused")));
    }
    let id = listed[0]["id"].as_str().expect("an id");
    admin(&["token", "revoke", id]);
    let again = server.again("");
    assert_eq!(again.publish(&alice, "pdf", "1.0.0").await.status, 401);
    assert_eq!(server.admin(&["token", "revoke", id]).status.code(), Some(2));
}

#[tokio::test]
async fn a_closed_registry_tells_strangers_nothing() {
    let server = Server::start("read = \"token\"");
    let alice = server.token("alice", &[]);
    let published = server.publish(&alice, "pdf", "1.0.0").await.json();
    let digest =
        published["artifact"]["digest"].as_str().expect("a digest").trim_start_matches("sha256:").to_owned();
    let refused = server.get("/").await;
    for path in [
        "/index/pdf.json",
        "/index/pdf/1.0.0.json",
        "/index/pdf/events/1.json",
        "/.well-known/agent-skills/pdf/versions.json",
        "/skills/pdf/",
    ] {
        let (there, absent) = (server.get(path).await, server.get(&path.replace("pdf", "docx")).await);
        assert_eq!((there.status, absent.status), (401, 401), "{path}");
        assert_eq!((there.text(), absent.text()), (refused.text(), refused.text()), "{path}");
        let known = server.get_with(path, &[("authorization", &format!("Bearer {alice}"))]).await;
        assert_eq!(known.status, 200, "{path}");
        assert!(known.header("cache-control").contains("private"));
        assert!(known.header("vary").contains("authorization"));
    }
    let archive = format!("/artifacts/sha256/{digest}.zip");
    assert_eq!(server.get(&archive).await.status, 401);
    assert_eq!(server.get_with(&archive, &[("authorization", &format!("Bearer {alice}"))]).await.status, 200);
    for overview in [
        "/search.json",
        "/.well-known/agent-skills/index.json",
        "/.well-known/ai-catalog.json",
        "/api/v1/log",
        "/api/v1/skills/pdf/owners",
        "/feed.atom",
        "/",
        "/nothing/here",
    ] {
        let refused = server.get(overview).await;
        assert_eq!(refused.status, 401, "{overview}");
        assert!(!refused.text().contains("pdf") && refused.all("www-authenticate").starts_with("Basic "));
    }
    for open in ["/healthz", "/readyz", "/config.json", "/.well-known/clawhub.json"] {
        assert_eq!(server.get(open).await.status, 200, "{open}");
    }
    assert_eq!(server.get("/static/nothing.css").await.status, 404);
    // Who has a statement has no token yet.
    assert_eq!(server.send("POST", "/api/v1/tokens/exchange", None, "{}").await.status, 422);
    for hidden in
        ["/private/tokens", "/lock", "/log/0/../../private", "/%2e%2e/private", "/private/tokens/a.json"]
    {
        assert_eq!(server.get(hidden).await.status, 401, "{hidden}");
        assert_eq!(server.send("GET", hidden, Some(&alice), "").await.status, 404, "{hidden}");
    }
}

/// A browser knows names and passwords only.
#[tokio::test]
async fn a_browser_logs_in_to_a_closed_registry() {
    let server = Server::start("read = \"token\"");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let basic = |password: &str| format!("Basic {}", BASE64_STANDARD.encode(format!("anybody:{password}")));
    let page = server.get_with("/", &[("authorization", &basic(&alice))]).await;
    assert!(page.status == 200 && page.text().contains("pdf"), "{}", page.text());
    assert!(page.header("cache-control").contains("private"));
    for wrong in [basic("skpm_0"), basic(""), format!("Basic {}", BASE64_STANDARD.encode(":"))] {
        let refused = server.get_with("/", &[("authorization", &wrong)]).await;
        assert_eq!(refused.status, 401);
        assert!(refused.all("www-authenticate").starts_with("Basic "), "it asks again");
    }
    // A page of somebody else makes the browser send what it keeps.
    let yank = "/api/v1/skills/pdf/versions/1.0.0/yank";
    let foreign = [("authorization", basic(&alice)), ("origin", "https://evil.example".to_owned())];
    let foreign = foreign.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(server.ask_with("POST", yank, &foreign).await.status, 403);
    assert_eq!(server.ask_with("POST", yank, &foreign[..1]).await.status, 200);
}

#[tokio::test]
async fn what_is_not_fit_is_refused_with_a_reason() {
    let server = Server::start("[limits]\narchive-bytes = 4000");
    let alice = server.token("alice", &[]);
    let put = async |path: &str, body: Vec<u8>| server.send_bytes("PUT", path, Some(&alice), body).await;
    let zip = archive("pdf", "1.0.0", "");
    for (path, body, status, code) in [
        ("/api/v1/skills/pdf/versions/1.0.0", b"no zip".to_vec(), 422, "integrity"),
        ("/api/v1/skills/docx/versions/1.0.0", zip.clone(), 422, "release-refused"),
        ("/api/v1/skills/pdf/versions/01.0", zip.clone(), 422, "usage"),
        ("/api/v1/skills/PDF/versions/1.0.0", zip.clone(), 422, "usage"),
        ("/api/v1/skills/..%2f..%2fx/versions/1.0.0", zip.clone(), 422, "usage"),
        ("/api/v1/skills/con/versions/1.0.0", archive("con", "1.0.0", ""), 422, "usage"),
        ("/api/v1/skills/api/versions/1.0.0", archive("api", "1.0.0", ""), 403, "name-not-available"),
        ("/api/v1/skills/pdf/versions/1.0.0", vec![0; 5000], 413, "too-large"),
    ] {
        let refused = put(path, body).await;
        assert_eq!(
            (refused.status, refused.json()["code"].as_str()),
            (status, Some(code)),
            "{path}: {}",
            refused.text()
        );
        assert_eq!(refused.header("content-type"), "application/problem+json");
    }
    assert_eq!(put("/api/v1/skills/pdf/versions/1.0.0", zip).await.status, 201);
    let other = put("/api/v1/skills/pdf/versions/1.0.0", archive("pdf", "1.0.0", "other")).await;
    assert_eq!((other.status, other.json()["code"].as_str()), (409, Some("version-exists")));
    assert!(other.json()["hints"].to_string().contains("1.0.1"));
}

#[tokio::test]
async fn a_job_publishes_without_a_secret() {
    let issuer = Issuer::start();
    let settings =
        format!("public-url = \"https://skills.example\"\ntrusted-issuers = [\"{}\"]", issuer.url());
    let server = Server::start(&settings);
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let publisher = json!({"issuer": issuer.url(), "repository": "acme/skills", "workflow": "publish.yml"});
    let added =
        server.send("POST", "/api/v1/skills/pdf/publishers", Some(&alice), &publisher.to_string()).await;
    assert_eq!(added.json(), json!({"changed": true}));
    let exchange = async |token: String| {
        server.send("POST", "/api/v1/tokens/exchange", None, &json!({"token": token}).to_string()).await
    };
    let shown = issuer.sign(&statement(&issuer.url()));
    let job = exchange(shown.clone()).await;
    assert_eq!(job.status, 201, "{}", job.text());
    let secret = job.json()["secret"].as_str().expect("a token").to_owned();
    let published = server.publish(&secret, "pdf", "1.1.0").await;
    assert_eq!(published.status, 201, "{}", published.text());
    assert_eq!(published.json()["provenance"]["revision"], "0123abc");
    assert_eq!(server.publish(&secret, "docx", "1.0.0").await.status, 403);
    // It may publish and nothing else.
    let yank = server.send("POST", "/api/v1/skills/pdf/versions/1.0.0/yank", Some(&secret), "{}").await;
    assert_eq!(yank.status, 403);
    // Shown again, also to another server of the same registry.
    assert_eq!(exchange(shown.clone()).await.status, 401);
    let changed = |key: &str, value: Value| {
        let mut claims = statement(&issuer.url());
        claims[key] = value;
        claims
    };
    let forged = {
        let (signed, _) = shown.rsplit_once('.').expect("a signature");
        format!(
            "{signed}.{}",
            issuer.sign(&changed("jti", json!("x"))).rsplit('.').next().expect("a signature")
        )
    };
    for (why, token) in [
        ("foreign issuer", issuer.sign(&changed("iss", json!("https://evil.example")))),
        ("other audience", issuer.sign(&changed("aud", json!("https://other.example")))),
        (
            "several audiences",
            issuer.sign(&changed("aud", json!(["https://skills.example", "https://other.example"]))),
        ),
        ("expired", issuer.sign(&changed("exp", json!(1_000_000)))),
        ("not yet", issuer.sign(&changed("nbf", json!(4_000_000_000_i64)))),
        ("no repository", issuer.sign(&changed("repository", Value::Null))),
        (
            "foreign workflow",
            issuer.sign(&changed(
                "workflow_ref",
                json!("evil/x/.github/workflows/publish.yml@refs/heads/main"),
            )),
        ),
        ("forged", forged),
        ("unsigned", unsigned(&changed("jti", json!("y")))),
        ("unknown key", issuer.sign_as("other", &changed("jti", json!("z")))),
    ] {
        assert_eq!(exchange(token).await.status, 401, "{why}");
    }
    // Another repository publishes nothing here, so it gets nothing.
    let mut stranger = changed("repository", json!("evil/skills"));
    stranger["workflow_ref"] = json!("evil/skills/.github/workflows/publish.yml@refs/heads/main");
    stranger["jti"] = json!("stranger");
    let refused = exchange(issuer.sign(&stranger)).await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (403, Some("not-permitted")));
}

/// A repository that was deleted or renamed and taken by somebody else has its old name, and another id.
#[tokio::test]
async fn a_taken_repository_publishes_nothing() {
    let issuer = Issuer::start();
    let settings =
        format!("public-url = \"https://skills.example\"\ntrusted-issuers = [\"{}\"]", issuer.url());
    let server = Server::start(&settings);
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let change = async |method: &str, repository: &str, id: Option<&str>| {
        let mut body = json!({"issuer": issuer.url(), "repository": repository, "workflow": "publish.yml"});
        if let Some(id) = id {
            body["repository-id"] = json!(id);
        }
        server.send(method, "/api/v1/skills/pdf/publishers", Some(&alice), &body.to_string()).await.json()
    };
    let known = async || {
        server.get("/api/v1/skills/pdf/publishers").await.json()["publishers"][0]["repository-id"].clone()
    };
    let mut jobs = 0;
    let mut exchange = async |repository: &str, id: Value| {
        jobs += 1;
        let mut claims = statement(&issuer.url());
        claims["jti"] = json!(jobs.to_string());
        claims["repository"] = json!(repository);
        claims["repository_id"] = id;
        claims["workflow_ref"] = json!(format!("{repository}/.github/workflows/publish.yml@refs/heads/main"));
        let body = json!({"token": issuer.sign(&claims)}).to_string();
        server.send("POST", "/api/v1/tokens/exchange", None, &body).await
    };
    assert_eq!(change("POST", "acme/skills", None).await["changed"], true);
    // Systems that have no ids are trusted by name, as long as nothing else is known.
    let nameless = exchange("acme/skills", Value::Null).await;
    assert_eq!(nameless.status, 201, "{}", nameless.text());
    let secret = nameless.json()["secret"].as_str().expect("a token").to_owned();
    assert_eq!(server.publish(&secret, "pdf", "1.1.0").await.status, 201);
    assert_eq!(known().await, Value::Null);

    // The first job with an id that publishes decides, also about tokens that were made before.
    let early =
        exchange("acme/skills", json!("75")).await.json()["secret"].as_str().expect("a token").to_owned();
    let first =
        exchange("acme/skills", json!("74")).await.json()["secret"].as_str().expect("a token").to_owned();
    assert_eq!(server.publish(&first, "pdf", "1.2.0").await.status, 201);
    assert_eq!(known().await, "74");
    assert_eq!(server.publish(&early, "pdf", "1.3.0").await.status, 403);
    assert_eq!(server.publish(&secret, "pdf", "1.3.0").await.status, 403);
    assert_eq!(server.publish(&first, "pdf", "1.3.0").await.status, 201);
    let log = server.get("/api/v1/log").await.text();
    assert_eq!(log.matches("\"repository-id\":\"74\"").count(), 1, "{log}");

    for (repository, id) in [
        ("acme/skills", json!("75")),
        ("acme/skills", Value::Null),
        // The same repository may have been given to somebody else under its new name.
        ("acme/tools", json!("74")),
    ] {
        let refused = exchange(repository, id.clone()).await;
        assert_eq!(refused.status, 403, "{repository} {id}");
        assert!(refused.json()["detail"].as_str().is_some_and(|detail| detail.contains(repository)));
    }
    // Whoever adds it again without an id forgets none; an owner can give another one.
    assert_eq!(change("POST", "acme/skills", None).await["changed"], false);
    assert_eq!(change("POST", "acme/skills", Some("75")).await["changed"], true);
    assert_eq!(known().await, "75");
    assert_eq!(exchange("acme/skills", json!(75)).await.status, 201);
    assert_eq!(exchange("acme/skills", json!("74")).await.status, 403);
    assert_eq!(change("DELETE", "acme/skills", Some("74")).await["changed"], false);
    assert_eq!(change("DELETE", "acme/skills", None).await["changed"], true);
    assert_eq!(exchange("acme/skills", json!("75")).await.status, 403);
    assert_eq!(server.admin(&["verify"]).status.code(), Some(0));
}

#[tokio::test]
async fn clients_are_slowed_down_one_by_one() {
    let server = Server::start("behind-proxy = true\n[limits]\nrequests-per-minute = 3");
    let from = async |address: &str| server.get_with("/config.json", &[("x-forwarded-for", address)]).await;
    for _ in 0..3 {
        assert_eq!(from("6.6.6.6, 10.0.0.1").await.status, 200);
    }
    // What a client says about itself before the proxy does not help it.
    let slowed = from("7.7.7.7, 10.0.0.1").await;
    assert_eq!((slowed.status, slowed.json()["code"].as_str()), (429, Some("rate-limit")));
    assert!(slowed.header("retry-after").parse::<u64>().is_ok_and(|seconds| (1..=60).contains(&seconds)));
    assert_eq!(from("10.0.0.2").await.status, 200);
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn those_who_run_it_can_watch_it() {
    let server = Server::start("metrics-listen = \"127.0.0.1:0\"");
    let alice = server.token("alice", &[]);
    server.publish(&alice, "pdf", "1.0.0").await;
    assert_eq!(server.get("/readyz").await.status, 200);
    // Only at their own address, where nothing of the registry is.
    assert_eq!(server.get("/metrics").await.status, 404);
    let watch = server.metrics().strip_suffix("/metrics").expect("an address");
    let get = async |path: &str| reqwest::get(format!("{watch}{path}")).await.expect("an answer");
    for (path, status) in
        [("/healthz", 200), ("/readyz", 200), ("/config.json", 404), ("/index/pdf.json", 404)]
    {
        assert_eq!(get(path).await.status(), status, "{path}");
    }
    let metrics = get("/metrics").await.text().await.expect("text");
    assert!(metrics.contains("skillpm_registry_published_total 1"), "{metrics}");
    assert!(metrics.contains("skillpm_registry_versions 1"), "{metrics}");
    let log = server.stop();
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
    assert!(log.contains("\"status\":201") && log.contains("\"by\":\"alice\"") && !log.contains(&alice));
}

/// Whoever reads standard error may stop reading: requests are answered, and lines of the log are lost and counted.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_stops_no_request() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{Command, Stdio};
    let place = tempfile::tempdir().expect("a directory");
    let registry = place.path().join("registry").to_str().expect("UTF-8").to_owned();
    let made = support::program(&["init", &registry, "--name", "acme"]).output().expect("starts");
    assert!(made.status.success());
    let mut command = support::program(&["serve", &registry, "--listen", "127.0.0.1:0"]);
    command.env("SKILLPM_REGISTRY_METRICS_LISTEN", "127.0.0.1:0");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let told = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let told: Vec<_> = told.take(3).map(|line| line.expect("is read")).collect();
    let url = told[0].strip_prefix("listening at ").expect("an address");
    let metrics = told[1].strip_prefix("metrics at ").expect("an address");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let get = async |url: &str| client.get(url).send().await.expect("an answer");
    let config = format!("{url}/config.json");
    for _ in 0..5_000 {
        assert_eq!(get(&config).await.status(), 200);
    }
    let metrics = get(metrics).await.text().await.expect("text");
    let dropped =
        metrics.lines().find_map(|line| line.strip_prefix("skillpm_registry_log_lines_dropped_total "));
    assert!(dropped.is_some_and(|count| count != "0"), "{metrics}");
    Command::new("kill").arg(child.id().to_string()).status().expect("is sent");
    assert!(child.wait().expect("ends").success());
    let mut log = Vec::new();
    child.stderr.take().expect("a pipe").read_to_end(&mut log).expect("is read");
    assert!(log.starts_with(b"{"));
}

#[tokio::test]
async fn slow_clients_are_dropped_and_others_served() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let server = Server::start("[limits]\nhead-seconds = 1");
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = tokio::net::TcpStream::connect(server.address()).await.expect("a connection");
        stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n").await.expect("is sent");
        slow.push(stream);
    }
    assert_eq!(server.get("/config.json").await.status, 200);
    for mut stream in slow {
        let mut rest = Vec::new();
        // The server closes the connection: the client waits for nothing else.
        let _ = stream.read_to_end(&mut rest).await;
    }
    assert_eq!(server.get("/config.json").await.status, 200);
}

#[tokio::test]
async fn operators_verify_copy_and_clean_up() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let run = |args: &[&str]| {
        let output = server.admin(args);
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(run(&["owner", "add", "pdf", "bob"]), (Some(0), "`bob` owns `pdf` now\n".to_owned()));
    assert_eq!(run(&["owner", "remove", "pdf", "alice"]).0, Some(0));
    assert_eq!(run(&["owner", "remove", "pdf", "bob"]).0, Some(2));
    assert_eq!(run(&["owner", "list", "pdf"]), (Some(0), "bob\n".to_owned()));
    assert_eq!(run(&["owner", "list", "docx"]).0, Some(2));
    assert_eq!(run(&["visibility", "pdf", "private"]).0, Some(0));
    assert_eq!(run(&["verify"]), (Some(0), String::new()));
    assert_eq!(run(&["garbage"]), (Some(0), String::new()));

    // A copy is a registry, and has what is new the next time. A token that was revoked leaves it.
    let place = tempfile::tempdir().expect("a directory");
    let copy = place.path().join("copy");
    let backup = || {
        let args = ["backup", server.registry(), copy.to_str().expect("UTF-8")];
        let output = support::program(&args).output().expect("starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    backup();
    assert!(backup().contains(": 0 copied, 0 removed"));
    let bob = server.token("bob", &[]);
    // The server hears of a change by another process within seconds.
    let since = std::time::Instant::now();
    while server.publish(&bob, "pdf", "1.1.0").await.status != 201 {
        assert!(since.elapsed().as_secs() < 10, "bob owns it");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let tokens: Value = serde_json::from_str(&run(&["token", "list", "--json"]).1).expect("JSON");
    assert_eq!(run(&["token", "revoke", tokens[0]["id"].as_str().expect("an id")]).0, Some(0));
    assert!(backup().contains(" 1 removed"));
    let verify = |at: &std::path::Path| {
        support::program(&["verify", at.to_str().expect("UTF-8")]).output().expect("starts")
    };
    assert_eq!(verify(&copy).status.code(), Some(0));

    // An archive that changed, and one that nothing names.
    let artifacts = copy.join("artifacts/sha256");
    let archive = std::fs::read_dir(&artifacts).expect("archives").next().expect("one").expect("an entry");
    let mut bytes = std::fs::read(archive.path()).expect("is read");
    std::fs::write(artifacts.join(format!("{}.zip", "0".repeat(64))), &bytes).expect("is written");
    bytes[40] ^= 1;
    std::fs::write(archive.path(), &bytes).expect("is written");
    let damaged = verify(&copy);
    assert_eq!((damaged.status.code(), damaged.stdout.is_empty()), (Some(5), false));
    let garbage = support::program(&["garbage", copy.to_str().expect("UTF-8")]).output().expect("starts");
    assert!(String::from_utf8_lossy(&garbage.stdout).contains("0000.zip: "));
}

#[tokio::test]
async fn people_see_pages_of_what_they_may_see() {
    let server = Server::start("public-url = \"https://skills.example/team/\"");
    let alice = server.token("alice", &[]);
    for (name, version) in [("pdf", "1.0.0"), ("pdf", "1.1.0"), ("secret", "1.0.0")] {
        assert_eq!(server.publish(&alice, name, version).await.status, 201);
    }
    let hidden = r#"{"visibility":"private"}"#;
    let hide = server.send("PUT", "/api/v1/skills/secret/visibility", Some(&alice), hidden).await;
    assert_eq!(hide.status, 200, "{}", hide.text());
    // Escapes of slashes change nothing.
    let plain = |answer: &support::Answer| answer.text().replace("&#x2f;", "/");
    let first = server.get("/").await;
    assert_eq!((first.status, first.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(first.header("content-security-policy").starts_with("default-src 'none'; style-src 'self'"));
    assert!(plain(&first).contains("href=\"./skills/pdf/\"") && !plain(&first).contains("secret"));
    let same = server.get_with("/", &[("if-none-match", first.header("etag"))]).await;
    assert_eq!((same.status, same.header("cache-control")), (304, "public, max-age=0, must-revalidate"));
    let page = server.get("/skills/pdf").await;
    assert_eq!(page.status, 200, "it is led to the address with a slash");
    assert!(
        plain(&page).contains("skillpm install registry:https://skills.example/team//pdf<"),
        "{}",
        page.text()
    );
    for path in
        ["/skills/pdf/1.0.0/", "/skills/pdf/diff/1.0.0/1.1.0/", "/skills/pdf/diff/?from=1.0.0&to=1.1.0"]
    {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
    let text = plain(&first);
    let style =
        text.split("href=\"./static/style").nth(1).and_then(|rest| rest.split('"').next()).expect("a style");
    let style = server.get(&format!("/static/style{style}")).await;
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));
    assert!(style.header("cache-control").contains("immutable"));
    let found = server.get("/?q=pdfs%20%3Cb%3E").await.text();
    assert!(found.contains("1 skill found") && found.contains("pdfs &lt;b&gt;"), "{found}");
    assert!(plain(&server.get("/feed.atom").await).contains("https://skills.example/team/skills/pdf/1.1.0/"));
    // What must not be seen is as if it did not exist.
    for path in ["/skills/secret/", "/skills/secret/1.0.0/", "/skills/secret/diff/1.0.0/1.0.0/"] {
        let (there, absent) = (server.get(path).await, server.get(&path.replace("secret", "absent")).await);
        assert_eq!((there.status, there.body == absent.body), (404, true), "{path}");
    }
    let bearer = format!("Bearer {alice}");
    let own = server.get_with("/skills/secret/", &[("authorization", bearer.as_str())]).await;
    assert_eq!((own.status, own.header("cache-control")), (200, "private, no-cache"));
    let out = tempfile::tempdir().expect("a directory");
    let made = server.admin(&["site", "--out", out.path().to_str().expect("UTF-8")]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(out.path().join("skills/pdf/1.1.0/index.html").is_file());
    assert!(!out.path().join("skills/secret").is_dir());
}
