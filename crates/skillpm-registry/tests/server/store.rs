//! A store that speaks as much S3 as the server needs, in memory, and fails as it is told.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use crate::support::{Server, program};

/// Where the registry lies.
pub(crate) const REGISTRY: &str = "s3://skills/team";
const CREDENTIALS: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "key"),
    ("AWS_SECRET_ACCESS_KEY", "secret"),
    ("AWS_SESSION_TOKEN", "session-token"),
];

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is answered with this status and does nothing.
    Status(u16),
    /// It is done, and answered with this status.
    Lost(u16),
    /// It arrives twice, and the second answer counts.
    Twice,
    /// It is answered after a while.
    Slow(Duration),
    /// It is sent to another address.
    Elsewhere(String),
}

/// Whether a request with this method and path is one of those that fail.
type Which = fn(&Method, &str) -> bool;

#[derive(Default)]
struct State {
    objects: Mutex<BTreeMap<String, Bytes>>,
    /// What goes wrong, with which requests, and how often still.
    fault: Mutex<Option<(Fault, Which, usize)>>,
    failed: AtomicUsize,
    /// Whether an object is replaced although the request says to create it only if there is none.
    is_careless: AtomicBool,
    headers: Mutex<Vec<HeaderMap>>,
}

/// The store.
#[derive(Clone)]
pub(crate) struct Store {
    state: Arc<State>,
    pub(crate) url: String,
}

impl Store {
    /// Starts a store.
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::<State>::default();
        let answering = Arc::clone(&state);
        let router =
            axum::Router::new().fallback(async move |request: Request| answering.answer(request).await);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { state, url }
    }

    /// Starts a store that has a registry, and a token of alice.
    pub(crate) async fn with_registry() -> (Self, String) {
        let store = Self::start().await;
        store.admin(&["init", "--name", "acme"]).await;
        let token = store.admin(&["token", "create", "--account", "alice"]).await;
        (store, token)
    }

    fn settings(&self) -> String {
        format!("[bucket]\nendpoint = \"{}\"\nregion = \"us-east-1\"\nallow-http = true\n", self.url)
    }

    /// Starts a server of the registry.
    pub(crate) async fn serve(&self) -> Server {
        let settings = self.settings();
        let started = tokio::task::spawn_blocking(move || Server::of(REGISTRY, &settings, &CREDENTIALS));
        started.await.expect("starts")
    }

    /// Returns a command of the program on the registry.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = program(&[args, &[REGISTRY]].concat());
        command.envs(CREDENTIALS).env("SKILLPM_REGISTRY_BUCKET_ENDPOINT", &self.url);
        command.env("SKILLPM_REGISTRY_BUCKET_REGION", "us-east-1");
        command.env("SKILLPM_REGISTRY_BUCKET_ALLOW_HTTP", "true");
        command
    }

    /// Runs a command of the program on the registry.
    pub(crate) async fn run(&self, args: &[&str]) -> std::process::Output {
        let mut command = self.command(args);
        tokio::task::spawn_blocking(move || command.output()).await.expect("runs").expect("starts")
    }

    /// Like [`Self::run`], for what must succeed. Returns what it prints.
    pub(crate) async fn admin(&self, args: &[&str]) -> String {
        let output = self.run(args).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// Lets the next `count` requests that `which` holds for fail.
    pub(crate) fn fail(&self, fault: Fault, which: Which, count: usize) {
        self.state.failed.store(0, Ordering::SeqCst);
        *self.state.fault.lock().expect("a lock") = Some((fault, which, count));
    }

    /// Lets no more requests fail. Returns how many did.
    pub(crate) fn work(&self) -> usize {
        *self.state.fault.lock().expect("a lock") = None;
        self.state.failed.load(Ordering::SeqCst)
    }

    /// Ignores `If-None-Match` from now on, as some stores do.
    pub(crate) fn ignore_conditions(&self) {
        self.state.is_careless.store(true, Ordering::SeqCst);
    }

    /// The headers of the requests so far.
    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        self.state.headers.lock().expect("a lock").clone()
    }

    /// The paths of all objects below `prefix` in the registry.
    pub(crate) fn paths(&self, prefix: &str) -> Vec<String> {
        let prefix = format!("team/{prefix}");
        let objects = self.state.objects.lock().expect("a lock");
        objects.keys().filter(|path| path.starts_with(&prefix)).cloned().collect()
    }

    /// Puts `bytes` in the place of the object at `path`, or removes it. Returns what was there.
    pub(crate) fn set(&self, path: &str, bytes: Option<Bytes>) -> Option<Bytes> {
        let mut objects = self.state.objects.lock().expect("a lock");
        match bytes {
            Some(bytes) => objects.insert(path.to_owned(), bytes),
            None => objects.remove(path),
        }
    }

    /// Puts `bytes` in the place of the object at `path`, which has the prefix of the registry.
    pub(crate) fn damage(&self, path: &str, bytes: &'static [u8]) {
        self.state.objects.lock().expect("a lock").insert(path.to_owned(), Bytes::from_static(bytes));
    }
}

