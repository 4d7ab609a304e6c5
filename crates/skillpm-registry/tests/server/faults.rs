//! A store that fails, a full disk, damaged objects, and clients that want to do harm.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
#[cfg(target_os = "linux")]
use skillpm_testing::archive::{stored, zip};
use skillpm_testing::issuer::{Issuer, statement};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::store::{Fault, Store};
use crate::support::{Answer, Server, archive};

fn is_write(method: &Method, _: &str) -> bool {
    method == Method::PUT
}

fn is_any(_: &Method, _: &str) -> bool {
    true
}

#[tokio::test]
async fn a_bucket_that_fails_for_a_moment_is_asked_again() {
    let (store, token) = Store::with_registry().await;
    let server = store.serve().await;
    let faults = [
        Fault::Status(500),
        Fault::Status(503),
        Fault::Lost(500),
        Fault::Lost(503),
        Fault::Twice,
        Fault::Slow(Duration::from_millis(300)),
    ];
    for (at, fault) in faults.into_iter().enumerate() {
        store.fail(fault.clone(), is_write, 3);
        let published = server.publish(&token, "pdf", &format!("1.{at}.0")).await;
        assert_eq!(published.status, 201, "{fault:?}: {}", published.text());
        assert!(store.work() > 0, "{fault:?}");
    }
    let list = server.get("/index/pdf.json").await.json();
    assert_eq!(list["versions"].as_array().map(Vec::len), Some(6));
    // One that starts now reads the same, and nothing was written twice.
    let late = store.serve().await;
    assert_eq!(late.get("/index/pdf.json").await.json(), list);
    assert_eq!(store.paths("index/pdf/events").len(), 1);
}

#[tokio::test]
async fn a_bucket_that_stays_broken_publishes_nothing_and_hides_nothing() {
    let (store, token) = Store::with_registry().await;
    let server = store.serve().await;
    assert_eq!(server.publish(&token, "pdf", "1.0.0").await.status, 201);
    store.fail(Fault::Status(503), is_any, usize::MAX);
    let failed = server.publish(&token, "pdf", "1.1.0").await;
    assert_eq!((failed.status, failed.header("retry-after")), (503, "5"), "{}", failed.text());
    assert!(!failed.text().contains(&store.url), "the address of the store is the operator's");
    assert_eq!(server.get("/readyz").await.status, 503);
    assert_eq!(server.get("/healthz").await.status, 200);
    assert_eq!(server.get("/index/pdf.json").await.status, 200);
    assert!(store.work() > 0);
    assert!(store.paths("index/pdf/1.1.0").is_empty());
    assert_eq!(server.publish(&token, "pdf", "1.1.0").await.status, 201);
    let log = server.stop();
    assert!(log.contains("\"level\":\"ERROR\"") && !log.contains(&token), "{log}");
}

#[tokio::test]
async fn a_publication_whose_answer_is_lost_is_there() {
    let (store, token) = Store::with_registry().await;
    let server = store.serve().await;
    // The record is written each time, and never acknowledged.
    store.fail(Fault::Lost(500), |method, path| method == Method::PUT && path.contains("/1.0.0.json"), 100);
    let failed = server.publish(&token, "pdf", "1.0.0").await;
    store.work();
    assert!(matches!(failed.status, 200 | 201 | 503), "{}", failed.text());
    let again = server.publish(&token, "pdf", "1.0.0").await;
    assert_eq!((again.status, again.json()["version"].as_str()), (200, Some("1.0.0")), "{}", again.text());
    assert_eq!(server.publish(&token, "pdf", "1.1.0").await.status, 201);
}

/// Anybody can ask whether the server is ready, and costs the store next to nothing.
#[tokio::test]
async fn readiness_is_asked_once_a_second() {
    let (store, _) = Store::with_registry().await;
    let server = store.serve().await;
    let before = store.headers().len();
    for _ in 0..40 {
        assert_eq!(server.get("/readyz").await.status, 200);
    }
    let asked = store.headers().len() - before;
    assert!(asked < 20, "{asked} requests");
}

