//! Errors, and the status with which a client learns of them.

use axum::http::StatusCode;

use crate::codes;
pub(crate) use skillpm_sources::error::{Error, ErrorKind, Result};

/// Returns the status of a response that reports `error`. An error that is not the client's is the server's.
pub(crate) fn status(error: &Error) -> StatusCode {
    match error.code() {
        codes::RELEASE_UNKNOWN | codes::REGISTRY_ABSENT => return StatusCode::NOT_FOUND,
        codes::VERSION_EXISTS => return StatusCode::CONFLICT,
        codes::TOKEN_REFUSED => return StatusCode::UNAUTHORIZED,
        codes::NOT_PERMITTED | codes::NAME_NOT_AVAILABLE => return StatusCode::FORBIDDEN,
        codes::RATE_LIMIT => return StatusCode::TOO_MANY_REQUESTS,
        codes::TOO_LARGE => return StatusCode::PAYLOAD_TOO_LARGE,
        codes::REGISTRY_UNUSABLE | codes::REGISTRY_MISMATCH => return StatusCode::INTERNAL_SERVER_ERROR,
        _ => {}
    }
    match error.kind() {
        ErrorKind::Findings | ErrorKind::Usage | ErrorKind::Integrity => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::Config => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorKind::Network | ErrorKind::Io => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Returns the error for a request without the right to what it asks for.
pub(crate) fn not_permitted(message: impl Into<String>) -> Error {
    Error::usage(message.into()).coded(codes::NOT_PERMITTED)
}

/// Returns the error for something that does not exist, or that the caller must not know of.
pub(crate) fn unknown(what: impl Into<String>) -> Error {
    Error::usage(what.into()).coded(codes::RELEASE_UNKNOWN)
}

/// Returns the error for an unusable object in the store: always the server's fault.
pub(crate) fn unusable(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Findings | ErrorKind::Usage | ErrorKind::Integrity => {
            error.coded(codes::REGISTRY_UNUSABLE)
        }
        ErrorKind::Config | ErrorKind::Network | ErrorKind::Io => error,
    }
}
