//! Errors in the form that the clients of a protocol read.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::response::Detail;

/// The challenge to those who can log in with a name and a password.
pub(super) const BASIC: HeaderValue = HeaderValue::from_static("Basic realm=\"skills\"");

/// How a user of ClawHub's client logs in.
const LOGIN: &str = ": `clawhub login --token TOKEN` keeps one";

/// The form of errors in a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorFormat {
    /// The server's own format, that of RFC 9457.
    Problem,
    /// ClawHub's: a line of text, which its client shows as it is.
    Text,
    /// That of OCI's distribution specification.
    Oci,
}

impl ErrorFormat {
    /// Returns the form of errors for who makes `request`.
    pub(super) fn of(request: &Request) -> Self {
        let path = request.uri().path();
        if path == "/v2" || path.starts_with("/v2/") {
            return Self::Oci;
        }
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if reads && is_clawhub(path) && !wants_problem(request.headers()) {
            Self::Text
        } else {
            Self::Problem
        }
    }

    /// Returns `response` to a request for `path` in this format, if it reports an error.
    pub(super) fn translate(self, mut response: Response, path: &str) -> Response {
        let status = response.status();
        if self == Self::Problem || !(status.is_client_error() || status.is_server_error()) {
            return response;
        }
        let detail = response.extensions().get::<Detail>().map(|detail| detail.0.clone());
        let detail = detail.or_else(|| status.canonical_reason().map(str::to_owned)).unwrap_or_default();
        let (kind, body) = match self {
            Self::Oci => {
                let error = json!({"code": oci_code(status, path), "message": detail});
                ("application/json", json!({"errors": [error]}).to_string())
            }
            Self::Problem | Self::Text => {
                // This client shows only this line.
                let is_unknown = self == Self::Text && status == StatusCode::UNAUTHORIZED;
                let hint = if is_unknown { LOGIN } else { "" };
                ("text/plain; charset=utf-8", detail + hint)
            }
        };
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if self == Self::Oci && status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, BASIC);
        }
        *response.body_mut() = Body::from(body);
        response
    }
}

/// Reports whether ClawHub's client requests `path`.
fn is_clawhub(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/api/v1/") else { return false };
    let parts: Vec<_> = rest.split('/').collect();
    matches!(
        parts[..],
        ["search" | "resolve" | "download" | "skills"]
            | ["skills", _]
            | ["skills", _, "versions" | "install" | "file"]
            | ["skills", _, "versions", _]
    )
}

fn wants_problem(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accepted| accepted.contains("application/problem+json"))
}

/// Returns the code of the distribution specification for an error.
fn oci_code(status: StatusCode, path: &str) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "UNAUTHORIZED",
        StatusCode::FORBIDDEN => "DENIED",
        StatusCode::TOO_MANY_REQUESTS => "TOOMANYREQUESTS",
        StatusCode::NOT_FOUND if path.contains("/manifests/") => "MANIFEST_UNKNOWN",
        StatusCode::NOT_FOUND if path.contains("/blobs/") => "BLOB_UNKNOWN",
        StatusCode::NOT_FOUND => "NAME_UNKNOWN",
        // As Docker's registry calls a wrong query: only lists of tags have one.
        StatusCode::UNPROCESSABLE_ENTITY => "PAGINATION_NUMBER_INVALID",
        _ => "UNSUPPORTED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_errors_of_its_protocol() {
        let of = |method: &str, path: &str, accept: &str| {
            let request = Request::builder().method(method).uri(path).header(ACCEPT, accept);
            ErrorFormat::of(&request.body(Body::empty()).expect("a request"))
        };
        assert_eq!(of("GET", "/v2/pdf/tags/list", "*/*"), ErrorFormat::Oci);
        assert_eq!(of("POST", "/v2/pdf/blobs/uploads/", "*/*"), ErrorFormat::Oci);
        assert_eq!(of("GET", "/api/v1/skills/pdf/versions/1.0.0", "application/json"), ErrorFormat::Text);
        assert_eq!(of("PUT", "/api/v1/skills/pdf/versions/1.0.0", "application/json"), ErrorFormat::Problem);
        assert_eq!(of("GET", "/api/v1/skills/pdf", "application/problem+json"), ErrorFormat::Problem);
        assert_eq!(of("GET", "/api/v1/skills/pdf/owners", "*/*"), ErrorFormat::Problem);
        assert_eq!(of("GET", "/v20", "*/*"), ErrorFormat::Problem);
    }
}