/// What a client begins and does not wait for is not left half done.
#[tokio::test]
async fn a_publication_goes_on_when_its_client_is_gone() {
    let (store, token) = Store::with_registry().await;
    let server = store.serve().await;
    let is_record = |method: &Method, path: &str| method == Method::PUT && path.contains("/1.0.0.json");
    store.fail(Fault::Slow(Duration::from_secs(1)), is_record, 1);
    let impatient = reqwest::Client::builder().timeout(Duration::from_millis(700)).build().expect("a client");
    let put = impatient.put(format!("{}/api/v1/skills/pdf/versions/1.0.0", server.url()));
    let sent = put.bearer_auth(&token).body(archive("pdf", "1.0.0", "")).send().await;
    assert!(sent.is_err_and(|error| error.is_timeout()));
    let since = std::time::Instant::now();
    while server.get("/index/pdf.json").await.status != 200 {
        assert!(since.elapsed() < Duration::from_secs(10), "it is not published");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(store.work(), 1);
}

#[tokio::test]
async fn a_damaged_object_hides_no_other() {
    let (store, token) = Store::with_registry().await;
    let server = store.serve().await;
    for name in ["docx", "pdf", "xlsx"] {
        assert_eq!(server.publish(&token, name, "1.0.0").await.status, 201);
    }
    let archives: Vec<_> = server.get("/index/pdf.json").await.json()["versions"]
        .as_array()
        .expect("versions")
        .iter()
        .map(|version| {
            version["artifact"]["digest"].as_str().expect("a digest")["sha256:".len()..].to_owned()
        })
        .collect();
    let archive = format!("artifacts/sha256/{}.zip", archives[0]);
    store.damage(&format!("team/{archive}"), b"PK other bytes");
    store.damage("team/index/docx/1.0.0.json", b"{\"no\": record");
    store.damage("team/log/0/1.json", b"no entry");
    let late = store.serve().await;
    for server in [&server, &late] {
        let damaged = server.get(&format!("/{archive}")).await;
        assert_eq!((damaged.status, damaged.json()["code"].as_str()), (500, Some("registry-mismatch")));
        assert_eq!(server.get("/index/xlsx.json").await.status, 200);
        assert_eq!(server.get("/index/pdf.json").await.status, 200);
    }
    // Where all skills are in one answer, those that can be read are.
    let index = server.get("/.well-known/skills/index.json").await;
    let names: Vec<_> = index.json()["skills"]
        .as_array()
        .expect("skills")
        .iter()
        .map(|skill| skill["name"].clone())
        .collect();
    assert_eq!((index.status, names), (200, vec![json!("docx"), json!("xlsx")]));
    assert_eq!(late.get("/index/docx.json").await.status, 404);
    let log = late.stop();
    let errors: Vec<_> = log.lines().filter(|line| line.contains("\"level\":\"ERROR\"")).collect();
    for part in ["a skill is left out", "an entry of the log is skipped", &archive] {
        assert_eq!(errors.iter().filter(|line| line.contains(part)).count(), 1, "{part}: {log}");
    }
    let verify = store.run(&["verify"]).await;
    assert_eq!(verify.status.code(), Some(5));
}

/// What a server passes over to go on serving, a verification does not: nothing that is damaged, missing or does not
/// belong there.
#[tokio::test]
async fn a_damaged_bucket_is_not_vouched_for() {
    let (store, token) = Store::with_registry().await;
    let server = store.serve().await;
    for (name, version) in [("docx", "1.0.0"), ("pdf", "1.0.0"), ("pdf", "1.1.0")] {
        assert_eq!(server.publish(&token, name, version).await.status, 201);
    }
    let other = server.get("/index/docx/1.0.0.json").await.body;
    let list = server.get("/index/pdf.json").await.json();
    let digest = list["versions"][0]["artifact"]["digest"].as_str().expect("a digest").to_owned();
    let archive = format!("artifacts/sha256/{}.zip", &digest["sha256:".len()..]);
    drop(server);
    let verify = async || {
        let output = store.run(&["verify"]).await;
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(verify().await, (Some(0), String::new()));
    // A gap is at the number that is missing; the last entry is missed by what it announced.
    let cases: [(&str, Option<&[u8]>, &str); 19] = [
        ("index/pdf/1.0.0.json", Some(b"{"), ""),
        ("index/pdf/1.0.0.json", Some(b""), ""),
        ("index/pdf/1.0.0.json", Some(&other), ""),
        ("index/pdf/1.0.0.json", None, ""),
        ("index/docx/1.0.0.json", None, ""),
        ("index/pdf/events/1.json", Some(b"no event"), ""),
        ("index/pdf/events/1.json", None, ""),
        ("index/pdf/events/3.json", Some(b"{\"event\":\"later\"}"), "index/pdf/events/2.json"),
        ("log/0/2.json", Some(b"no entry"), ""),
        ("log/0/2.json", None, ""),
        ("log/0/1.json", None, ""),
        ("log/0/3.json", None, "index/pdf/1.1.0.json"),
        (&archive, Some(b"PK"), ""),
        (&archive, None, ""),
        ("log/0/notes.json", Some(b"mine"), ""),
        ("index/pdf/notes.txt", Some(b"mine"), ""),
        ("index/PDF/1.0.0.json", Some(&other), ""),
        ("index/pdf/more/1.0.0.json", Some(&other), ""),
        ("artifacts/sha256/notes.zip", Some(b"mine"), ""),
    ];
    for (path, bytes, named) in cases {
        let at = format!("team/{path}");
        let before = store.set(&at, bytes.map(|bytes| bytes.to_vec().into()));
        let (code, told) = verify().await;
        let line = format!("{}: ", if named.is_empty() { path } else { named });
        assert!(
            code == Some(5) && told.lines().any(|found| found.starts_with(&line)),
            "{path} {bytes:?}: {code:?} {told}"
        );
        store.set(&at, before);
    }
    assert_eq!(verify().await, (Some(0), String::new()));
}

/// Starts a server of `store` that listens. Returns its process and its address.
#[cfg(unix)]
fn listening(store: &Store) -> (std::process::Child, String) {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    let mut command = store.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("is read");
    let url = line.trim().strip_prefix("listening at ").expect("an address").to_owned();
    (child, url)
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_still_reads_the_registry_says_so() {
    let stop = |child: &mut std::process::Child| {
        let asked = std::process::Command::new("kill").arg(child.id().to_string()).status();
        assert!(asked.expect("is sent").success() && child.wait().expect("ends").success());
    };
    let (store, token) = Store::with_registry().await;
    assert_eq!(store.serve().await.publish(&token, "pdf", "1.0.0").await.status, 201);
    let client = reqwest::Client::new();
    let get =
        async |url: &str, path: &str| client.get(format!("{url}{path}")).send().await.expect("an answer");
    store.fail(Fault::Slow(Duration::from_secs(3)), is_any, usize::MAX);
    let (mut child, url) = listening(&store);
    assert_eq!(get(&url, "/healthz").await.status(), 200);
    for path in ["/readyz", "/config.json", "/index/pdf.json", "/"] {
        let early = get(&url, path).await;
        assert_eq!(
            (early.status().as_u16(), &early.headers()["retry-after"]),
            (503, &"1".parse().expect("a value"))
        );
    }
    store.work();
    let since = std::time::Instant::now();
    while get(&url, "/readyz").await.status() != 200 {
        assert!(since.elapsed() < Duration::from_secs(30), "it is never ready");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(get(&url, "/index/pdf.json").await.status(), 200);
    stop(&mut child);

    // It ends at once, also if somebody is in the midst of a request.
    store.fail(Fault::Slow(Duration::from_secs(25)), is_any, usize::MAX);
    let (mut child, url) = listening(&store);
    let mut slow = TcpStream::connect(url.trim_start_matches("http://")).await.expect("a connection");
    slow.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n").await.expect("is sent");
    let since = std::time::Instant::now();
    stop(&mut child);
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());

    // What cannot be read is an error of the process.
    store.fail(Fault::Status(403), is_any, usize::MAX);
    let failed = store.run(&["serve", "--listen", "127.0.0.1:0"]).await;
    let told = String::from_utf8_lossy(&failed.stderr);
    assert!(failed.status.code().is_some_and(|code| code > 1) && told.contains("error: "), "{told}");
}

/// The credentials of the bucket go to no other address.
#[tokio::test]
async fn a_bucket_that_sends_elsewhere_gets_no_credentials_there() {
    let (store, token) = Store::with_registry().await;
    let server = store.serve().await;
    let other = Store::start().await;
    store.fail(Fault::Elsewhere(other.url.clone()), is_write, usize::MAX);
    let failed = server.publish(&token, "pdf", "1.0.0").await;
    assert!(failed.status >= 500, "{}", failed.text());
    let leaked = other
        .headers()
        .iter()
        .any(|headers| headers.contains_key("authorization") || headers.contains_key("x-amz-security-token"));
    assert!(!leaked, "{:?}", other.headers());
}

/// Sends `head` and then bytes as long as the server takes them. Returns how many it took, and its answer.
async fn flood(server: &Server, head: &str, piece: &[u8], most: usize) -> (usize, String) {
    let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
    stream.write_all(head.as_bytes()).await.expect("is sent");
    let (mut answers, mut sends) = stream.split();
    let mut sent = 0;
    let mut answer = Vec::new();
    tokio::select! {
        _ = answers.read_to_end(&mut answer) => {}
        () = async {
            while sent < most && sends.write_all(piece).await.is_ok() {
                sent += piece.len();
            }
            std::future::pending::<()>().await;
        } => {}
    }
    (sent, String::from_utf8_lossy(&answer).into_owned())
}

#[tokio::test]
async fn bodies_of_gigabytes_are_refused_early() {
    let server = Server::start("[limits]\nrequest-seconds = 20");
    let alice = server.token("alice", &[]);
    let five = 5_u64 << 30;
    let piece = vec![b'a'; 64 << 10];
    let head = |token: &str, length: &str| {
        format!(
            "PUT /api/v1/skills/pdf/versions/1.0.0 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
             authorization: Bearer {token}\r\n{length}\r\n\r\n"
        )
    };
    let declared = format!("content-length: {five}");
    for (token, status) in [(alice.as_str(), "413"), ("skpm_0", "401")] {
        let (_, answer) = flood(&server, &head(token, &declared), &[], 0).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    // Chunked, so that nobody knows: as much as is allowed, and no more.
    let chunk = [b"10000\r\n", &piece[..], b"\r\n"].concat();
    let (sent, _) = flood(&server, &head(&alice, "transfer-encoding: chunked"), &chunk, 5 << 30).await;
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    #[cfg(target_os = "linux")]
    assert!(server.memory() < 300 << 10, "{} KB", server.memory());
}

#[tokio::test]
async fn tricks_with_paths_lead_nowhere() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let tricks = [
        "..",
        "%2e%2e",
        "..%2f..%2fprivate",
        "%2e%2e%2f",
        "..%5c..",
        "pdf%00",
        "%00",
        "pdf%0d%0ax-a:b",
        "%ff%fe",
        "%",
        "pdf%2f1.0.0",
        "pd%66%2f",
        "PDF",
        "%E2%84%AApdf",
        "p%C3%A9f",
        "%EF%BC%8E%EF%BC%8E",
        "pdf;a=b",
        "pdf%20",
        "~",
        "con",
    ];
    for trick in tricks {
        for path in [
            format!("/index/{trick}.json"),
            format!("/index/{trick}/1.0.0.json"),
            format!("/index/pdf/{trick}.json"),
            format!("/artifacts/sha256/{trick}.zip"),
            format!("/log/0/{trick}.json"),
            format!("/skills/{trick}/"),
            format!("/skills/pdf/{trick}/"),
            format!("/static/{trick}"),
            format!("/api/v1/skills/{trick}"),
            format!("/api/v1/skills/pdf/versions/{trick}"),
            format!("/api/v1/skills/pdf/file?path={trick}"),
            format!("/api/v1/download?slug={trick}"),
            format!("/.well-known/skills/{trick}/SKILL.md"),
            format!("/.well-known/skills/pdf/{trick}"),
            format!("/v2/{trick}/manifests/1.0.0"),
            format!("/v2/pdf/blobs/{trick}"),
            format!("/{trick}/private/tokens"),
        ] {
            let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
            // As it is: a client would make it tidy.
            let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.expect("is sent");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await.expect("an answer");
            let answer = String::from_utf8_lossy(&answer);
            let status = answer.split(' ').nth(1).unwrap_or_default();
            assert!(status.starts_with('4') || (trick == "pd%66%2f" && status == "303"), "{path}: {answer}");
            let head = answer.split("\r\n\r\n").next().unwrap_or_default();
            assert!(!answer.contains("skpm_") && !head.contains("x-a:b"), "{path}: {answer}");
        }
        let path = format!("/api/v1/skills/{trick}/versions/1.0.0");
        if trick != "~" && !trick.contains("%ff") && trick != "%" && trick != ".." && trick != "%2e%2e" {
            let put = server.send_bytes("PUT", &path, Some(&alice), archive("pdf", "1.0.0", "x")).await;
            assert!((400..500).contains(&put.status), "{path}: {}", put.text());
        }
    }
}

#[tokio::test]
async fn headers_of_one_client_are_not_answers_for_others() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let evil = [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "https"),
        ("x-original-url", "/private/tokens"),
        ("x-rewrite-url", "/private/tokens"),
        ("x-http-method-override", "DELETE"),
        ("forwarded", "host=evil.example"),
    ];
    for path in
        ["/", "/skills/pdf/", "/feed.atom", "/config.json", "/index/pdf.json", "/.well-known/ai-catalog.json"]
    {
        let (plain, tricked) = (server.get(path).await, server.get_with(path, &evil).await);
        assert_eq!((tricked.status, &tricked.body), (200, &plain.body), "{path}");
        assert!(!tricked.text().contains("evil.example"), "{path}");
    }
    // The only answer that has the words of the client is kept by nobody.
    let named = server.get_with("/.well-known/clawhub.json", &evil).await;
    assert_eq!(named.header("cache-control"), "no-store");
    // Nobody gets what another has asked for with a token, nor in a form that he does not read.
    let bearer = format!("Bearer {alice}");
    for path in ["/", "/index/pdf.json", "/search.json"] {
        let own = server.get_with(path, &[("authorization", &bearer), ("accept-encoding", "gzip")]).await;
        assert!(own.header("cache-control").starts_with("private"), "{path}");
        let varies = |answer: &Answer| answer.all("vary").to_lowercase();
        assert!(varies(&own).contains("authorization"), "{path}");
        let packed = server.get_with(path, &[("accept-encoding", "gzip")]).await;
        if packed.header("content-encoding") == "gzip" {
            let plain = server.get(path).await;
            assert!(
                varies(&packed).contains("accept-encoding") && varies(&plain).contains("accept-encoding"),
                "{path}"
            );
        }
    }
    for path in
        ["/skills//evil.example", "/skills/https:evil.example", "/skills/%2f%2fevil.example", "/skills/pdf"]
    {
        let answer = server.get_unfollowed(path).await;
        let to = answer.header("location");
        assert!(to.is_empty() || to == "pdf/", "{path}: {to}");
    }
}

#[tokio::test]
async fn caches_keep_no_answer_that_is_not_the_file() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let path = "/index/pdf.json";
    let (plain, packed) =
        (server.get(path).await, server.get_with(path, &[("accept-encoding", "gzip")]).await);
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("etag"), format!("W/{}", plain.header("etag")));
    // Either is known again, but parts of one go with no parts of the other.
    for (tag, ranged) in [(plain.header("etag"), 206), (packed.header("etag"), 200)] {
        assert_eq!(server.get_with(path, &[("if-none-match", tag)]).await.status, 304);
        let part = server.get_with(path, &[("range", "bytes=2-5"), ("if-range", tag)]).await;
        assert_eq!(part.status, ranged, "{tag}");
    }
    let none = server.get_with(path, &[("range", "bytes=9999999-")]).await;
    assert_eq!((none.status, none.header("cache-control"), none.header("etag")), (416, "no-store", ""));
    for path in ["/api/v1/whoami", "/api/v1/log", "/api/v1/skills/pdf/owners"] {
        let own = server.send("GET", path, Some(&alice), "").await;
        assert_eq!((own.status, own.header("cache-control")), (200, "no-store"), "{path}");
    }
}

