//! The identity of this program.

use std::sync::LazyLock;

/// The version.
pub(crate) const NUMBER: &str = env!("CARGO_PKG_VERSION");
/// The target triple that the program was built for.
pub(crate) const TARGET: &str = env!("SKILLPM_TARGET");

/// Returns the commit that the program was built from, in ten digits, if it is known.
pub(crate) const fn commit() -> Option<&'static str> {
    option_env!("SKILLPM_COMMIT")
}

/// The output of `--version` after the name: version, commit, repository. Other programs have the same name,
/// so a version alone would not identify this one.
pub(crate) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = commit().unwrap_or("unknown");
    format!("{NUMBER} ({commit}) {}", env!("CARGO_PKG_REPOSITORY"))
});
