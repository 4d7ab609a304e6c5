//! The directories that no search for skills enters.

use std::ffi::OsStr;

/// Directories that hold third-party files or build results, or that skillpm uses for its work.
pub const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".skillpm-tx", ".skillpm-undo"];

/// Reports whether a walk skips directories called `name`.
pub fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|skipped| name == *skipped)
}
