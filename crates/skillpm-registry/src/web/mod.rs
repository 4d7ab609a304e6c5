//! The server's side of HTTP.

mod api;
mod clawhub;
mod discovery;
mod error_format;
mod files;
mod health;
mod idle_timeout;
mod metrics;
mod middleware;
mod oci;
mod openapi;
mod pages;
mod response;
mod route;
mod serve;
mod startup_gate;
mod tls;

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get};
use tokio::sync::Semaphore;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};

use crate::app::App;
use crate::error::Result;
use crate::pages::Pages;
pub(crate) use metrics::Metrics;
pub(crate) use serve::serve;
pub(crate) use startup_gate::StartupGate;
pub(crate) use tls::Tls;

/// The number of archives that are published at the same time: each is in memory as a whole.
const PUBLICATIONS: usize = 16;

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct State {
    /// The operations of the server.
    pub(crate) app: App,
    /// The pages for people.
    pub(crate) pages: Pages,
    /// The metrics.
    pub(crate) metrics: Metrics,
    /// The rate limits.
    pub(crate) rates: middleware::Rates,
    /// The publications that are in memory at the same time.
    pub(crate) publishing: Semaphore,
    /// Whether the store answered when it was asked last.
    ready: health::Ready,
}

/// The shared state.
pub(crate) type Shared = Arc<State>;

impl State {
    /// Returns the state of a server that does what `app` can and counts in `metrics`. Fails if a template of the pages is
    /// wrong.
    pub(crate) fn new(app: App, metrics: Metrics) -> Result<Self> {
        let rates = middleware::Rates::new(&app.config.limits);
        Ok(Self {
            app,
            pages: Pages::new()?,
            metrics,
            rates,
            publishing: Semaphore::new(PUBLICATIONS),
            ready: health::Ready::default(),
        })
    }
}

/// Returns the routes below `/api/v1`.
fn interface() -> Vec<route::Route> {
    let of_clawhub = clawhub::routes().into_iter().map(route::Route::of_clawhub);
    api::routes().into_iter().chain(of_clawhub).collect()
}

/// Returns the server's routes.
pub(crate) fn router(state: Shared) -> Router {
    let api = interface().into_iter().fold(Router::new(), |api, row| api.route(row.path, row.handler));
    // Archives are compressed already, and what is named by its digest is sent as it is.
    let compressed = SizeAbove::new(256)
        .and(NotForContentType::const_new("application/zip"))
        .and(NotForContentType::const_new("application/octet-stream"))
        .and(NotForContentType::const_new("application/vnd."))
        .and(NotForContentType::IMAGES);
    Router::new()
        .nest("/api/v1", api)
        .route("/.well-known/clawhub.json", get(clawhub::well_known))
        .route("/.well-known/skills/index.json", get(discovery::index))
        .route("/.well-known/skills/{name}/{*path}", get(discovery::file))
        .route("/v2", any(oci::answer))
        .route("/v2/", any(oci::answer))
        .route("/v2/{*path}", any(oci::answer))
        .route("/", get(pages::page))
        .route("/index.html", get(pages::page))
        .route("/feed.atom", get(pages::page))
        .route("/static/{file}", get(pages::page))
        .route("/skills/{*page}", get(pages::page))
        .fallback(get(files::file))
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(axum::middleware::map_response(response::weaken))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&state), middleware::guard))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .with_state(state)
}

/// Returns the routes for those who watch the server.
pub(crate) fn watch_router(state: Shared) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .with_state(state)
}