#[tokio::test]
async fn a_statement_is_taken_once_by_whichever_server_and_in_its_time() {
    let issuer = Issuer::start();
    let settings =
        format!("public-url = \"https://skills.example\"\ntrusted-issuers = [\"{}\"]", issuer.url());
    let one = Server::start(&settings);
    let two = one.again(&settings);
    let alice = one.token("alice", &[]);
    assert_eq!(one.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let publisher = json!({"issuer": issuer.url(), "repository": "acme/skills", "workflow": "publish.yml"});
    for server in [&one, &two] {
        let path = "/api/v1/skills/pdf/publishers";
        assert_eq!(server.send("POST", path, Some(&alice), &publisher.to_string()).await.status, 200);
    }
    let exchange = async |server: &Server, claims: &Value| {
        let body = json!({"token": issuer.sign(claims)}).to_string();
        server.send("POST", "/api/v1/tokens/exchange", None, &body).await
    };
    let claims = statement(&issuer.url());
    assert_eq!(exchange(&one, &claims).await.status, 201);
    // A second signature makes no second statement.
    for server in [&one, &two] {
        assert_eq!(exchange(server, &claims).await.status, 401);
    }
    // The clock of one side is off by a day: that is said, with both times.
    let day = 86_400;
    for (shift, what) in [(day, "not valid before"), (-day, "expired at")] {
        let mut off = statement(&issuer.url());
        for key in ["iat", "nbf", "exp"] {
            off[key] = (off[key].as_i64().expect("a time") + shift).into();
        }
        off["jti"] = shift.to_string().into();
        let refused = exchange(&two, &off).await;
        assert_eq!(refused.status, 401);
        let told = refused.text();
        assert!(told.contains(what) && told.contains("clock"), "{told}");
    }
}

/// A small file system in memory at a directory. It is gone when this is dropped, also when a test fails.
#[cfg(target_os = "linux")]
struct SmallDisk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl SmallDisk {
    /// Mounts one of `size`; `None` if only root may, which is said.
    fn mount(size: &str) -> Option<Self> {
        let disk = Self(tempfile::tempdir().expect("a directory"));
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "none", disk.path()]);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(disk);
        }
        println!("skipped: a file system can only be mounted by root");
        None
    }

    fn path(&self) -> &str {
        self.0.path().to_str().expect("UTF-8")
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a server may still be at its end.
        let _ = std::process::Command::new("umount").args(["-l", self.path()]).output();
    }
}

