//! A request to adopt skills.

use std::path::PathBuf;

use crate::scope_kind::ScopeKind;

/// A request to adopt skills.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// A lockfile of another tool; everything that other tools left in the scope if it is `None`.
    pub file: Option<PathBuf>,
    /// Skills of no known source that become the scope's own, by the names or paths of their directories. Nothing else is
    /// adopted then.
    pub skills: Vec<String>,
    /// The scope; the project if it is `None`.
    pub scope: Option<ScopeKind>,
    /// Plan only.
    pub dry_run: bool,
}
