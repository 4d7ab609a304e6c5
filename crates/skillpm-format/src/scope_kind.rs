//! The two scopes in which skills are installed, as plain values: a project, or the user.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The directory, below a project or the user's home, that holds the canonical copy of each skill.
pub const CANONICAL_DIR: &str = ".agents/skills";

/// The directory, below a project or the user's home, that holds disabled skills. It is next to the canonical
/// copies, so a rename is enough, and outside the directories that agents scan.
pub const DISABLED_DIR: &str = ".agents/.skillpm-disabled";

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

/// The facts about a scope that a source needs when it is opened: the base of relative paths, and what there is not part
/// of any source.
#[derive(Debug, Clone, Copy)]
pub struct ScopeRoot<'a> {
    /// The kind of scope.
    pub kind: ScopeKind,
    /// The project's root, or the user's home. Relative paths in the manifest start here.
    pub root: &'a Path,
    /// The lockfile, which names the skills that skillpm installed.
    pub lockfile: &'a Path,
    /// The directories below `root` in which agents look for skills, `/`-separated.
    pub agent_dirs: &'a [&'a str],
}