/// A directory on a disk that is full takes nothing, and loses nothing.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_publishes_nothing_half() {
    let Some(disk) = SmallDisk::mount("400k") else { return };
    let server = Server::start_in(&format!("{}/registry", disk.path()), "");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let before = server.get("/index/pdf.json").await.json();
    let text = "---\nname: pdf\ndescription: Reads pdf files. Use it for pdf files.\nlicense: MIT\n\
                metadata:\n  version: '1.1.0'\n---\n\n# pdf\n";
    let large = zip(&[stored("SKILL.md", text), stored("references/data.txt", "data\n".repeat(120_000))]);
    let failed = server.send_bytes("PUT", "/api/v1/skills/pdf/versions/1.1.0", Some(&alice), large).await;
    assert_eq!(failed.status, 503, "{}", failed.text());
    assert_eq!(server.get("/index/pdf.json").await.json(), before);
    assert_eq!(server.publish(&alice, "pdf", "1.2.0").await.status, 201);
    assert_eq!(server.admin(&["verify"]).status.code(), Some(0));
}

#[tokio::test]
async fn an_address_has_so_many_connections() {
    let server = Server::start("[limits]\nconnections-per-address = 5");
    let mut held = Vec::new();
    for _ in 0..5 {
        let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.expect("is sent");
        stream.read_exact(&mut [0; 12]).await.expect("an answer");
        held.push(stream);
    }
    let mut one_more = TcpStream::connect(server.address()).await.expect("a connection");
    let _ = one_more.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut answer = Vec::new();
    let _ = one_more.read_to_end(&mut answer).await;
    assert!(answer.is_empty());
    held.clear();
    // The server hears of it a moment later.
    while server.try_get("/healthz").await != Some(200) {}
}

