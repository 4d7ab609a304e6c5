//! Steps: the single changes of a plan.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::name::SkillName;

/// The place of a copy or link: the canonical directory, the directory of disabled skills, or an agent's own directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// `.agents/skills` of the scope.
    Canonical,
    /// `.agents/.skillpm-disabled` of the scope.
    Disabled,
    /// The directory of the agent with this id.
    Agent(String),
}

/// One change. Steps hold names, never paths: a journal that a stranger wrote can name no place
/// that the program would not write to anyway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Step {
    /// A tree is put in a place, in exchange for the one that is there.
    Put {
        /// Where.
        place: Location,
        /// The skill.
        name: SkillName,
        /// The digest of the new tree.
        digest: Digest,
        /// What is there.
        replaces: Option<Digest>,
    },
    /// A tree is removed.
    Remove {
        /// Where.
        place: Location,
        /// The skill.
        name: SkillName,
        /// What is there.
        old: Digest,
    },
    /// An agent's directory gets a link to the canonical copy; another link there is replaced.
    Link {
        /// The agent.
        agent: String,
        /// The skill.
        name: SkillName,
    },
    /// A link is removed.
    Unlink {
        /// Where.
        place: Location,
        /// The skill.
        name: SkillName,
    },
    /// The canonical copy, including edits, is hidden from agents.
    Disable {
        /// The skill.
        name: SkillName,
        /// The digest of what is there; `None` for content that no skill may have, which moves anyway.
        digest: Option<Digest>,
    },
    /// It moves back.
    Enable {
        /// The skill.
        name: SkillName,
        /// The digest of what is there; `None` for content that no skill may have, which moves anyway.
        digest: Option<Digest>,
    },
    /// The canonical place gets a link to the directory that the manifest names; another link there is
    /// replaced.
    Edit {
        /// The skill.
        name: SkillName,
    },
    /// A link that an earlier transaction set aside comes back, wherever it leads; another link there is set aside.
    /// Only `undo` does this: a stranger's journal cannot.
    Relink {
        /// Where.
        place: Location,
        /// The skill.
        name: SkillName,
        /// The digest of the link's text.
        says: Digest,
    },
}

impl Step {
    /// Returns the place that it changes, and the skill.
    pub fn place(&self) -> (Location, &SkillName) {
        match self {
            Self::Put { place, name, .. }
            | Self::Remove { place, name, .. }
            | Self::Relink { place, name, .. }
            | Self::Unlink { place, name } => (place.clone(), name),
            Self::Link { agent, name } => (Location::Agent(agent.clone()), name),
            Self::Disable { name, .. } | Self::Edit { name } => (Location::Canonical, name),
            Self::Enable { name, .. } => (Location::Disabled, name),
        }
    }

    /// Reports whether it removes the tree at its place.
    pub fn takes_tree(&self) -> bool {
        matches!(self, Self::Remove { .. } | Self::Put { replaces: Some(_), .. })
    }

    /// Returns the skill that it is about.
    pub fn name(&self) -> &SkillName {
        match self {
            Self::Put { name, .. }
            | Self::Remove { name, .. }
            | Self::Link { name, .. }
            | Self::Unlink { name, .. }
            | Self::Relink { name, .. }
            | Self::Disable { name, .. }
            | Self::Enable { name, .. }
            | Self::Edit { name } => name,
        }
    }

    /// Returns the place that what is at [`Step::place`] moves to.
    pub fn goes_to(&self) -> Option<Location> {
        match self {
            Self::Disable { .. } => Some(Location::Disabled),
            Self::Enable { .. } => Some(Location::Canonical),
            _ => None,
        }
    }
}
