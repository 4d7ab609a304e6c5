//! Temporary files.

use std::fs::File;

use super::{PathContext, PathError};

/// Returns a new, empty file that has no name: it is gone when it is closed, also after a crash.
///
/// # Errors
///
/// Where the directory for temporary files cannot be written to.
pub fn anonymous_temp_file() -> Result<File, PathError> {
    tempfile::tempfile().at("create a temporary file in", &tempfile::env::temp_dir())
}

/// Returns a new, empty directory; it goes when the value is dropped.
///
/// # Errors
///
/// Where the directory for temporary files cannot be written to.
pub fn temp_dir() -> Result<tempfile::TempDir, PathError> {
    tempfile::Builder::new()
        .prefix(".skillpm-")
        .tempdir()
        .at("create a temporary directory in", &tempfile::env::temp_dir())
}
