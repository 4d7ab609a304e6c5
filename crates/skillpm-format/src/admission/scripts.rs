//! The part of a policy that decides whether the scripts of skills may run.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::address::Name;
use super::pattern::{List, Match};
use super::{Line, Pattern, meant};
use crate::manifest::{LocatedText, ManifestError};

/// The settings for scripts in a file, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scripts {
    /// They run.
    Allow,
    /// The user is asked each time.
    Ask,
    /// They do not run.
    Deny,
}

/// The permission of a script to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "answer", content = "because", rename_all = "lowercase")]
pub enum Permission {
    /// It may run.
    Allowed(ScriptsReason),
    /// The user must agree.
    Ask(ScriptsReason),
    /// It may not run.
    Denied(ScriptsReason),
}

/// The reason for a permission: the line that decided, or no line if no file decides and the caller's default applies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ScriptsReason {
    /// The line.
    pub line: Option<Line>,
    /// Whether the line is the first of an allow list that has no entry for the source.
    #[serde(skip)]
    pub unlisted: bool,
}

/// The decision of a file, and the line that makes it.
#[derive(Debug, Clone)]
pub(super) struct ScriptsLine {
    pub(super) scripts: Scripts,
    pub(super) because: ScriptsReason,
}

/// The rules of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    pub(super) deny: Vec<(Line, Pattern)>,
    pub(super) allow: Vec<(Line, Pattern)>,
    /// The setting for skills from all other sources.
    pub(super) others: Option<(Line, Scripts)>,
    /// Sources whose scripts may use unix sockets.
    pub(super) unix_sockets: Vec<(Line, Pattern)>,
}

impl fmt::Display for ScriptsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.line {
            Some(line) if self.unlisted => {
                write!(f, "its source is not on the `scripts-allow` list, {line}")
            }
            Some(line) => write!(f, "{line} says so"),
            None => f.write_str("no policy applies"),
        }
    }
}

impl Scripts {
    /// Reads `deny`, `ask` or `allow`.
    pub(super) fn read(placed: &LocatedText) -> Result<Self, ManifestError> {
        match placed.text.as_str() {
            "allow" => Ok(Self::Allow),
            "ask" => Ok(Self::Ask),
            "deny" => Ok(Self::Deny),
            other => Err(placed.error(
                format!("`{other}` is not a setting for scripts: expected `deny`, `ask` or `allow`"),
                None,
            )),
        }
    }

    /// Returns the permission.
    pub(super) fn permission(self, because: ScriptsReason) -> Permission {
        match self {
            Self::Allow => Permission::Allowed(because),
            Self::Ask => Permission::Ask(because),
            Self::Deny => Permission::Denied(because),
        }
    }
}

impl Permission {
    /// Returns the reason.
    pub fn because(&self) -> &ScriptsReason {
        match self {
            Self::Allowed(because) | Self::Ask(because) | Self::Denied(because) => because,
        }
    }
}

impl Rules {
    /// Returns all lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        let lists = self.deny.iter().chain(&self.allow).map(|(line, _)| line);
        let sockets = self.unix_sockets.iter().map(|(line, _)| line);
        lists.chain(self.others.iter().map(|(line, _)| line)).chain(sockets)
    }

    /// Returns the decision of the file about a source with these `names`.
    pub(super) fn of(&self, names: &[Name]) -> Option<ScriptsLine> {
        let said = |scripts, line: &Line, unlisted| ScriptsLine {
            scripts,
            because: ScriptsReason { line: Some(line.clone()), unlisted },
        };
        let denied = || match meant(&self.deny, names, List::Deny)? {
            // If it cannot be distinguished from something that is denied, it may be exactly that.
            (line, Match::Yes | Match::Unclear(_)) => Some(said(Scripts::Deny, line, false)),
            _ => None,
        };
        let allowed = || match meant(&self.allow, names, List::Allow)? {
            (line, Match::Yes) => Some(said(Scripts::Allow, line, false)),
            _ => None,
        };
        let others = || self.others.as_ref().map(|(line, scripts)| said(*scripts, line, false));
        // An allow list means that everything else is denied, unless the file states otherwise.
        let rest = || self.allow.first().map(|(line, _)| said(Scripts::Deny, line, true));
        denied().or_else(allowed).or_else(others).or_else(rest)
    }
}