impl State {
    async fn answer(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, 64 << 20).await.expect("a body");
        self.headers.lock().expect("a lock").push(parts.headers.clone());
        let path =
            parts.uri.path().trim_start_matches('/').trim_start_matches("skills").trim_start_matches('/');
        let fault = {
            let mut fault = self.fault.lock().expect("a lock");
            match &mut *fault {
                Some((kind, which, count)) if *count > 0 && which(&parts.method, path) => {
                    *count -= 1;
                    self.failed.fetch_add(1, Ordering::SeqCst);
                    Some(kind.clone())
                }
                _ => None,
            }
        };
        let query = parts.uri.query().unwrap_or_default();
        let done = || self.act(&parts.method, path, query, &parts.headers, body.clone());
        let failed = |status: u16| {
            let status = StatusCode::from_u16(status).expect("a status");
            (status, [("retry-after", "1")], "<Error><Code>SlowDown</Code></Error>").into_response()
        };
        match fault {
            None => done(),
            Some(Fault::Status(status)) => failed(status),
            Some(Fault::Lost(status)) => {
                done();
                failed(status)
            }
            Some(Fault::Twice) => {
                done();
                done()
            }
            Some(Fault::Slow(time)) => {
                tokio::time::sleep(time).await;
                done()
            }
            Some(Fault::Elsewhere(to)) => {
                (StatusCode::TEMPORARY_REDIRECT, [("location", format!("{to}/{path}"))]).into_response()
            }
        }
    }

    fn act(&self, method: &Method, path: &str, query: &str, headers: &HeaderMap, body: Bytes) -> Response {
        let mut objects = self.objects.lock().expect("a lock");
        let tagged = |bytes: &Bytes, body: Body| {
            let told = [
                ("etag", "\"tag\"".to_owned()),
                ("last-modified", "Fri, 27 Nov 2026 05:00:00 GMT".to_owned()),
                ("content-length", bytes.len().to_string()),
            ];
            (told, body).into_response()
        };
        match *method {
            Method::PUT
                if headers.contains_key("if-none-match")
                    && objects.contains_key(path)
                    && !self.is_careless.load(Ordering::SeqCst) =>
            {
                StatusCode::PRECONDITION_FAILED.into_response()
            }
            Method::PUT => {
                objects.insert(path.to_owned(), body);
                [("etag", "\"tag\"")].into_response()
            }
            // Several at once, which are named in the body.
            Method::POST if query.starts_with("delete") => {
                let body = String::from_utf8_lossy(&body);
                let keys = body.split("<Key>").skip(1).filter_map(|part| part.split("</Key>").next());
                keys.for_each(|key| drop(objects.remove(key)));
                "<DeleteResult></DeleteResult>".into_response()
            }
            Method::DELETE => {
                objects.remove(path);
                StatusCode::NO_CONTENT.into_response()
            }
            Method::GET if path.is_empty() => {
                let prefix =
                    query.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or_default();
                let prefix = prefix.replace("%2F", "/");
                let listed: Vec<_> = objects
                    .iter()
                    .filter(|(path, _)| path.starts_with(&prefix))
                    .map(|(path, bytes)| {
                        format!(
                            "<Contents><Key>{path}</Key><Size>{}</Size><ETag>\"tag\"</ETag>\
                             <LastModified>2026-11-27T05:00:00.000Z</LastModified></Contents>",
                            bytes.len()
                        )
                    })
                    .collect();
                format!(
                    "<ListBucketResult><IsTruncated>false</IsTruncated>{}</ListBucketResult>",
                    listed.concat()
                )
                .into_response()
            }
            Method::GET | Method::HEAD => match objects.get(path) {
                Some(bytes) => tagged(bytes, Body::from(bytes.clone())),
                None => StatusCode::NOT_FOUND.into_response(),
            },
            _ => StatusCode::NOT_IMPLEMENTED.into_response(),
        }
    }
}
