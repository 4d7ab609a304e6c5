//! Errors of files of a registry.

use std::fmt;

use super::FactsError;
use crate::advice::{Verb, message};
use crate::codes;
use crate::error::{Error, ErrorKind};

/// Returns the error for the file at `path` below a registry that is not what it has to be.
pub(super) fn damaged(path: &str, reason: &dyn fmt::Display) -> Error {
    Error::integrity(format!("`{path}` of the registry cannot be used: {reason}"))
        .coded(codes::REGISTRY_UNUSABLE)
}

/// Returns the error for a skill that no registry takes.
pub fn not_publishable(error: &FactsError) -> Error {
    let (code, version) = match error {
        FactsError::Name(_) => {
            return Error::new(ErrorKind::Findings, error.to_string())
                .coded(codes::NAME_NOT_PUBLISHABLE)
                .hint("choose another name for the skill and its directory");
        }
        FactsError::NoVersion => (codes::VERSION_NOT_STATED, "0.1.0"),
        FactsError::Version(_) => (codes::VERSION_MALFORMED, "1.0.0"),
        FactsError::TooManyDependencies(_) => {
            return Error::new(ErrorKind::Findings, format!("the skill cannot be published: {error}"))
                .coded(codes::RELEASE_REFUSED)
                .hint("let it need a skill that needs the others");
        }
    };
    Error::new(ErrorKind::Findings, format!("the skill cannot be published: {error}"))
        .coded(code)
        .hint(message!("set `metadata.version`: ", Verb::Bump.call().word(version)))
}
