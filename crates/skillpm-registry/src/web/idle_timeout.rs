//! Progress on a connection, and the end of idle connections.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody as _};
use futures_util::{TryStreamExt as _, stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The largest piece of an answer over HTTP/2, in bytes: a piece is in memory until the client takes it, the rest of the
/// answer only until then.
const PIECE: usize = 64 << 10;

/// The time of the last progress on a connection.
///
/// Over HTTP/1.1 every byte counts. Over HTTP/2 a client can exchange bytes for ever without reading a response, so only
/// requests and the chunks of each response count there.
#[derive(Debug)]
pub(super) struct Activity {
    has_asked: AtomicBool,
    is_http2: AtomicBool,
    moved: Mutex<Moved>,
}

#[derive(Debug)]
struct Moved {
    last: Instant,
    /// When each answer under way last moved, over HTTP/2.
    answers: BTreeMap<u64, Instant>,
    next: u64,
}

impl Activity {
    pub(super) fn new() -> Self {
        let moved = Moved { last: Instant::now(), answers: BTreeMap::new(), next: 0 };
        Self { has_asked: AtomicBool::new(false), is_http2: AtomicBool::new(false), moved: Mutex::new(moved) }
    }

    /// Notes a request.
    pub(super) fn asked(&self, is_http2: bool) {
        self.is_http2.store(is_http2, Ordering::Relaxed);
        self.has_asked.store(true, Ordering::Relaxed);
        self.lock().last = Instant::now();
    }

    /// Returns once the connection is to be closed: if no request came within `first`, or if afterwards nothing has moved
    /// for `idle`.
    pub(super) async fn ended(&self, first: Duration, idle: Duration) {
        tokio::time::sleep(first).await;
        if !self.has_asked.load(Ordering::Relaxed) {
            return;
        }
        while let Some(left) = idle.checked_sub(self.still()) {
            tokio::time::sleep(left.max(Duration::from_millis(1))).await;
        }
    }

    /// Returns the time since the last progress: that of the slowest response, if there are any.
    fn still(&self) -> Duration {
        let moved = self.lock();
        moved.answers.values().min().unwrap_or(&moved.last).elapsed()
    }

    /// Returns the body of a response in chunks, each of which counts as progress.
    pub(super) fn watched(self: &Arc<Self>, body: Body) -> Body {
        if body.is_end_stream() {
            return body;
        }
        let answer = Answer::new(Arc::clone(self));
        let pieces = body.into_data_stream().map_ok(|bytes| stream::iter(pieces(bytes))).try_flatten();
        Body::from_stream(pieces.inspect_ok(move |_| answer.moved()))
    }

    fn lock(&self) -> MutexGuard<'_, Moved> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `bytes` in chunks. Those of a large body are copies, so that the last of them does not hold all of it.
fn pieces(bytes: Bytes) -> impl Iterator<Item = Result<Bytes, axum::Error>> {
    let size = bytes.len();
    (0..size).step_by(PIECE).map(move |at| {
        let is_small = size <= PIECE;
        Ok(if is_small { bytes.clone() } else { Bytes::copy_from_slice(&bytes[at..size.min(at + PIECE)]) })
    })
}

/// An answer under way over HTTP/2, until it is dropped.
#[derive(Debug)]
struct Answer {
    connection: Arc<Activity>,
    number: u64,
}

impl Answer {
    fn new(connection: Arc<Activity>) -> Self {
        let number = {
            let mut moved = connection.lock();
            moved.next += 1;
            moved.next
        };
        let answer = Self { connection, number };
        answer.moved();
        answer
    }

    fn moved(&self) {
        self.connection.lock().answers.insert(self.number, Instant::now());
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let mut moved = self.connection.lock();
        moved.answers.remove(&self.number);
        moved.last = Instant::now();
    }
}

/// The bytes of a connection.
#[derive(Debug)]
pub(super) struct Stream {
    stream: TcpStream,
    activity: Arc<Activity>,
}

impl Stream {
    pub(super) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }

    fn note<T>(&self, polled: Poll<T>, has_moved: bool) -> Poll<T> {
        if has_moved && !self.activity.is_http2.load(Ordering::Relaxed) {
            self.activity.lock().last = Instant::now();
        }
        polled
    }

    fn note_written(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let has_moved = matches!(polled, Poll::Ready(Ok(count)) if count > 0);
        self.note(polled, has_moved)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, into);
        self.note(polled, into.filled().len() > before)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_written(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note_written(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
