//! What those who run the server ask it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

use super::Shared;
use super::answer::Answer;
use crate::error::Error;

/// Answers that the process is alive.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Answers whether the server can reach its store.
pub(super) async fn ready(State(state): State<Shared>) -> Answer {
    if state.app.storage.is_there().await? {
        return Ok("ok\n".into_response());
    }
    Err(Error::io("the store no longer has the registry").into())
}

/// Answers with all numbers, for Prometheus.
pub(super) async fn metrics(State(state): State<Shared>) -> Response {
    let text = state.metrics.text(state.app.catalog.size());
    (StatusCode::OK, [(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
        .into_response()
}
