//! Servers of one bucket: a real store that speaks S3, in a process of its own.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use skillpm_format::document::read_yaml;
use skillpm_testing::{root, skip_without};

use crate::support::{Server, archive, files, program};

const REGISTRY: &str = "s3://skills/team";

/// A store with the bucket `skills`.
struct Store {
    child: Child,
    url: String,
}

impl Store {
    /// Starts a store; `None` if this machine has none. With `is_strict`, it checks who asks.
    async fn start(is_strict: bool) -> Option<Self> {
        let moto = python_program("moto_server")?;
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let mut command = Command::new(moto);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        if is_strict {
            // The first request, which makes the bucket, is not checked.
            command.env("INITIAL_NO_AUTH_ACTION_COUNT", "1");
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        let store = Self { child, url: format!("http://127.0.0.1:{port}") };
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(45), "the store does not start");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(store.request(reqwest::Method::PUT, "/skills").await, 200);
        Some(store)
    }

    async fn request(&self, method: reqwest::Method, path: &str) -> u16 {
        self.send(method, path, Vec::new()).await
    }

    async fn send(&self, method: reqwest::Method, path: &str, body: Vec<u8>) -> u16 {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let request = reqwest::Client::new().request(method, format!("{}{path}", self.url)).body(body);
        // Objects that exist are only for those who say who they are; the store does not check it.
        let signed = "AWS4-HMAC-SHA256 Credential=key/20261127/us-east-1/s3/aws4_request, \
                      SignedHeaders=host, Signature=0";
        let request = request.header("authorization", signed);
        request.send().await.expect("an answer").status().as_u16()
    }

    /// Puts the files below `dir` into the bucket as `prefix`, as any program that copies files to a bucket does.
    async fn upload(&self, dir: &Path, prefix: &str) {
        for file in files(dir) {
            let below = file.strip_prefix(dir).expect("below").to_str().expect("UTF-8").replace('\\', "/");
            let bytes = std::fs::read(&file).expect("is read");
            let path = format!("/skills/{prefix}/{below}");
            assert_eq!(self.send(reqwest::Method::PUT, &path, bytes).await, 200, "{path}");
        }
    }

    fn settings(&self) -> String {
        format!("[bucket]\nendpoint = \"{}\"\nregion = \"us-east-1\"\nallow-http = true\n", self.url)
    }

    /// Runs a command of the program on the registry, with this secret.
    fn admin(&self, args: &[&str], secret: &str) -> Output {
        self.run(&[args, &[REGISTRY]].concat(), secret)
    }

    /// Runs a command of the program that reaches the store, with this secret.
    fn run(&self, args: &[&str], secret: &str) -> Output {
        program(args)
            .envs(credentials(secret))
            .env("SKILLPM_REGISTRY_BUCKET_ENDPOINT", &self.url)
            .env("SKILLPM_REGISTRY_BUCKET_REGION", "us-east-1")
            .env("SKILLPM_REGISTRY_BUCKET_ALLOW_HTTP", "true")
            .output()
            .expect("starts")
    }

