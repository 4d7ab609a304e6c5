//! How what is on disk compares with the lockfile: one vocabulary for a skill and for each of its places.

use schemars::JsonSchema;
use serde::Serialize;

/// The state of a skill, or of one of its places, compared with the lockfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkillState {
    /// Every byte is as locked.
    Ok,
    /// Its bytes, its files or their modes differ, or an editable skill is not linked.
    Modified,
    /// Its line endings differ, and nothing else, for example because git wrote it with those of Windows.
    LineEnds,
    /// An update left conflicts in it that nobody has resolved. Agents may see it or not.
    Conflict,
    /// It should exist but does not.
    Missing,
    /// A link leads to something else, or something else is in its place.
    Elsewhere,
    /// It cannot be read, so nothing is known about its content.
    Unreadable,
    /// It exists but is not locked.
    Untracked,
    /// It exists, and agents do not see it.
    Disabled,
    /// It is a link to a directory that somebody works on, which is not locked.
    Editable,
    /// It is in the directory of an agent, and skillpm did not put it there.
    Foreign,
}

impl SkillState {
    /// All states.
    pub const ALL: [Self; 11] = [
        Self::Ok,
        Self::Modified,
        Self::LineEnds,
        Self::Conflict,
        Self::Missing,
        Self::Elsewhere,
        Self::Unreadable,
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
    pub fn is_failure(self) -> bool {
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
