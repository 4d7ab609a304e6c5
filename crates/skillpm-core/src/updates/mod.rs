//! What the sources of installed skills have now: one answer for every verb that asks.
//!
//! [`check`] asks each source once, without a download where ids reveal what changed, and says for each skill what is
//! newer, or why nothing is known. The verbs only show that, compare it, or fetch it.

mod candidate;
mod check;
mod failure;
mod releases;

pub use self::candidate::{Latest, SourceState, Status, UpdateCandidate, moved, no_longer_found};
pub use self::check::{Aim, Check, How, Rules, check, names};
pub use self::failure::{CheckFailure, errors_and_warnings, not_asked};
pub use self::releases::{Releases, admitting};
