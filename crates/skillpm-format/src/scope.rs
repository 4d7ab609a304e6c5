//! The two scopes in which skills are installed, as plain values: a project, or the user.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the two scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// The project around the working directory.
    Project,
    /// The user, in every project.
    User,
}

impl ScopeKind {
    /// Returns where its skills are, for messages.
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

/// The facts about a scope that a source needs when it is opened: the base of relative paths.
#[derive(Debug, Clone, Copy)]
pub struct ScopeRoot<'a> {
    /// The kind of scope.
    pub kind: ScopeKind,
    /// The project's root, or the user's home. Relative paths in the manifest start here.
    pub root: &'a Path,
    /// The lockfile, which names the skills that skillpm installed.
    pub lockfile: &'a Path,
}
