//! Connections.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{Request, Version};
use axum::response::Response;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use prometheus_client::metrics::counter::Counter;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tower::Service;

use super::idle_timeout::{Activity, Stream};
use super::startup_gate::StartupGate;
use super::tls::Tls;
use crate::config::{Config, Limits};

/// How long requests that are under way may take once the server is to stop.
const GRACE: Duration = Duration::from_secs(30);

/// The number of requests that a connection may have under way over HTTP/2: each can hold a piece of an answer. Clients of
/// registries have a few.
const STREAMS: u32 = 32;

/// The open files that connections leave to everything else.
#[cfg(unix)]
const OTHER_FILES: u64 = 256;

/// Serves the connections of `listener` until `stop` is ready, and then finishes the requests under way: with `tls`, over
/// TLS only. Counts in `refused` the connections beyond the limit of an address.
pub(crate) async fn serve(
    listener: TcpListener,
    gate: StartupGate,
    config: &Config,
    tls: Option<&Tls>,
    refused: Counter,
    stop: impl Future<Output = ()>,
) {
    let limits = &config.limits;
    let slots = Arc::new(Semaphore::new(limits.connections.min(open_files())));
    let addresses = (!config.behind_proxy).then(|| Addresses::new(limits.connections_per_address));
    let graceful = GracefulShutdown::new();
    let builder = builder(limits);
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await.map_err(io::Error::other)?;
            let (stream, address) = listener.accept().await?;
            Ok::<_, io::Error>((slot, stream, address))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let (slot, stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                wait_after(&error).await;
                continue;
            }
        };
        let place = addresses.as_ref().map(|addresses| addresses.take(address.ip()));
        if matches!(place, Some(None)) {
            refused.inc();
            continue;
        }
        let _ = stream.set_nodelay(true);
        let activity = Arc::new(Activity::new());
        let stream = Stream::new(stream, Arc::clone(&activity));
        let service = Peer { gate: gate.clone(), address, activity: Arc::clone(&activity) };
        let acceptor = tls.map(Tls::acceptor);
        let (builder, watcher) = (builder.clone(), graceful.watcher());
        // A request times out by itself; the response that reports this gets a moment more.
        let (first, idle) = (limits.head_time(), limits.request_time() + limits.head_time());
        tokio::spawn(async move {
            tokio::select! {
                () = answer(stream, acceptor, &builder, service, watcher) => {}
                () = activity.ended(first, idle) => {}
            }
            drop((slot, place));
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}

/// Answers the requests of one connection. What it fails with is its client's affair.
async fn answer(
    stream: Stream,
    acceptor: Option<TlsAcceptor>,
    builder: &Builder<TokioExecutor>,
    service: Peer,
    watcher: Watcher,
) {
    let service = TowerToHyperService::new(service);
    let Some(acceptor) = acceptor else {
        let _ = watcher.watch(builder.serve_connection_with_upgrades(TokioIo::new(stream), service)).await;
        return;
    };
    // In a box: connections without TLS are not to pay for it.
    let encrypted = Box::pin(async {
        let Ok(stream) = acceptor.accept(stream).await else { return };
        let _ = watcher.watch(builder.serve_connection_with_upgrades(TokioIo::new(stream), service)).await;
    });
    encrypted.await;
}

/// The routes, for the requests of one connection.
#[derive(Debug, Clone)]
struct Peer {
    gate: StartupGate,
    address: SocketAddr,
    activity: Arc<Activity>,
}

impl<B> Service<Request<B>> for Peer
where
    Router: Service<Request<B>, Response = Response, Error = Infallible>,
    <Router as Service<Request<B>>>::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // Routes are ready for any request.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let is_http2 = request.version() == Version::HTTP_2;
        self.activity.asked(is_http2);
        request.extensions_mut().insert(ConnectInfo(self.address));
        let answering = self.gate.routes().call(request);
        let activity = Arc::clone(&self.activity);
        Box::pin(async move {
            let response = answering.await?;
            Ok(if is_http2 { response.map(|body| activity.watched(body)) } else { response })
        })
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // A client that sends a byte now and then must not hold a connection for ever.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.head_time()).keep_alive(true);
    builder.http2().max_concurrent_streams(STREAMS);
    builder
}

/// Lets the process open as many files as the system allows, and returns how many connections that makes.
#[cfg(unix)]
fn open_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // If that fails, the limit stays.
    let is_raised =
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).is_ok();
    let files = if is_raised { limit.maximum } else { limit.current };
    let connections =
        files.map_or(Semaphore::MAX_PERMITS as u64, |files| files.saturating_sub(OTHER_FILES).max(16));
    usize::try_from(connections).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

#[cfg(not(unix))]
fn open_files() -> usize {
    Semaphore::MAX_PERMITS
}

/// The connections of each address.
#[derive(Debug, Clone)]
struct Addresses {
    counts: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
    limit: usize,
}

/// One connection of an address; it counts until it is dropped.
#[derive(Debug)]
struct Connection {
    addresses: Addresses,
    address: IpAddr,
}

impl Addresses {
    fn new(limit: usize) -> Self {
        Self { counts: Arc::default(), limit }
    }

    /// Counts a connection of `address`; `None` if it has too many.
    fn take(&self, address: IpAddr) -> Option<Connection> {
        let address = client_of(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= self.limit {
            return None;
        }
        *count += 1;
        Some(Connection { addresses: self.clone(), address })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut counts = self.addresses.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// Returns the address that identifies the client at `address`: a client of IPv6 has 2^64 of them.
pub(super) fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Waits a moment after an error that comes again at once, such as too many open files.
async fn wait_after(error: &io::Error) {
    let is_of_client = matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    );
    if !is_of_client {
        tracing::error!("a connection cannot be taken: {error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_connections_at_the_same_time() {
        let addresses = Addresses::new(2);
        let at = |text: &str| addresses.take(text.parse().expect("an address"));
        let (one, two) = (at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert!(one.is_some() && two.is_some() && at("2001:db8::2").is_none());
        assert!(at("2001:db8:0:1::1").is_some());
        drop(one);
        assert!(at("2001:db8::3").is_some());
        let mapped = at("::ffff:10.0.0.1");
        let plain = at("10.0.0.1");
        assert!(mapped.is_some() && plain.is_some() && at("10.0.0.1").is_none());
        drop((two, mapped, plain));
        assert!(addresses.counts.lock().expect("a lock").is_empty());
    }
}
