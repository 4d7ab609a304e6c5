//! Serves over HTTP, on this machine alone and only to clients with the token.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::server::conn::http1::Builder;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{
    SessionId, SessionManager as _, StreamableHttpServerConfig, StreamableHttpService,
};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::pace::Paces;
use super::{ServeError, Server, Shared, message, random_text, runtime};
use crate::offer::Offer;

/// The path of the server.
const PATH: &str = "/mcp";
/// The largest request, in bytes.
const MAX_REQUEST: usize = 4 << 20;
/// Where a web page that asks may come from: this machine.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];
/// The number of connections at once.
const MAX_CONNECTIONS: usize = 256;
/// The time that a client has to send the head of a request, from the start of a connection or the end of the last answer.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// The time that a client has to send the body of a request after its head.
const BODY_TIME: Duration = Duration::from_secs(10);
/// The number of sessions at once.
const MAX_SESSIONS: usize = 256;
/// The time after which a session ends that nobody uses. A person may think for longer than the library expects.
const SESSION_TIME: Duration = Duration::from_mins(30);

/// The media type of messages.
const JSON: &str = "application/json";
/// The header with the session of a request.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header with the version of the protocol that a client speaks.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// Serves `offer` over HTTP on `port` of this machine, until the process ends; port 0 means any. A request needs `token`,
/// or one that is made up if it is `None`. `ready` gets the address and the token.
///
/// # Errors
///
/// Fails if the skills cannot be searched, and if the port is taken.
pub fn serve_http(
    offer: Offer,
    port: u16,
    token: Option<String>,
    ready: impl FnOnce(&str, &str),
) -> Result<(), ServeError> {
    let token = token.map_or_else(random_text, Ok)?;
    runtime()?.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let shared = Shared::new(offer)?;
        ready(&format!("http://{}{PATH}", listener.local_addr()?), &token);
        let stopped = shared.stopped.clone();
        let guarded = Guarded::new(shared, &token, &Times::default());
        tokio::select! {
            () = accept(&listener, &guarded) => {}
            () = stopped.cancelled() => {}
        }
        Ok(())
    })
}

/// Answers connections for ever.
async fn accept(listener: &TcpListener, guarded: &Guarded) {
    // Without HTTP/2: to tell the two apart, the library waits for the first bytes, and that without a limit.
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The process has no more files: some of them will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let connection = builder.serve_connection(TokioIo::new(stream), guarded.clone());
        tokio::spawn(async move {
            // What a connection fails with is its client's affair.
            let _ = connection.await;
            drop(slot);
        });
    }
}

/// The server behind a check of the path and the token.
#[derive(Clone)]
struct Guarded {
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    paces: Arc<Paces>,
    expected: Arc<str>,
    body_time: Duration,
}

/// How long the server waits for its clients.
struct Times {
    /// For the next message of a session.
    session: Duration,
    /// For the body of a request.
    body: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self { session: SESSION_TIME, body: BODY_TIME }
    }
}

