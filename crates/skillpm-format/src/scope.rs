//! The two scopes in which skills are installed, as plain values: a project, or the user.

use std::path::Path;

/// Which of the two scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// The project around the working directory.
    Project,
    /// The user, in every project.
    User,
}

impl ScopeKind {
    /// Where its skills are, for messages.
    pub fn within(self) -> &'static str {
        match self {
            Self::Project => "in this project",
            Self::User => "among your own skills",
        }
    }
}

impl std::fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Project => "project",
            Self::User => "user",
        })
    }
}

/// What a source needs to know of the scope that it is opened for: from where paths count.
#[derive(Debug, Clone, Copy)]
pub struct ScopeRoot<'a> {
    /// Which scope it is.
    pub kind: ScopeKind,
    /// The project's root, or the user's home. Relative paths in the manifest start here.
    pub root: &'a Path,
    /// The lockfile, which names the skills that skillpm installed.
    pub lockfile: &'a Path,
}
