//! What a build without git knows of repositories: nothing. The functions are those of `skillpm_sources::git`.

use std::path::{Path, PathBuf};

use crate::settings::Settings;

pub(crate) struct Unchanged {
    pub(crate) is_revision: bool,
}

pub(crate) fn changed(_: &Settings, _: &Path, _: Option<&str>) -> Result<Vec<PathBuf>, Unchanged> {
    Err(Unchanged { is_revision: false })
}

#[cfg(feature = "http")]
pub(crate) fn uncommitted(_: &Settings, _: &Path) -> Option<Vec<String>> {
    None
}

#[cfg(feature = "http")]
pub(crate) fn head(_: &Settings, _: &Path) -> Option<String> {
    None
}

#[cfg(feature = "http")]
pub(crate) fn files_of(_: &Settings, _: &Path, _: &str) -> Option<Vec<String>> {
    None
}

#[cfg(feature = "http")]
pub(crate) fn remote(_: &Settings, _: &Path, _: &str) -> Option<String> {
    None
}

pub(crate) fn is_ignored(_: &Settings, _: &Path, _: &Path) -> Option<bool> {
    None
}

pub(crate) fn is_tracked(_: &Settings, _: &Path, _: &Path) -> bool {
    false
}