/// As many slow clients as the machine allows, up to ten thousand: in the head of a request, before the first byte, and in
/// the preface of HTTP/2. Others are answered meanwhile, and the deadline ends them all.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_slow_clients_keep_nobody_out() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
    let count =
        most.map_or(10_000, |most| usize::try_from(most).unwrap_or(10_000).saturating_sub(600)).min(10_000);
    if count < 5_000 {
        println!("skipped: this machine allows {count} connections");
        return;
    }
    let server = Server::start("[limits]\nhead-seconds = 20\nconnections-per-address = 20000");
    let (before, since) = (server.memory(), std::time::Instant::now());
    let mut slow = Vec::with_capacity(count);
    for at in 0..count {
        let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
        let start: &[u8] = [&b"GET / HTTP/1.1\r\nhost: a\r\n"[..], b"", b"PRI *"][at % 3];
        stream.write_all(start).await.expect("is sent");
        slow.push(stream);
    }
    assert_eq!(server.get("/config.json").await.status, 200);
    for stream in slow.iter_mut().step_by(3) {
        let _ = stream.write_all(b"x").await;
    }
    assert_eq!(server.get("/config.json").await.status, 200);
    let used = server.memory().saturating_sub(before);
    println!("{count} slow clients: {used} KB more, there after {:?}", since.elapsed());
    assert!(used < 300 << 10, "{used} KB");
    for mut stream in slow {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    assert_eq!(server.get("/config.json").await.status, 200);
}
