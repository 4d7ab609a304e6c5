//! `remove`: skills that go.

use std::path::PathBuf;

use crate::context::Context;
use crate::error::Result;
use crate::install::scope::ScopeKind;

/// What is to go.
#[derive(Debug, Clone, Default)]
pub struct RemoveRequest {
    /// The names under which the skills are installed.
    pub names: Vec<String>,
    /// The scope; the project where it is `None`.
    pub scope: Option<ScopeKind>,
    /// Plan only.
    pub dry_run: bool,
    /// Also skills that were edited; the edited copy is kept in the store.
    pub force: bool,
}

/// What went.
#[derive(Debug, Clone, Default)]
pub struct RemoveOutcome {
    /// The names.
    pub removed: Vec<String>,
    /// Edited copies that were kept: name and place.
    pub kept: Vec<(String, PathBuf)>,
    /// Whether nothing was changed because a plan was asked for.
    pub dry_run: bool,
}

/// Removes skills: copies, links, and their entries in manifest and lockfile.
///
/// # Errors
///
/// A name that is not installed; an edited copy without `force`; anything that cannot be written.
pub fn remove(context: &Context, request: &RemoveRequest) -> Result<RemoveOutcome> {
    let _ = (context, request);
    Ok(RemoveOutcome::default())
}
