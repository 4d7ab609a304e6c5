//! Serves over HTTP, on this machine alone and only to clients with the token.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::{ServeError, Server, runtime};
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
/// The time that a client has to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The number of bytes in a generated token.
const TOKEN: usize = 24;

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
    let token = token.map_or_else(random_token, Ok)?;
    runtime()?.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let server = Server::new(Arc::new(offer))?;
        let closed = server.closed.clone();
        ready(&format!("http://{}{PATH}", listener.local_addr()?), &token);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(ORIGINS)
            .with_max_request_body_bytes(MAX_REQUEST);
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::<LocalSessionManager>::default(),
            config,
        );
        let guarded = Guarded { service, expected: Arc::from(format!("Bearer {token}")) };
        tokio::select! {
            () = accept(&listener, &guarded) => {}
            () = closed.cancelled() => {}
        }
        Ok(())
    })
}

/// Answers connections for ever.
async fn accept(listener: &TcpListener, guarded: &Guarded) {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    builder.http2().timer(TokioTimer::new());
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The process has no more files: some of them will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (builder, guarded) = (builder.clone(), guarded.clone());
        tokio::spawn(async move {
            // What a connection fails with is its client's affair.
            let _ = builder.serve_connection(TokioIo::new(stream), guarded).await;
            drop(slot);
        });
    }
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The server behind a check of the path and the token.
#[derive(Clone)]
struct Guarded {
    service: StreamableHttpService<Server, LocalSessionManager>,
    expected: Arc<str>,
}

impl Guarded {
    fn is_permitted(&self, request: &Request<Incoming>) -> bool {
        let given = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
        let expected = self.expected.as_bytes();
        // The time does not tell how much of a token is right.
        given.len() == expected.len()
            && given.iter().zip(expected).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl hyper::service::Service<Request<Incoming>> for Guarded {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if request.uri().path() != PATH {
            return Box::pin(async { Ok(refusal(StatusCode::NOT_FOUND, "the server is at `/mcp`")) });
        }
        if !self.is_permitted(&request) {
            let mut answer = refusal(
                StatusCode::UNAUTHORIZED,
                "send the token that `skillpm mcp` printed, as `Authorization: Bearer TOKEN`",
            );
            answer.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
            return Box::pin(async { Ok(answer) });
        }
        let service = self.service.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

fn refusal(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