    fn serve(&self) -> Server {
        Server::of(REGISTRY, &self.settings(), &credentials("secret"))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn credentials(secret: &str) -> [(&str, &str); 2] {
    [("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", secret)]
}

/// Finds a program in Python that `make test-tools` installs beside what cargo builds. Where it is missing, the test is
/// skipped.
pub(crate) fn python_program(name: &str) -> Option<PathBuf> {
    let scripts = if cfg!(windows) { "Scripts" } else { "bin" };
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let built = PathBuf::from(env!("CARGO_BIN_EXE_skillpm-registry"));
    let found = built
        .ancestors()
        .map(|dir| dir.join("python-env-server").join(scripts).join(&file))
        .find(|path| path.is_file());
    if found.is_none() {
        skip_without(name);
    }
    found
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Waits until `server` lists the version, and returns how long that took.
async fn listed(server: &Server, name: &str, version: &str) -> Duration {
    let since = Instant::now();
    loop {
        let list = server.get(&format!("/index/{name}.json")).await;
        if list.status == 200 && list.text().contains(&format!("\"{version}\"")) {
            return since.elapsed();
        }
        assert!(since.elapsed() < Duration::from_secs(30), "{name} {version}: {}", list.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn what_one_server_publishes_the_other_serves() {
    let Some(store) = Store::start(false).await else { return };
    text(&store.admin(&["init", "--name", "acme"], "secret"));
    assert_eq!(store.admin(&["init", "--name", "other"], "secret").status.code(), Some(2));
    let token = text(&store.admin(&["token", "create", "--account", "alice"], "secret"));
    let (mut one, two) = (store.serve(), store.serve());
    assert_eq!(one.publish(&token, "pdf", "1.0.0").await.status, 201);
    assert!(listed(&two, "pdf", "1.0.0").await < Duration::from_secs(5));
    assert_eq!(two.publish(&token, "pdf", "1.1.0").await.status, 201);
    assert!(listed(&one, "pdf", "1.1.0").await < Duration::from_secs(5));
    let yank = two.send("POST", "/api/v1/skills/pdf/versions/1.1.0/yank", Some(&token), "{}").await;
    assert_eq!(yank.status, 200);

    // One of them is killed in the midst of many publications.
    let mut acknowledged = Vec::new();
    for at in 0..40 {
        let (name, version) = (format!("skill-{}", at % 4), format!("1.{at}.0"));
        if at == 30 {
            let last = one.try_publish(&token, &name, &version);
            // It gets the request, and not the time to answer.
            let _ = tokio::time::timeout(Duration::from_millis(15), last).await;
            one.kill();
            continue;
        }
        let server = if at % 2 == 0 && at < 30 { &one } else { &two };
        if server.try_publish(&token, &name, &version).await == Some(201) {
            acknowledged.push((name, version));
        }
    }
    assert_eq!(acknowledged.len(), 39);
    let three = store.serve();
    for server in [&two, &three] {
        for (name, version) in &acknowledged {
            assert!(listed(server, name, version).await < Duration::from_secs(5));
        }
    }
    // What was cut off is there as a whole, or can be published.
    assert!(matches!(three.publish(&token, "skill-2", "1.30.0").await.status, 200 | 201));
    let list = two.get("/index/pdf.json").await.json();
    let digest = list["versions"][0]["artifact"]["digest"].as_str().expect("a digest").to_owned();
    let path = format!("/artifacts/sha256/{}.zip", digest.trim_start_matches("sha256:"));
    assert_eq!(three.get(&path).await.status, 200);
}

#[tokio::test]
async fn a_store_that_refuses_is_told_without_secrets() {
    let Some(store) = Store::start(true).await else { return };
    let secret = "s3cret-of-the-bucket";
    let refused = store.admin(&["init", "--name", "acme"], secret);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.starts_with("error: ") && !told.contains(secret), "{told}");
    let mut refused = program(&["serve", REGISTRY, "--listen", "127.0.0.1:0"]);
    refused.envs(credentials(secret)).env("SKILLPM_REGISTRY_BUCKET_ENDPOINT", &store.url);
    refused.env("SKILLPM_REGISTRY_BUCKET_ALLOW_HTTP", "true");
    let refused = refused.output().expect("ends");
    assert!(!refused.status.success() && !String::from_utf8_lossy(&refused.stderr).contains(secret));
}

#[tokio::test]
async fn a_bucket_that_is_gone_is_the_servers_fault() {
    let Some(mut store) = Store::start(false).await else { return };
    text(&store.admin(&["init", "--name", "acme"], "secret"));
    let token = text(&store.admin(&["token", "create", "--account", "alice"], "secret"));
    let server = store.serve();
    assert_eq!(server.publish(&token, "pdf", "1.0.0").await.status, 201);
    assert_eq!(store.request(reqwest::Method::POST, "/moto-api/reset").await, 200);
    // What is known is still served; nothing is acknowledged that is not kept.
    assert_eq!(server.get("/index/pdf.json").await.status, 200);
    let failed = server.try_publish(&token, "pdf", "1.1.0").await;
    assert!(failed.is_some_and(|status| status >= 500), "{failed:?}");
    store.child.kill().expect("is killed");
    assert_eq!(server.get("/healthz").await.status, 200);
    assert_eq!(server.get("/index/pdf.json").await.status, 200);
}

/// The words of the `key` of a container file, which is written as JSON.
fn words(containerfile: &str, key: &str) -> Vec<String> {
    let line = containerfile.lines().find_map(|line| line.strip_prefix(key)).expect(key);
    serde_json::from_str(line).expect("JSON")
}

#[tokio::test]
async fn the_compose_file_of_the_examples_serves_a_bucket() {
    let dir = root().join("examples/registry-server");
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).expect(name);
    let text = read("compose.yaml");
    let compose = read_yaml(&text, &mut Vec::new()).expect("YAML").expect("a value").to_json();
    let (registry, bucket) = (&compose["services"]["registry"], &compose["services"]["store"]);
    let set = registry["environment"].as_object().expect("variables");
    let set = |key: &str| set[key].as_str().expect(key);
    // The store knows whom the server says that it is, by the name that the server calls it, and has the bucket.
    for (ours, theirs) in
        [("AWS_ACCESS_KEY_ID", "MINIO_ROOT_USER"), ("AWS_SECRET_ACCESS_KEY", "MINIO_ROOT_PASSWORD")]
    {
        assert_eq!(set(ours), bucket["environment"][theirs]);
    }
    let endpoint = set("SKILLPM_REGISTRY_BUCKET_ENDPOINT");
    let made = compose["services"]["bucket"]["entrypoint"].as_str().expect("a command");
    let login = format!("store {endpoint} {} {};", set("AWS_ACCESS_KEY_ID"), set("AWS_SECRET_ACCESS_KEY"));
    let name = set("SKILLPM_REGISTRY_REGISTRY").split('/').nth(2).expect("a bucket");
    assert!(
        made.contains(&login) && made.contains(&format!("mc mb --ignore-existing store/{name}\"")),
        "{made}"
    );
    let containerfile = read("Containerfile");
    assert_eq!(words(&containerfile, "ENTRYPOINT "), ["skillpm-registry"]);
    let mut args = words(&containerfile, "CMD ");
    let listen = args.iter_mut().find(|word| word.starts_with("0.0.0.0:")).expect("an address");
    let port = listen.rsplit(':').next().expect("a port");
    assert_eq!(registry["ports"][0], format!("127.0.0.1:{port}:{port}"));

    let Some(store) = Store::start(false).await else { return };
    assert_eq!(name, "skills", "the bucket that the store has");
    *listen = "127.0.0.1:0".to_owned();
    let environment = registry["environment"].as_object().expect("variables");
    let env: Vec<(&str, &str)> = environment
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str().expect("text")))
        .map(|(key, value)| match value {
            _ if value == endpoint => (key, store.url.as_str()),
            "0.0.0.0:9750" => (key, "127.0.0.1:0"),
            _ => (key, value),
        })
        .collect();
    // The server waits until the bucket is there, and makes it a registry.
    assert_eq!(registry["depends_on"]["bucket"]["condition"], "service_completed_successfully");
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let server = Server::with(&args, &env);
    // What the comment says to run then.
    let then: Vec<_> = text.lines().filter_map(|line| line.split_once("run --rm registry ")).collect();
    let [(_, then)] = then[..] else { panic!("`token create`: {then:?}") };
    let then: Vec<_> = then.split(' ').collect();
    let token = self::text(&program(&then).envs(env.iter().copied()).output().expect("starts"));
    assert_eq!(server.publish(&token, "pdf", "1.0.0").await.status, 201);
    assert_eq!(server.get("/index/pdf.json").await.status, 200);
}

#[tokio::test]
async fn a_bucket_is_verified_and_its_garbage_listed() {
    let Some(store) = Store::start(false).await else { return };
    text(&store.admin(&["init", "--name", "acme"], "secret"));
    let token = text(&store.admin(&["token", "create", "--account", "alice"], "secret"));
    let server = store.serve();
    let mut paths = Vec::new();
    for name in ["docx", "pdf"] {
        let record = server.publish(&token, name, "1.0.0").await.json();
        let digest = record["artifact"]["digest"].as_str().expect("a digest").trim_start_matches("sha256:");
        paths.push(format!("/skills/team/artifacts/sha256/{digest}.zip"));
    }
    let run = |args: &[&str]| {
        let output = store.admin(args, "secret");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(run(&["verify"]), (Some(0), String::new()));
    assert_eq!(run(&["garbage"]), (Some(0), String::new()));

    // One archive changed, one is gone, and nothing names a third.
    let unnamed = format!("artifacts/sha256/{}.zip", "0".repeat(64));
    let mut damaged = archive("docx", "1.0.0", "");
    let put = async |path: &str, bytes| store.send(reqwest::Method::PUT, path, bytes).await;
    assert_eq!(put(&format!("/skills/team/{unnamed}"), damaged.clone()).await, 200);
    damaged[40] ^= 1;
    assert_eq!(put(&paths[0], damaged).await, 200);
    assert_eq!(store.request(reqwest::Method::DELETE, &paths[1]).await, 204);
    let (code, told) = run(&["verify"]);
    assert_eq!(code, Some(5), "{told}");
    let mut expected: Vec<_> = paths.iter().map(|path| &path["/skills/team/".len()..]).collect();
    expected.sort_unstable();
    let found: Vec<_> = told.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(found, expected, "{told}");
    assert!(told.contains("`docx` 1.0.0") && told.contains("`pdf` 1.0.0"), "{told}");
    // The second time too: it is only listed.
    for _ in 0..2 {
        let (code, told) = run(&["garbage"]);
        assert_eq!((code, told.lines().count()), (Some(0), 1), "{told}");
        assert!(told.starts_with(&unnamed), "{told}");
    }
}

#[tokio::test]
async fn a_bucket_is_copied_to_a_directory_and_back() {
    let Some(store) = Store::start(false).await else { return };
    text(&store.admin(&["init", "--name", "acme"], "secret"));
    let token = text(&store.admin(&["token", "create", "--account", "alice"], "secret"));
    let server = store.serve();
    assert_eq!(server.publish(&token, "pdf", "1.0.0").await.status, 201);
    let place = tempfile::tempdir().expect("a directory");
    let copy = place.path().join("copy");
    let dir = copy.to_str().expect("UTF-8");
    let backup = || text(&store.run(&["backup", REGISTRY, dir], "secret"));
    assert!(!backup().contains(": 0 copied"));
    assert!(backup().ends_with(": 0 copied, 0 removed"));
    assert_eq!(server.publish(&token, "pdf", "1.1.0").await.status, 201);
    assert!(!backup().contains(": 0 copied"));
    assert_eq!(program(&["verify", dir]).output().expect("starts").status.code(), Some(0));

    // The copy is a registry: with the same list, and the same token.
    let list = server.get("/index/pdf.json").await.json();
    let copied = Server::of(dir, "", &[]);
    assert_eq!(copied.get("/index/pdf.json").await.json(), list);
    assert_eq!(copied.publish(&token, "pdf", "1.2.0").await.status, 201);
    drop(copied);
    // So is the copy of the copy in a bucket.
    store.upload(&copy, "back").await;
    let back = "s3://skills/back";
    let verified = store.run(&["verify", back], "secret");
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
    let restored = Server::of(back, &store.settings(), &credentials("secret"));
    let versions = |list: &serde_json::Value| list["versions"].as_array().map(Vec::len);
    assert_eq!(versions(&restored.get("/index/pdf.json").await.json()), Some(3));
    assert_eq!(restored.publish(&token, "pdf", "1.3.0").await.status, 201);
    assert_eq!(versions(&server.get("/index/pdf.json").await.json()), Some(2));
}

/// A real store passes the probe, and nothing of it is left. What was overwritten or removed there is found.
#[tokio::test]
async fn a_damaged_bucket_is_not_vouched_for() {
    let Some(store) = Store::start(false).await else { return };
    text(&store.admin(&["init", "--name", "acme"], "secret"));
    let token = text(&store.admin(&["token", "create", "--account", "alice"], "secret"));
    let server = store.serve();
    for (name, version) in [("docx", "1.0.0"), ("pdf", "1.0.0"), ("pdf", "1.1.0")] {
        assert_eq!(server.publish(&token, name, version).await.status, 201);
    }
    let verify = || {
        let output = store.admin(&["verify"], "secret");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(verify(), (Some(0), String::new()));
    let at = |path: &str| format!("/skills/team/{path}");
    assert_eq!(store.send(reqwest::Method::PUT, &at("index/pdf/1.0.0.json"), b"{".to_vec()).await, 200);
    for path in ["index/docx/1.0.0.json", "log/0/2.json"] {
        assert_eq!(store.request(reqwest::Method::DELETE, &at(path)).await, 204);
    }
    let (code, told) = verify();
    let found: Vec<_> = told.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(found, ["index/docx/1.0.0.json", "index/pdf/1.0.0.json", "log/0/2.json"], "{told}");
    assert_eq!(code, Some(5));
}
