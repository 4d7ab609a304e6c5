//! Health checks for the operator of the server.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

use tokio::sync::Mutex;

use super::Shared;
use super::response::Answer;

/// How long the state of the store is cached: every client can ask, at any rate.
const FRESH: Duration = Duration::from_secs(1);

/// Answers that the process is alive.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// When the store was asked last, and whether it answered.
pub(super) type Ready = Mutex<Option<(Instant, bool)>>;

/// Answers whether the server can reach its store.
pub(super) async fn ready(State(state): State<Shared>) -> Answer {
    let mut known = state.ready.lock().await;
    let is_there = match *known {
        Some((since, is_there)) if since.elapsed() < FRESH => is_there,
        _ => {
            let asked = state.app.storage.is_there().await;
            let is_there = matches!(asked, Ok(true));
            *known = Some((Instant::now(), is_there));
            asked?
        }
    };
    Ok(if is_there {
        "ok\n".into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer, or no longer has the registry\n")
            .into_response()
    })
}

/// Answers with all numbers, for Prometheus.
pub(super) async fn metrics(State(state): State<Shared>) -> Response {
    let text = state.metrics.text(state.app.catalog.size());
    (StatusCode::OK, [(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
        .into_response()
}
