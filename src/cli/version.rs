//! The identity of this program.

use std::sync::LazyLock;

/// The commit that the program was built from, in ten digits.
const COMMIT: &str = match option_env!("SKILLPM_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// The output of `--version` after the name: version, commit, repository. Other programs have the same name,
/// so a version alone would not identify this one.
pub(crate) static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} ({COMMIT}) {}", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY")));
