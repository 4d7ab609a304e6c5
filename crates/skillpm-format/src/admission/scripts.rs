//! Whether the scripts of skills may run.

use std::fmt;

use super::pattern::{List, Match};
use super::place::Name;
use super::{Line, Pattern, meant};
use crate::manifest::{LocatedText, ManifestError};

/// What a file says of scripts, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scripts {
    /// They run.
    Allow,
    /// A person is asked each time.
    Ask,
    /// They do not run.
    Deny,
}

/// Whether a script may run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "answer", content = "because", rename_all = "lowercase")]
pub enum Permission {
    /// It may.
    Allowed(ScriptsReason),
    /// A person has to say so.
    Ask(ScriptsReason),
    /// It may not.
    Denied(ScriptsReason),
}

/// The line that decided; none where no file has a say and the caller's own answer holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct ScriptsReason {
    /// The line.
    pub line: Option<Line>,
    /// Whether it is the first of a list of what is allowed, and the source is on no line of that.
    #[serde(skip)]
    pub unlisted: bool,
}

/// What a file says, and the line that does.
#[derive(Debug, Clone)]
pub(super) struct ScriptsLine {
    pub(super) scripts: Scripts,
    pub(super) because: ScriptsReason,
}

/// What one file says.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    pub(super) deny: Vec<(Line, Pattern)>,
    pub(super) allow: Vec<(Line, Pattern)>,
    /// Of skills from all other sources.
    pub(super) others: Option<(Line, Scripts)>,
    /// Sources to whose scripts unix sockets are open.
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

    /// The answer.
    pub(super) fn permission(self, because: ScriptsReason) -> Permission {
        match self {
            Self::Allow => Permission::Allowed(because),
            Self::Ask => Permission::Ask(because),
            Self::Deny => Permission::Denied(because),
        }
    }
}

impl Permission {
    /// What decided.
    pub fn because(&self) -> &ScriptsReason {
        match self {
            Self::Allowed(because) | Self::Ask(because) | Self::Denied(because) => because,
        }
    }
}

impl Rules {
    /// All lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        let lists = self.deny.iter().chain(&self.allow).map(|(line, _)| line);
        let sockets = self.unix_sockets.iter().map(|(line, _)| line);
        lists.chain(self.others.iter().map(|(line, _)| line)).chain(sockets)
    }

    /// What the file says of a source with these `names`.
    pub(super) fn of(&self, names: &[Name]) -> Option<ScriptsLine> {
        let said = |scripts, line: &Line, unlisted| ScriptsLine {
            scripts,
            because: ScriptsReason { line: Some(line.clone()), unlisted },
        };
        let denied = || match meant(&self.deny, names, List::Deny)? {
            // What cannot be told from something that is denied may be that.
            (line, Match::Yes | Match::Unclear(_)) => Some(said(Scripts::Deny, line, false)),
            _ => None,
        };
        let allowed = || match meant(&self.allow, names, List::Allow)? {
            (line, Match::Yes) => Some(said(Scripts::Allow, line, false)),
            _ => None,
        };
        let others = || self.others.as_ref().map(|(line, scripts)| said(*scripts, line, false));
        // A list of what is allowed means that the rest is not, unless the file says what holds for it.
        let rest = || self.allow.first().map(|(line, _)| said(Scripts::Deny, line, true));
        denied().or_else(allowed).or_else(others).or_else(rest)
    }
}
