//! Connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use crate::config::Limits;

/// How long requests that are under way may take once the server is to stop.
const GRACE: Duration = Duration::from_secs(30);

/// Answers what comes to `listener` until `stop` is ready, and then what is under way.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let slots = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut builder = Builder::new(TokioExecutor::new());
    // A client that sends a byte now and then must not hold a connection for ever.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.head_time()).keep_alive(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .max_concurrent_streams(128);
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
        let _ = stream.set_nodelay(true);
        // Also before the first byte, and while an answer is not taken: nobody holds a connection by doing nothing.
        let mut stream = Box::pin(TimeoutStream::new(stream));
        stream.as_mut().set_read_timeout_pinned(Some(limits.request_time()));
        stream.as_mut().set_write_timeout_pinned(Some(limits.request_time()));
        let service = router.clone().layer(Extension(ConnectInfo::<SocketAddr>(address)));
        let connection = builder
            .serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(service))
            .into_owned();
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // What a connection fails with is its client's affair.
            let _ = watched.await;
            drop(slot);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
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
