//! Answers.

use std::ops::{ControlFlow, Range};

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, IF_RANGE, RANGE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::Caller;
use crate::app::File;
use crate::codes;
use crate::error::{Error, status};
use crate::hints;

/// The value of `Cache-Control` for an answer that must not be cached.
const NO_STORE: &str = "no-store";

/// After how many seconds a client is to try again what the store failed to do.
const RETRY_SECONDS: &str = "5";

/// A response that reports an error in the form of RFC 9457, with a code and hints.
#[derive(Debug)]
pub(crate) struct Problem(Error);

/// The result of a handler.
pub(crate) type Answer<T = Response> = Result<T, Problem>;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// The query of an address. An invalid one is reported as any other problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found = axum::extract::Query::from_request_parts(parts, state).await;
        found.map(|query| Self(query.0)).map_err(|wrong| Error::usage(wrong.body_text()).into())
    }
}

/// A problem, attached to a response for those who report it in another form.
#[derive(Debug, Clone)]
pub(crate) struct Detail(pub(crate) String);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct ProblemBody {
    status: u16,
    /// The code, for programs.
    code: &'static str,
    /// The message, for people.
    detail: String,
    /// The hints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = status(&error);
        let detail = if status.is_server_error() {
            // Paths and addresses of the store are the operator's: they go into the log.
            tracing::error!(code = error.code(), "{}", error.with_causes());
            error.message().to_string()
        } else {
            error.with_causes().to_string()
        };
        let hints = error.hints().iter().map(hints::for_client).collect();
        let attached = Detail(detail.clone());
        let body = ProblemBody { status: status.as_u16(), code: error.code(), detail, hints };
        let mut response = json(status, &body);
        response.extensions_mut().insert(attached);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS));
        }
        if error.code() == codes::TOKEN_REFUSED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"skills\""));
        }
        response
    }
}

/// Returns a response with `value` as JSON that must not be cached: it depends on the caller, or on the moment.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    // It cannot fail: every key is text, and writing to memory has no errors.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    (status, [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, NO_STORE)], bytes).into_response()
}

/// How long caches may keep a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// For ever: it never changes.
    Always,
    /// As long as it is asked each time whether it changed.
    Ask,
    /// As [`Self::Always`], but not by caches that several people share.
    AlwaysOwn,
    /// As [`Self::Ask`], but not by caches that several people share.
    AskOwn,
}

impl Keep {
    /// Returns the same for an answer to `caller`: what one caller sees is not what another does.
    pub(crate) fn to(self, caller: &Caller) -> Self {
        if caller.token().is_none() {
            return self;
        }
        match self {
            Self::Always | Self::AlwaysOwn => Self::AlwaysOwn,
            Self::Ask | Self::AskOwn => Self::AskOwn,
        }
    }

    fn header(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Always => "public, max-age=31536000, immutable",
            Self::Ask => "public, max-age=0, must-revalidate",
            Self::AlwaysOwn => "private, max-age=31536000, immutable",
            Self::AskOwn => "private, no-cache",
        })
    }
}

impl File {
    /// Returns the response to a request with `headers`: the file, a part of it, or that the client's copy is current.
    pub(crate) fn answer(&self, headers: &HeaderMap, keep: Keep) -> Response {
        match Part::asked(headers, &self.tag, self.bytes.len() as u64, keep) {
            ControlFlow::Continue(part) => {
                let [from, to] = [part.range.start, part.range.end].map(usize_of);
                part.answer(self.bytes.slice(from..to).into(), self.kind, &self.tag, keep)
            }
            ControlFlow::Break(response) => response,
        }
    }
}

/// The requested part of a file.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) range: Range<u64>,
    /// The number of bytes of the file, if a part of it is asked for.
    of: Option<u64>,
}

impl Part {
    /// Returns which part of a file with `size` bytes is asked for, or the answer that it takes no bytes to give. Several parts
    /// at once are answered with the whole file, as every server may.
    pub(super) fn asked(
        headers: &HeaderMap,
        tag: &str,
        size: u64,
        keep: Keep,
    ) -> ControlFlow<Response, Self> {
        if let Some(response) = unchanged(headers, tag, keep) {
            return ControlFlow::Break(response);
        }
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let is_of_it = text(IF_RANGE).is_none_or(|of| of.trim_matches('"') == tag);
        let asked = text(RANGE).filter(|_| is_of_it);
        let parsed = asked.and_then(|asked| http_range_header::parse_range_header(asked).ok());
        match parsed.map(|parsed| parsed.validate(size)) {
            None => ControlFlow::Continue(Self { range: 0..size, of: None }),
            Some(Ok(ranges)) => ControlFlow::Continue(match &ranges[..] {
                [one] => Self { range: *one.start()..one.end() + 1, of: Some(size) },
                _ => Self { range: 0..size, of: None },
            }),
            Some(Err(_)) => ControlFlow::Break(unsatisfiable(size)),
        }
    }

    /// Returns the answer with `body`, the bytes of this part of the file with this media type and tag.
    pub(super) fn answer(&self, body: Body, kind: &'static str, tag: &str, keep: Keep) -> Response {
        let Self { range, of } = self;
        let status = if of.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        let content = of.map(|size| format!("bytes {}-{}/{size}", range.start, range.end - 1));
        if let Some(content) = content.and_then(|content| HeaderValue::try_from(content).ok()) {
            headers.insert(CONTENT_RANGE, content);
        }
        tell(headers, tag, keep);
        response
    }
}

/// Returns the response that the client's copy is current, if it is.
pub(crate) fn unchanged(headers: &HeaderMap, tag: &str, keep: Keep) -> Option<Response> {
    let known = headers.get(IF_NONE_MATCH)?.to_str().ok()?;
    let is_it = |one: &str| {
        let one = one.trim();
        one == "*" || one.strip_prefix("W/").unwrap_or(one).trim_matches('"') == tag
    };
    if !known.split(',').any(is_it) {
        return None;
    }
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    tell(response.headers_mut(), tag, keep);
    Some(response)
}

/// Returns the answer that a file with `size` bytes has none of those that were asked for.
fn unsatisfiable(size: u64) -> Response {
    let content = format!("bytes */{size}");
    let headers = [(CONTENT_RANGE, content.as_str()), (CACHE_CONTROL, NO_STORE)];
    (StatusCode::RANGE_NOT_SATISFIABLE, headers).into_response()
}

/// Makes the tag of an answer that was compressed on its way a weak one: its bytes are not those of the file, and parts of the
/// one do not go with parts of the other.
pub(super) async fn weaken(mut response: Response) -> Response {
    let headers = response.headers_mut();
    if headers.contains_key(CONTENT_ENCODING)
        && let Some(tag) = headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/"))
        && let Ok(tag) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat())
    {
        headers.insert(ETAG, tag);
    }
    response
}

/// Adds what caches have to know.
fn tell(headers: &mut HeaderMap, tag: &str, keep: Keep) {
    if let Ok(tag) = HeaderValue::try_from(format!("\"{tag}\"")) {
        headers.insert(ETAG, tag);
    }
    headers.insert(CACHE_CONTROL, keep.header());
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