impl Guarded {
    /// Returns a server for those who have `token`, which waits for them as `times` says.
    fn new(shared: Arc<Shared>, token: &str, times: &Times) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(times.session);
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(ORIGINS)
            .with_max_request_body_bytes(MAX_REQUEST);
        let service = move || Ok(Server::new(&shared));
        Self {
            service: StreamableHttpService::new(service, Arc::clone(&sessions), config),
            sessions,
            paces: Arc::default(),
            expected: Arc::from(format!("Bearer {token}")),
            body_time: times.body,
        }
    }

    fn is_permitted(&self, request: &Request<Incoming>) -> bool {
        let given = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
        let expected = self.expected.as_bytes();
        // The time does not tell how much of a token is right.
        given.len() == expected.len()
            && given.iter().zip(expected).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }

    /// Returns the session of a request, if there is one.
    async fn session(&self, request: &Request<Incoming>) -> Option<SessionId> {
        let id = SessionId::from(request.headers().get(SESSION)?.to_str().ok()?);
        // It is in memory: looking there does not fail.
        self.sessions.has_session(&id).await.unwrap_or_default().then_some(id)
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "the server is at `/mcp`");
        }
        if !self.is_permitted(&request) {
            let text = "send the token that `skillpm mcp` printed, as `Authorization: Bearer TOKEN`";
            let mut answer = refusal(StatusCode::UNAUTHORIZED, text);
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        let session = self.session(&request).await;
        match self.paces.admit(session.clone(), Instant::now()) {
            Ok(start) => tokio::time::sleep_until(start).await,
            Err(wait) => {
                let mut answer =
                    refusal(StatusCode::TOO_MANY_REQUESTS, "too many requests: send fewer of them");
                answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
                return answer;
            }
        }
        if session.is_none() && may_start_session(&request) && self.is_full().await {
            let text =
                "too many sessions: end one with `DELETE`, or wait until one that nobody uses has ended";
            return refusal(StatusCode::SERVICE_UNAVAILABLE, text);
        }
        let (head, body) = request.into_parts();
        let body = match self.body(body).await {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let is_json = is_json(&head.headers);
        let answer = self.service.handle(Request::from_parts(head, Full::new(body.clone()))).await;
        // The library takes JSON that is no message for another media type.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE
            && is_json
            && let Err(refused) = message::read(&body)
        {
            let text = Bytes::from(refused.to_json().to_string());
            let mut answer = response(StatusCode::BAD_REQUEST, text);
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            return answer;
        }
        // The library has errors of the server alone for a session that ends right now. Its client must start another one.
        if session.is_some() && answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
            return refusal(StatusCode::NOT_FOUND, "the session has ended: start another one");
        }
        answer
    }

    /// Reads a body to its end: the library would wait for that without a limit, and a connection is a place that others
    /// wait for.
    async fn body(&self, body: Incoming) -> Result<Bytes, Response<Body>> {
        let read = Limited::new(body, MAX_REQUEST).collect();
        let answer = match tokio::time::timeout(self.body_time, read).await {
            Ok(Ok(body)) => return Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                refusal(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 4 MiB")
            }
            Ok(Err(_)) => refusal(StatusCode::BAD_REQUEST, "the body of the request does not end"),
            Err(_) => refusal(StatusCode::REQUEST_TIMEOUT, "the body of the request did not come in time"),
        };
        // What is left of the body is not the head of the next request.
        let (mut head, body) = answer.into_parts();
        head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        Err(Response::from_parts(head, body))
    }

    async fn is_full(&self) -> bool {
        self.sessions.sessions.read().await.len() >= MAX_SESSIONS
    }
}

/// Reports whether a request without a session may start one: since 2026-07-28 there are none.
fn may_start_session(request: &Request<Incoming>) -> bool {
    let version = request.headers().get(VERSION).and_then(|version| version.to_str().ok());
    version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28.as_str())
}

impl hyper::service::Service<Request<Incoming>> for Guarded {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let guarded = self.clone();
        Box::pin(async move { Ok(guarded.answer(request).await) })
    }
}

/// Reports whether the body of a request is JSON, as its client says.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(JSON))
}

fn refusal(status: StatusCode, text: &'static str) -> Response<Body> {
    response(status, Bytes::from_static(text.as_bytes()))
}

