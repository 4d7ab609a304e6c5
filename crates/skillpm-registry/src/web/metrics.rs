//! The metrics of the server.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    method: &'static str,
    status: u16,
}

/// The numbers that a monitoring system reads.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Histogram,
    /// Versions that were published through this server.
    pub(crate) published: Counter,
    /// Attempts to read the log that failed.
    pub(crate) refresh_failures: Counter,
    /// Connections that were closed at once because their address had too many.
    pub(crate) refused_connections: Counter,
    /// Lines of the log that were not written.
    pub(crate) log_lines_dropped: Counter,
    skills: Gauge,
    versions: Gauge,
}

impl Metrics {
    /// Returns numbers that are all zero.
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("skillpm_registry");
        let (requests, seconds) = (Family::default(), Histogram::new(exponential_buckets(0.000_1, 4.0, 9)));
        let [published, refresh_failures, refused_connections, log_lines_dropped] =
            std::array::from_fn(|_| Counter::default());
        let [skills, versions] = [Gauge::default(), Gauge::default()];
        registry.register("requests", "Requests, by method and status", Family::clone(&requests));
        registry.register_with_unit(
            "request_duration",
            "The time until the head of an answer",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register("published", "Versions published through this server", published.clone());
        registry.register("refresh_failures", "Failed attempts to read the log", refresh_failures.clone());
        registry.register(
            "refused_connections",
            "Connections closed because their address had too many",
            refused_connections.clone(),
        );
        registry.register(
            "log_lines_dropped",
            "Lines of the log that were dropped, since the queue was full",
            log_lines_dropped.clone(),
        );
        registry.register("skills", "Skills", skills.clone());
        registry.register("versions", "Versions of all skills", versions.clone());
        Self {
            registry,
            requests,
            seconds,
            published,
            refresh_failures,
            refused_connections,
            log_lines_dropped,
            skills,
            versions,
        }
    }

    /// Counts a request that was answered with `status` after `took`.
    pub(super) fn answered(&self, method: &Method, status: StatusCode, took: Duration) {
        // A client can invent methods: each would be a series of its own.
        let method = match *method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::PUT => "PUT",
            Method::POST => "POST",
            Method::DELETE => "DELETE",
            _ => "other",
        };
        self.requests.get_or_create(&Labels { method, status: status.as_u16() }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Returns all numbers as text for Prometheus. The registry has `skills` with `versions` in all.
    pub(super) fn text(&self, (skills, versions): (usize, usize)) -> String {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.skills.set(number(skills));
        self.versions.set(number(versions));
        let mut text = String::new();
        // It cannot fail: writing to memory has no errors.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
