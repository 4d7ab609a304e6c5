//! Steps: the single changes of a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::name::SkillName;

/// The place of a copy or link: the canonical directory, the directory of disabled skills, or an agent's own directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// `.agents/skills` of the scope.
    Canonical,
    /// `.agents/.skillpm-disabled` of the scope.
    Disabled,
    /// The directory of the agent with this id.
    Agent(String),
}

/// One change. Steps hold names, never paths: a stranger's journal can only name places that the program
/// would write to anyway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Step {
    /// Puts a tree in a place, and exchanges it for an existing one.
    Put {
        /// The place.
        place: Location,
        /// The skill.
        name: SkillName,
        /// The digest of the new tree.
        digest: Digest,
        /// The digest of the existing tree.
        replaces: Option<Digest>,
    },
    /// Removes a tree.
    Remove {
        /// The place.
        place: Location,
        /// The skill.
        name: SkillName,
        /// The digest of the existing tree.
        old: Digest,
    },
    /// Makes a link to the canonical copy in an agent's directory, replacing another link there.
    Link {
        /// The agent.
        agent: String,
        /// The skill.
        name: SkillName,
    },
    /// Removes a link.
    Unlink {
        /// The place.
        place: Location,
        /// The skill.
        name: SkillName,
    },
    /// Hides the canonical copy, including edits, from agents.
    Disable {
        /// The skill.
        name: SkillName,
        /// The digest of what is there; `None` for content that no skill may have, which is moved anyway.
        digest: Option<Digest>,
    },
    /// Moves a disabled skill back.
    Enable {
        /// The skill.
        name: SkillName,
        /// The digest of what is there; `None` for content that no skill may have, which is moved anyway.
        digest: Option<Digest>,
    },
    /// Makes a link at the canonical place to the directory that the manifest names, replacing another link
    /// there.
    Edit {
        /// The skill.
        name: SkillName,
    },
    /// Restores a link that an earlier transaction set aside, wherever it leads, and sets aside another link
    /// there. Only `undo` does this: a stranger's journal cannot.
    Relink {
        /// The place.
        place: Location,
        /// The skill.
        name: SkillName,
        /// The digest of the link's text.
        says: Digest,
    },
}

impl Step {
    /// Returns the place that the step changes, and the skill.
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

    /// Reports whether the step removes the tree at its place.
    pub(crate) fn takes_tree(&self) -> bool {
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

    /// Returns the place to which the step moves what is at [`Step::place`].
    pub(crate) fn goes_to(&self) -> Option<Location> {
        match self {
            Self::Disable { .. } => Some(Location::Disabled),
            Self::Enable { .. } => Some(Location::Canonical),
            _ => None,
        }
    }
}