fn response(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(body).boxed());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use rmcp::transport::streamable_http_server::session::local::{SessionConfig, create_local_session};

    use super::*;
    use crate::tests::{all, project};

    /// Starts a server that waits as `times` says, and returns it with its address.
    fn start(times: Times) -> (Guarded, SocketAddr) {
        let (sender, ready) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let project = project();
            let offer = project.offer(all());
            runtime().expect("starts").block_on(async {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("binds");
                let guarded = Guarded::new(Shared::new(offer).expect("starts"), "secret", &times);
                let address = listener.local_addr().expect("an address");
                sender.send((guarded.clone(), address)).expect("is read");
                accept(&listener, &guarded).await;
            });
        });
        ready.recv().expect("starts")
    }

    /// Sends a request of a legacy client on a connection of its own. Returns the status and the session of the answer.
    fn ask(address: SocketAddr, session: Option<&str>, body: &str) -> (u16, Option<String>) {
        let mut stream = TcpStream::connect(address).expect("connects");
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer secret\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{session}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).expect("a status").parse().expect("a number");
        let session = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        (status, session.map(str::to_owned))
    }

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    const LONG: Duration = Duration::from_mins(10);

    /// A client whose session has expired learns that it must start another one.
    #[test]
    fn an_expired_session_is_not_found() {
        let (guarded, address) = start(Times { session: Duration::from_millis(1), ..Times::default() });
        let (status, session) = ask(address, None, INITIALIZE);
        assert_eq!(status, 200);
        let session = session.expect("a session");
        let began = Instant::now();
        while !guarded.sessions.sessions.blocking_read().is_empty() {
            assert!(began.elapsed() < Duration::from_mins(1), "the session does not end");
            std::thread::yield_now();
        }
        assert_eq!(ask(address, Some(&session), PING).0, 404);
        // So does one whose session ends right now.
        let (handle, worker) = create_local_session("ending", SessionConfig::default());
        drop(worker);
        guarded.sessions.sessions.blocking_write().insert("ending".into(), handle);
        assert_eq!(ask(address, Some("ending"), PING).0, 404);
    }

    /// Who has the token and sends a body that does not end keeps nobody out, not even with more connections than there
    /// are places.
    #[test]
    fn a_body_that_does_not_end_keeps_nobody_out() {
        let (_, address) = start(Times { body: Duration::from_millis(1), ..Times::default() });
        let open = |_| {
            let mut stream = TcpStream::connect(address).expect("connects");
            // A server that has waited for long enough may have closed it.
            let _ = write!(
                stream,
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\
                 Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
                 Content-Length: 100\r\n\r\n{{"
            );
            stream
        };
        let mut streams: Vec<_> = (0..MAX_CONNECTIONS + 40).map(open).collect();
        let mut answer = String::new();
        streams[MAX_CONNECTIONS].read_to_string(&mut answer).expect("an end");
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.to_ascii_lowercase().contains("connection: close"), "{answer}");
    }

    /// Sessions are limited, and one that ends makes room.
    #[test]
    fn sessions_are_limited() {
        let (guarded, address) = start(Times { session: LONG, body: LONG });
        let mut workers = Vec::new();
        let mut add = |id: String| {
            let (handle, worker) = create_local_session(id.as_str(), SessionConfig::default());
            workers.push(worker);
            guarded.sessions.sessions.blocking_write().insert(id.into(), handle);
        };
        (1..MAX_SESSIONS).for_each(|number| add(number.to_string()));
        let (status, session) = ask(address, None, INITIALIZE);
        assert_eq!(status, 200);
        assert_eq!(ask(address, None, INITIALIZE).0, 503);
        assert_eq!(ask(address, session.as_deref(), PING).0, 200);
        guarded.sessions.sessions.blocking_write().remove("1");
        assert_eq!(ask(address, None, INITIALIZE).0, 200);
    }

    /// A session that hammers is refused, and others are not.
    #[test]
    fn a_session_that_hammers_is_refused() {
        let (guarded, address) = start(Times { session: LONG, body: LONG });
        let session = ask(address, None, INITIALIZE).1.expect("a session");
        // As after far more requests than it may send.
        guarded.paces.admit(Some(session.as_str().into()), Instant::now() + LONG).expect("admitted");
        assert_eq!(ask(address, Some(&session), PING).0, 429);
        assert_eq!(ask(address, None, INITIALIZE).0, 200);
    }
}
