//! The report of `outdated` about one skill.

use schemars::JsonSchema;
use serde::Serialize;

use crate::scope_kind::ScopeKind;
use crate::spec::Reference;
use crate::updates::{Status, UpdateCandidate};

/// One skill. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct OutdatedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The scope in which it is installed.
    pub scope: ScopeKind,
    /// The source.
    pub source: String,
    /// The directory in the source.
    pub path: Option<String>,
    /// The requested revision, in git's form; `None` is the default branch.
    pub requested: Option<String>,
    /// The locked revision: a commit, a digest of a site, the version of a package.
    pub locked: Option<String>,
    /// The current revision of what is requested.
    pub newest: Option<String>,
    /// The highest tag past the pin or the range, the newest commit past a pinned one, or the highest version in the
    /// registry that is old enough.
    pub latest: Option<String>,
    /// How the skill's files compare with the locked ones.
    pub status: Status,
    /// Why a policy does not admit the newest files yet, with its line; of a registry, also from which day on it admits
    /// that version. `None` if it admits them, and if only a fetch would tell.
    pub held_back: Option<String>,
    /// The new directory in its source, if it has moved.
    pub moved_to: Option<String>,
    /// Whether the requested tag led to another revision when the skill was locked.
    pub tag_moved: bool,
    /// Whether the locked version was withdrawn from its registry.
    pub yanked: bool,
    /// Whether the installed skill was edited.
    pub modified: bool,
    /// Whether it is hidden from agents.
    pub disabled: bool,
}

impl OutdatedSkill {
    /// Reports whether its source has another version that may be installed, or one past its pin.
    pub fn is_outdated(&self) -> bool {
        match self.status {
            Status::Changed if self.held_back.is_none() => true,
            Status::Gone | Status::Moved | Status::RefGone => true,
            _ => self.latest.is_some() || self.yanked,
        }
    }

    /// Returns what `candidate` in `scope` is now.
    pub(super) fn of(candidate: &UpdateCandidate<'_>, scope: ScopeKind) -> Self {
        let UpdateCandidate { name, entry, locked, .. } = candidate;
        Self {
            name: name.to_string(),
            scope,
            source: entry.origin.to_string(),
            path: locked.and_then(|locked| locked.path.clone()),
            requested: entry.reference.as_ref().map(Reference::to_string),
            locked: locked.and_then(|locked| locked.revision.clone()),
            newest: candidate.newest.clone(),
            latest: candidate.latest.as_ref().map(|latest| latest.name.clone()),
            status: candidate.status,
            held_back: candidate.held_back.clone(),
            moved_to: candidate.moved_to.clone(),
            tag_moved: candidate.tag_moved(),
            yanked: candidate.yanked.is_some(),
            modified: false,
            disabled: false,
        }
    }
}
