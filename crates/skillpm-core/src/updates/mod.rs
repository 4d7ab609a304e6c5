//! The present state of the sources of installed skills: one answer for every verb that asks.
//!
//! [`check()`] asks each source once, without a download where ids reveal changes, and returns for each skill the newer
//! version, or why it is unknown. The verbs only show that, compare it, or fetch it.

mod candidate;
mod check;
mod failure;
mod releases;
mod rules;

pub use self::candidate::{SourceState, Status};
pub(crate) use self::candidate::{UpdateCandidate, moved, no_longer_found};
pub(crate) use self::check::{Check, check, names};
pub(crate) use self::failure::{CheckFailure, errors_and_warnings, not_asked};
pub(crate) use self::releases::admitting;
pub(crate) use self::rules::{Aim, How, Releases, Rules};
