//! The outcome of a listing.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Message, Warning};
use crate::scope::agent_view::Unseen;
use crate::scope::claims::FoundIn;
pub use crate::scope::state::SkillState;
use crate::scope_kind::ScopeKind;

/// One skill. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ListedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The version as the skill writes it.
    pub version: Option<String>,
    /// Where it is installed.
    pub scope: ScopeKind,
    /// Where it came from; `None` for a skill that is not in the lockfile.
    pub source: Option<String>,
    /// The directory in the source.
    pub path: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// The locked digest.
    pub digest: Option<String>,
    /// The ids of the agents that have a link or a copy of their own.
    pub agents: Vec<String>,
    /// Those of them whose copy was edited: it is neither what is locked nor what is in the project or home.
    pub edited_copies: Vec<String>,
    /// How what is there compares with what is locked.
    pub state: SkillState,
    /// Whether its bytes are not those that are locked, wherever it is.
    pub modified: bool,
    /// The skill's own name, where it is installed under another one.
    pub alias_of: Option<String>,
    /// Whether it is currently hidden from agents.
    pub disabled: bool,
    /// Whether it is a link to a directory in which it is written.
    pub editable: bool,
    /// The directory in which it is.
    pub location: String,
    /// The kind of source: `github`, `git`, `url`, `site`, `path`, or that of a package.
    pub source_type: Option<&'static str>,
    /// The address of the source, where it has one.
    pub source_url: Option<String>,
    /// The revision that was asked for; `None` is the default branch of a source that has branches.
    pub requested: Option<String>,
    /// The names of the skills that it needs, as they are locked.
    pub dependencies: Vec<String>,
    /// The ids of the agents, of this machine or chosen here, that see it.
    pub seen_by: Vec<String>,
    /// Where it was found, if skillpm did not install it.
    pub found_in: Option<FoundIn>,
    /// The directory of the project around this one that it is of, as it is named in the working directory; `None`
    /// for the project itself and for the user.
    pub outer: Option<String>,
    /// Whether it is editable and its directory is not there: no installation brings it back.
    #[serde(skip)]
    pub source_gone: bool,
}

/// The outcome: what is installed.
#[derive(Debug, Clone, Default)]
pub struct ListOutcome {
    /// The skills, project before user, then by name.
    pub skills: Vec<ListedSkill>,
    /// The places that could not be examined.
    pub warnings: Vec<Warning>,
    /// The agents of this machine that do not see all skills of a scope.
    pub unseen: Vec<(ScopeKind, Vec<Unseen>)>,
    /// The lockfile of another tool in the project, where skillpm knows nothing there yet.
    pub other_lock: Option<String>,
    /// The hint.
    pub hints: Vec<Message>,
}
