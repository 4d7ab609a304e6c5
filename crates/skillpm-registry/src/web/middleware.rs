//! Checks of every request: identity, rate and access log.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    AUTHORIZATION, ORIGIN, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::Shared;
use super::error_format::{BASIC, ErrorFormat};
use super::response::Problem;
use super::serve::client_of;
use crate::access::{Caller, Scope, missing};
use crate::app::{App, now};
use crate::codes;
use crate::config::{Limits, ReadAccess};
use crate::error::{Error, Result, not_permitted};

/// The number of clients after which those that have not asked for a while are forgotten.
const REMEMBERED: usize = 10_000;

/// The recent number of requests of each client.
#[derive(Debug)]
pub(crate) struct Rates {
    requests: DefaultKeyedRateLimiter<String>,
    publishes: DefaultKeyedRateLimiter<String>,
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Self {
        let at_least_one = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            requests: RateLimiter::keyed(Quota::per_minute(at_least_one(limits.requests_per_minute))),
            publishes: RateLimiter::keyed(Quota::per_hour(at_least_one(limits.publishes_per_hour))),
        }
    }

    /// Counts a publication. Fails if the account has published too often.
    pub(super) fn check_publish(&self, caller: &Caller) -> Result<()> {
        check(&self.publishes, &caller.by().unwrap_or_default()).map_err(|seconds| limited(seconds).0)
    }
}

/// Counts one request of `key`. Fails with the number of seconds after which the next one is allowed.
fn check(rates: &DefaultKeyedRateLimiter<String>, key: &str) -> std::result::Result<(), u64> {
    if rates.len() > REMEMBERED {
        rates.retain_recent();
    }
    rates
        .check_key(&key.to_owned())
        .map_err(|not_until| not_until.wait_time_from(DefaultClock::default().now()).as_secs() + 1)
}

/// Returns the error for too many requests, and after how many seconds to try again.
fn limited(seconds: u64) -> (Error, u64) {
    let error = Error::network("there were too many requests").coded(codes::RATE_LIMIT);
    (error.hint(format!("try again in {seconds} seconds")), seconds)
}

fn limited_response(seconds: u64) -> Response {
    let (error, seconds) = limited(seconds);
    let mut response = Problem::from(error).into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Finds out who asks, counts the request, and logs it.
pub(super) async fn guard(State(state): State<Shared>, mut request: Request, next: Next) -> Response {
    let since = Instant::now();
    let address = address(&state, &request);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let format = ErrorFormat::of(&request);
    // First how often, and by the address: looking for a token that does not exist costs a request to the store.
    let counted = check(
        &state.rates.requests,
        &address.map_or_else(String::new, |address| client_of(address).to_string()),
    );
    let (mut response, by) = match counted {
        Err(seconds) => (limited_response(seconds), None),
        Ok(()) => match admitted(&state, &method, &path, request.headers()).await {
            Err(error) => (Problem::from(error).into_response(), None),
            Ok(caller) => {
                let by = caller.by();
                request.extensions_mut().insert(caller);
                let answered =
                    tokio::time::timeout(state.app.config.limits.request_time(), next.run(request)).await;
                (answered.unwrap_or_else(|_| StatusCode::REQUEST_TIMEOUT.into_response()), by)
            }
        },
    };
    response = format.translate(response, &path);
    let is_refused = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    if is_refused && format != ErrorFormat::Oci && state.app.config.read == ReadAccess::Token {
        // A browser asks for a name and a password, and knows nothing else.
        if let Some(bearer) = headers.insert(WWW_AUTHENTICATE, BASIC) {
            headers.append(WWW_AUTHENTICATE, bearer);
        }
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.append(axum::http::header::VARY, HeaderValue::from_static("authorization"));
    let (status, took) = (response.status(), since.elapsed());
    state.metrics.answered(&method, status, took);
    // The query may have a secret, so only the path is written down.
    tracing::info!(
        method = %method,
        path,
        status = status.as_u16(),
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        client = address.map(tracing::field::display),
        by,
        "request"
    );
    response
}

/// Returns where a request comes from.
fn address(state: &Shared, request: &Request) -> Option<IpAddr> {
    if state.app.config.behind_proxy {
        // The proxy adds the address that it sees as the last one; those before are the client's own words.
        let forwarded = request.headers().get_all("x-forwarded-for").iter().next_back();
        let last = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
        if last.is_some() {
            return last;
        }
    }
    request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip())
}

/// Reports whether `path` of a registry that requires a token is public: how to get a token and where, and paths that are
/// the same on every server.
fn is_open(path: &str) -> bool {
    matches!(path, "/config.json" | "/.well-known/clawhub.json" | "/api/v1/tokens/exchange")
        || path.starts_with("/static/")
}

/// Returns who makes a request with these headers, if they may make it.
async fn admitted(state: &Shared, method: &Method, path: &str, headers: &HeaderMap) -> Result<Caller> {
    let caller = caller(state, method, headers).await?;
    admit(&state.app, &caller, method, path)?;
    Ok(caller)
}

/// Checks that `caller` may make a request of this kind for `path`. That does not depend on the contents of the registry.
/// Fails if the registry requires a token and the caller has none, or one that does not allow reading.
fn admit(app: &App, caller: &Caller, method: &Method, path: &str) -> Result<()> {
    if app.config.read == ReadAccess::Public || is_open(path) {
        return Ok(());
    }
    if caller.token().is_none() {
        return Err(Error::usage("this registry takes a token")
            .coded(codes::TOKEN_REFUSED)
            .hint("`skillpm registry login` keeps one"));
    }
    // Changes are checked where they are carried out. Every holder may ask for the permissions of the own token.
    if method.is_safe() && path != "/api/v1/whoami" && !caller.may_read() {
        return Err(missing(Scope::Read));
    }
    Ok(())
}

/// Returns who makes a request with these headers. A program that knows only names and passwords sends the token as the
/// password, with any name.
async fn caller(state: &Shared, method: &Method, headers: &HeaderMap) -> Result<Caller> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(Caller(None)) };
    let refused = || {
        Error::usage("the header `Authorization` has no token")
            .coded(codes::TOKEN_REFUSED)
            .hint("send it as `Authorization: Bearer TOKEN`")
    };
    let value = value.to_str().map_err(|_| refused())?;
    let (scheme, secret) = value.split_once(' ').ok_or_else(refused)?;
    let secret = match scheme.to_ascii_lowercase().as_str() {
        "bearer" => secret.trim().to_owned(),
        // A browser adds stored passwords to requests that foreign pages cause, and marks these with an `Origin`.
        "basic" if !method.is_safe() && headers.contains_key(ORIGIN) => {
            return Err(not_permitted("a page in a browser changes nothing with a password")
                .hint("send the token as `Authorization: Bearer TOKEN`"));
        }
        "basic" => {
            let bytes = BASE64_STANDARD.decode(secret.trim()).map_err(|_| refused())?;
            let text = String::from_utf8(bytes).map_err(|_| refused())?;
            match text.split_once(':').ok_or_else(refused)? {
                // The credentials of skopeo and podman without a login.
                ("", "") => return Ok(Caller(None)),
                (_, secret) => secret.to_owned(),
            }
        }
        _ => return Err(refused()),
    };
    Ok(Caller(Some(state.app.tokens.check(&secret, now()).await?)))
}
