//! How what is on disk compares with the lockfile: one vocabulary for a skill and for each of its places.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::editable::Editable;
use crate::scope::on_disk::OnDisk;
use crate::scope::trees::OnDiskTree;
use crate::tree::ReadError;

/// The state of a skill, or of one of its places, compared with the lockfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkillState {
    /// Every byte is as locked.
    Ok,
    /// The bytes, files or modes differ, or an editable skill is not linked.
    Modified,
    /// The line endings differ, and nothing else, for example because git wrote it with those of Windows.
    LineEnds,
    /// An update left unresolved conflicts in it. Agents may see it or not.
    Conflict,
    /// It should exist but does not.
    Missing,
    /// A link leads to something else, or something else is in its place.
    Elsewhere,
    /// It cannot be read, so nothing is known about its content.
    Unreadable,
    /// It exists, and the manifest requests it or skillpm put it there for one that it requests; the lockfile that named it
    /// is missing, or does not yet.
    Unlocked,
    /// It exists, and no file names it.
    Untracked,
    /// It exists, and agents do not see it.
    Disabled,
    /// It is a link to a directory in which it is written, which is not locked.
    Editable,
    /// It is in the directory of an agent, and skillpm did not put it there.
    Foreign,
}

impl SkillState {
    /// All states.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::Modified,
        Self::LineEnds,
        Self::Conflict,
        Self::Missing,
        Self::Elsewhere,
        Self::Unreadable,
        Self::Unlocked,
        Self::Untracked,
        Self::Disabled,
        Self::Editable,
        Self::Foreign,
    ];

    /// Returns the word for it, as every table and summary has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Modified => "edited",
            Self::LineEnds => "line ends",
            Self::Conflict => "conflict",
            Self::Missing => "missing",
            Self::Elsewhere => "elsewhere",
            Self::Unreadable => "unreadable",
            Self::Unlocked => "not locked",
            Self::Untracked => "untracked",
            Self::Disabled => "disabled",
            Self::Editable => "editable",
            Self::Foreign => "foreign",
        }
    }

    /// Returns the word for the state of a skill that `is_editable` or not: the link to the directory of an editable one
    /// is not edited.
    pub fn word_for(self, is_editable: bool) -> &'static str {
        match self {
            Self::Modified | Self::Elsewhere if is_editable => "not linked",
            state => state.word(),
        }
    }

    /// Reports whether it is, or may be, a difference from the lockfile.
    pub(crate) fn is_failure(self) -> bool {
        use SkillState::{Conflict, Elsewhere, LineEnds, Missing, Modified, Unreadable};
        matches!(self, Modified | LineEnds | Conflict | Missing | Elsewhere | Unreadable)
    }

    /// Reports whether something is there whose bytes are not, or may not be, those that are locked.
    pub fn is_modified(self) -> bool {
        self.is_failure() && self != Self::Missing
    }

    /// Reports whether skillpm knows of the skill by nothing but that it is there.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::Untracked | Self::Foreign)
    }
}

/// A skill in a scope.
#[derive(Debug)]
pub struct SkillInScope<'s> {
    /// The name under which it is installed.
    pub name: &'s SkillName,
    /// The entry in the lockfile.
    pub locked: Option<&'s Locked>,
    /// The entry in the manifest.
    pub entry: Option<&'s Requirement>,
    /// The directory that an editable skill is linked to.
    pub editable: Option<Editable>,
    /// Whether it is disabled, and out of the sight of agents.
    pub is_hidden: bool,
    /// The state. That of a skill that is out of sight is [`SkillState::Disabled`], unless it is missing or in conflict.
    pub state: SkillState,
    /// The places of its copies: first the one where it belongs.
    pub homes: Vec<PlaceState>,
    /// The links and copies of agents: those that belong to it, and those that should exist.
    pub copies: Vec<PlaceState>,
    /// Why it is unknown whether an update left conflicts in it.
    pub merge_failure: Option<Error>,
}

/// A place of a skill.
#[derive(Debug)]
pub struct PlaceState {
    /// The agents that share the directory; empty for a place of the skill itself.
    pub agents: Vec<&'static str>,
    /// The first of them that the lockfile names for the skill.
    pub locked_for: Option<&'static str>,
    /// The path.
    pub path: PathBuf,
    /// The kind of the place on disk.
    pub found: OnDisk,
    /// The tree, if every byte was read.
    pub tree: Option<Result<OnDiskTree, ReadError>>,
    /// The state.
    pub state: SkillState,
    /// Whether it is an edited copy: it differs both from what is locked and from the skill itself.
    pub is_edited: bool,
    /// Why it cannot be examined.
    pub failure: Option<Error>,
}

impl SkillInScope<'_> {
    /// Returns the place where it belongs.
    pub fn home(&self) -> &PlaceState {
        &self.homes[0]
    }

    /// Reports whether its bytes are not those that are locked, wherever it is.
    pub fn is_modified(&self) -> bool {
        self.state.is_modified() || self.is_hidden && self.home().state.is_modified()
    }

    /// Reports whether the manifest disables it.
    pub(crate) fn is_disabled(&self) -> bool {
        self.entry.is_some_and(|entry| entry.disabled)
    }

    /// Reports whether it is skillpm's, and no lockfile names it: it was requested and not locked yet, or the lockfile is lost.
    pub(crate) fn is_unlocked(&self) -> bool {
        match self.state {
            SkillState::Unlocked => true,
            SkillState::Missing | SkillState::Disabled => self.locked.is_none() && self.editable.is_none(),
            _ => false,
        }
    }

    /// Reports whether it is only where the disabled skills are, and no file names it: it is nothing that was installed.
    pub(crate) fn is_left_over(&self, scope: &Scope) -> bool {
        self.state == SkillState::Untracked && self.home().path == scope.disabled_skill_dir(self.name)
    }

    /// Reports whether it is editable and its directory is not there: no installation brings it back.
    pub(crate) fn is_source_gone(&self) -> bool {
        self.editable.as_ref().is_some_and(|editable| !editable.is_there())
    }
}

/// Returns the state of a place of a skill that is not locked.
pub(super) fn state_of_unlocked(place: &PlaceState) -> SkillState {
    match place.found {
        _ if place.failure.is_some() => SkillState::Unreadable,
        OnDisk::Absent => SkillState::Missing,
        OnDisk::Tree(_) | OnDisk::OtherLink(_) => SkillState::Untracked,
        _ => SkillState::Elsewhere,
    }
}

/// Returns the state of an editable skill, at whose canonical place `found` is; where agents are not to see it, nothing
/// has to.
pub(super) fn state_of_link(editable: &Editable, found: &OnDisk, is_hidden: bool) -> SkillState {
    let is_there = editable.is_there();
    match found {
        OnDisk::OtherLink(text) if editable.link.says(text) && is_there => SkillState::Editable,
        OnDisk::Absent if is_hidden && is_there => SkillState::Editable,
        OnDisk::Tree(_) | OnDisk::Other => SkillState::Modified,
        OnDisk::OtherLink(text) if !editable.link.says(text) => SkillState::Elsewhere,
        _ => SkillState::Missing,
    }
}
