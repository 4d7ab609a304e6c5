//! The way in: what is answered before the registry is read, and the routes from then on.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::response::IntoResponse;
use axum::routing::get;

use super::health;

/// The routes of a server, which become available once the registry is read.
#[derive(Debug, Clone)]
pub(crate) struct StartupGate {
    before: Router,
    after: Arc<OnceLock<Router>>,
}

impl StartupGate {
    /// Returns routes that report that the process is alive, and otherwise ask for patience.
    pub(crate) fn new() -> Self {
        let before = Router::new().route("/healthz", get(health::alive)).fallback(loading);
        Self { before, after: Arc::default() }
    }

    /// Answers by `routes` from now on, on open connections too.
    pub(crate) fn open(&self, routes: Router) {
        // It is opened once.
        let _ = self.after.set(routes);
    }

    /// Returns the routes for a request that comes now.
    pub(super) fn routes(&self) -> Router {
        self.after.get().unwrap_or(&self.before).clone()
    }
}

async fn loading() -> impl IntoResponse {
    let headers = [(RETRY_AFTER, "1"), (CACHE_CONTROL, "no-store")];
    (StatusCode::SERVICE_UNAVAILABLE, headers, "the server is still reading the registry\n")
}
